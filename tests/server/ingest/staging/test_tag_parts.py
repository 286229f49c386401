"""Parts of one tag over several files, oldest first."""

import pytest

from mindinsight.server.ingest.staging.file_stage import FileStage
from mindinsight.server.ingest.staging.tag_parts import TagParts
from tests.server.ingest.staging.stretches import file_named, scalars, stretch


@pytest.fixture
def parts() -> TagParts:
    return TagParts(("scalar", "loss"))


def grown(seconds: int, *steps: int) -> FileStage:
    file = file_named(seconds)
    file.fold(stretch(10, scalars(*steps)))
    return file


def steps_of(parts: TagParts) -> tuple[bool, list[list[int]]]:
    moved, taken = parts.take()
    return moved, [part.steps.tolist() for part in taken]


def test_files_come_oldest_first_whenever_they_are_read(parts: TagParts) -> None:
    for file in (grown(3, 30), grown(1, 10), grown(2, 20)):
        parts.touch(file)
    assert steps_of(parts)[1] == [[10], [20], [30]]


def test_rows_at_the_end_move_nothing(parts: TagParts) -> None:
    file = grown(1, 10)
    parts.touch(file)
    parts.take()
    file.fold(stretch(20, scalars(11)))
    parts.touch(file)
    assert steps_of(parts) == (False, [[10, 11]])
    parts.touch(grown(2, 20))
    assert steps_of(parts) == (False, [[10, 11], [20]])


def test_rows_before_the_end_are_said_once(parts: TagParts) -> None:
    parts.touch(grown(2, 20))
    parts.take()
    parts.touch(grown(1, 10))
    assert steps_of(parts) == (True, [[10], [20]])
    assert steps_of(parts) == (False, [[10], [20]])


def test_a_file_that_goes_takes_its_part_with_it(parts: TagParts) -> None:
    first, last = grown(1, 10), grown(2, 20)
    parts.touch(first)
    parts.touch(last)
    parts.take()
    parts.remove(first)
    assert steps_of(parts) == (True, [[20]])
    parts.remove(first)
    assert steps_of(parts) == (False, [[20]])
