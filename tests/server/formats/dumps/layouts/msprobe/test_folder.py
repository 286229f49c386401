"""Tensors and calls of a rank folder."""

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
from mindinsight.server.formats.unreadable import UnreadableError
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
    with pytest.raises(UnreadableError, match=r"dump.bad_zip"):
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
