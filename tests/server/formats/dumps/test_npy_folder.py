"""Folders of npy files: names, mappings and damage."""

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mindinsight.server.formats.budgets import Budget
from mindinsight.server.formats.dumps import (
    read_tensor,
)
from mindinsight.server.formats.unreadable import UnreadableError


def test_names_beyond_the_length_of_names(dump: Any) -> None:
    _, full = dump.add("MatMul", "x" * 300, name="1234567.npy")
    dump.add("Add", "op")
    (dump.step / "mapping.csv").write_text(f"1234567.npy,{full}\n77.npy,../../etc/passwd\nno comma\n")
    entries = dump.list()
    assert [entry.operator for entry in entries] == ["x" * 300, "op"]
    assert read_tensor(entries[0].ref).tolist() == [1, 1]


def test_a_mapping_beyond_any(dump: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mindinsight.server.formats.dumps.npy_folder.MAPPING", Budget("names", 10, 10))
    _, full = dump.add("Add", "op", name="7.npy")
    (dump.step / "mapping.csv").write_text(f"7.npy,{full}\n")
    assert [fault.reason for fault in dump.list().damage] == ["dump.too_large", "dump.unknown_name"]


def test_listing_opens_no_tensor(dump: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(20):
        path, _ = dump.add("Add", f"op{number}")
        path.write_bytes(b"")
    opened = []
    before = Path.open

    def noted(path: Any, *rest: Any, **more: Any) -> Any:
        opened.append(path.name)
        return before(path, *rest, **more)

    monkeypatch.setattr(Path, "open", noted)
    assert len(list(dump.list())) == 20
    assert [name for name in opened if name.endswith(".npy")] == []


def test_a_name_nobody_explains_is_still_a_tensor(dump: Any) -> None:
    dump.add("Add", "op")
    dump.add("Add", "op", name="999.npy")
    entries = dump.list()
    assert [fault.reason for fault in entries.damage] == ["dump.unknown_name"]
    assert (entries[0].operator, entries[0].type) == ("999", "")
    assert read_tensor(entries[0].ref).tolist() == [1, 1]


@pytest.mark.parametrize("operator", ["two\nlines", "..", "100%", "%2e%2e", "a b", "<script>", "名前"])
def test_strange_names(dump: Any, operator: str) -> None:
    dump.add("Add", operator)
    (entry,) = dump.list()
    assert entry.operator == entry.recorded == operator
    assert read_tensor(entry.ref).shape == (2,)


def test_a_name_that_is_no_text(dump: Any) -> None:
    path, _ = dump.add("Add", "op")
    path.rename(os.fsdecode(os.fsencode(path).replace(b".op.", b".\xff\xfe.")))
    entries = dump.list()
    assert [fault.reason for fault in entries.damage] == ["dump.name_not_text"]
    assert read_tensor(entries[0].ref).shape == (2,)


def test_broken_tensors_leave_the_others(dump: Any) -> None:
    whole, _ = dump.add("Add", "whole")
    cut, _ = dump.add("Add", "cut")
    cut.write_bytes(cut.read_bytes()[:-3])
    huge, _ = dump.add("Add", "huge")
    huge.write_bytes(huge.read_bytes().replace(b"(2,), }" + b" " * 15, b"(1000000000000000,), }"))
    objects, _ = dump.add("Add", "objects")
    np.save(objects, np.array([None, "x"], object), allow_pickle=True)
    gone, _ = dump.add("Add", "gone")
    entries = {entry.operator: entry for entry in dump.list()}
    gone.unlink()
    for operator, reason in (
        ("cut", "dump.truncated"),
        ("huge", "dump.truncated"),
        ("objects", "dump.object_dtype"),
        ("gone", "dump.missing"),
    ):
        with pytest.raises(UnreadableError) as error:
            read_tensor(entries[operator].ref)
        assert error.value.reason == reason
    assert read_tensor(entries["whole"].ref).tolist() == [1, 1]
    assert whole.exists()
