"""Episodes against a reader that goes from point to point."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mindinsight.server.curves.episodes import NO_EPISODES, extended, holds


def slowly(held: Any, starts: Any) -> Any:
    """[first row, count] of each episode, point by point."""
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
    episodes = NO_EPISODES
    edges = sorted({0, len(held), *(cut for cut in cuts if cut < len(held))})
    for begin, end in pairwise(edges):
        inside = np.array([row - begin for row in starts if begin <= row < end], np.int64)
        episodes = extended(episodes, held[begin:end], inside)
    assert as_lists(episodes) == slowly(held.tolist(), starts)
    assert episodes.end == len(held)
    assert episodes.ongoing == bool(len(held) and held[-1])


def test_what_was_found_before_is_not_changed() -> None:
    rows = np.array([True, True, True])
    before = extended(NO_EPISODES, rows, np.array([0]))
    after = extended(before, rows, np.array([], np.int64))
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
