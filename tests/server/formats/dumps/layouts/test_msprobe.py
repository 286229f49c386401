import itertools
import json
import os
import shutil
from pathlib import Path

import numpy as np
import pytest

from mindinsight.server.formats.budgets import Budget
from mindinsight.server.formats.dumps import (
    describe_tensor,
    find_layout,
    list_operators,
    list_overflows,
    list_tensors,
    open_dump,
    read_tensor,
)
from mindinsight.server.formats.dumps.layouts.msprobe.entries import (
    parse_call,
    parse_tensor_name,
    statistics_of,
)
from mindinsight.server.formats.dumps.layouts.msprobe.stacks import ancestors, stacks_of_entries
from mindinsight.server.formats.graphs.call_stacks import Frame, own_frame
from mindinsight.server.formats.unreadable import UnreadableError
from tests.narrowing import require


@pytest.fixture
def root(samples, tmp_path):
    """A dump of PyTorch with modules, calls and tensors, to be changed."""
    return Path(shutil.copytree(samples / "msprobe_pytorch/mix_tensor_2ranks", tmp_path / "dump"))


@pytest.fixture
def made(tmp_path):
    """``made(data)``: a dump of one rank with these entries and no files."""

    def make(data, **top):
        folder = tmp_path / "made" / "step3" / "rank"
        (folder / "dump_tensor_data").mkdir(parents=True)
        (folder / "dump.json").write_text(json.dumps({"task": "tensor", **top, "data": data}))
        return folder

    return make


def leaf(**fields):
    return {"type": "torch.Tensor", "dtype": "torch.float32", "shape": [2], **fields}


def listed(folder):
    dump = open_dump(folder.parents[1])
    return list_tensors(dump, 0, dump.steps()[0])


def test_ranks_and_processes(samples, tmp_path):
    dump = open_dump(samples / "msprobe_pytorch/mix_tensor_2ranks")
    assert dump.rank_names == ((0, "rank0"), (1, "rank1"))
    assert '"mix"' in dump.config
    for name in ("rank", "rank3", "proc200", "proc31", "rank_9", "notes"):
        (tmp_path / "step0" / name).mkdir(parents=True)
        (tmp_path / "step0" / name / "dump.json").write_text("{}")
    assert open_dump(tmp_path).rank_names == ((0, "rank"), (3, "rank3"), (4, "proc31"), (5, "proc200"))


def test_one_step_or_one_rank_alone(samples):
    root = samples / "msprobe_pytorch/mix_tensor_2ranks"
    assert open_dump(root / "step1").steps() == (1,)
    one = open_dump(root / "step1" / "rank1")
    assert (one.rank_names, one.steps()) == (((1, "rank1"),), (1,))
    assert len(list_tensors(one, 1, 1)) == len(list_tensors(open_dump(root), 1, 1))


def test_directions_and_slots(samples):
    entries = list_tensors(open_dump(samples / "msprobe_pytorch/mix_tensor_2ranks"), 0, 0)
    found = {(e.operator, e.direction, e.slot) for e in entries}
    assert ("Functional.linear.0.forward", "input", "2") in found
    assert ("Module.fc1.Linear.forward.0", "parameter", "weight") in found
    assert ("Module.fc1.Linear.parameters_grad.0", "output", "weight") in found
    assert ("Functional.linear.1.backward", "output", "2") in found
    weight = next(e for e in entries if e.slot == "weight")
    assert weight.requires_grad is True
    assert require(weight.statistics).l2norm == pytest.approx(
        np.linalg.norm(read_tensor(require(weight.ref))), rel=1e-4
    )


