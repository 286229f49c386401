"""Rules on magnitudes, at their limits and just beyond."""

from typing import Any

import numpy as np
import pytest

from tests.server.debug.conditions.conftest import NUMBERS, judge

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
