"""Rules on ranges, at their limits and just beyond."""

from typing import Any

import pytest

from tests.server.debug.conditions.conftest import NUMBERS, judge


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
