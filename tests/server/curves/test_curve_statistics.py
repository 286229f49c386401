"""Intervals against a loop over single points."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mindinsight.server.curves.curve_statistics import NO_INTERVALS, extend, holds, range_statistics


def test_finite_values_are_described_and_others_counted() -> None:
    facts = range_statistics(np.array([1, 2, 3, 4, 5]), np.array([np.nan, 4.0, 2.0, np.inf, 0.0], np.float32))
    assert facts["count"] == 5
    assert facts["nan"] == 1
    assert facts["inf"] == 1
    assert (facts["first"], facts["last"]) == ("nan", 0.0)
    assert (facts["min"], facts["min_step"]) == (0.0, 5)
    assert (facts["max"], facts["max_step"]) == (4.0, 2)
    assert facts["mean"] == pytest.approx(2.0)


def test_the_slope_is_the_least_squares_line() -> None:
    steps = np.arange(0, 1000, 10)
    assert range_statistics(steps, 3.0 - 0.25 * steps)["slope"] == pytest.approx(-0.25)
    assert range_statistics(np.array([7]), np.array([1.0]))["slope"] is None


def test_nothing_finite() -> None:
    facts = range_statistics(np.zeros(0, np.int64), np.zeros(0))
    assert facts["count"] == 0
    assert facts["mean"] is None
    assert range_statistics(np.array([1]), np.array([np.nan]))["max"] is None


@pytest.mark.parametrize("end", [np.nan, np.inf, -np.inf])
def test_a_curve_that_ended_in_what_is_not_finite_says_so(end: Any) -> None:
    facts = range_statistics(np.arange(3), np.array([1.0, 2.0, end], np.float32))
    assert (facts["last"], facts["last_step"], facts["max"]) == (str(end), 2, 2.0)


def slowly(held: Any, starts: Any) -> Any:
    """Return [first row, count] of each interval, point by point."""
    episodes, inside = [], False
    for row, value in enumerate(held):
        if value and (not inside or row in starts):
            episodes.append([row, 1])
        elif value:
            episodes[-1][1] += 1
        inside = value
    return episodes


def as_lists(episodes: Any) -> Any:
    return [list(pair) for pair in zip(episodes.rows.tolist(), episodes.counts.tolist(), strict=True)]


@given(
    points=st.lists(st.tuples(st.booleans(), st.integers(0, 5)), max_size=60),
    cuts=st.lists(st.integers(0, 60), max_size=5),
)
def test_pieces_give_what_the_whole_gives(points: Any, cuts: Any) -> None:
    held = np.array([value for value, _ in points], bool)
    starts = [row for row, (_, chance) in enumerate(points) if chance == 0 or row == 0]
    episodes = NO_INTERVALS
    edges = sorted({0, len(held), *(cut for cut in cuts if cut < len(held))})
    for begin, end in pairwise(edges):
        inside = np.array([row - begin for row in starts if begin <= row < end], np.int64)
        episodes = extend(episodes, held[begin:end], inside)
    assert as_lists(episodes) == slowly(held.tolist(), starts)
    assert episodes.end == len(held)
    assert episodes.ongoing == bool(len(held) and held[-1])


def test_what_was_found_before_is_not_changed() -> None:
    rows = np.array([True, True, True])
    before = extend(NO_INTERVALS, rows, np.array([0]))
    after = extend(before, rows, np.array([], np.int64))
    assert (as_lists(before), as_lists(after)) == ([[0, 3]], [[0, 6]])


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("not_finite", [False, False, False, True, True, True]),
        ("above", [False, False, True, False, True, False]),
        ("below", [True, False, False, False, False, True]),
    ],
)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_conditions(condition: Any, expected: Any, dtype: Any) -> None:
    values = np.array([-1, 0.5, 2, np.nan, np.inf, -np.inf], dtype)
    assert holds(condition, 0.5, values).tolist() == expected


def test_a_limit_beyond_float32_is_not_narrowed() -> None:
    values = np.array([3e38, np.inf], np.float32)
    assert holds("above", 1e300, values).tolist() == [False, True]
    assert holds("above", 16777217.0, np.array([16777218, 16777216], np.float32)).tolist() == [True, False]


def test_a_value_that_was_recorded_as_the_limit_is_neither_above_nor_below_it() -> None:
    for limit in (0.1, 0.7, 0.3, 1e-7, 1e30):
        for values in (np.array([limit], np.float32), np.array([limit], np.float64)):
            assert not holds("above", limit, values).any()
            assert not holds("below", limit, values).any()
