"""Going on after a reboot: no process of a trial is left, and their ids belong to other programs by now."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mindinsight.server.tuning.study import kill_marked, marked_processes
from mindinsight.server.tuning.tuning_parameters import MARK
from tests.waiting import until

from .conftest import alive, optuna_study

pytestmark = pytest.mark.slow

# A training that tells its process id and counts how often it was begun for its values.
COUNTED = """\
with open(os.environ["BEGUN"], "a") as begun:
    begun.write(f"{params.x!r}\\n")
open(f"{config.summary_dir}/process", "w").write(f"{os.getpid()} ")
if not os.path.exists(os.environ["GO_ON"]):
    time.sleep(600)
"""


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """(file without which trials wait, file with the values of all trials that were begun)"""
    both = tmp_path / "go_on", tmp_path / "begun"
    monkeypatch.setenv("GO_ON", str(both[0]))
    monkeypatch.setenv("BEGUN", str(both[1]))
    return both


@pytest.fixture
def stranger() -> Iterator[Any]:
    """stranger(**environment) -> a process in a group of its own that is no trial of the study."""
    begun = []

    def begin(**environment: Any) -> Any:
        command = [sys.executable, "-c", "import time; time.sleep(600)"]
        process = subprocess.Popen(command, env={**os.environ, **environment}, start_new_session=True)
        begun.append(process)
        return process

    yield begin
    for process in begun:
        process.kill()
        process.wait()


def process_of_trial(folder: Path, number: Any) -> int:
    """The process of a trial, once it runs."""
    file = folder / f"trial_{number:04d}" / "process"
    text = until(lambda: file.exists() and file.read_text().endswith(" ") and file.read_text())
    return int(text)


def replace_in_files(folders: Any, numbers: Any) -> None:
    """Write other process ids where the files below ``folders`` have the old ones, as whole numbers."""
    import re

    for file in (file for folder in folders for file in folder.rglob("*") if file.is_file()):
        content = file.read_bytes()
        for old, new in numbers.items():
            content = re.sub(rb"(?<![0-9a-f.-])%d(?![0-9a-f.-])" % old, b"%d" % new, content)
        file.write_bytes(content)


def test_process_ids_of_other_programs_are_left_alone_after_a_reboot(
    training: Any,
    tuning_file: Any,
    begin_tuner: Any,
    tune: Any,
    tmp_path: Path,
    workspace: Any,
    files: Any,
    stranger: Any,
) -> None:
    go_on, begun = files
    file = tuning_file(training(before=COUNTED))
    go_on.touch()
    _, before, _ = tune(file, "--trials", 1, "--json")
    go_on.unlink()
    tuner = begin_tuner(file, "--trials", 3, "--jobs", 2)
    runs = tmp_path / "runs" / "probe"
    trials = [process_of_trial(runs, number) for number in (1, 2)]
    tuner.kill()
    tuner.wait()
    for process in trials:
        os.kill(process, signal.SIGKILL)
    until(lambda: not any(map(alive, trials)))
    optuna_study(workspace).ask()  # trial 3: the power went before it had values or a process
    # One id belongs to another program now, that of the tuner to a trial of another study, one to nobody.
    others = stranger(), stranger(**{MARK: "0" * 32})
    nobody = subprocess.Popen([sys.executable, "-c", ""])
    nobody.wait()
    replace_in_files(
        (workspace / "studies", runs),
        {trials[0]: others[0].pid, tuner.pid: others[1].pid, trials[1]: nobody.pid},
    )
    assert process_of_trial(runs, 1) == others[0].pid

    go_on.touch()
    code, report, err = tune(file, "--trials", 3, "--json")
    assert (code, report["end"]) == (0, "done"), err
    assert "their values are tried again: 1, 2, 3" in err
    assert [other.poll() for other in others] == [None, None]
    assert [trial["state"] for trial in report["trials"]] == [
        *("complete", "interrupted", "interrupted", "interrupted", "complete", "complete")
    ]
    assert report["trials"][0] == before["trials"][0]
    assert [trial.state.name for trial in optuna_study(workspace).trials[1:4]] == ["FAIL"] * 3
    values = [trial["params"]["x"] for trial in report["trials"] if "x" in trial["params"]]
    assert len(values) == 5  # the finished one, two that were cut off, and those two again
    assert sorted(map(float, begun.read_text().split())) == sorted(values)
    assert values.count(values[0]) == 1
    assert sorted(values[3:]) == sorted(values[1:3])


def test_only_processes_with_the_mark_of_the_trial_are_killed(stranger: Any) -> None:
    marks = "a" * 32, "b" * 32
    own, other, plain = stranger(**{MARK: marks[0]}), stranger(**{MARK: marks[1]}), stranger()
    until(lambda: marked_processes(marks[0]) == [own.pid])
    kill_marked(marks[0])
    assert own.wait() == -signal.SIGKILL
    assert (other.poll(), plain.poll()) == (None, None)
    assert marked_processes(marks[0]) == []
