"""Checkpoints: statistics of each tensor and the difference of two files, against recorded answers."""

import json
import struct
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mindinsight.server.compute.tensor_statistics import as_dumped
from mindinsight.server.debug.checkpoint_weights import (
    TimelineCell,
    TimelineRow,
    compare_weights,
    count_states,
    find_series,
    locate_values,
    measure_weights,
    timeline_claims,
    weight_timeline,
)
from mindinsight.server.formats.weights.weight_files import open_weights
from tests.narrowing import require


@pytest.fixture
def folder(data: Any) -> Any:
    return data / "ckpt"


@pytest.mark.parametrize("name", ["tinynet-1.ckpt", "tinynet-2.ckpt", "tinynet-nan.ckpt"])
def test_statistics_of_a_checkpoint(folder: Any, name: str) -> None:
    expected = json.loads((folder / "expected.json").read_text())["files"][name]
    by_name = {row.weight.name: row for row in measure_weights(open_weights(folder / name))}
    assert list(by_name) == list(expected)
    for tag, answer in expected.items():
        statistics = require(by_name[tag].statistics)
        assert by_name[tag].weight.shape == tuple(answer["shape"])
        assert (statistics.nans, statistics.positive_infs) == (answer["nan"], answer["pinf"])
        wanted = tuple(float(answer[key]) for key in ("min", "max", "avg", "l2"))
        assert as_dumped(statistics) == pytest.approx(wanted, rel=1e-8, nan_ok=True)


@pytest.mark.parametrize(("first", "second"), [("1", "2"), ("2", "nan")])
def test_what_stood_still_between_two_checkpoints(folder: Any, first: str, second: str) -> None:
    names = f"tinynet-{first}.ckpt", f"tinynet-{second}.ckpt"
    expected = json.loads((folder / "expected.json").read_text())["pairs"][" -> ".join(names)]
    files: Any = [open_weights(folder / name) for name in names]
    rows = list(compare_weights(*files))
    assert [row.name for row in rows if row.state == "unchanged"] == expected["unchanged"]
    assert {row.state for row in rows} == {"unchanged", "changed"}
    for row in rows:
        if row.state == "changed":
            values = [file.read(row.name).astype(float) for file in files]
            assert row.equal == np.mean(values[0] == values[1])
            moved = np.abs(np.subtract(*values))
            assert require(row.measures).max_absolute == moved[np.isfinite(moved)].max()


def test_what_became_not_finite_is_counted(tmp_path: Path) -> None:
    """Check that the distance is None, not 0, if no elements can be compared."""
    values = np.arange(6, dtype=np.float32)
    some = np.where(values > 3, np.inf, values).astype(np.float32)
    lost = np.full_like(values, np.nan)
    np.savez(tmp_path / "a.npz", all=values, some=values, back=some)
    np.savez(tmp_path / "b.npz", all=lost, some=some, back=values)
    files: Any = [open_weights(tmp_path / name) for name in ("a.npz", "b.npz")]
    by_name = {row.name: row for row in compare_weights(*files)}
    assert {name: row.apart for name, row in by_name.items()} == {"all": 6, "some": 2, "back": 2}
    assert {name: row.non_finite for name, row in by_name.items()} == {"all": 6, "some": 2, "back": 2}
    assert {name: require(row.measures).lost for name, row in by_name.items()} == {
        "all": 6,
        "some": 2,
        "back": 0,
    }
    gone = require(by_name["all"].measures)
    assert (gone.max_absolute, gone.relative_distance, gone.one_thousandth) == (None, None, None)
    assert (require(by_name["some"].measures).max_absolute, require(by_name["back"].measures).apart) == (
        0.0,
        2,
    )


def test_what_is_not_finite_in_both_files_or_in_one_alone_is_counted(tmp_path: Path) -> None:
    nan = np.array([np.nan, 1, np.inf])
    np.savez(tmp_path / "a.npz", same=nan, gone=nan, text=np.array(["x"]))
    np.savez(tmp_path / "b.npz", same=nan, added=np.ones(3), text=np.array(["x"]))
    files: Any = [open_weights(tmp_path / name) for name in ("a.npz", "b.npz")]
    rows = list(compare_weights(*files))
    assert {row.name: row.non_finite for row in rows} == {"same": 4, "gone": 2, "text": None, "added": 0}
    assert count_states(rows) == {"unchanged": 2, "first": 1, "second": 1}


