"""Loss scale: which overflows are left to the ``GradScaler``, with a stand-in for it."""

import logging
import math
from types import SimpleNamespace

import pytest

from mindinsight.writer.capture.loss_scale import LossScale


def scale_of(size: float, enabled: bool = True) -> LossScale:
    scaler = SimpleNamespace(get_scale=lambda: size, is_enabled=lambda: enabled)
    return LossScale(scaler)


@pytest.mark.parametrize("norm", [math.inf, math.nan])
def test_overflow_is_left_to_the_scaler_as_long_as_the_scale_can_fall(
    norm: float, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    scale = scale_of(65536.0)
    assert scale.mends(norm) and scale.mends(norm)
    assert [record.getMessage()[:51] for record in caplog.records] == [
        "gradients overflow at a loss scale of 65536: GradSc"
    ]
    assert not scale_of(1.0).mends(norm)
    assert scale_of(1.0).remark(norm) == " although the loss scale has fallen to 1"


def test_finite_gradients_and_trainings_without_a_scaler_have_nothing_to_mend() -> None:
    assert not scale_of(65536.0).mends(3.0)
    assert scale_of(1.0).remark(3.0) == ""
    for scale in (LossScale(None), scale_of(65536.0, enabled=False)):
        assert not scale.mends(math.inf)
        assert scale.remark(math.inf) == ""


def test_a_training_that_may_have_a_scaler_is_told_how_to_give_it() -> None:
    assert LossScale(None).advice(math.inf) == (
        "With a GradScaler this is normal: give it to the recorder as scaler=."
    )
    assert LossScale(None).advice(3.0) == "" == scale_of(1.0).advice(math.inf)
