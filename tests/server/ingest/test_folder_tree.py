"""The tree of folders: what is found, how cheaply a folder is checked again, dumps, and several bases."""

import os
import shutil
import time
from pathlib import Path
from typing import Any

import pytest

from mindinsight.server.ingest import folder_tree
from mindinsight.server.ingest.folder_tree import (
    NOWHERE,
    Folder,
    FolderChange,
    FolderTree,
    Stamp,
    child,
    depth,
    holds_profile,
    job_ranks,
    list_folder,
    stamp_of,
)
from mindinsight.server.settings.base_dirs import bases_of

DUMP = Path(__file__).parents[2] / "data" / "dumps" / "ms_sync_v2_0_names"
OLD = 1_600_000_000  # Unix seconds; a folder that was just changed may change again with the same time


def settled(path: Path) -> None:
    for folder in [path, *(entry for entry in path.rglob("*") if entry.is_dir())]:
        os.utime(folder, (OLD, OLD))


@pytest.fixture
def tree(base: Path, events: Any) -> FolderTree:
    """``./a`` with an event file, ``./b/c`` without, and a link that is not followed."""
    events.file(base / "a", b"one")
    (base / "b" / "c").mkdir(parents=True)
    (base / "link").symlink_to(base / "a")
    settled(base)
    tree = FolderTree(base)
    tree.scan()
    return tree


def file_in(folder: Path) -> Path:
    (path,) = [entry for entry in folder.iterdir() if entry.is_file()]
    return path


@pytest.mark.parametrize(("parent", "expected"), [("./", "./a"), ("./x", "./x/a")])
def test_ids_of_folders(parent: str, expected: str) -> None:
    assert child(parent, "a") == expected
    assert depth(expected) == depth(parent) + 1


def test_folders_are_found_and_links_are_not_followed(tree: FolderTree, base: Path) -> None:
    assert tree.folders.keys() == {"./", "./a", "./b", "./b/c"}
    assert tree.path("./b/c") == str(base / "b" / "c")
    assert not tree.missing
    assert not tree.full


def test_a_folder_without_a_change_has_none(tree: FolderTree) -> None:
    assert tree.check_folder("./a") == FolderChange()
    assert tree.check_folder("./never") == FolderChange()


def test_files_that_grew_are_named(tree: FolderTree, base: Path) -> None:
    path = file_in(base / "a")
    path.write_bytes(b"more")
    assert tree.check_folder("./a", ["something else"]) == FolderChange()
    assert tree.check_folder("./a", [path.name]) == FolderChange(written=(path.name,))
    assert tree.check_folder("./a") == FolderChange()


def test_files_and_folders_that_come_or_go_change_the_structure(
    tree: FolderTree, base: Path, events: Any
) -> None:
    events.file(base / "b" / "c")
    assert tree.check_folder("./b/c").structure
    events.file(base / "new" / "deep")
    assert tree.check_folder("./").structure
    assert "./new/deep" in tree.folders
    file_in(base / "a").unlink()
    (base / "a").rmdir()
    assert tree.check_folder("./a").structure
    assert "./a" not in tree.folders


def test_a_base_that_vanishes_takes_everything_along(tree: FolderTree, base: Path) -> None:
    base.rename(base.with_name("away"))
    tree.scan()
    assert (tree.folders, tree.missing) == ({}, True)


def test_paths_are_known_by_the_folder_they_are(tree: FolderTree, base: Path) -> None:
    assert tree.known(str(base)) == "./"
    assert tree.known(str(base / "b" / "c")) == "./b/c"
    assert tree.known(str(base / "nothing")) is None
    assert tree.known(str(base) + "else") is None


def test_folders_below_the_last_level_are_not_looked_at(base: Path) -> None:
    (base / "1/2/3/4/5").mkdir(parents=True)
    tree = FolderTree(base)
    tree.scan()
    assert max(tree.folders, key=len) == "./1/2/3/4"


def test_below_a_dump_nothing_is_looked_for(base: Path) -> None:
    (base / "dump" / "rank_0" / "0").mkdir(parents=True)
    tree = FolderTree(base, dump=lambda path: path.endswith("/dump"))
    tree.scan()
    assert tree.dumps == {"./dump"}
    assert tree.folders.keys() == {"./", "./dump"}


