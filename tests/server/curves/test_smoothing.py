from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mindinsight.server.curves.smoothing import smooth


def one_by_one(steps: Any, values: Any, weight: Any) -> Any:
    """The formula of the module, written as it stands."""
    finite = [i for i in range(len(values)) if np.isfinite(values[i])]
    gaps = [steps[b] - steps[a] for a, b in pairwise(finite)]
    positive = [gap for gap in gaps if gap > 0]
    unit = float(np.median(positive)) if positive else 1.0
    mean = total = 0.0
    result = np.array(values, float)
    for position, row in enumerate(finite):
        distance = max(gaps[position - 1], 0) / unit if position else 1.0
        keep = weight**distance
        mean = keep * mean + (1 - keep) * values[row]
        total = keep * total + (1 - keep)
        result[row] = mean / total if total else np.nan
    return result


@given(
    st.lists(
        st.tuples(st.integers(1, 50), st.floats(-1e6, 1e6) | st.just(float("nan"))), min_size=2, max_size=300
    ),
    st.floats(0.05, 0.999),
)
def test_the_scan_is_the_formula(points: Any, weight: Any) -> None:
    steps = np.cumsum([gap for gap, _ in points])
    values = np.array([value for _, value in points])
    expected = one_by_one(steps.tolist(), values.tolist(), weight)
    np.testing.assert_allclose(smooth(steps, values, weight), expected, rtol=1e-6, atol=1e-6)


def test_a_constant_stays_the_constant() -> None:
    smoothed = smooth(np.arange(10_000), np.full(10_000, 3.25, np.float32), 0.99)
    np.testing.assert_allclose(smoothed, 3.25, rtol=1e-12)


def test_it_never_leaves_the_range_of_the_values() -> None:
    values = np.random.default_rng(1).standard_normal(5000)
    smoothed = smooth(np.arange(5000), values, 0.97)
    assert smoothed.min() >= values.min()
    assert smoothed.max() <= values.max()
    assert smoothed.std() < 0.3 * values.std()


def test_a_long_gap_forgets_the_past() -> None:
    steps = np.array([0, 1, 2, 3, 1000, 1001])
    smoothed = smooth(steps, np.array([0.0, 0.0, 0.0, 0.0, 1.0, 1.0]), 0.9)
    assert smoothed[4] == pytest.approx(1.0)


def test_weight_zero_is_the_recorded_curve_and_one_is_refused() -> None:
    values = np.array([1.0, np.nan, 3.0])
    assert np.array_equal(smooth(np.arange(3), values, 0.0), values, equal_nan=True)
    with pytest.raises(ValueError, match="weight"):
        smooth(np.arange(3), values, 1.0)
