"""Numbers that are not finite or jump, and those that do not."""

import math
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
    assert detector.check(190.0) == ""


def test_nothing_is_a_jump_while_few_values_are_known(detector: JumpDetector) -> None:
    assert [detector.check(10.0**number) for number in (0, 3, 6, 9, 12)] == [""] * 5


def test_a_reported_value_does_not_hide_the_next_one(detector: JumpDetector) -> None:
    for _ in range(5):
        detector.check(1.0)
    assert detector.check(1e6)
    assert detector.check(1e6)
    assert detector.check(math.nan)
    assert not detector.check(1.0)


def test_a_slow_rise_is_no_jump(detector: JumpDetector) -> None:
    assert not any(detector.check(1.5**number) for number in range(200))


def test_zeros_are_no_ground_to_compare_with(detector: JumpDetector) -> None:
    assert not any(detector.check(0.0) for _ in range(10))
    assert detector.check(5.0) == ""