def test_a_pool_finds_the_same(folder: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mindinsight.server.compute.parallel_map.HERE", 0)
    first, second = (open_weights(folder / f"tinynet-{name}.ckpt") for name in ("1", "nan"))
    with ProcessPoolExecutor(1) as pool:
        assert list(compare_weights(first, second, pool)) == list(compare_weights(first, second))


def safetensors(path: Any, **tensors: Any) -> None:
    """Write a safetensors file: length of the header, header, bytes."""
    header, body = {}, b""
    for name, (dtype, values) in tensors.items():
        ends = [len(body), len(body) + values.nbytes]
        header[name] = {"dtype": dtype, "shape": list(values.shape), "data_offsets": ends}
        body += values.tobytes()
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + body)


def test_files_of_different_formats_are_compared_name_by_name(tmp_path: Path) -> None:
    nan = np.array([np.nan, 1], np.float32)
    np.savez(
        tmp_path / "a.npz",
        same=nan, moved=np.array([1, 2], np.float32), shape=np.ones((2, 3)), turned=np.zeros((2, 3)),
        wider=np.array([1, 2], np.float32),
        gone=np.zeros(1), signed=np.array([0.0], np.float32), empty=np.zeros((0, 4)),
    )  # fmt: skip
    safetensors(
        tmp_path / "b.safetensors",
        added=("I32", np.array([1], np.int32)),
        same=("F32", nan),
        moved=("F32", np.array([1, 3], np.float32)),
        shape=("F64", np.zeros((3, 2))),
        turned=("F64", np.zeros((3, 2))),
        wider=("F64", np.array([1, 2], np.float64)),
        signed=("F32", np.array([-0.0], np.float32)),
        empty=("F64", np.zeros((0, 4))),
    )
    files: Any = open_weights(tmp_path / "a.npz"), open_weights(tmp_path / "b.safetensors")
    by_name = {row.name: row for row in compare_weights(*files)}
    assert {name: row.state for name, row in by_name.items()} == {
        "same": "unchanged",
        "moved": "changed",
        "shape": "shape",
        "turned": "reshaped",
        "wider": "type",
        "gone": "first",
        "signed": "bits",
        "empty": "unchanged",
        "added": "second",
    }
    assert (by_name["moved"].equal, require(by_name["moved"].measures).max_absolute) == (0.5, 1)
    assert require(by_name["wider"].measures).max_absolute == 0
    assert (by_name["gone"].second, by_name["added"].first) == (None, None)


