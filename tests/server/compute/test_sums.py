"""Sums against exact ones, of any length, and complex products."""

import math

import numpy as np
import pytest

from mindinsight.server.compute.sums import product, total

SIZES = [0, 1, 8191, 8192, 8193, 65536]


@pytest.mark.parametrize("size", SIZES)
def test_sums_are_those_of_exact_arithmetic(size: int) -> None:
    rng = np.random.default_rng(size)
    left, right = rng.normal(3, 1, size), rng.normal(-1, 1, size)
    assert total(left) == pytest.approx(math.fsum(left), rel=1e-14, abs=0)
    products = [a * b for a, b in zip(left.tolist(), right.tolist(), strict=True)]
    assert product(left, right) == pytest.approx(math.fsum(products), rel=1e-13, abs=0)


def test_complex_products_take_the_conjugate_of_the_second() -> None:
    left, right = np.array([1 + 2j, 3 - 1j]), np.array([2 - 1j, 1 + 1j])
    assert product(left, right) == (left * right.conj()).sum().real
    assert product(left, left) == 15.0


def test_what_is_not_finite_stays_so() -> None:
    assert math.isnan(total(np.array([1.0, math.nan])))
    assert product(np.array([math.inf]), np.array([1.0])) == math.inf
    assert product(np.full(3, 1e200), np.full(3, 1e200)) == math.inf
