"""Columns that grow behind views, and tags that share an axis."""

from typing import Any

import numpy as np
import pytest

from mindinsight.server.ingest.staging.growing_column import Axis, GrowingColumn


def ints(*numbers: Any) -> Any:
    return np.array(numbers, dtype=np.int64)


def test_a_view_stays_what_it_was_while_the_column_grows() -> None:
    column = GrowingColumn(ints(1, 2))
    views = [column.view()]
    for number in range(3, 100):
        column.append(ints(number))
        views.append(column.view())
    assert [len(view) for view in views] == list(range(2, 100))
    assert all(view.tolist() == list(range(1, len(view) + 1)) for view in views)


def test_a_view_cannot_be_written_to_and_is_made_once() -> None:
    column = GrowingColumn(ints(1, 2))
    assert column.view() is column.view()
    with pytest.raises(ValueError, match="read-only"):
        column.view()[0] = 5


def test_the_first_rows_are_taken_without_a_copy_and_never_written_to() -> None:
    first = ints(1, 2)
    column = GrowingColumn(first)
    assert np.shares_memory(column.view(), first)
    column.append(ints(3))
    assert first.tolist() == [1, 2]


def test_rows_are_copied_a_constant_number_of_times() -> None:
    column = GrowingColumn(ints(0))
    moves = 0
    for number in range(10_000):
        before = column.view()
        column.append(ints(number))
        moves += not np.shares_memory(before, column.view())
    assert moves < 20


def test_a_column_becomes_wider_for_an_exact_value_and_older_views_do_not() -> None:
    column = GrowingColumn(np.array([0.5], np.float32))
    before = column.view()
    column.append(np.array([0.1], np.float64))
    assert column.view().tolist() == [0.5, 0.1]
    assert before.dtype == np.float32


def test_an_axis_knows_where_steps_go_back_in_whatever_pieces_they_come() -> None:
    steps = [1, 2, 2, 1, 5, 4, 4, 9, 0]
    whole = Axis(ints(*steps), ints(*steps) * 1.0)
    for cut in range(1, len(steps)):
        pieces = Axis(ints(*steps[:cut]), ints(*steps[:cut]) * 1.0)
        pieces.append(ints(*steps[cut:]), ints(*steps[cut:]) * 1.0)
        assert pieces.starts.view().tolist() == whole.starts.view().tolist() == [0, 3, 5, 8]


def test_spare_room_is_given_up_and_views_stay() -> None:
    column = GrowingColumn(ints(0))
    for number in range(1, 600):
        column.append(ints(number))
    before = column.view()
    assert column.trim()
    assert before.tolist() == column.view().tolist() == [*range(600)]
    assert not column.trim()
    column.append(ints(600))
    assert column.view()[-1] == 600
