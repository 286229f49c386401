"""Flaky tests may be run again a few times in a run; more reruns fail it, with xdist too."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import MOST_RERUNS

FLAKY = """
import pytest

TRIES = set()

@pytest.mark.flaky(reruns=1)
@pytest.mark.parametrize("number", range({count}))
def test_that_passes_the_second_time(number):
    tried, _ = number in TRIES, TRIES.add(number)
    assert tried
"""


@pytest.mark.parametrize(
    ("count", "options", "code"),
    [(MOST_RERUNS, ("-n", "0"), 0), (MOST_RERUNS + 1, ("-n", "0"), 1), (MOST_RERUNS + 1, ("-n", "2"), 1)],
)
def test_a_run_with_too_many_reruns_fails(
    tmp_path: Path, count: int, options: tuple[str, ...], code: int
) -> None:
    (tmp_path / "test_flaky.py").write_text(FLAKY.format(count=count))
    command = [sys.executable, "-m", "pytest", "-q", "-p", "tests.conftest", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*command, "-c", "/dev/null", "--rootdir", str(tmp_path), *options, str(tmp_path)],
        cwd=Path(__file__).parents[1],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code, done.stdout + done.stderr
    assert f"{count} passed" in done.stdout
    assert ("the run has failed" in done.stdout) == bool(code)
