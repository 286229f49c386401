"""One file while it is read: what a fold adds to it."""

import pytest

from mindinsight.server.ingest.file_stage import MAX_DAMAGE, FileStage
from mindinsight.server.ingest.folder_tree import Stamp
from mindinsight.server.store.series import ReferencePart
from mindinsight.server.types import Damage
from tests.server.ingest.stretches import file_named, payloads, scalars, stretch


@pytest.fixture
def file() -> FileStage:
    return file_named(1)


def test_a_fold_says_what_grew_and_how_far_was_read(file: FileStage) -> None:
    grown = file.fold(stretch(300, scalars(1, 2, tags=("loss", "acc")), references=[payloads(2)], pending=7))
    assert grown == [("image", "cat")]
    grown += file.settle()
    assert grown[1:] == [("scalar", "loss"), ("scalar", "acc")]
    assert file.settle() == []
    assert (file.read, file.pending, file.unread) == (300, 7, 700)
    assert sorted(file.list_keys()) == sorted(grown)


def test_the_same_tag_of_several_kinds_is_kept_apart(file: FileStage) -> None:
    file.fold(stretch(10, scalars(1, tags=("x",)), references=[payloads(1, tag="x", kind="tensor")]))
    file.fold(stretch(20, references=[payloads(2, tag="x", kind="histogram")]))
    assert file.list_keys() == [("scalar", "x"), ("tensor", "x"), ("histogram", "x")]
    assert file.part(("scalar", "x")).steps.tolist() == [1]
    histogram = file.part(("histogram", "x"))
    assert isinstance(histogram, ReferencePart)
    assert histogram.offsets.tolist() == [200]


def test_a_graph_is_named_after_its_file(file: FileStage) -> None:
    file.fold(stretch(10, references=[payloads(0, kind="graph", tag="")]))
    assert file.list_keys() == [("graph", file.name)]


def test_what_is_understood_and_not_ours_is_counted(file: FileStage) -> None:
    file.fold(stretch(10, skipped=[("explain", 3)]))
    file.fold(stretch(20, skipped=[("explain", 2), ("other", 1)]))
    assert file.state().skipped == (("explain", 5), ("other", 1))


def test_damage_is_listed_up_to_a_number_and_added_up_from_there(file: FileStage) -> None:
    every = [Damage(at, 5, "damage.body_crc") for at in range(MAX_DAMAGE + 50)]
    for damage in every:
        file.fold(stretch(damage.offset, damage=[damage]))
    listed = file.state().damage
    assert listed[:-1] == tuple(every[: MAX_DAMAGE - 1])
    assert listed[-1] == Damage(MAX_DAMAGE - 1, 51 * 5, "damage.more")


def test_a_read_that_works_takes_the_error_away(file: FileStage) -> None:
    file.error = "file.permission"
    file.fold(stretch(10))
    assert file.state().error == ""


def test_an_empty_graph_file_holds_nothing() -> None:
    empty = FileStage("a.pb", "/base/a/a.pb", Stamp(1, 1, 0, 0, 0))
    assert (empty.role, empty.fold_whole(), empty.list_keys()) == ("graph", [], [])
