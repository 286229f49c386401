"""Columns of one tag over several files: segments, the last point, and reading from a row on."""

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mindinsight.server.errors import Gone
from mindinsight.server.formats.read_limits import UnreadableError
from mindinsight.server.store.series import (
    MAX_PAYLOAD,
    JoinedColumns,
    ReferencePart,
    ReferenceSeries,
    ScalarPart,
    ScalarSeries,
    file_rows,
    line_rows,
    overwritten_intervals,
    read_payload,
    segment_rows,
)
from mindinsight.server.types import Reference


def part(*steps: Any, starts: Any = (0,), scale: Any = 1.0, begun: float = 0.0) -> ScalarPart:
    """Return rows recorded at once, or a second after each other if ``begun`` is given."""
    rows = np.array(steps, dtype=np.int64)
    return ScalarPart(
        rows,
        np.arange(len(rows), dtype=np.float64) * (begun > 0) + begun,
        (rows * scale).astype(np.float32),
        np.array(starts, dtype=np.int64),
    )


def steps_of(columns: Any) -> list[Any]:
    return columns.steps.tolist()


def test_one_part_is_not_copied() -> None:
    only = part(1, 2, 3)
    series = ScalarSeries("loss", [only], version=4)
    assert series.columns().steps is only.steps
    assert (series.count, series.last_step, series.last_value) == (3, 3, 3.0)
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


def test_recorders_that_write_at_the_same_time_overwrite_only_the_same_steps() -> None:
    even, odd = part(0, 2, 4, 6, begun=1), part(1, 3, 5, begun=2, scale=10)
    series = ScalarSeries("loss", [even, odd], version=1)
    assert series.line().steps.tolist() == [0, 1, 2, 3, 4, 5, 6]
    assert series.line().values.tolist() == [0, 10, 2, 30, 4, 50, 6]
    assert (series.overwritten(), series.last_step, series.last_value) == ([], 6, 6.0)
    assert series.columns().files.tolist() == [0]
    assert series.tail(4).files.tolist() == []  # no restart, also for who has read the first file
    both = ScalarSeries("loss", [even, part(2, 3, begun=2, scale=10)], version=1)
    assert both.line().values.tolist() == [0, 20, 30, 4, 6]


def test_a_recorder_that_begins_after_the_others_ended_is_a_restart() -> None:
    parts = [part(0, 2, 4, 6, begun=1), part(1, 3, 5, begun=2), part(3, 4, begun=5)]
    series = ScalarSeries("loss", parts, version=1)
    assert series.line().steps.tolist() == [0, 1, 2, 3, 4]
    assert (series.columns().files.tolist(), series.last_step) == ([0, 7], 4)
    assert series.tail(5).files.tolist() == [2]
    again = ScalarSeries("loss", [*parts[:2], part(3, 4, begun=3.5)], version=1)  # the first still writes
    assert again.line().steps.tolist() == [0, 1, 2, 3, 4, 5, 6]


def test_the_last_point_is_that_of_the_line() -> None:
    series = ScalarSeries("loss", [part(7, 8, 9), part(1, 5, 3, 5, starts=(0, 2))], version=1)
    assert (series.last_step, series.last_value) == (5, 5.0)
    assert series.line().steps.tolist() == [1, 3, 5]


def test_every_recorded_row_says_whether_it_was_overwritten() -> None:
    series = ScalarSeries("loss", [part(1, 2, 3), part(2, 3, scale=-1.0)], version=1)
    recorded = series.recorded()
    assert recorded.values.tolist() == [1, 2, 3, -2, -3]
    assert recorded.overwritten.tolist() == [False, True, True, False, False]
    (interval,) = series.overwritten()
    assert interval.values.tolist() == [2, 3]


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


def rows_of(*files: Any) -> tuple[Any, Any]:
    """Rows of the line of files with these steps, and the overwritten intervals."""
    steps = np.concatenate([np.asarray(file, np.int64) for file in files])
    begins = np.cumsum([0, *map(len, files[:-1])])
    rows = line_rows(steps, begins)
    starts = np.concatenate(([0], np.flatnonzero(np.diff(steps) < 0) + 1))
    rows = np.arange(len(steps)) if rows is None else rows
    return rows.tolist(), [interval.tolist() for interval in overwritten_intervals(steps, starts, rows)]


def test_ascending_steps_are_the_line_as_recorded() -> None:
    assert line_rows(np.array([1, 2, 3, 4]), np.array([0, 2])) is None
    assert rows_of([1, 2], [3, 4]) == ([0, 1, 2, 3], [])


def test_a_newer_file_overwrites_the_older_from_where_it_begins() -> None:
    assert rows_of([1, 2, 3, 4, 5, 9], [4, 6]) == ([0, 1, 2, 6, 7], [[3, 4, 5]])


def test_the_newest_of_three_files_overwrites_both() -> None:
    assert rows_of([1, 2, 8], [5, 6], [2, 3]) == ([0, 5, 6], [[1, 2], [3, 4]])


@pytest.mark.parametrize("steps", [[1, 2, 5, 3, 4, 6], [3, 2, 1], [10, 30, 20, 40]])
def test_records_out_of_order_in_a_file_are_sorted_and_no_restart(steps: Any) -> None:
    assert rows_of(steps) == (np.argsort(steps).tolist(), [])