def test_a_tensor_that_cannot_be_read_is_named_and_the_rest_compared(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", good=np.zeros(3), bad=np.array([{}]))
    file = open_weights(tmp_path / "a.npz")
    states = {row.name: row.state for row in compare_weights(file, file)}
    assert states == {"good": "unchanged", "bad": "unreadable"}
    measured = {row.weight.name: row for row in measure_weights(file)}
    assert require(measured["good"].statistics).zeros == 3
    assert measured["bad"].statistics is None
    assert require(measured["bad"].error).reason


@pytest.mark.parametrize(
    ("ids", "steps"),
    [
        (["./a-2_9.ckpt", "./a-1_9.ckpt", "./a-3_4.ckpt"], {"1_9": 9, "2_9": 18, "3_4": 22}),
        (["./gpt2-900.pt", "./gpt2-1000.pt"], {"900": 900, "1000": 1000}),
        (["./r/checkpoint-10/m.npz", "./r/checkpoint-5/m.npz"], {"5": 5, "10": 10}),
        (["./net.npz"], {"net.npz": None}),
    ],
)  # fmt: skip
def test_files_of_a_training_are_in_the_order_of_their_steps(
    ids: list[str], steps: dict[str, int | None]
) -> None:
    (series,) = find_series(ids)
    assert {saved.label: saved.step for saved in series.checkpoints} == steps
    assert list(steps) == [saved.label for saved in series.checkpoints]


def test_ranks_runs_and_shards_are_no_steps() -> None:
    ids = ["./run_0/net-1.ckpt", "./run_1/net-1.ckpt", "./model-00001-of-00002.safetensors"]
    ids += ["./model-00002-of-00002.safetensors", "./checkpoint-5/m-00001-of-00002.bin"]
    assert [len(series.checkpoints) for series in find_series(ids)] == [1] * 5


def test_a_folder_with_a_number_is_no_step_if_its_files_are_steps() -> None:
    ids = [f"./ckpt{run}/net-{step}.pt" for run in (7, 50) for step in (100, 200, 300)]
    assert [len(series.checkpoints) for series in find_series(ids)] == [3, 3]
    of_ranks = [f"./checkpoint-{step}/rng_state_{rank}.pth" for step in (100, 200, 300) for rank in (0, 1)]
    assert [len(series.checkpoints) for series in find_series(of_ranks)] == [3, 3]


Tensors = dict[str, np.ndarray]


def steps() -> list[Tensors]:
    base = np.ones(4, np.float32)
    broken = base.copy()
    broken[1:3] = np.nan, np.inf
    return [
        {"moves": base, "frozen": base, "breaks": base, "old": base},
        {"moves": 3 * base, "frozen": base, "breaks": broken},
        {"moves": 3 * base, "frozen": base, "breaks": broken, "new": base},
    ]


@pytest.fixture
def rows(tmp_path: Path) -> dict[str, TimelineRow]:
    for step, tensors in enumerate(steps()):
        np.savez(tmp_path / f"net-{step}.npz", **tensors)  # type: ignore[arg-type]
    files = [open_weights(tmp_path / f"net-{step}.npz") for step in range(3)]
    return {row.name: row for row in weight_timeline(files)}


def test_a_cell_says_how_far_a_tensor_moved_and_what_broke(rows: dict[str, TimelineRow]) -> None:
    start, frozen = TimelineCell("start", None, 0), TimelineCell("unchanged", 0.0, 0, 1.0)
    assert rows["moves"].cells == (start, TimelineCell("changed", 2.0, 0, 1.0), frozen)
    assert rows["frozen"].cells == (start, frozen, frozen)
    assert rows["old"].cells == (start, TimelineCell("absent"), TimelineCell("absent"))
    assert rows["new"].cells == (TimelineCell("absent"), TimelineCell("absent"), start)
    assert [cell.non_finite for cell in rows["breaks"].cells] == [0, 2, 2]
    assert [cell.state for cell in rows["breaks"].cells] == ["start", "changed", "unchanged"]


def test_values_are_located_without_reading_them(tmp_path: Path) -> None:
    np.savez(tmp_path / "net.npz", weight=np.arange(6.0).reshape(2, 3))
    values = locate_values(tmp_path / "net.npz", "weight")
    assert values.part((1, slice(1, None))).tolist() == [4.0, 5.0]
    with pytest.raises(KeyError):
        locate_values(tmp_path / "net.npz", "other")


def test_the_largest_change_of_a_series_is_named_with_its_checkpoints(tmp_path: Path) -> None:
    """It is compared with the last checkpoint that has the tensor; states of optimizers do not count."""
    checkpoints: list[dict[str, Any]] = [
        {"a": np.ones(4), "b": np.ones(4), "moments.a": np.ones(4)},
        {"a": np.full(4, 1.1), "moments.a": np.full(4, 50.0)},
        {"a": np.full(4, 1.2), "b": np.full(4, 3.0), "moments.a": np.full(4, 900.0)},
    ]
    for number, tensors in enumerate(checkpoints):
        np.savez(tmp_path / f"net-{number}.npz", **tensors)
    names = [f"net-{number}.npz" for number in range(3)]
    rows = list(weight_timeline([open_weights(tmp_path / name) for name in names]))
    claims = timeline_claims(rows, names)
    (claim,) = [claim for claim in claims if claim.key == "claim.checkpoint.largest_step"]
    expected = {"name": "b", "share": 2.0, "before": "net-0.npz", "checkpoint": "net-2.npz", "n": 2}
    assert {name: claim.values[name] for name in expected} == expected
    assert claim.values["usual"] == pytest.approx(0.1)
