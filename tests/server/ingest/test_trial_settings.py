"""Settings of trials that recorded none, from the file of their study."""

import json
from pathlib import Path
from typing import Any

import pytest

from mindinsight.server.ingest.trial_settings import trial_settings
from mindinsight.writer import SummaryRecord
from tests.server.conftest import StartServer


def write_study(folder: Path, *trials: Any) -> None:
    folder.mkdir(exist_ok=True)
    (folder / "study.json").write_text(json.dumps({"trials": trials}))


def trial(number: int, **params: Any) -> dict[str, Any]:
    return {"number": number, "run": f"toy/trial_{number:04}", "params": params}


def test_a_trial_has_the_settings_of_its_study(tmp_path: Path) -> None:
    write_study(tmp_path / "toy", trial(0, lr=0.1, opt="sgd"), trial(1, lr=0.2))
    path = tmp_path / "toy" / "trial_0000"
    assert trial_settings("./toy/trial_0000", str(path)) == {"lr": 0.1, "opt": "sgd"}
    assert trial_settings("./toy/trial_0000/rank_1", str(path / "rank_1")) == {"lr": 0.1, "opt": "sgd"}
    assert trial_settings("./toy/trial_0007", str(tmp_path / "toy" / "trial_0007")) == {}


def test_a_run_that_is_no_trial_has_none(tmp_path: Path) -> None:
    write_study(tmp_path / "toy", {**trial(0, lr=0.1), "run": "toy/other"})
    assert trial_settings("./toy/other", str(tmp_path / "toy" / "other")) == {}
    assert trial_settings("./", str(tmp_path)) == {}


@pytest.mark.parametrize(
    "content", ["", "[]", "{", '{"trials": 5}', '{"trials": [1, {"run": 3}]}', "[" * 10**5]
)
def test_a_damaged_study_gives_none(tmp_path: Path, content: str) -> None:
    write_study(tmp_path / "toy")
    (tmp_path / "toy" / "study.json").write_text(content)
    assert trial_settings("./toy/trial_0000", str(tmp_path / "toy" / "trial_0000")) == {}


def test_a_study_that_is_written_again_is_read_again(tmp_path: Path) -> None:
    path = str(tmp_path / "toy" / "trial_0000")
    write_study(tmp_path / "toy", trial(0, lr=0.1))
    assert trial_settings("./toy/trial_0000", path) == {"lr": 0.1}
    write_study(tmp_path / "toy", trial(0, lr=0.25))
    assert trial_settings("./toy/trial_0000", path) == {"lr": 0.25}


def test_settings_are_shown_like_recorded_ones_which_come_first(tmp_path: Path, samples: StartServer) -> None:
    base = tmp_path / "base"
    base.mkdir()
    write_study(base / "toy", trial(0, lr=0.1, opt="sgd"), trial(1, lr=0.2, opt="adam"))
    for number in range(2):
        with SummaryRecord(base / "toy" / f"trial_{number:04}") as record:
            record.add_value("scalar", "loss", 1.0)
            if number:
                record.add_value("custom_lineage_data", "settings", {"opt": "lion"})
            record.record(1)
    rows = {run["id"]: run["hyper"] for run in samples().get("v2/runs").json()["runs"]}
    assert rows == {
        "./toy/trial_0000": {"lr": 0.1, "opt": "sgd"},
        "./toy/trial_0001": {"lr": 0.2, "opt": "lion"},
    }
