"""Pieces of files as values: what was read, whether the file is still the same, and why nothing was."""

import os
from pathlib import Path
from typing import Any

import pytest

from mindinsight.server.ingest import piece_reader
from mindinsight.server.ingest.piece_reader import (
    Fingerprint,
    SectionRequest,
    read_file_section,
    read_file_sections,
)

DATA = Path(__file__).parents[2] / "data" / "events"


@pytest.fixture
def path(events: Any, tmp_path: Path) -> Path:
    return Path(events.file(tmp_path / "a", events.version() + events.records(1, 2, 3)))


def size(path: Path) -> int:
    return path.stat().st_size


def test_a_piece_is_read_and_remembered_by_its_ends(path: Path) -> None:
    piece = read_file_section(SectionRequest(str(path), 0, size(path)))
    assert piece.section is not None
    assert piece.section.next_offset == size(path)
    content = path.read_bytes()
    assert piece.fingerprint == Fingerprint(content[:64], content[-64:])
    assert (piece.replaced, piece.reason) == (False, "")


def test_what_was_appended_is_read_from_where_the_first_piece_ended(path: Path, events: Any) -> None:
    first = read_file_section(SectionRequest(str(path), 0, size(path)))
    begin = size(path)
    events.append(path, events.records(4))
    piece = read_file_section(SectionRequest(str(path), begin, size(path) - begin, first.fingerprint))
    assert piece.section is not None
    assert (piece.section.records, piece.section.next_offset) == (1, size(path))


@pytest.mark.parametrize("at", [0, -1])
def test_other_bytes_where_was_read_are_noticed(path: Path, at: int) -> None:
    fingerprint = read_file_section(SectionRequest(str(path), 0, size(path))).fingerprint
    content = bytearray(path.read_bytes())
    content[at] ^= 1
    path.write_bytes(content)
    piece = read_file_section(SectionRequest(str(path), size(path), 0, fingerprint))
    assert piece.replaced
    assert piece.section is None


def test_a_piece_of_no_bytes_only_compares(path: Path) -> None:
    fingerprint = read_file_section(SectionRequest(str(path), 0, size(path))).fingerprint
    piece = read_file_section(SectionRequest(str(path), size(path), 0, fingerprint))
    assert piece.section is not None
    assert (piece.section.next_offset, piece.section.records) == (size(path), 0)
    assert (piece.replaced, piece.fingerprint) == (False, fingerprint)


def test_a_lineage_file_is_read_whole() -> None:
    path = min((DATA / "lenet").glob("*_lineage"))
    piece = read_file_section(SectionRequest(str(path), 0, size(path), lineage=True))
    assert piece.lineage is not None
    assert piece.lineage.train is not None or piece.lineage.dataset_graph is not None
    assert piece.section is not None
    assert piece.section.next_offset == size(path)


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda path: None, "file.gone"),
        (lambda path: path.symlink_to("/etc/hostname"), "file.link"),
        (os.mkfifo, "file.not_a_file"),
        (lambda path: path.mkdir(), "file.not_a_file"),
    ],
    ids=["missing", "link", "pipe", "folder"],
)
def test_what_is_no_file_has_a_reason(tmp_path: Path, make: Any, reason: str) -> None:
    make(tmp_path / "x")
    piece = read_file_section(SectionRequest(str(tmp_path / "x"), 0, 10))
    assert (piece.section, piece.reason) == (None, reason)


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (PermissionError(13, "Permission denied"), "file.permission"),
        (OSError(116, "Stale file handle"), "file.gone"),
        (OSError(5, "Input/output error"), "file.unreadable"),
        (MemoryError(), "file.memory"),
        (RuntimeError("a fault of ours"), "file.undecodable"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else value,
)
def test_errors_while_reading_have_a_reason(
    path: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException, reason: str
) -> None:
    def broken(*arguments: object) -> bytes:
        raise error

    monkeypatch.setattr(piece_reader, "read_at", broken)
    piece = read_file_section(SectionRequest(str(path), 0, size(path)))
    assert (piece.section, piece.reason) == (None, reason)
    assert ("a fault of ours" in piece.detail) == (reason == "file.undecodable")


def test_of_several_pieces_each_has_its_result(path: Path) -> None:
    missing, good = SectionRequest(str(path) + "x", 0, 9), SectionRequest(str(path), 0, size(path))
    assert [result.reason for result in read_file_sections([missing, good])] == ["file.gone", ""]
