"""The entry point of the image, run by itself over real directories of other users.

As root it takes other ids; elsewhere it stays who it is, and the files are the tester's own.
"""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).parents[2] / "docker" / "entrypoint.sh"
ROOT = os.getuid() == 0
OWNER = 12345 if ROOT else os.getuid()
SHOWN = """#!/bin/sh
echo "$(id -u) $MINDINSIGHT_WORKSPACE $*"
cat "$MINDINSIGHT_SUMMARY_BASE_DIR/run/file" 2>/dev/null
grep CapEff /proc/self/status
"""


@pytest.fixture
def folder() -> Iterator[Any]:
    """A folder that other users can enter, which the temporary ones of the tests are not."""
    path = Path(tempfile.mkdtemp())
    path.chmod(0o755)
    yield path
    shutil.rmtree(path)


@pytest.fixture
def summary(folder: Any) -> Any:
    """As the writer makes it: 0700 and 0600, of the owner's."""
    run = folder / "summary" / "run"
    run.mkdir(parents=True)
    (run / "file").write_text("values\n")
    (run / "file").chmod(0o600)
    for path in (run, run.parent):
        path.chmod(0o700)
    give(run.parent, OWNER)
    return run.parent


def give(path: Any, owner: Any) -> None:
    if ROOT:
        for entry in (path, *path.rglob("*")):
            os.chown(entry, owner, owner)


@pytest.fixture
def start(folder: Any, summary: Any) -> Callable[..., Any]:
    """Starts the script with a stand-in for the command; gives exit code, output and messages."""
    (folder / "bin").mkdir()
    (folder / "bin" / "mindinsight").write_text(SHOWN)
    (folder / "bin" / "mindinsight").chmod(0o755)
    shutil.copy(SCRIPT, folder)  # the checkout may lie below a directory that other users cannot enter
    (folder / "workspace").mkdir()
    (folder / "workspace").chmod(0o1777)

    def run(*before: Any, **environ: Any) -> tuple[Any, Any, Any]:
        settings = {
            "PATH": f"{folder}/bin:{os.environ['PATH']}",
            "MINDINSIGHT_SUMMARY_BASE_DIR": str(summary),
            "MINDINSIGHT_WORKSPACE": str(folder / "workspace" / "own"),
            **environ,
        }
        command = [*before, "sh", str(folder / SCRIPT.name), "start", "--foreground"]
        done = subprocess.run(command, env=settings, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout.splitlines(), done.stderr

    return run


def test_it_runs_as_the_owner_of_the_summary_directory(start: Callable[..., Any], folder: Any) -> None:
    code, lines, errors = start()
    assert (code, errors) == (0, "")
    assert lines[:2] == [f"{OWNER} {folder}/workspace/own start --foreground", "values"]
    assert int(lines[2].split()[1], 16) == 0


@pytest.mark.parametrize("form", ["lab={}", "{}:/nowhere", "lab={}:other=/nowhere"])
def test_the_first_of_several_directories_says_who_the_owner_is(
    start: Callable[..., Any], summary: Any, form: str
) -> None:
    code, lines, errors = start(MINDINSIGHT_SUMMARY_BASE_DIR=form.format(summary))
    assert (code, lines[0].split()[0], errors) == (0, str(OWNER), "")


def test_what_cannot_be_read_is_named_with_what_to_do(
    start: Callable[..., Any], summary: Any, folder: Any
) -> None:
    """Another user's run among the owner's; without root, one that nobody may read."""
    other = summary / "run" / "other"
    other.mkdir(mode=0o000)
    code, lines, errors = start()
    assert code == 0
    assert lines[1] == "values"
    assert f"user {OWNER} cannot read {other} " in errors
    assert "chmod -R a+rX" in errors
    other.chmod(0o700)


def test_a_workspace_that_cannot_be_written_is_said(start: Callable[..., Any], folder: Any) -> None:
    (folder / "file").touch()
    code, lines, errors = start(MINDINSIGHT_WORKSPACE=str(folder / "file" / "below"))
    assert code == 0
    assert lines[0].split()[1] == f"/tmp/mindinsight-{OWNER}"
    assert "notes are lost when the container ends" in errors


CAPABILITIES = ("setpriv", "--inh-caps=-all", "--bounding-set=-all,+setuid,+setgid", "--no-new-privs")
NO_CAPABILITIES = ("setpriv", "--inh-caps=-all", "--bounding-set=-all")
AS_ROOT = [  # what stands before the script, more of the environment, exit code, the user, what is said
    (CAPABILITIES, {}, 0, "12345", ""),
    (CAPABILITIES, {"MINDINSIGHT_RUN_AS": "12345:12345"}, 0, "12345", ""),
    (NO_CAPABILITIES, {}, 1, None, "--user 12345:12345"),
    (CAPABILITIES, {"MINDINSIGHT_RUN_AS": "10001:10001"}, 1, None, "MINDINSIGHT_RUN_AS=UID:GID"),
    (("setpriv", "--reuid=10001", "--regid=10001", "--clear-groups"), {}, 1, None, "without --user"),
    (("setpriv", "--reuid=12345", "--regid=12345", "--clear-groups"), {}, 0, "12345", ""),
]
AS_OTHERS: list[Any] = [((), {}, 0, str(OWNER), "")]


@pytest.mark.parametrize(("before", "environ", "code", "user", "message"), AS_ROOT if ROOT else AS_OTHERS)
def test_with_the_rights_of_a_container(
    start: Callable[..., Any], before: Any, environ: Any, code: Any, user: Any, message: Any
) -> None:
    status, lines, text = start(*before, **environ)
    assert (status, lines[0].split()[0] if lines else None) == (code, user)
    assert message in text
    assert bool(message) == bool(text)


@pytest.mark.parametrize(
    ("mode", "user"), [(0o755, "10001"), (0o700, "0")] if ROOT else [(0o700, str(OWNER))]
)
def test_files_of_root_are_shown_by_nobody_if_all_may_read_them(
    start: Callable[..., Any], summary: Any, mode: Any, user: Any
) -> None:
    give(summary, 0)
    (summary / "run" / "file").chmod(mode)
    (summary / "run").chmod(mode)
    summary.chmod(mode)
    code, lines, errors = start(*(CAPABILITIES if ROOT else ()))
    assert (code, lines[0].split()[0], lines[1], errors) == (0, user, "values", "")
