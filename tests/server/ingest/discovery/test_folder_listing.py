"""Listings of one folder: its event files with their stamps, what is to be looked into, what went wrong."""

import time
from pathlib import Path

import pytest

from mindinsight.server.ingest.discovery.folder_listing import (
    NOWHERE,
    Folder,
    Stamp,
    holds_profile,
    list_folder,
    stamp_of,
)

EVENTS = "a.out.events.summary.1700000001.host.1234_MS"


def test_a_stamp_changes_with_content_and_with_the_right_to_write(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"a")
    first = stamp_of(str(path))
    assert first is not None
    assert (first.size, first.closed) == (1, False)
    path.chmod(0o400)
    closed = stamp_of(str(path))
    assert closed is not None and closed.closed
    assert closed != first
    assert stamp_of(str(tmp_path / "none")) is None


def test_files_and_folders_are_told_apart_and_links_left_out(tmp_path: Path) -> None:
    (tmp_path / EVENTS).write_bytes(b"abc")
    (tmp_path / "train.log").write_bytes(b"")
    (tmp_path / "below").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "below")
    (tmp_path / f"{EVENTS}_lineage").mkdir()  # a folder with the name of a file
    folder = list_folder(str(tmp_path), 5)
    assert folder is not None
    assert {name: stamp.size for name, stamp in folder.files.items()} == {EVENTS: 3}
    assert set(folder.below) == {"below", f"{EVENTS}_lineage"}
    assert (folder.looked, folder.reason) == (5, "")


def test_what_is_no_folder_has_no_listing(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    (tmp_path / "link").symlink_to(tmp_path)
    for name in ("none", "file", "link"):
        assert list_folder(str(tmp_path / name), 0) is None


@pytest.mark.parametrize(
    ("error", "reason"),
    [(PermissionError(), "directory.permission"), (OSError(5, "I/O error"), "directory.unreadable")],
)
def test_a_folder_that_cannot_be_listed_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: OSError, reason: str
) -> None:
    def fail(path: object, *_: object) -> None:
        raise error

    monkeypatch.setattr("mindinsight.server.ingest.discovery.folder_listing.entries_of", fail)
    assert list_folder(str(tmp_path), 7) == Folder(NOWHERE, 7, reason=reason)


def test_a_listing_is_settled_once_a_later_change_has_another_time() -> None:
    modified = time.time_ns()
    stamp = Stamp(1, 1, 1, modified, modified)
    assert not Folder(stamp, modified + 1_000_000_000).settled
    assert Folder(stamp, modified + 4_000_000_000).settled
    assert Folder(stamp, modified - 4_000_000_000).settled  # a clock that was set back


def test_a_folder_of_the_profiler_is_known_by_its_files(tmp_path: Path) -> None:
    assert not holds_profile(str(tmp_path))
    assert not holds_profile(str(tmp_path / "none"))
    (tmp_path / "profiler").mkdir()
    folder = list_folder(str(tmp_path), 0)
    assert folder is not None
    assert (folder.profiles, folder.below) == (("profiler",), ())
