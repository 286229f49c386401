"""Numbers that are not finite, jump or grow steadily, and those that do not."""

import math
import random
from typing import Any

import pytest

from mindinsight.writer.capture.jump_detector import JumpDetector


@pytest.fixture
def detector() -> JumpDetector:
    return JumpDetector("loss", factor=100.0, warmup=5)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_what_is_not_finite_is_reported_from_the_first_step_on(detector: JumpDetector, value: Any) -> None:
    assert detector.check(value) == f"the loss is {value}"


def test_a_jump_is_reported_with_its_size_after_the_warm_up(detector: JumpDetector) -> None:
    assert [detector.check(2.0) for _ in range(5)] == [""] * 5
    assert detector.check(-1000.0) == "the loss jumped to -1000, 500 times its running mean"
    assert detector.check(9.0) == ""


def test_nothing_is_a_jump_while_few_values_are_known(detector: JumpDetector) -> None:
    assert [detector.check(10.0**number) for number in (0, 3, 6, 9, 12)] == [""] * 5


def test_a_reported_value_does_not_hide_the_next_one(detector: JumpDetector) -> None:
    for _ in range(5):
        detector.check(1.0)
    assert detector.check(1e6)
    assert detector.check(1e6)
    assert detector.check(math.nan)
    assert not detector.check(1.0)


@pytest.mark.parametrize("rate", [1.3, 1.5, 2.0, 4.0])
@pytest.mark.parametrize("begin", [10, 300])
def test_an_explosion_is_reported_while_it_is_finite(detector: JumpDetector, rate: float, begin: int) -> None:
    noise = random.Random(0)
    values = [noise.uniform(0.8, 1.2) * (rate ** max(0, step - begin)) for step in range(begin + 40)]
    reported = [step for step, value in enumerate(values) if detector.check(value)]
    assert begin < reported[0] <= begin + math.ceil(math.log(150, rate)) + 3, reported


@pytest.mark.parametrize("rate", [1.2, 1.3, 2.0])
def test_noise_does_not_hide_an_explosion(rate: float) -> None:
    for seed in range(20):
        noise, detector = random.Random(seed), JumpDetector("loss", 100.0, 5)
        values = [noise.uniform(0.4, 1.6) * (rate ** max(0, step - 10)) for step in range(100)]
        reported = [step for step, value in enumerate(values) if detector.check(value)]
        assert 10 < reported[0] <= 10 + math.ceil(math.log(150, rate)) + 20, (seed, reported)


def test_growth_that_ends_is_none(detector: JumpDetector) -> None:
    values = [min(1.2**step, 20.0) for step in range(200)]  # as gradients after a plateau, or a sum of eight
    assert not any(detector.check(value) for value in values)
    values = [1.02**step for step in range(300)]
    assert not any(JumpDetector("norm", 100.0, 5).check(value) for value in values)


def test_single_batches_of_a_converged_training_are_no_jumps(detector: JumpDetector) -> None:
    values = [max(2.0 * 0.97**step, 1e-4) if step % 97 else 1.9 for step in range(1, 1000)]
    assert not any(detector.check(value) for value in values)


def test_a_level_that_lasts_is_the_new_normal(detector: JumpDetector) -> None:
    for _ in range(30):
        detector.check(1.0)
    reported = [bool(detector.check(1000.0)) for _ in range(60)]
    assert reported == [True] * 20 + [False] * 40
    assert detector.check(1e6)


def test_zeros_are_no_ground_to_compare_with(detector: JumpDetector) -> None:
    assert not any(detector.check(0.0) for _ in range(10))
    assert detector.check(5.0) == ""


def test_a_change_of_level_is_no_steady_growth() -> None:
    for seed in range(20):
        noise, detector = random.Random(seed), JumpDetector("loss", 100.0, 5)
        values = [noise.uniform(0.5, 1.5) * (50 if step >= 200 else 1) for step in range(400)]
        assert not any("grew" in detector.check(value) for value in values), seed


def test_a_loss_around_zero_does_not_grow() -> None:
    for seed in range(20):
        noise, detector = random.Random(seed), JumpDetector("loss", 100.0, 5)
        assert not any(detector.check(noise.gauss(0, 1)) for _ in range(2000)), seed
