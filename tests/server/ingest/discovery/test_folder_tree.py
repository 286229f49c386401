"""The tree of folders: what is found, how cheaply a folder is checked again, dumps, and several bases."""

import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from mindinsight.server.ingest.discovery import folder_tree
from mindinsight.server.ingest.discovery.folder_tree import FolderChange, FolderTree, child, depth
from mindinsight.server.settings.base_dirs import bases_of

DUMP = Path(__file__).parents[3] / "data" / "dumps" / "ms_sync_v2_0_names"
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
    monkeypatch.setattr(folder_tree, "MOST_FOLDERS", 5)
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
