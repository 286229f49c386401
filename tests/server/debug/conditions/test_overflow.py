"""Rules on NaN, infinities and reported overflows."""

import numpy as np
import pytest

from tests.server.debug.conditions.conftest import NUMBERS, judge


@pytest.mark.parametrize("kind", ["tensor_overflow", "weight_overflow", "gradient_exploding"])
def test_one_element_that_is_not_finite_is_enough(kind: str) -> None:
    assert not judge(kind, [np.finfo(np.float64).max, 0]).hit
    for lost in (np.nan, np.inf, -np.inf):
        assert judge(kind, [lost, 0]).hit


def test_the_device_decides_on_operator_overflow() -> None:
    assert judge("operator_overflow", NUMBERS, overflowed=True).hit
    assert not judge("operator_overflow", NUMBERS).hit