@pytest.mark.parametrize(
    ("name", "kind", "digits"),
    [
        ("msprobe_pytorch/mix_statistics_md5", "crc32", 8),
        ("msprobe_mindspore/L1_statistics_md5", "crc32", 8),
        ("msprobe_pytorch/L1_statistics_xor", "xor64", 18),
    ],
)
def test_checksums_of_every_kind(samples, name, kind, digits):
    listed = list_tensors(open_dump(samples / name), 0, 0)
    entries = [entry for entry in listed if entry.statistics]
    numbers = [entry for entry in entries if require(entry.statistics).checksum_kind == "value"]
    assert {entry.shape for entry in numbers} == ({()} if kind == "xor64" else set())
    entries = [entry for entry in entries if entry not in numbers]
    assert len(entries) >= len(listed) - 8
    assert {require(entry.statistics).checksum_kind for entry in entries} == {kind}
    assert {len(require(entry.statistics).checksum) for entry in entries} == {digits}
    assert all((require(entry.statistics).max is None) == (kind == "xor64") for entry in entries)


def test_calls_have_modules_arguments_and_source_lines(samples):
    operators = {
        each.name: each
        for each in list_operators(open_dump(samples / "msprobe_pytorch/mix_tensor_2ranks"), 0, 0)
    }
    linear = operators["Functional.linear.0.forward"]
    assert linear.type == "linear"
    assert linear.scope == ("Module.fc1.Linear.forward.0",)
    assert require(own_frame(linear.stack)).line == 15
    assert "self.fc1(x)" in require(own_frame(linear.stack)).code
    assert operators["Functional.linear.0.backward"].stack == linear.stack
    assert operators["Tensor.add_.0.forward"].arguments == (("input.alpha", "-0.1"),)
    gradient = operators["Module.fc1.Linear.parameters_grad.0"]
    assert (gradient.type, gradient.outputs) == ("Linear", ("bias", "weight"))
    assert "optimizer" not in operators


def test_structure_alone_lists_calls(samples):
    dump = open_dump(samples / "msprobe_pytorch/mix_structure_statistics")
    operators = list_operators(dump, 0, 0)
    assert len(operators) > 10
    assert all(each.sequence == -1 for each in operators)
    assert not list_tensors(dump, 0, 0)


def test_no_overflow_records(samples):
    assert not list_overflows(open_dump(samples / "msprobe_pytorch/mix_tensor_2ranks"), 0, 0)


def test_tensors_come_before_the_json(root):
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


