"""A departure leads away from zero."""

import numpy as np

from mindinsight.server.curves.departure import departure

LENGTH = 400


def test_a_difference_that_becomes_larger_to_both_sides_departs() -> None:
    noise = np.random.default_rng(0).standard_normal(LENGTH)
    noise[240:] *= 10
    change = departure(noise * 1e-4, 1e-6)
    assert change is not None
    assert abs(change.onset - 240) <= 8


def test_two_curves_that_come_together_do_not_part() -> None:
    noise = 1e-4 * np.random.default_rng(0).standard_normal(LENGTH)
    falling = np.where(np.arange(LENGTH) < 200, 0.01, 0.0)
    assert departure(falling + noise, 1e-6) is None
    change = departure(falling[::-1] + noise, 1e-6)
    assert change is not None
    assert abs(change.onset - 200) <= 2
