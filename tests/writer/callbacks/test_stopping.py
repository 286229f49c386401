"""A training that has had its time is asked to stop."""

import pytest

from mindinsight.writer.callbacks import RunContext, StopAfterTime


def test_the_first_step_past_the_time_asks_to_stop():
    seconds = iter([0, 100, 159, 160, 161])
    callback = StopAfterTime(minutes=1, clock=lambda: next(seconds))
    run = RunContext({})
    callback.on_train_begin(run)  # at 100
    callback.on_train_step_end(run)
    assert not run.get_stop_requested()
    callback.on_train_step_end(run)
    assert run.get_stop_requested()


@pytest.mark.parametrize("wrong", [0, -1, float("nan")])
def test_a_time_that_is_none_is_refused(wrong):
    with pytest.raises(ValueError, match="minutes"):
        StopAfterTime(wrong)