def test_a_json_cut_off_in_the_middle(root):
    path = root / "step0" / "rank0" / "dump.json"
    whole = list(list_tensors(open_dump(root), 0, 0))
    text = path.read_text()
    path.write_text(text[: len(text) // 2])
    entries = list_tensors(open_dump(root), 0, 0)
    assert [(each.path, each.reason) for each in entries.damage] == [(str(path), "dump.json_cut")]
    assert len(entries) == len(whole)
    known = [entry for entry in entries if entry.statistics]
    assert 10 < len(known) < len(whole)
    assert known == whole[: len(known)]
    assert open_dump(root).framework == "pytorch"


@pytest.mark.parametrize("name", ["stack.json", "construct.json"])
def test_other_files_cut_off(root, name):
    path = root / "step0" / "rank0" / name
    path.write_text(path.read_text()[:-20])
    operators = list_operators(open_dump(root), 0, 0)
    assert [each.reason for each in operators.damage] == ["dump.json_cut"]
    assert sum(bool(each.stack) for each in operators) > 5


def test_damaged_tensors_leave_the_others(root):
    data = root / "step0" / "rank0" / "dump_tensor_data"
    (data / "Functional.linear.0.forward.input.0.pt").write_bytes(b"PK\x03\x04")
    (data / "Functional.linear.0.forward.input.1.pt").unlink()
    (data / "some notes.txt").write_text("hello")
    entries = list_tensors(open_dump(root), 0, 0)
    assert sorted(each.reason for each in entries.damage) == ["dump.missing", "dump.unknown_name"]
    with pytest.raises(UnreadableError, match=r"dump.bad_zip"):
        read_tensor(require(entries[0].ref))
    assert (entries[1].ref, require(entries[1].damage).reason) == (None, "dump.missing")
    assert entries[1].statistics is not None
    assert read_tensor(require(entries[2].ref)).size


@pytest.mark.parametrize("name", ["../../dump.json", "/etc/passwd", "a\\b.npy"])
def test_a_name_in_the_json_is_never_a_path(made, name):
    folder = made({"Functional.relu.0.forward": {"input_args": [leaf(data_name=name)]}})
    entries = listed(folder)
    assert entries[0].ref is None
    assert entries[0].damage.reason == entries.damage[0].reason == "dump.unsafe_name"


def test_leaves_of_every_shape(made):
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
def test_shapes_that_are_none(made, shape):
    (entry,) = listed(made({"Torch.a.0.forward": {"output": [leaf(shape=shape)]}}))
    assert entry.shape is None


def test_lists_without_end(made):
    value = leaf()
    for _ in range(200):
        value = [value]
    assert len(listed(made({"Torch.a.0.forward": {"output": [value, leaf()]}}))) == 1


def test_entries_that_are_no_object(made):
    assert not listed(made(["a"]))


def test_variables_saved_by_hand(made):
    folder = made({})
    (folder / "debug.json").write_text(json.dumps({"data": {"grad.0": leaf(data_name="grad.0.debug.npy")}}))
    np.save(folder / "dump_tensor_data" / "grad.0.debug.npy", np.arange(2, dtype=np.float32))
    (entry,) = listed(folder)
    assert (entry.operator, read_tensor(entry.ref).tolist()) == ("grad.0", [0, 1])


def test_a_file_of_several_tensors(made):
    folder = made({"Torch.a.0.forward": {"output": [leaf(data_name="many.pt")]}})
    weights = Path(__file__).parents[4] / "data" / "weights"
    shutil.copy(weights / "state.pt", folder / "dump_tensor_data" / "many.pt")
    (entry,) = listed(folder)
    for ask in (read_tensor, describe_tensor):
        with pytest.raises(UnreadableError, match=r"dump.not_one_tensor: 8 tensors"):
            ask(entry.ref)


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
def test_names_of_calls(entry, kind, path, forward):
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
def test_names_of_tensor_files(name, parsed):
    assert parse_tensor_name(name) == parsed


def test_stacks_of_older_files():
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


def test_trees_that_loop():
    assert ancestors({"a": "b", "b": "c", "c": "b"}, "a") == ("c", "b")
    assert ancestors({"a": None}, "a") == ()
    assert ancestors({"a": 5}, "a") == ()


def test_a_loop_in_the_tree_is_named(root):
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


def test_files_that_cannot_be_read(root, tmp_path, monkeypatch):
    monkeypatch.setattr("mindinsight.server.formats.cut_json.JSON", Budget("JSON", 10, 10))
    entries = list_tensors(open_dump(root), 0, 0)
    assert [each.reason for each in entries.damage] == ["dump.too_large"]
    assert len(entries) > 40  # by the names of their files
    (root / "config.json").unlink()
    assert open_dump(root).config == ""
    (root / "config.json").symlink_to(root / "step0" / "rank0" / "dump.json")
    assert [each.reason for each in open_dump(root).damage] == ["dump.link"]


def test_steps_without_ranks(tmp_path):
    (tmp_path / "step0" / "checkpoints").mkdir(parents=True)
    (tmp_path / "step1" / "rank0").mkdir(parents=True)
    assert find_layout(tmp_path) is None


def test_a_single_number_stands_in_place_of_its_checksum():
    """``summary_mode: xor`` of msprobe 26.2 writes the value of a 0-d tensor as its ``md5``."""
    found = require(statistics_of({"shape": [], "md5": -1.5}))
    assert (found.min, found.max, found.mean, found.l2norm) == (-1.5, -1.5, -1.5, 1.5)
    assert (found.checksum, found.checksum_kind) == ("-1.5", "value")
    assert require(statistics_of({"shape": [], "md5": float("nan")})).checksum == "nan"
    assert statistics_of({"shape": [], "md5": None}) is None
    assert statistics_of({"shape": [], "md5": True}) is None