def test_a_dump_is_known_by_its_layout(base: Path) -> None:
    shutil.copytree(DUMP, base / "job" / "dump")
    (base / "other" / "rank_0").mkdir(parents=True)
    tree = FolderTree(base)
    tree.scan()
    assert tree.dumps == {"./job/dump"}


def test_more_folders_than_there_may_be_are_left_out(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(9):
        (base / str(number)).mkdir()
    monkeypatch.setattr(folder_tree, "MAX_FOLDERS", 5)
    tree = FolderTree(base)
    tree.scan()
    assert (len(tree.folders), tree.full) == (5, True)


def test_a_parent_of_runs_is_no_dump_unless_they_are_its_ranks(base: Path, events: Any) -> None:
    events.file(base / "job" / "rank_0")
    events.file(base / "runs" / "first")
    tree = FolderTree(base, dump=lambda path: Path(path).name in ("job", "runs"))
    tree.scan()
    assert tree.dumps == {"./job"}
    assert {"./job/rank_0", "./runs/first"} <= tree.folders.keys()


def test_several_bases_are_folders_of_one_that_is_nowhere(tmp_path: Path, events: Any) -> None:
    for name in ("x", "y"):
        events.file(tmp_path / name / "run")
    tree = FolderTree(bases_of([str(tmp_path / "x"), str(tmp_path / "y")]))
    tree.scan()
    assert {"./x/run", "./y/run"} <= tree.folders.keys()
    assert (tree.root("./x/run"), tree.parent("./x/run"), tree.parent("./x")) == ("./x", "./x", "./x")
    assert tree.known(str(tmp_path / "y" / "run")) == "./y/run"
    assert tree.check_folder("./") == FolderChange()


def test_parents_end_at_the_base(tree: FolderTree) -> None:
    assert [tree.parent(folder) for folder in ("./b/c", "./b", "./")] == ["./b", "./", "./"]
    assert tree.root("./b/c") == "./"


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

    monkeypatch.setattr("mindinsight.server.ingest.folder_tree.entries_of", fail)
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


def on(device: int, *runs: str) -> dict[str, frozenset[int]]:
    return {run: frozenset({device}) for run in runs}


def test_folders_named_for_ranks_belong_to_the_folder_above() -> None:
    runs = on(0, "./job/rank_0") | on(1, "./job/rank_1")
    assert job_ranks(runs) == {"./job/rank_0": ("./job", 0), "./job/rank_1": ("./job", 1)}


def test_numbered_siblings_are_ranks_where_the_files_have_their_numbers() -> None:
    runs = on(0, "./run0") | on(1, "./run1")
    assert job_ranks(runs) == {"./run0": ("./run", 0), "./run1": ("./run", 1)}
    experiments = on(0, "./run0", "./run1")
    assert job_ranks(experiments) == {"./run0": ("./run0", None), "./run1": ("./run1", None)}


def test_numbered_folders_with_a_folder_of_their_rank_are_one_job() -> None:
    runs = on(0, "./a/summary_dir0/rank_0") | on(1, "./a/summary_dir1/rank_1")
    assert job_ranks(runs) == {
        "./a/summary_dir0/rank_0": ("./a/summary_dir", 0),
        "./a/summary_dir1/rank_1": ("./a/summary_dir", 1),
    }


def test_numbered_folders_with_ranks_of_other_numbers_stay_jobs_of_their_own() -> None:
    runs = on(0, "./run0/rank_0", "./run1/rank_0") | on(1, "./run2/rank_1")
    assert {job for job, _ in job_ranks(runs).values()} == {"./run0", "./run1", "./run2"}
    whole = on(0, "./run0/rank_0", "./run1/rank_0") | on(1, "./run0/rank_1", "./run1/rank_1")
    assert {job for job, _ in job_ranks(whole).values()} == {"./run0", "./run1"}


def test_a_rank_whose_files_lie_beside_the_folders_of_the_others_is_of_their_job() -> None:
    runs = on(1, "./run1") | on(0, "./run1/rank_0") | on(2, "./run1/rank_2")
    assert job_ranks(runs)["./run1"] == ("./run1", 1)
    assert job_ranks(on(0, "./job", "./job/rank_0"))["./job"] == ("./job", None)
