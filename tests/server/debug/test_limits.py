"""Limits of watchpoints: what is filled in, and what is refused and how it is said."""

from typing import Any

import pytest

from mindinsight.server.debug.limits import checked_limits


def test_without_a_choice_the_defaults_hold() -> None:
    assert checked_limits("weight_initialization", {}) == {"zero_percentage_ge": 100}
    assert checked_limits("weight_not_changed", {}) == {"rtol": 1e-5, "atol": 1e-8, "equal_nan": 0}
    assert checked_limits("weight_change_too_small", {})["abs_mean_update_ratio_lt"] == 1e-4


def test_a_choice_switches_the_other_checks_off() -> None:
    assert checked_limits("weight_initialization", {"max_gt": 1, "min_lt": None}) == {"max_gt": 1}
    assert checked_limits("weight_not_changed", {"rtol": 0.5})["atol"] == 1e-8


@pytest.mark.parametrize(
    ("condition", "given", "message"),
    [
        ("tensor_upside_down", {}, "unknown condition 'tensor_upside_down'"),
        ("tensor_too_large", {}, "needs at least one of abs_mean_gt, max_gt, min_gt, mean_gt"),
        ("tensor_too_large", {"max_lt": 1}, "has no parameter 'max_lt'"),
        ("tensor_overflow", {"max_gt": 1}, "it has none"),
        ("tensor_too_large", {"max_gt": "high"}, "max_gt must be a number, not 'high'"),
        ("tensor_too_large", {"max_gt": True}, "must be a number"),
        ("tensor_too_large", {"max_gt": float("nan")}, "must be a number"),
        ("tensor_too_large", {"abs_mean_gt": -1}, "abs_mean_gt is -1; it must be at least 0"),
        ("tensor_all_zero", {"zero_percentage_ge": 101}, "must be from 0 to 100"),
        ("tensor_range", {"max_min_lt": 0}, "must be above 0"),
        ("tensor_range", {"range_start_inclusive": 0}, "needs at least one of range_percentage_lt"),
        ("tensor_range", {"range_percentage_lt": 5, "range_end_inclusive": 1}, "needs range_start"),
    ],
)
def test_what_is_refused_is_named(condition: str, given: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        checked_limits(condition, given)
