from typing import Any

import numpy as np
import pytest

from mindinsight.server.curves.statistics import range_statistics


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
