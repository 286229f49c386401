"""Columns of one tag over several files: segments, the last point, and reading from a row on."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mindinsight.server.errors import Gone
from mindinsight.server.store.parts import ReferencePart, ScalarPart
from mindinsight.server.store.series import ReferenceSeries, ScalarSeries


def part(*steps: Any, starts: Any = (0,), scale: Any = 1.0) -> ScalarPart:
    rows = np.array(steps, dtype=np.int64)
    return ScalarPart(
        rows,
        rows.astype(np.float64) + 0.5,
        (rows * scale).astype(np.float32),
        np.array(starts, dtype=np.int64),
    )


def steps_of(columns: Any) -> list[Any]:
    return columns.steps.tolist()


def test_one_part_is_not_copied() -> None:
    only = part(1, 2, 3)
    series = ScalarSeries("loss", [only], version=4)
    assert series.columns().steps is only.steps
    assert (series.count, series.last_step, series.last_wall, series.last_value) == (3, 3, 3.5, 3.0)
    assert series.columns().files.tolist() == [0]


def test_a_file_that_goes_on_continues_the_segment_and_one_that_goes_back_starts_another() -> None:
    series = ScalarSeries("loss", [part(1, 2, 3), part(3, 4), part(2, 5)], version=1)
    columns = series.columns()
    assert steps_of(columns) == [1, 2, 3, 3, 4, 2, 5]
    assert columns.starts.tolist() == [0, 5]
    assert columns.files.tolist() == [0, 3, 5]
    assert series.columns() is columns


def test_segments_inside_a_file_keep_their_place_behind_other_files() -> None:
    columns = ScalarSeries("loss", [part(1, 2), part(3, 4, 1, starts=(0, 2))], version=1).columns()
    assert columns.starts.tolist() == [0, 4]


@pytest.mark.parametrize("joined_before", [False, True])
@pytest.mark.parametrize("row", range(8))
def test_a_tail_is_the_end_of_the_whole(row: Any, joined_before: bool) -> None:
    series = ScalarSeries("loss", [part(1, 2, 3), part(3, 4), part(2, 5)], version=1)
    whole = ScalarSeries("loss", series.parts, version=1).columns()
    if joined_before:
        series.columns()
    tail = series.tail(row)
    assert steps_of(tail) == steps_of(whole)[row:]
    assert tail.values.tolist() == whole.values[row:].tolist()
    assert tail.starts.tolist() == [start - row for start in whole.starts if start >= row]
    assert tail.files.tolist() == [first - row for first in whole.files if first >= row]


def test_the_last_point_is_that_of_the_line() -> None:
    series = ScalarSeries("loss", [part(7, 8, 9), part(1, 5, 3, 5, starts=(0, 2))], version=1)
    assert (series.last_step, series.last_value) == (5, 5.0)
    assert series.line().steps.tolist() == [1, 3, 5]


def test_every_recorded_row_says_whether_it_was_overwritten() -> None:
    series = ScalarSeries("loss", [part(1, 2, 3), part(2, 3, scale=-1.0)], version=1)
    recorded = series.recorded()
    assert recorded.values.tolist() == [1, 2, 3, -2, -3]
    assert recorded.overwritten.tolist() == [False, True, True, False, False]
    (stretch,) = series.overwritten()
    assert stretch.values.tolist() == [2, 3]


def reference_part(path: Any, content: Any, offsets: Any, sizes: Any, steps: Any) -> ReferencePart:
    path.write_bytes(content)
    status = path.stat()
    rows = [np.array(column, dtype=np.int64) for column in (steps, offsets, sizes, [0])]
    return ReferencePart(
        str(path),
        status.st_dev,
        status.st_ino,
        rows[0],
        rows[0].astype(np.float64),
        rows[1],
        rows[2],
        rows[3],
    )


@pytest.fixture
def references(tmp_path: Path) -> ReferenceSeries:
    first = reference_part(tmp_path / "a", b"..one.two", [2, 6], [3, 3], [1, 2])
    second = reference_part(tmp_path / "b", b"three", [0], [5], [3])
    return ReferenceSeries("image", "picture", [first, second], version=1)


def test_payloads_are_read_by_row_from_their_files(references: ReferenceSeries) -> None:
    assert references.count == 3
    assert references.steps.tolist() == [1, 2, 3]
    assert references.walls.tolist() == [1.0, 2.0, 3.0]
    assert references.line_rows.tolist() == [0, 1, 2]
    assert [references.read(row) for row in range(3)] == [b"one", b"two", b"three"]


def test_a_row_that_does_not_exist_is_an_index_error(references: ReferenceSeries) -> None:
    for row in (-1, 3):
        with pytest.raises(IndexError):
            references.reference(row)


def test_a_removed_shortened_replaced_or_linked_file_is_gone(
    references: ReferenceSeries, tmp_path: Path
) -> None:
    (tmp_path / "a").write_bytes(b"..on")
    with pytest.raises(Gone):
        references.read(0)
    (tmp_path / "a").unlink()
    with pytest.raises(Gone):
        references.read(0)
    (tmp_path / "other").write_bytes(b"THREE")
    (tmp_path / "other").rename(tmp_path / "b")
    with pytest.raises(Gone):
        references.read(2)
    (tmp_path / "a").symlink_to(tmp_path / "b")
    with pytest.raises(Gone):
        references.read(0)
