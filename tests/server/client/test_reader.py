"""Summaries without a server: arrays, data frames and payloads, checked against what MindSpore wrote."""

import json
import math
import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mindinsight.server.client import reader
from mindinsight.server.client.export import export_scalars
from mindinsight.server.errors import BadSettings, Gone
from mindinsight.writer import SummaryRecord
from tests.narrowing import require

DATA = Path(__file__).parents[2] / "data" / "events"


@pytest.fixture(scope="module")
def lenet() -> Any:
    return reader.open(DATA / "lenet")


@pytest.fixture(scope="module")
def expected() -> dict[Any, Any]:
    """Facts of the event file in ``lenet``, by kind and tag."""
    runs = json.loads((DATA / "lenet" / "expected.json").read_text())["runs"]
    files = next(iter(runs.values()))["files"]
    tags = next(facts["tags"] for name, facts in files.items() if name.endswith("_MS"))
    return {kind: {facts["tag"]: facts for facts in every} for kind, every in tags.items()}


def test_the_directory_of_one_run_is_that_run(lenet: Any) -> None:
    assert lenet.runs == ("./",)
    assert lenet.run("./").name == "lenet"
    assert lenet.lineage("./").train.network == "LeNet"


def test_scalars_are_all_there(lenet: Any, expected: dict[Any, Any]) -> None:
    scalars = lenet.scalars()
    assert {tag for _, tag in scalars} == set(expected["scalar"])
    for (_, tag), recorded in scalars.recorded().items():
        facts = expected["scalar"][tag]
        assert recorded.steps.tolist() == facts["steps"]
        assert recorded.values.tolist() == pytest.approx(facts["values"], nan_ok=True)
        assert scalars["./", tag].steps.tolist() == sorted(set(facts["steps"]))


def test_a_frame_has_a_row_for_each_point(lenet: Any, expected: dict[Any, Any]) -> None:
    frame = lenet.scalars("loss/auto").frame(overwritten=True)
    assert list(frame.columns) == ["run", "tag", "step", "wall_time", "value", "overwritten"]
    assert frame["step"].tolist() == expected["scalar"]["loss/auto"]["steps"]
    assert set(frame["tag"]) == {"loss/auto"}
    line = lenet.scalars("loss/auto").frame()
    assert line["value"].tolist() == frame[~frame["overwritten"]]["value"].tolist()
    assert str(frame["wall_time"].dt.tz) == "UTC"


def test_no_series_make_an_empty_frame(lenet: Any) -> None:
    assert len(lenet.scalars("nothing").frame()) == 0


def test_names_and_patterns(lenet: Any) -> None:
    assert set(lenet.scalars("loss*")) == {("./", "loss/auto")}
    assert set(lenet.scalars("*mean")) == {("./", "fc2_mean")}
    assert lenet.scalars("loss*", run="./other") == {}
    assert lenet.tags("image") == ("Image", "input_data/auto")
    with pytest.raises(KeyError):
        lenet.run("./other")


def test_a_run_is_known_without_the_dot_and_slash() -> None:
    summary = reader.open(DATA / "multi_rank")
    assert summary.matching("rank_3") == summary.matching("rank_3/") == summary.matching("./rank_3")
    assert summary.matching("rank_*") == summary.runs
    assert set(summary.scalars(run="rank_3")) == set(summary.scalars(run="./rank_3")) != set()


def test_a_frame_without_pandas_says_what_to_install(lenet: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ModuleNotFoundError, match=r"mindinsight\[notebook\]"):
        lenet.scalars().frame()


def test_a_tag_that_looks_like_a_pattern_is_found_by_its_name() -> None:
    landscapes = list(reader.open(DATA / "landscape").landscapes("landscape_[1, 5]"))
    assert [item.tag for item in landscapes] == ["landscape_[1, 5]"]
    assert require(landscapes[0].data.grid).z.ndim == 2


