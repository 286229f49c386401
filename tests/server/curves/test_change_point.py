"""Changes are found where they begin, and not where there is only noise. ``benchmarks/drift.py`` has more."""

import numpy as np
import pytest

from mindinsight.server.curves.change_point import change_of
from mindinsight.server.types import Doubles

LENGTH = 400


def noise(seed: int) -> Doubles:
    return np.random.default_rng(seed).standard_normal(LENGTH)


def since(onset: int) -> Doubles:
    return np.maximum(np.arange(LENGTH) - onset, 0).astype(np.float64)


def test_noise_alone_is_no_change() -> None:
    assert [change_of(noise(seed), 1e-6) for seed in range(40)] == [None] * 40


@pytest.mark.parametrize("onset", [50, 200, 320])
@pytest.mark.parametrize(
    ("size", "power"), [(4.0, 0.0), (0.2, 1.0), (0.01, 2.0)], ids=["step", "ramp", "bend"]
)
def test_the_onset_is_found_to_a_few_percent(onset: int, size: float, power: float) -> None:
    errors = []
    for seed in range(5):
        course = np.where(since(onset) > 0, size * since(onset) ** power, 0.0)
        change = change_of(course + noise(seed), 1e-6)
        assert change is not None
        errors.append(abs(change.onset - onset))
    assert np.median(errors) <= 0.03 * LENGTH


def test_an_episode_is_a_change() -> None:
    course = noise(1)
    course[100:140] += 6
    change = change_of(course, 1e-6)
    assert change is not None
    assert abs(change.onset - 100) <= 4


def test_what_stays_below_the_floor_is_none() -> None:
    assert change_of(1e-9 * since(100), 1e-3) is None


def test_few_rows_and_constants_say_nothing() -> None:
    assert change_of(np.arange(15.0), 1e-6) is None
    assert change_of(np.full(LENGTH, 3.0), 1e-6) is None
