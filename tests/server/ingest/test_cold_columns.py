"""Cold columns: in unlinked, mapped files, or in memory where that cannot be."""

import errno
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mindinsight.server.errors import Gone
from mindinsight.server.ingest import cold_columns
from mindinsight.server.ingest.cold_columns import ColdColumns, TagValues, ValueSection
from tests.narrowing import require


def columns() -> list[Any]:
    return [np.arange(1000), np.linspace(0, 1, 1000, dtype=np.float32), np.empty(0), np.arange(7)[::2]]


def mapped_files() -> list[str]:
    return Path("/proc/self/maps").read_text().splitlines()


def test_moved_columns_are_equal_and_read_only(tmp_path: Path) -> None:
    cold = ColdColumns(tmp_path / "cache", smallest=1)
    before = columns()
    for old, new in zip(before, cold.move(before), strict=True):
        assert (new.dtype, new.tobytes()) == (old.dtype, old.tobytes())
        assert not new.flags.writeable
        assert new.base is not None


def test_the_file_has_no_name_so_that_nobody_can_cut_it_short(tmp_path: Path) -> None:
    moved = ColdColumns(tmp_path, smallest=1).move(columns())
    assert list(tmp_path.iterdir()) == []
    assert any(str(tmp_path) in path and path.endswith("(deleted)") for path in mapped_files())
    assert moved[0][-1] == 999


def test_a_file_is_freed_with_its_last_array(tmp_path: Path) -> None:
    cold = ColdColumns(tmp_path, segment=1, smallest=1)
    first, second = cold.move([np.arange(100)]), cold.move([np.arange(200)])
    assert sum(str(tmp_path) in path for path in mapped_files()) == 2
    del first
    assert sum(str(tmp_path) in path for path in mapped_files()) == 1
    assert second[0].sum() == 19900


def test_little_stays_where_it_is(tmp_path: Path) -> None:
    before = columns()
    assert all(new is old for new, old in zip(ColdColumns(tmp_path).move(before), before, strict=True))


def test_released_pages_come_back(tmp_path: Path) -> None:
    cold = ColdColumns(tmp_path, smallest=1)
    moved = cold.move(columns())
    cold.release()
    assert moved[0].tolist() == list(range(1000))


def test_more_columns_than_the_system_writes_at_once(tmp_path: Path) -> None:
    before = [np.arange(number % 50) + number for number in range(3000)]
    moved = ColdColumns(tmp_path, smallest=1).move(before)
    assert [array.tolist() for array in moved] == [array.tolist() for array in before]


def test_a_write_that_stops_halfway_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = os.pwritev

    def write_some(descriptor: int, pieces: Any, offset: int) -> int:
        return whole(descriptor, [b"".join(pieces)[:1000]], offset)

    monkeypatch.setattr(os, "pwritev", write_some)
    before = columns()
    moved = ColdColumns(tmp_path, smallest=1).move(before)
    assert [array.tobytes() for array in moved] == [array.tobytes() for array in before]


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO])
def test_a_full_disk_leaves_columns_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, number: int
) -> None:
    def fail(*_: object) -> int:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "pwritev", fail)
    cold, before = ColdColumns(tmp_path, smallest=1), columns()
    for _ in range(2):
        assert all(new is old for new, old in zip(cold.move(before), before, strict=True))
    assert caplog.text.count("keeping them in memory") == 1
    assert os.strerror(number) in caplog.text


def test_a_folder_that_cannot_be_made_leaves_columns_in_memory(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    before = columns()
    cold = ColdColumns(tmp_path / "file" / "cache", smallest=1)
    assert all(new is old for new, old in zip(cold.move(before), before, strict=True))


def test_nothing_is_mapped_from_another_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cold_columns, "is_shared", lambda _: True)
    before = columns()
    cold = ColdColumns(tmp_path, smallest=1)
    assert all(new is old for new, old in zip(cold.move(before), before, strict=True))


def stored_sections(cold: ColdColumns, *lengths: int) -> tuple[list[ValueSection], Any]:
    """Sections of the tags a and b in one file, and the values of b."""
    sections: list[ValueSection] = []
    values = [np.random.default_rng(length).standard_normal((2, length)) for length in lengths]
    values[0] = values[0].astype(np.float32)
    for matrix in values:
        file = sections[-1].file if sections else None
        sections.append(require(cold.store({"a": 0, "b": 1}, matrix, file)))
    return sections, np.concatenate([matrix[1] for matrix in values])


@pytest.mark.parametrize("most", [1, 1 << 20])
def test_stored_values_come_back_from_any_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    monkeypatch.setattr(cold_columns, "_MAX_WRITE", most)
    sections, values = stored_sections(ColdColumns(tmp_path, values=tmp_path / "cache" / "base"), 3, 1, 5)
    assert len({section.file for section in sections}) == 1
    assert all(section.is_complete() for section in sections)
    for first in range(10):
        chunks = TagValues(tuple(sections), "b", 9).read(first)
        assert [number for chunk in chunks for number in chunk.tolist()] == values[first:].tolist()


@pytest.mark.parametrize("harm", ["flip", "cut", "remove", "link"])
def test_a_damaged_file_of_values_is_noted_and_never_read(tmp_path: Path, harm: str) -> None:
    cold = ColdColumns(tmp_path, values=tmp_path / "cache")
    (section, _), _ = stored_sections(cold, 3, 4)
    path = section.file.path
    content = bytearray(path.read_bytes())
    content[section.row_size + 5] ^= 1
    if harm == "flip":
        path.write_bytes(content)
    elif harm == "cut":
        os.truncate(path, section.row_size + 8)
        assert not section.is_complete()
    else:
        path.rename(tmp_path / "elsewhere")
        if harm == "link":
            path.symlink_to(tmp_path / "elsewhere")
    assert not cold.lost
    with pytest.raises(Gone):
        TagValues((section,), "b", 3).read(0)
    assert cold.lost == {section.file}


def test_values_stay_in_memory_without_a_folder_or_room(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    values = np.zeros((1, 4), np.float32)
    assert ColdColumns(tmp_path).store({"a": 0}, values, None) is None
    (tmp_path / "file").write_bytes(b"")
    cold = ColdColumns(tmp_path, values=tmp_path / "file" / "cache")
    assert [cold.store({"a": 0}, values, None) for _ in range(2)] == [None, None]
    assert caplog.text.count("cannot store columns") == 1
