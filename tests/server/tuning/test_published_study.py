"""Published studies: what is written beside the runs, how often, and what is read of a forged file."""

import json
import time
from pathlib import Path
from typing import Any

import optuna
import pytest

from mindinsight.server.files.opener import LinkError
from mindinsight.server.tuning import published_study
from mindinsight.server.tuning.published_study import Publisher, published_files, read_published
from mindinsight.server.tuning.study import CONFIG, LOG, RUN, quiet_optuna
from mindinsight.server.tuning.study_facts import study_facts
from mindinsight.server.tuning.tuning_file import parse_config

FILE = """\
summary_base_dir: {base}
command: python train.py --password hunter2
target: {{name: loss}}
parameters: {{x: {{bounds: [0, 1], type: float}}}}
"""


def some_study(base: Path, values: Any) -> Any:
    """A study in memory; None is a failed trial."""
    with quiet_optuna():
        study = optuna.create_study()
        study.set_user_attr(CONFIG, parse_config(FILE.format(base=base), "t").as_json())
        for value in values:
            trial = study.ask()
            trial.suggest_float("x", 0, 1)
            trial.set_user_attr(RUN, str(base / "probe" / f"trial_{trial.number:04d}"))
            if value is None:
                trial.set_user_attr(LOG, [f"log {trial.number}"])
                study.tell(trial, state=optuna.trial.TrialState.FAIL)
            else:
                study.tell(trial, value)
    return study


def test_what_is_read_is_what_the_journal_has_but_for_the_command(tmp_path: Path) -> None:
    study = some_study(tmp_path, [3.0, None, 1.0])
    Publisher(tmp_path, "probe").write(study, ended=False)
    file = tmp_path / "probe" / "study.json"
    assert "hunter2" not in file.read_text()
    read, facts = read_published(file).model_dump(), study_facts(study)
    assert read["trials"] == [
        {**trial, "run": f"probe/trial_{trial['number']:04d}"} for trial in facts["trials"]
    ]
    assert {name: read[name] for name in ("best", "front", "progress")} == {
        name: facts[name] for name in ("best", "front", "progress")
    }
    assert read["parameters"][0]["name"] == "x"
    assert (read["ended"], time.time() - read["updated"] < 60) == (False, True)
    assert [path.name for path in (tmp_path / "probe").iterdir()] == ["study.json"]  # nothing temporary


def test_a_run_outside_of_the_base_directory_is_not_named(tmp_path: Path) -> None:
    study = some_study(tmp_path / "elsewhere", [3.0])
    Publisher(tmp_path / "base", "probe").write(study, ended=True)
    assert read_published(tmp_path / "base" / "probe" / "study.json").trials[0].run is None


def test_last_lines_are_kept_of_the_newest_failures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(published_study, "_LOGS", 2)
    Publisher(tmp_path, "probe").write(some_study(tmp_path, [None, 1.0, None, None]), ended=True)
    trials = read_published(tmp_path / "probe" / "study.json").trials
    assert [trial.log for trial in trials] == [[], [], ["log 2"], ["log 3"]]


def test_a_large_study_is_not_written_after_each_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(published_study, "_QUICK", -1.0)
    monkeypatch.setattr(published_study, "_TIMES", 1e9)
    publisher = Publisher(tmp_path, "probe")
    file = tmp_path / "probe" / "study.json"
    counts = []
    for values, ended in (([1.0], False), ([1.0, 2.0], False), ([1.0, 2.0, 3.0], True)):
        publisher.write(some_study(tmp_path, values), ended)
        counts.append(len(read_published(file).trials))
    assert counts == [1, 1, 3]  # the end is always written


def test_a_link_is_replaced_and_not_followed(tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_text("mine")
    (tmp_path / "probe").mkdir()
    (tmp_path / "probe" / "study.json").symlink_to(precious)
    publisher = Publisher(tmp_path, "probe")
    publisher.write(some_study(tmp_path, [1.0]), ended=True)
    assert (publisher.error, precious.read_text()) == (None, "mine")
    assert len(read_published(tmp_path / "probe" / "study.json").trials) == 1


def test_an_error_of_the_disk_is_kept_and_tuning_goes_on(tmp_path: Path) -> None:
    (tmp_path / "probe").write_text("a file where the folder belongs")
    publisher = Publisher(tmp_path, "probe")
    publisher.write(some_study(tmp_path, [1.0]), ended=True)
    assert isinstance(publisher.error, OSError)


def test_places_are_around_trials_and_inside_of_a_base_directory() -> None:
    runs = [
        "/base/probe/trial_0000",
        "/base/probe/trial_0001/rank_0",
        "/base/other/trial_0002_2",
        "/base/run1",
        "/base/trial_1",
        "/outside/probe/trial_0000",
    ]
    assert list(map(str, published_files(runs, [Path("/base")]))) == [
        "/base/probe/study.json",
        "/base/other/study.json",
    ]
    assert list(published_files(["/base/probe/trial_0000/rank_0"], [Path("/base/probe/trial_0000")])) == []


@pytest.mark.parametrize(
    "change",
    [
        {"version": 2},
        {"targets": []},
        {"trials": [{"number": 0, "state": "complete", "values": [1.0, 2.0]}]},
        {"trials": [{"number": 0, "state": "complete", "values": None}]},
        {"trials": [{"number": -1, "state": "running"}]},
        {"trials": [{"number": 0, "state": "<b>"}]},
        {"trials": "many"},
        {"progress": None},
    ],
)
def test_a_forged_file_is_refused_with_the_place(tmp_path: Path, change: dict[str, Any]) -> None:
    Publisher(tmp_path, "probe").write(some_study(tmp_path, [1.0]), ended=True)
    file = tmp_path / "probe" / "study.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), **change}))
    with pytest.raises(ValueError, match=next(iter(change)) if "values" not in str(change) else "trial 0"):
        read_published(file)


def test_numbers_that_are_not_finite_are_refused(tmp_path: Path) -> None:
    Publisher(tmp_path, "probe").write(some_study(tmp_path, [1.0]), ended=True)
    file = tmp_path / "probe" / "study.json"
    file.write_text(file.read_text().replace('"values":[1.0]', '"values":[NaN]'))
    with pytest.raises(ValueError, match="values"):
        read_published(file)


def test_a_long_file_and_a_link_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(published_study, "MAX_BYTES", 100)
    file = tmp_path / "study.json"
    file.write_bytes(b" " * 101)
    with pytest.raises(OSError, match="longer than"):
        read_published(file)
    (tmp_path / "link.json").symlink_to(file)
    with pytest.raises(LinkError):
        read_published(tmp_path / "link.json")
