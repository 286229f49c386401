"""Names, leaves and statistics of entries of dump.json."""

import itertools
import json
import os
from typing import Any

import numpy as np
import pytest

from mindinsight.server.formats.dumps import (
    describe_tensor,
    list_operators,
    list_tensors,
    open_dump,
    read_tensor,
)
from mindinsight.server.formats.dumps.msprobe_folder import (
    ancestors,
    parse_call,
    parse_tensor_name,
    stacks_of_entries,
    statistics_of,
)
from mindinsight.server.formats.graphs.call_stacks import Frame
from mindinsight.server.formats.read_limits import UnreadableError
from tests.narrowing import require
from tests.server.formats.dumps.layouts.conftest import leaf, listed


def test_tensors_come_before_the_json(root: Any) -> None:
    """The run still goes on, or ended in a crash: only files are there."""
    folder = root / "step0" / "rank0"
    whole = {(e.operator, e.direction, e.slot) for e in list_tensors(open_dump(root), 0, 0)}
    for name in ("dump.json", "stack.json", "construct.json"):
        (folder / name).unlink()
    for age, path in enumerate(sorted((folder / "dump_tensor_data").iterdir())):
        os.utime(path, (1000 + age, 1000 + age))
    entries = list_tensors(open_dump(root), 0, 0)
    assert {(e.operator, e.direction, e.slot) for e in entries} == whole
    assert entries.damage == ()
    assert entries[0].operator == "Distributed.all_reduce.0.forward"
    assert entries[0].shape is None
    assert describe_tensor(require(entries[0].ref)).dtype == "float32"
    assert len(list_operators(open_dump(root), 0, 0)) > 10


