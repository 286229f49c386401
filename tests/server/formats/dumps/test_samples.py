"""Every sample against the answers that were computed from its tensor files alone."""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mindinsight.server.formats.dumps import (
    describe_tensor,
    find_dump_dirs,
    list_operators,
    list_overflows,
    list_tensors,
    open_dump,
    read_tensor,
)
from mindinsight.server.formats.dumps.dump_names import escape_name
from mindinsight.server.formats.weights.mindspore_checkpoints import open_checkpoint, read_checkpoint


def md5(array: Any) -> Any:
    return hashlib.md5(np.ascontiguousarray(array).tobytes()).hexdigest()


def all_tensors(dump: Any) -> Iterator[Any]:
    for rank in dump.ranks:
        for step in dump.steps(rank):
            listing = list_tensors(dump, rank, step)
            assert listing.damage == ()
            assert [entry.sequence for entry in listing] == list(range(len(listing)))
            yield from listing


def same_tensor(entry: Any, expected: Any) -> None:
    array, header = read_tensor(entry.ref), describe_tensor(entry.ref)
    assert md5(array) == expected["md5"]
    assert list(array.shape) == list(header.shape) == expected["shape"]
    assert str(array.dtype) == header.dtype == expected["dtype"]
    assert header.size == array.nbytes


@pytest.mark.parametrize(
    "name", ["ms_sync_cpu_2ranks", "ms_sync_v2_0_names", "ms_sync_kernels_filter", "ms_sync_full_stats"]
)
def test_synchronous_dumps(samples: Any, name: str) -> None:
    expected = json.loads((samples / name / "expected.json").read_text())
    seen = set()
    for result in find_dump_dirs(samples / name):
        dump = open_dump(result.path)
        assert (dump.layout, dump.damage) == ("sync", ())
        for entry in all_tensors(dump):
            if entry.ref is None:
                continue
            key = str(Path(entry.ref.path).relative_to(samples / name))
            answer = expected["tensors"][key]
            assert (entry.type, entry.recorded) == (answer["type"], answer["name"])
            assert entry.format == answer["fmt"]
            assert (entry.slot, entry.timestamp) == (str(answer["slot"]), answer["ts"])
            assert entry.dtype in ("", answer["dtype"])
            assert (entry.direction == "input") == (answer["io"] == "input")
            same_tensor(entry, answer)
            seen.add(key)
    assert seen == expected["tensors"].keys()


@pytest.mark.parametrize("name", ["ms_sync_cpu_2ranks", "ms_sync_v2_0_names", "ms_sync_kernels_filter"])
def test_execution_orders(samples: Any, name: str) -> None:
    expected = json.loads((samples / name / "expected.json").read_text())
    dump = open_dump(samples / name)
    for key, order in expected["order"].items():
        rank = int(key.split("/")[0].removeprefix("rank_"))
        for step in dump.steps(rank):
            operators = [operator for operator in list_operators(dump, rank, step) if operator.order >= 0]
            assert [operator.name for operator in operators] == order
            assert [operator.order for operator in operators] == list(range(len(order)))


def described(array: Any) -> Any:
    """The figures of the answers for asynchronous dumps; complex numbers by their size."""
    with np.errstate(all="ignore"):
        values = array.astype(np.float64)
    nan = np.isnan(values)
    empty = {"max": None, "min": None, "l2": None}
    figures = {
        "max": float(values.max()),
        "min": float(values.min()),
        "l2": float(np.sqrt((values * values).sum())),
    }
    return {
        "shape": list(array.shape),
        "dtype": str(array.dtype),
        "nan": int(nan.sum()),
        "posinf": int(np.isposinf(values).sum()),
        "neginf": int(np.isneginf(values).sum()),
        "zero": int((values == 0).sum()),
        "sum_finite": float(values[np.isfinite(values)].sum()),
    } | (empty if nan.any() else figures)


@pytest.fixture(scope="module")
def asynchronous(samples: Any) -> tuple[Any, Any]:
    root = samples / "async_SYNTHETIC"
    return root, json.loads((root / "expected.json").read_text())


def test_asynchronous_npy(asynchronous: tuple[Any, Any]) -> None:
    root, expected = asynchronous
    answers = {(record["iteration"], record["file"]): record for record in expected["npy"]}
    for entry in all_tensors(open_dump(root / "npy")):
        answer = answers.pop((entry.step, Path(entry.ref.path).name))
        assert entry.recorded == escape_name(answer["op"])
        assert (entry.direction, entry.slot) == (answer["io"], str(answer["slot"]))
        array = read_tensor(entry.ref)
        complex_ = array.dtype.kind == "c"
        result = described(np.abs(array) if complex_ else array)
        for key, value in result.items():  # magnitudes differ in their last bit between versions of numpy
            close = complex_ and isinstance(value, float)
            assert value == (pytest.approx(answer[key], rel=1e-6) if close else answer[key]), key
    assert answers == {}


