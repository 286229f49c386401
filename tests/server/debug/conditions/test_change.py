"""Rules on the change between two steps, at their limits and just beyond."""

from typing import Any

import numpy as np
import pytest

from tests.server.debug.conditions.conftest import judge


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
