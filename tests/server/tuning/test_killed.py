"""Ends that nobody planned: Ctrl-C, kill -9 of the tuner or of a trial, a journal cut in a line, going on."""

import os
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.waiting import until

from .conftest import alive, optuna_study

pytestmark = pytest.mark.slow

# The training tells its process and that of a child, which is in its group but outlives it; then it waits.
WAITING = """\
import subprocess
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
open(f"{config.summary_dir}/processes", "w").write(f"{os.getpid()} {child.pid} ")
if params.x >= 0.0 and not os.path.exists(os.environ["GO_ON"]):
    time.sleep(600)
child.kill()
"""


@pytest.fixture
def go_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A file; while it is not there, trials wait."""
    file = tmp_path / "go_on"
    monkeypatch.setenv("GO_ON", str(file))
    return file


def processes(tmp_path: Any, count: Any) -> Any:
    """The processes of so many trials, once they run."""

    def look() -> Any:
        files = sorted((tmp_path / "runs" / "probe").glob("*/processes"))
        pairs = [[int(number) for number in file.read_text().split()] for file in files]
        return pairs if len(pairs) == count and all(len(pair) == 2 for pair in pairs) else None

    return until(look)


def all_ended(pairs: Any) -> bool:
    return not any(alive(process) for pair in pairs for process in pair)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_all_trials_and_the_same_command_goes_on(
    number: Any,
    training: Any,
    tuning_file: Any,
    begin_tuner: Any,
    tune: Any,
    tmp_path: Path,
    go_on: Any,
    workspace: Any,
) -> None:
    file = tuning_file(training(before=WAITING))
    go_on.touch()
    assert tune(file, "--trials", 1)[0] == 0
    go_on.unlink()
    tuner = begin_tuner(file, "--trials", 3, "--jobs", 2)
    pairs = processes(tmp_path, 3)
    tuner.send_signal(number)
    _, err = tuner.communicate(timeout=120)
    assert tuner.returncode == 130
    assert "Interrupted; the same command resumes it" in err
    until(lambda: all_ended(pairs))
    go_on.touch()
    code, report, _ = tune(file, "--trials", 3, "--json")
    assert code == 0
    states = [trial["state"] for trial in report["trials"]]
    assert states == ["complete", "interrupted", "interrupted", "complete", "complete"]
    repeated = {trial["again"]: trial["params"] for trial in report["trials"][3:]}
    assert repeated == {number: report["trials"][number]["params"] for number in (1, 2)}


def test_after_kill_9_of_the_tuner_nothing_finished_is_run_again(
    training: Any, tuning_file: Any, begin_tuner: Any, tune: Any, tmp_path: Path, go_on: Any, workspace: Any
) -> None:
    file = tuning_file(training(before=WAITING))
    go_on.touch()
    _, before, _ = tune(file, "--trials", 2, "--json")
    go_on.unlink()
    tuner = begin_tuner(file, "--trials", 4)
    pairs = processes(tmp_path, 3)
    tuner.kill()
    tuner.wait()
    assert all(alive(process) for process in pairs[-1])  # nobody has ended them yet
    go_on.touch()
    code, report, err = tune(file, "--trials", 4, "--json")
    assert code == 0, err
    assert (
        "Unfinished trials of an earlier tuner count as interrupted; their values are tried again: 2" in err
    )
    until(lambda: all_ended(pairs))
    assert [trial["state"] for trial in report["trials"]] == [
        *("complete", "complete", "interrupted", "complete", "complete")
    ]
    assert report["trials"][:2] == before["trials"]
    assert report["trials"][3]["params"] == report["trials"][2]["params"]
    assert tune(file, "--trials", 4)[0] == 0
    assert len(optuna_study(workspace).trials) == 5


def test_kill_9_of_a_trial_is_a_failed_trial_and_leaves_no_child(
    training: Any, tuning_file: Any, begin_tuner: Any, tmp_path: Path, go_on: Any
) -> None:
    tuner = begin_tuner(tuning_file(training(before=WAITING)), "--trials", 1, "--json")
    pairs = processes(tmp_path, 1)
    os.kill(pairs[0][0], signal.SIGKILL)
    _, err = tuner.communicate(timeout=120)
    assert tuner.returncode == 1
    assert "Trial 0 failed: ended by signal 9" in err
    until(lambda: all_ended(pairs))


def test_a_training_that_ignores_sigterm_is_killed(
    training: Any, tuning_file: Any, begin_tuner: Any, tmp_path: Path, go_on: Any
) -> None:
    before = "import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n" + WAITING
    tuner = begin_tuner(tuning_file(training(before=before)), "--trials", 1)
    pairs = processes(tmp_path, 1)
    tuner.send_signal(signal.SIGINT)
    tuner.communicate(timeout=120)
    assert tuner.returncode == 130
    until(lambda: all_ended(pairs))


def test_one_tuner_at_a_time(
    training: Any, tuning_file: Any, begin_tuner: Any, tune: Any, tmp_path: Path, go_on: Any
) -> None:
    file = tuning_file(training(before=WAITING))
    begin_tuner(file, "--trials", 1)
    processes(tmp_path, 1)
    code, _, err = tune(file, "--trials", 1)
    assert code == 1
    assert "Another process is tuning this study" in err
    go_on.touch()
    (file,) = (tmp_path / "runs" / "probe").glob("*/processes")
    for process in file.read_text().split():
        os.kill(int(process), signal.SIGKILL)


def test_a_journal_that_was_cut_in_a_line_goes_on(
    training: Any, tuning_file: Any, tune: Any, workspace: Any
) -> None:
    file = tuning_file(training())
    assert tune(file, "--trials", 1)[0] == 0
    (journal,) = (workspace / "studies").glob("*.journal")
    with journal.open("ab") as end:
        end.write(b'{"op_code":4,"work')
    code, report, err = tune(file, "--trials", 2, "--json")
    assert code == 0, err
    assert [trial["state"] for trial in report["trials"]] == ["complete", "complete"]


def test_somebody_with_optunas_interface_stops_it(
    training: Any, tuning_file: Any, begin_tuner: Any, tmp_path: Path, go_on: Any, workspace: Any
) -> None:
    tuner = begin_tuner(tuning_file(training(before=WAITING)), "--trials", 3)
    pairs = processes(tmp_path, 1)
    optuna_study(workspace).set_user_attr("stop", 1.0)
    _, err = tuner.communicate(timeout=120)
    assert "Stopped from the page" in err
    assert all_ended(pairs)


def test_a_grid_that_was_interrupted_has_every_combination_in_the_end(
    training: Any, tuning_file: Any, begin_tuner: Any, tune: Any, tmp_path: Path, go_on: Any
) -> None:
    """A grid takes interrupted points for visited; they are queued, and it ends when they were run."""
    grid = {"x": {"choice": [1, 2, 3]}}
    file = tuning_file(training(before=WAITING), grid, tuner={"name": "grid", "seed": 0})
    tuner = begin_tuner(file, "--jobs", 3)
    processes(tmp_path, 3)
    tuner.kill()
    tuner.wait()
    go_on.touch()
    code, report, _ = tune(file, "--json")
    assert code == 0
    complete = [trial["params"]["x"] for trial in report["trials"] if trial["state"] == "complete"]
    assert sorted(complete) == [1, 2, 3]
