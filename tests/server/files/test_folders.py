import os
from pathlib import Path

from mindinsight.server.files.folders import files_of, folders_of, names_of, refused_in


def test_files_and_folders_apart(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    (tmp_path / "a").mkdir()
    (tmp_path / "file").touch()
    assert folders_of(tmp_path) == [tmp_path / "a", tmp_path / "b"]
    assert files_of(tmp_path) == ["file"]
    assert sorted(names_of(tmp_path)) == ["a", "b", "file"]
    assert list(refused_in(tmp_path)) == []


def test_links_and_pipes_are_named_and_not_followed(tmp_path: Path) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    (tmp_path / "secret").touch()
    (inside / "file").symlink_to(tmp_path / "secret")
    (inside / "folder").symlink_to(tmp_path)
    os.mkfifo(inside / "pipe")
    assert files_of(inside) == []
    assert folders_of(inside) == []
    assert sorted(refused_in(inside)) == [("file", "link"), ("folder", "link"), ("pipe", "not_a_file")]


def test_nothing_is_listed_behind_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "file").touch()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert files_of(tmp_path / "link") == names_of(tmp_path / "link") == folders_of(tmp_path / "link") == []
    assert list(refused_in(tmp_path / "link")) == [("", "link")]


def test_what_is_gone_has_nothing_inside(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    assert folders_of(gone) == files_of(gone) == names_of(gone) == list(refused_in(gone)) == []
