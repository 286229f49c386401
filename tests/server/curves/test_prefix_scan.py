"""Prefix scan against the recurrence it stands for."""

import numpy as np
import pytest

from mindinsight.server.curves.prefix_scan import scan


@pytest.mark.parametrize("size", [1, 2, 3, 64, 1000])
def test_the_scan_is_the_recurrence(size: int) -> None:
    rng = np.random.default_rng(size)
    factor, term = rng.uniform(0, 1, size), rng.normal(size=size)
    factor[0] = 0.0
    expected, x = [], 0.0
    for a, b in zip(factor, term, strict=True):
        x = a * x + b
        expected.append(x)
    np.testing.assert_allclose(scan(factor, term), expected, rtol=1e-12, atol=1e-14)