def test_a_json_cut_off_in_the_middle(root: Any) -> None:
    path = root / "step0" / "rank0" / "dump.json"
    whole = list(list_tensors(open_dump(root), 0, 0))
    text = path.read_text()
    path.write_text(text[: len(text) // 2])
    entries = list_tensors(open_dump(root), 0, 0)
    assert [(fault.path, fault.reason) for fault in entries.damage] == [(str(path), "dump.json_cut")]
    assert len(entries) == len(whole)
    known = [entry for entry in entries if entry.statistics]
    assert 10 < len(known) < len(whole)
    assert known == whole[: len(known)]
    assert open_dump(root).framework == "pytorch"


@pytest.mark.parametrize("name", ["stack.json", "construct.json"])
def test_other_files_cut_off(root: Any, name: str) -> None:
    path = root / "step0" / "rank0" / name
    path.write_text(path.read_text()[:-20])
    operators = list_operators(open_dump(root), 0, 0)
    assert [operator.reason for operator in operators.damage] == ["dump.json_cut"]
    assert sum(bool(operator.stack) for operator in operators) > 5


def test_damaged_tensors_leave_the_others(root: Any) -> None:
    data = root / "step0" / "rank0" / "dump_tensor_data"
    (data / "Functional.linear.0.forward.input.0.pt").write_bytes(b"PK\x03\x04")
    (data / "Functional.linear.0.forward.input.1.pt").unlink()
    (data / "some notes.txt").write_text("hello")
    entries = list_tensors(open_dump(root), 0, 0)
    assert sorted(fault.reason for fault in entries.damage) == ["dump.missing", "dump.unknown_name"]
    with pytest.raises(UnreadableError, match=r"dump.truncated"):
        read_tensor(require(entries[0].ref))
    assert (entries[1].ref, require(entries[1].damage).reason) == (None, "dump.missing")
    assert entries[1].statistics is not None
    assert read_tensor(require(entries[2].ref)).size


@pytest.mark.parametrize("name", ["../../dump.json", "/etc/passwd", "a\\b.npy"])
def test_a_name_in_the_json_is_never_a_path(made: Any, name: str) -> None:
    folder = made({"Functional.relu.0.forward": {"input_args": [leaf(data_name=name)]}})
    entries = listed(folder)
    assert entries[0].ref is None
    assert entries[0].damage.reason == entries.damage[0].reason == "dump.unsafe_name"


def test_variables_saved_by_hand(made: Any) -> None:
    folder = made({})
    (folder / "debug.json").write_text(json.dumps({"data": {"grad.0": leaf(data_name="grad.0.debug.npy")}}))
    np.save(folder / "dump_tensor_data" / "grad.0.debug.npy", np.arange(2, dtype=np.float32))
    (entry,) = listed(folder)
    assert (entry.operator, read_tensor(entry.ref).tolist()) == ("grad.0", [0, 1])


def test_leaves_of_every_shape(made: Any) -> None:
    folder = made(
        {
            "Torch.cat.0.forward": {
                "input_args": [[leaf(), [leaf()]], None, {"type": "int", "value": 3}, {"key": leaf()}],
                "input_kwargs": {"out": leaf(), "dims": [{"type": "slice", "value": [1, None]}]},
                "output": leaf(),
            },
            "Module.a.b.Net.parameters_grad.0": {
                "w": [leaf(Max=float("inf"), Min=None)],
                "v": [leaf(), leaf()],
            },
            "saved.0": leaf(Max="nan", Mean=[1], Norm=10**400),
            "odd": ["not", "an", "object"],
            "none": {"input_args": None},
        },
        level="debug",
    )
    entries = listed(folder)
    assert [(e.operator.split(".")[0], e.direction, e.slot) for e in entries] == [
        ("Torch", "input", "0.0"),
        ("Torch", "input", "0.1.0"),
        ("Torch", "input", "3.key"),
        ("Torch", "input", "out"),
        ("Torch", "output", "0"),
        ("Module", "output", "w"),
        ("Module", "output", "v.0"),
        ("Module", "output", "v.1"),
        ("saved", "output", "0"),
    ]
    assert entries[5].statistics.max == float("inf")
    assert entries[8].statistics.l2norm is None
    operators = list_operators(open_dump(folder.parents[1]), 0, 3)
    assert operators[0].arguments == (("input.2", "3"), ("input.dims.0", "[1, null]"))


@pytest.mark.parametrize("shape", ["2", [2, "x"], {"a": 1}, None])
def test_shapes_that_are_none(made: Any, shape: Any) -> None:
    (entry,) = listed(made({"Torch.a.0.forward": {"output": [leaf(shape=shape)]}}))
    assert entry.shape is None


def test_lists_without_end(made: Any) -> None:
    value: Any = leaf()
    for _ in range(200):
        value = [value]
    assert len(listed(made({"Torch.a.0.forward": {"output": [value, leaf()]}}))) == 1


def test_entries_that_are_no_object(made: Any) -> None:
    assert not listed(made(["a"]))


@pytest.mark.parametrize(
    ("entry", "kind", "path", "forward"),
    [
        ("Functional.conv2d.1.backward", "conv2d", ("Functional",), "Functional.conv2d.1.forward"),
        ("Primitive.a.b.MatMul.0.forward", "MatMul", ("Primitive",), "Primitive.a.b.MatMul.0.forward"),
        ("Module.m.0.fc.Linear.backward.2", "Linear", ("m", "0", "fc"), "Module.m.0.fc.Linear.forward.2"),
        ("Cell.n.Dense.parameters_grad.0", "Dense", ("n",), "Cell.n.Dense.forward.0"),
        ("optimizer", "optimizer", (), "optimizer"),
    ],
)
def test_names_of_calls(entry: Any, kind: Any, path: Any, forward: Any) -> None:
    assert parse_call(entry) == (kind, path, forward)


@pytest.mark.parametrize(
    ("name", "parsed"),
    [
        ("Torch.a.0.forward.input.0.1.pt", ("Torch.a.0.forward", "input", "0.1")),
        (
            "Module.m.Linear.forward.0.parameters.weight.npy",
            ("Module.m.Linear.forward.0", "parameter", "weight"),
        ),
        ("Cell.m.Dense.parameters_grad.0.bias.npy", ("Cell.m.Dense.parameters_grad.0", "output", "bias")),
        ("Torch.a.0.backward.output.2.npy", ("Torch.a.0.backward", "output", "2")),
        ("notes.txt", None),
        ("a.npy", None),
    ],
)
def test_names_of_tensor_files(name: Any, parsed: Any) -> None:
    assert parse_tensor_name(name) == parsed


def test_a_single_number_stands_in_place_of_its_checksum() -> None:
    """``summary_mode: xor`` of msprobe 26.2 writes the value of a 0-d tensor as its ``md5``."""
    result = require(statistics_of({"shape": [], "md5": -1.5}))
    assert (result.min, result.max, result.mean, result.l2norm) == (-1.5, -1.5, -1.5, 1.5)
    assert (result.checksum, result.checksum_kind) == ("-1.5", "value")
    assert require(statistics_of({"shape": [], "md5": float("nan")})).checksum == "nan"
    assert statistics_of({"shape": [], "md5": None}) is None
    assert statistics_of({"shape": [], "md5": True}) is None


def test_stacks_of_older_files() -> None:
    frames = [
        "File /a (b).py, line 3, in f, \n x = 1",
        "File <string>, line 1, in <module>, \n",
        "nonsense",
        5,
    ]
    assert stacks_of_entries({"Torch.a.0.forward": frames, "bad": 3}) == {
        "Torch.a.0.forward": (
            Frame("/a (b).py", 3, 0, "f", "x = 1"),
            Frame("<string>", 1, 0, "<module>", ""),
        )
    }


def test_trees_that_loop() -> None:
    assert ancestors({"a": "b", "b": "c", "c": "b"}, "a") == ("c", "b")
    assert ancestors({"a": None}, "a") == ()
    assert ancestors({"a": 5}, "a") == ()


def test_a_loop_in_the_tree_is_named(root: Any) -> None:
    """Every operator is listed all the same, and a long chain of modules is no loop."""
    file = root / "step0" / "rank0" / "construct.json"
    count = len(list_operators(open_dump(root), 0, 0))
    parents = json.loads(file.read_text())
    chain = [f"Module.m{i}.M.forward.0" for i in range(5000)]
    file.write_text(json.dumps(parents | dict(itertools.pairwise(chain))))
    assert list_operators(open_dump(root), 0, 0).damage == ()
    file.write_text(json.dumps(parents | {"Module.fc1.Linear.forward.0": "Functional.linear.0.forward"}))
    listed = list_operators(open_dump(root), 0, 0)
    assert len(listed) == count
    (damage,) = listed.damage
    assert (damage.path, damage.reason) == (str(file), "dump.loop")
    assert damage.detail in ("Module.fc1.Linear.forward.0", "Functional.linear.0.forward")
