"""The rule for steps that go back: which rows make the line, and which were overwritten."""

from typing import Any

import numpy as np
import pytest

from mindinsight.server.store.line import line_rows, overwritten_stretches


def rows_of(*files: Any) -> tuple[Any, Any]:
    """Rows of the line of files with these steps, and the overwritten stretches."""
    steps = np.concatenate([np.asarray(file, np.int64) for file in files])
    begins = np.cumsum([0, *map(len, files[:-1])])
    rows = line_rows(steps, begins)
    starts = np.concatenate(([0], np.flatnonzero(np.diff(steps) < 0) + 1))
    rows = np.arange(len(steps)) if rows is None else rows
    return rows.tolist(), [stretch.tolist() for stretch in overwritten_stretches(steps, starts, rows)]


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
