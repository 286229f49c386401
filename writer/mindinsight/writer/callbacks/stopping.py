"""A callback that ends a training on purpose."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from mindinsight.writer.callbacks.base import Callback

if TYPE_CHECKING:
    from mindinsight.writer.callbacks.context import RunContext


class StopAfterTime(Callback):
    """Asks the loop to stop after the first step that ends ``minutes`` or more after the training began.

    Raises ValueError unless ``minutes`` is above 0.
    """

    def __init__(self, minutes: float, clock: Callable[[], float] = time.monotonic) -> None:
        if not minutes > 0:
            raise ValueError(f"minutes must be above 0, got {minutes!r}")
        self._seconds = 60 * minutes
        self._clock = clock
        self._start = clock()

    def on_train_begin(self, run_context: RunContext) -> None:
        self._start = self._clock()

    def on_train_step_end(self, run_context: RunContext) -> None:
        if self._clock() - self._start >= self._seconds:
            run_context.request_stop()
