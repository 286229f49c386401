from pathlib import Path

import pytest

from mindinsight.server.files.opener import LinkError
from mindinsight.server.files.trash import discard, discarded, new_stamp, restore, trash_of


@pytest.fixture
def base(tmp_path: Path) -> Path:
    (tmp_path / "base" / "job" / "run").mkdir(parents=True)
    (tmp_path / "base" / "job" / "run" / "events").write_text("kept")
    return tmp_path / "base"


def test_a_directory_is_moved_beside_the_base_and_comes_back_whole(base: Path) -> None:
    stamp = new_stamp()
    discard(base, "job/run", stamp)
    assert not (base / "job" / "run").exists()
    assert (base.parent / ".base.trash" / stamp / "job" / "run" / "events").read_text() == "kept"
    restore(base, "job/run", stamp)
    assert (base / "job" / "run" / "events").read_text() == "kept"


def test_it_comes_back_although_the_folder_around_it_is_gone(base: Path) -> None:
    discard(base, "job/run", "s")
    (base / "job").rmdir()
    restore(base, "job/run", "s")
    assert (base / "job" / "run" / "events").read_text() == "kept"


def test_only_folders_with_a_stamp_are_listed_and_others_stay(base: Path) -> None:
    stamp = "20261126-033111-000001"
    discard(base, "job/run", stamp)
    others = ["20269999-999999-000000", "notes"]
    for name in others:
        (trash_of(base) / name / "run").mkdir(parents=True)
        (trash_of(base) / name / "run" / "text").write_text("mine")
    assert [entry[:2] for entry in discarded(base)] == [(stamp, "job/run")]
    restore(base, "job/run", stamp)
    assert list(discarded(base)) == []
    assert sorted(path.name for path in trash_of(base).iterdir()) == others


def test_what_took_its_place_is_not_overwritten(base: Path) -> None:
    discard(base, "job/run", "s")
    (base / "job" / "run").mkdir()
    with pytest.raises(FileExistsError):
        restore(base, "job/run", "s")
    assert (trash_of(base) / "s" / "job" / "run" / "events").exists()


def test_no_link_is_followed_on_the_way(base: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    (outside / "run").mkdir(parents=True)
    (base / "link").symlink_to(outside)
    with pytest.raises(LinkError):
        discard(base, "link/run", "s")
    assert (outside / "run").is_dir()


def test_a_trash_that_is_a_link_is_refused(base: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    trash_of(base).symlink_to(outside)
    with pytest.raises(OSError, match=r"."):
        discard(base, "job/run", "s")
    assert (base / "job" / "run" / "events").exists()
    assert not list(outside.iterdir())


@pytest.mark.parametrize("below", ["../outside", "job/../../outside", ".."])
def test_no_path_leads_out_of_the_base(base: Path, tmp_path: Path, below: str) -> None:
    (tmp_path / "outside").mkdir()
    with pytest.raises(OSError, match=r"."):
        discard(base, below, "s")
    assert (tmp_path / "outside").is_dir()
    assert base.is_dir()