def test_in_a_file_the_later_value_of_each_step_counts() -> None:
    assert rows_of([3, 1, 3, 2, 7, 7]) == ([1, 3, 2, 5], [[0]])
    assert rows_of([1, 2, 3, 4, 2, 3]) == ([0, 4, 5, 3], [[1, 2]])


def test_a_step_written_twice_in_a_row_is_no_stretch() -> None:
    assert rows_of([1, 2], [2, 3]) == ([0, 2, 3], [])


def test_stretches_end_where_the_line_goes_on() -> None:
    assert rows_of([1, 2, 3, 4, 5, 2, 4]) == ([0, 5, 2, 6, 4], [[1], [3]])


def test_extreme_steps_are_ordered() -> None:
    extremes = [np.iinfo(np.int64).max, np.iinfo(np.int64).min, 0]
    assert rows_of(extremes) == ([1, 2, 0], [])


def part_of_parts(*steps: int) -> ScalarPart:
    column = np.array(steps, np.int64)
    starts = np.concatenate(([0], np.flatnonzero(np.diff(column) < 0) + 1)).astype(np.int64)
    return ScalarPart(column, column.astype(np.float64) + 0.5, column.astype(np.float32), starts)


def test_a_file_that_goes_on_continues_the_segment() -> None:
    assert segment_rows([part_of_parts(1, 2), part_of_parts(2, 3)]).tolist() == [0]


def test_a_file_that_goes_back_begins_a_segment() -> None:
    assert segment_rows([part_of_parts(1, 2, 3), part_of_parts(2, 3)]).tolist() == [0, 3]


def test_restarts_inside_a_file_are_segments_too() -> None:
    assert segment_rows([part_of_parts(1, 2, 1), part_of_parts(2, 5, 4)]).tolist() == [0, 2, 5]


def test_rows_of_files_follow_each_other() -> None:
    assert file_rows([part_of_parts(1, 2), part_of_parts(3), part_of_parts(4, 5)]).tolist() == [0, 2, 3]


@given(st.lists(st.lists(st.integers(0, 9), min_size=1, max_size=5), min_size=1, max_size=4))
def test_segments_are_those_of_all_rows_in_one_file(files: list[list[int]]) -> None:
    together = part_of_parts(*(step for steps in files for step in steps))
    assert segment_rows([part_of_parts(*steps) for steps in files]).tolist() == together.starts.tolist()


def test_the_bytes_are_those_of_the_reference(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"0123456789")
    status = path.stat()
    assert read_payload(Reference(str(path), 3, 4), (status.st_dev, status.st_ino)) == b"3456"
    with pytest.raises(Gone, match="replaced"):
        read_payload(Reference(str(path), 3, 4), (status.st_dev, status.st_ino + 1))
    with pytest.raises(Gone, match="short"):
        read_payload(Reference(str(path), 8, 4))


def test_a_payload_beyond_the_budget_is_refused_before_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "huge.pb"
    path.touch()
    os.truncate(path, 1400 << 20)
    with pytest.raises(UnreadableError) as caught:
        read_payload(Reference(str(path), 0, MAX_PAYLOAD + 1))
    assert caught.value.reason == "payload.too_large"


class Stored:
    """Values on disk, which notes from which rows it was read."""

    def __init__(self, *values: float) -> None:
        self._values = np.array(values, np.float64)
        self.count = len(values)
        self.reads: list[int] = []

    def read(self, first: int) -> list[Any]:
        self.reads.append(first)
        return [self._values[first:2], self._values[max(first, 2) :]]


def stored_series(stored: Stored, joined: JoinedColumns | None = None) -> ScalarSeries:
    rows: Any = np.arange(6)
    recent = np.array([4, 5], np.float32)
    only = ScalarPart(rows, rows + 0.5, recent, np.zeros(1, np.int64), stored=stored)
    return ScalarSeries("loss", [only], version=1, joined=joined)


def test_stored_values_are_read_when_they_are_needed_and_kept_for_a_while() -> None:
    stored = Stored(0, 1, 2, 3)
    series = stored_series(stored)
    assert (series.count, series.last_value, series.last_step) == (6, 5.0, 5)
    assert series.tail(4).values.tolist() == series.values_from(4).tolist() == [4, 5]
    assert stored.reads == []
    assert series.tail(3).values.tolist() == [3, 4, 5]
    assert series.line().values.tolist() == series.columns().values.tolist() == [0, 1, 2, 3, 4, 5]
    assert stored.reads == [3, 0]
    series.forget()
    assert series.recorded().values.tolist() == [0, 1, 2, 3, 4, 5]
    assert stored.reads == [3, 0, 0]


def test_the_joined_columns_of_one_store_are_bounded_and_do_not_count_in_another() -> None:
    joined = JoinedColumns(300)
    other = stored_series(Stored(0, 1, 2, 3), JoinedColumns(300))
    assert len(other.columns().steps) == 6
    all_series = [stored_series(Stored(0, 1, 2, 3), joined) for _ in range(4)]
    lines = [series.line().values.tolist() for series in all_series]
    assert lines == [[0, 1, 2, 3, 4, 5]] * 4
    assert [series._columns is None for series in (*all_series, other)] == [True, True, False, False, False]
    del all_series[2:]
    assert all_series[0].line().values.tolist() == lines[0]
