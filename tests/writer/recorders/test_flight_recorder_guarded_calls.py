"""Guarded calls: what raises gives nothing, and is logged for the first time."""

import logging

import pytest

from mindinsight.writer.recorders.flight_recorder import GuardedCalls


def test_what_raises_gives_nothing_and_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    calls = GuardedCalls("recorder")
    assert calls(max, 1, 2) == 2
    assert [calls(float, "x"), calls(float, "y")] == [None, None]
    ((message, error),) = [(record.getMessage(), record.exc_info) for record in caplog.records]
    assert message == "recorder: a measurement failed; the training continues (logged once)"
    assert error is not None and error[0] is ValueError


def test_an_interruption_is_not_held_back() -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        GuardedCalls("recorder")(interrupt)
