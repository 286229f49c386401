import numpy as np
import pytest

from mindinsight.server.curves.rank_anomaly import growth, period_of, share_of


def test_a_share_is_a_factor_where_it_is_the_same_at_all_values() -> None:
    course = np.geomspace(2, 1e-4, 200)
    assert share_of(0.5 * course, course) == pytest.approx(0.5)
    assert share_of(-2 * course, course) == pytest.approx(-2)


def test_a_share_of_values_near_zero_is_one_of_their_mean_size() -> None:
    centre = np.array([0.0, 1.0, -2.0, 1.0])
    assert share_of(np.full(4, 0.5), centre) == pytest.approx(0.5)


def test_zero_has_no_shares_and_a_subnormal_has_finite_ones() -> None:
    assert share_of(np.ones(4), np.zeros(4)) is None
    assert share_of(np.full(4, 1e300), np.full(4, 5e-324)) == pytest.approx(1.797e308, rel=1e-3)
    assert share_of(np.array([np.nan, 1.0]), np.array([np.nan, 2.0])) == pytest.approx(0.5)


def test_growth_is_the_difference_at_the_end() -> None:
    assert growth(np.linspace(0, 1, 100)) == pytest.approx(0.9, abs=0.02)
    assert growth(np.ones(100)) is None
    assert growth(np.linspace(0, 1, 10)) is None


def test_equal_gaps_are_a_period() -> None:
    assert period_of(np.arange(0, 500, 50), 1.0) == 50
    assert period_of(np.array([0, 50, 170, 190]), 1.0) is None
    assert period_of(np.array([0, 50]), 1.0) is None
