"""Rules on magnitudes, at and just beyond their limits."""

from typing import Any

import numpy as np
import pytest

from tests.server.debug.conditions.conftest import NUMBERS, judge


@pytest.mark.parametrize("kind", ["weight", "tensor"])
def test_a_change_is_too_large_above_the_limit_and_too_small_below(kind: Any) -> None:
    now, before = [1.5, 1.5], [1.0, 1.0]  # moved by half of what it was
    ratio = 0.5 / (1 + 1e-9)
    large, small = f"{kind}_change_too_large", f"{kind}_change_too_small"
    assert not judge(large, now, before, abs_mean_update_ratio_gt=ratio).hit
    assert judge(large, now, before, abs_mean_update_ratio_gt=np.nextafter(ratio, 0)).hit
    assert not judge(small, now, before, abs_mean_update_ratio_lt=ratio).hit
    assert judge(small, now, before, abs_mean_update_ratio_lt=np.nextafter(ratio, 1)).hit


@pytest.mark.parametrize("kind", ["weight", "tensor"])
def test_epsilon_keeps_what_was_zero_from_an_infinite_change(kind: Any) -> None:
    verdict = judge(f"{kind}_change_too_large", [1.0], [0.0], abs_mean_update_ratio_gt=10, epsilon=0.25)
    assert (verdict.hit, verdict.findings[0].actual) == (False, 4.0)
    assert judge(f"{kind}_change_too_large", [1.0], [0.0], abs_mean_update_ratio_gt=3, epsilon=0.25).hit


@pytest.mark.parametrize("kind", ["weight", "tensor"])
def test_nothing_changed_while_every_element_is_within_both_tolerances(kind: Any) -> None:
    limits = {"rtol": 0.25, "atol": 0.5}
    assert judge(f"{kind}_not_changed", [5.5, 0.5], [4.0, 0.0], **limits).hit
    assert not judge(f"{kind}_not_changed", [np.nextafter(5.5, 9), 0.5], [4.0, 0.0], **limits).hit


@pytest.mark.parametrize("kind", ["tensor_overflow", "weight_overflow", "gradient_exploding"])
def test_one_element_that_is_not_finite_is_enough(kind: str) -> None:
    assert not judge(kind, [np.finfo(np.float64).max, 0]).hit
    for lost in (np.nan, np.inf, -np.inf):
        assert judge(kind, [lost, 0]).hit


def test_the_device_decides_on_operator_overflow() -> None:
    assert judge("operator_overflow", NUMBERS, overflowed=True).hit
    assert not judge("operator_overflow", NUMBERS).hit


@pytest.mark.parametrize("kind", ["tensor_range", "activation_range"])
def test_ends_of_a_range_belong_to_it_and_limits_do_not(kind: Any) -> None:
    ends = {"range_start_inclusive": -1, "range_end_inclusive": 2}  # three of four
    assert not judge(kind, NUMBERS, **ends, range_percentage_lt=75).hit
    assert judge(kind, NUMBERS, **ends, range_percentage_lt=75.1).hit
    assert not judge(kind, NUMBERS, **ends, range_percentage_gt=75).hit
    assert judge(kind, NUMBERS, **ends, range_percentage_gt=74.9).hit
    assert not judge(kind, NUMBERS, max_min_gt=5).hit
    assert judge(kind, NUMBERS, max_min_gt=4.9).hit
    assert not judge(kind, NUMBERS, max_min_lt=5).hit
    assert judge(kind, NUMBERS, max_min_lt=5.1).hit


SIZES = {"abs_mean": 1.5, "max": 2.0, "min": -3.0, "mean": -0.5}


LARGE = ("tensor_too_large", "weight_too_large", "gradient_too_large")


SMALL = ("tensor_too_small", "weight_too_small", "gradient_vanishing")


@pytest.mark.parametrize("condition", LARGE)
@pytest.mark.parametrize("name", SIZES)
def test_too_large_begins_above_the_limit(condition: Any, name: Any) -> None:
    at = SIZES[name]
    assert not judge(condition, NUMBERS, **{f"{name}_gt": at}).hit
    verdict = judge(condition, NUMBERS, **{f"{name}_gt": np.nextafter(at, -10)})
    assert verdict.hit
    assert {finding.name: (finding.hit, finding.actual) for finding in verdict.findings}[f"{name}_gt"] == (
        True,
        at,
    )


@pytest.mark.parametrize("condition", SMALL)
@pytest.mark.parametrize("name", SIZES)
def test_too_small_begins_below_the_limit(condition: Any, name: Any) -> None:
    at = SIZES[name]
    assert not judge(condition, NUMBERS, **{f"{name}_lt": at}).hit
    assert judge(condition, NUMBERS, **{f"{name}_lt": np.nextafter(at, 10)}).hit


@pytest.mark.parametrize("condition", ["tensor_all_zero", "weight_initialization"])
def test_a_share_of_zeros_that_reaches_the_limit_is_a_hit(condition: Any) -> None:
    assert judge(condition, NUMBERS, zero_percentage_ge=25).hit
    assert not judge(condition, NUMBERS, zero_percentage_ge=np.nextafter(25, 100)).hit


def test_a_weight_that_starts_too_wide() -> None:
    assert not judge("weight_initialization", NUMBERS, max_gt=2).hit
    assert judge("weight_initialization", NUMBERS, max_gt=np.nextafter(2, 0)).hit
    assert not judge("weight_initialization", NUMBERS, min_lt=-3).hit
    assert judge("weight_initialization", NUMBERS, min_lt=np.nextafter(-3, 0)).hit


def test_enabled_limits_are_alternatives() -> None:
    verdict = judge("tensor_too_large", NUMBERS, max_gt=100, mean_gt=-1)
    assert verdict.hit
    assert [finding.name for finding in verdict.findings if finding.hit] == ["mean_gt"]