def test_asynchronous_bin(asynchronous: tuple[Any, Any]) -> None:
    root, expected = asynchronous
    answers = {
        (record["iteration"], record["file"], io, slot): record | answer
        for record in expected["bin"]
        for io in ("input", "output")
        for slot, answer in enumerate(record[f"{io}s"])
    }
    for entry in all_tensors(open_dump(root / "bin")):
        answer = answers.pop((entry.step, Path(entry.ref.path).name, entry.direction, int(entry.slot)))
        assert (entry.operator, entry.format) == (answer["op_name"], answer["device_format"])
        array = read_tensor(entry.ref)
        if array.dtype.kind == "c":  # these answers were computed from the real part
            assert array.real.astype(np.float64).sum() == answer["sum_finite"]
            continue
        result = described(array)
        assert result == {key: answer[key] for key in result}
        assert entry.shape == describe_tensor(entry.ref).shape == array.shape
    assert answers == {}


def test_acl_dumps(asynchronous: tuple[Any, Any]) -> None:
    root, expected = asynchronous
    dump = open_dump(root / "acl_o0")
    assert dump.steps() == (expected["acl_o0"]["step"],)
    entries = list(all_tensors(dump))
    first, last = read_tensor(entries[0].ref), read_tensor(entries[-1].ref)
    assert (entries[0].operator, entries[0].type) == ("aclnnAdd_1_AxpyAiCore", "Axpy")
    assert described(first) == expected["acl_o0"]["aclnn"]
    assert described(last) == expected["acl_o0"]["reducesum_out"]


@pytest.mark.parametrize("form", ["npy", "bin"])
def test_overflow_records(asynchronous: tuple[Any, Any], form: str) -> None:
    root, expected = asynchronous
    (answer,) = expected["overflow"]
    dump = open_dump(root / form)
    (overflow,) = list_overflows(dump, 0, answer["iteration"])
    assert Path(overflow.path).name == answer[f"file_{form}"]
    assert (overflow.unit, overflow.status) == ("AI Core", answer["status"])
    assert (overflow.task, overflow.stream) == (answer["task_id"], answer["stream_id"])
    assert escape_name(overflow.operator) == escape_name(answer["overflow_op"])
    assert not list_overflows(dump, 0, 0)


@pytest.mark.parametrize("name", ["msprobe_pytorch", "msprobe_mindspore"])
def test_msprobe(samples: Any, name: str) -> None:
    root = samples / name
    expected = json.loads((root / "expected.json").read_text())
    seen_tensors, seen_runs = set(), set()
    for result in find_dump_dirs(root):
        dump = open_dump(result.path)
        for folder in dump.folders:
            run = str(Path(folder.path).relative_to(root))
            answer = expected["runs"][run]
            seen_runs.add(run)
            assert (dump.framework, dump.level, dump.task) == tuple(
                answer[key] for key in ("framework", "level", "task")
            )
            operators = list_operators(dump, folder.rank, folder.step)
            if dump.task != "structure":
                assert len(operators) == answer["entries"]
                assert [operators[0].name, operators[-1].name] == answer["first"] + answer["last"]
        for entry in all_tensors(dump):
            if entry.ref:
                key = str(Path(entry.ref.path).relative_to(root))
                same_tensor(entry, expected["tensors"][key])
                assert entry.shape == tuple(expected["tensors"][key]["shape"])
                seen_tensors.add(key)
    assert seen_tensors == expected["tensors"].keys()
    assert seen_runs == expected["runs"].keys()


def test_checkpoints(samples: Any) -> None:
    expected = json.loads((samples / "ckpt" / "expected.json").read_text())
    for name, answers in expected["files"].items():
        file = open_checkpoint(samples / "ckpt" / name)
        assert list(file.tensors) == list(answers)
        for parameter, answer in answers.items():
            array = read_checkpoint(file, parameter)
            assert file.tensors[parameter].dtype == answer["ms_dtype"].lower()
            assert (md5(array), list(array.shape)) == (answer["md5"], answer["shape"])


def test_every_layout_is_found(samples: Any) -> None:
    layouts = [(Path(folder.path).name, folder.layout) for folder in find_dump_dirs(samples)]
    assert len(layouts) == 30
    assert {layout for _, layout in layouts} == {"sync", "asynchronous", "msprobe", "recorder"}
    assert ("rdr_v2_0", "recorder") in layouts
    assert ("edge_values", "sync") in layouts
