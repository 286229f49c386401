"""Time limit of a study: its end, what becomes of the trials that run, exit code and summary."""

from pathlib import Path
from typing import Any

import pytest

from mindinsight.server.tuning.study import MARK, marked_processes

from .conftest import optuna_study

pytestmark = pytest.mark.slow

# A training with a child that would outlive it; both wait as long as the file is not there.
WAITING = """\
import subprocess
if not os.path.exists(os.environ["GO_ON"]):
    subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    time.sleep(600)
"""


@pytest.fixture
def go_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A file; while it is not there, trials wait."""
    file = tmp_path / "go_on"
    monkeypatch.setenv("GO_ON", str(file))
    return file


@pytest.mark.parametrize(
    ("limits", "options"),
    [({"study": "1s"}, ()), ({}, ("--timeout", "1s")), ({"study": "2d"}, ("--timeout", "1"))],
)
def test_a_study_whose_time_is_over_ends_its_trials(
    limits: Any, options: Any, training: Any, tuning_file: Any, tune: Any, workspace: Any, go_on: Any
) -> None:
    file = tuning_file(training(before=WAITING), limits=limits)
    code, report, err = tune(file, "--trials", 4, "--jobs", 2, *options, "--json")
    assert (code, report["end"]) == (1, "time"), err
    assert "The time limit of the study was reached; the same command resumes it." in err
    assert [trial["state"] for trial in report["trials"]] == ["interrupted", "interrupted"]
    assert [trial["failure"] for trial in report["trials"]] == [{"reason": "interrupted"}] * 2
    assert (report["progress"]["done"], report["progress"]["running"]) == (0, 0)
    for trial in optuna_study(workspace).trials[:2]:
        assert trial.state.name == "FAIL"
        assert marked_processes(trial.user_attrs[MARK]) == []


def test_finished_trials_count_when_the_time_is_over_and_the_rest_goes_on(
    training: Any, tuning_file: Any, tune: Any, workspace: Any, go_on: Any
) -> None:
    file = tuning_file(training(before=WAITING))
    go_on.touch()
    assert tune(file, "--trials", 1)[0] == 0
    go_on.unlink()
    code, report, err = tune(file, "--trials", 2, "--timeout", "1", "--json")
    assert (code, report["end"]) == (0, "time")
    assert "The time limit of the study was reached; the same command resumes it." in err
    assert "est value: " in err
    assert [trial["state"] for trial in report["trials"]] == ["complete", "interrupted"]
    go_on.touch()
    code, report, err = tune(file, "--trials", 2, "--json")
    assert (code, report["end"]) == (0, "done"), err
    assert [trial["state"] for trial in report["trials"]] == ["complete", "interrupted", "complete"]
    assert report["trials"][2]["again"] == 1
    assert report["trials"][2]["params"] == report["trials"][1]["params"]