def test_images_and_tensors_are_read_when_asked_for(lenet: Any, expected: dict[Any, Any]) -> None:
    images = list(lenet.images("input_data/auto"))
    assert [item.step for item in images] == expected["image"]["input_data/auto"]["steps"]
    assert images[0].data.encoded.startswith(b"\x89PNG")
    tensors = list(lenet.tensors())
    assert [item.step for item in tensors] == expected["tensor"]["Tensor"]["steps"]
    assert isinstance(tensors[0].data.values, np.ndarray)


def test_refreshing_finds_new_runs_and_payloads_can_be_gone(tmp_path: Path) -> None:
    shutil.copytree(DATA / "record_api" / "images", tmp_path / "a")
    summary = reader.open(tmp_path)
    shutil.copytree(DATA / "record_api" / "values", tmp_path / "b")
    assert summary.runs == ("./a",)
    summary.refresh()
    assert summary.runs == ("./a", "./b")
    item = next(summary.images())
    shutil.rmtree(tmp_path / "a")
    with pytest.raises(Gone):
        _ = item.data


def test_a_restart_is_read_as_one_line(tmp_path: Path) -> None:
    shutil.copytree(DATA / "multi_rank" / "rank_0", tmp_path / "a")
    (first,) = (tmp_path / "a").glob("*_MS")
    shutil.copy(first, first.with_name(first.name.replace("summary.", "summary.9")))
    scalars = reader.open(tmp_path).scalars("loss/auto")
    once = scalars["./a", "loss/auto"]
    twice = scalars.recorded()["./a", "loss/auto"]
    assert twice.values[~twice.overwritten].tolist() == once.values.tolist()
    assert len(twice.steps) > 2 * len(once.steps) - 1
    assert np.all(np.diff(once.steps) > 0)
    assert math.isclose(once.values[-1], twice.values[-1])


def test_progress_is_told(tmp_path: Path) -> None:
    calls = []
    reader.Summary(DATA / "lenet", lambda read, total: calls.append((read, total)))
    assert calls[-1][0] == calls[-1][1] > 0


def test_something_else_than_a_directory_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadSettings, match="There is no directory"):
        reader.open(tmp_path / "nothing")


def test_several_directories_are_read_as_they_are_shown(tmp_path: Path) -> None:
    for name in ("mine", "users/ann", "users/bob"):
        shutil.copytree(DATA / "record_api" / "values", tmp_path / name / "run")
    summary = reader.open([tmp_path / "mine", f"{tmp_path}/users/*"])
    assert summary.runs == ("./ann/run", "./bob/run", "./mine/run")
    assert summary.matching("./ann/*") == ("./ann/run",)
    assert {run for run, _ in summary.scalars()} == set(summary.runs)
    shutil.copytree(tmp_path / "users/ann", tmp_path / "users/cleo")
    summary.refresh()
    assert "./cleo/run" in summary.runs
    assert reader.open(f"lab={tmp_path}/mine").runs == ("./lab/run",)


def test_one_of_several_that_is_missing_is_told(tmp_path: Path) -> None:
    with pytest.raises(BadSettings, match=r"none"):
        reader.open([tmp_path, f"lab={tmp_path}/../none"])


def test_scalars_of_a_machine_are_asked_for_by_their_beginning(tmp_path: Path) -> None:
    with SummaryRecord(tmp_path / "run") as record:
        record.add_value("scalar", "loss", 1.0, step=1)
        record.add_value("scalar", "system/cpu/percent", 50.0, step=1_790_000_000)
    summary = reader.open(tmp_path / "run")
    assert summary.tags() == ("loss",)
    assert summary.tags("system") == ("system/cpu/percent",)
    assert [tag for _, tag in summary.scalars()] == ["loss"]
    (line,) = summary.scalars("system/*").values()
    assert line.values.tolist() == [50.0]
    exported = list(export_scalars(summary, tmp_path / "out", "./", "csv"))
    assert [series.rows for series in exported] == [1, 1]
    assert "system/cpu/percent" in exported[0].path.read_text()
