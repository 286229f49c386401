"""Callbacks that print progress, and that end a training by its loss or after a time."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from mindinsight.writer.callbacks.callback import Callback, loss_of, position

if TYPE_CHECKING:
    from mindinsight.writer.callbacks.callback import RunContext


class LossMonitor(Callback):
    """Callback that prints ``epoch: 1 step: 2, loss is 0.25`` every ``per_print_times`` steps, never with 0.

    A non-finite loss raises ValueError at the end of its step, printed or not, which ends the training. After
    an evaluation inside ``fit`` its metrics are printed at the end of the epoch. Raises ValueError unless
    ``per_print_times`` is an int of at least 0.
    """

    def __init__(self, per_print_times: int = 1) -> None:
        if not isinstance(per_print_times, int) or isinstance(per_print_times, bool) or per_print_times < 0:
            raise ValueError(f"per_print_times must be an int of at least 0, got {per_print_times!r}")
        self._every = per_print_times
        self._printed = 0

    def step_end(self, run_context: RunContext) -> None:
        """Print the loss if a line is due. Raises ValueError if the loss is non-finite, TypeError if there is
        no loss, even if no line is due."""
        arguments = run_context.original_args()
        epoch, step = position(arguments)
        loss = loss_of(arguments.get("net_outputs"))
        if not math.isfinite(loss):
            raise ValueError(f"epoch: {epoch} step: {step}, the loss is {loss}: the training stops")
        if self._is_due(int(arguments.get("cur_step_num", step))):
            print(f"epoch: {epoch} step: {step}, loss is {loss}", flush=True)

    def on_train_epoch_end(self, run_context: RunContext) -> None:
        """Print the metrics of an evaluation inside ``fit``, if there was one."""
        super().on_train_epoch_end(run_context)
        arguments = run_context.original_args()
        if arguments.get("metrics"):
            epoch, _ = position(arguments)
            print(f"Eval result: epoch {epoch}, metrics: {arguments['metrics']}", flush=True)

    def _is_due(self, step: int) -> bool:
        if self._every == 0:
            return False
        if step <= self._printed:  # the loop went back, after a restart or to evaluate
            self._printed = step - 1 - (step - 1) % self._every
        if step - self._printed < self._every:
            return False
        self._printed = step
        return True


class TimeMonitor(Callback):
    """Callback that prints the duration of each epoch: ``Train epoch time: 2569.210 ms, per step time: ...``.

    The number of steps is the loop's ``batch_num``, else ``data_size``, else the counted steps. With
    ``data_time`` the line also has the mean time between two steps, spent waiting for data. Raises ValueError
    unless ``data_size`` is None or an int above 0.
    """

    def __init__(
        self,
        data_size: int | None = None,
        data_time: bool = False,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        if data_size is not None and (not isinstance(data_size, int) or data_size <= 0):
            raise ValueError(f"data_size must be an int above 0, got {data_size!r}")
        self.data_size = data_size
        self._data_time = data_time
        self._clock = clock
        self._epoch_start = self._step_end = clock()
        self._waited = 0.0
        self._steps = 0

    def epoch_begin(self, run_context: RunContext) -> None:
        """Start the clock of the epoch and reset the counters."""
        self._epoch_start = self._step_end = self._clock()
        self._waited = 0.0
        self._steps = 0

    def step_begin(self, run_context: RunContext) -> None:
        """Add the time since the last step to the waiting time."""
        self._waited += self._clock() - self._step_end

    def step_end(self, run_context: RunContext) -> None:
        """Count the step."""
        self._step_end = self._clock()
        self._steps += 1

    def epoch_end(self, run_context: RunContext) -> None:
        """Print the duration of the epoch."""
        arguments = run_context.original_args()
        took = 1000 * (self._clock() - self._epoch_start)
        steps = arguments.get("batch_num") or self.data_size or max(self._steps, 1)
        line = f"{str(arguments.get('mode', 'train')).title()} epoch time: {took:5.3f} ms"
        line += f", per step time: {took / steps:5.3f} ms"
        if self._data_time:
            line += f" (data time: {1000 * self._waited / steps:5.3f} ms)"
        print(line, flush=True)


class StopAfterTime(Callback):
    """Callback that stops the loop after the first step that ends ``minutes`` after the training began.

    Raises ValueError unless ``minutes`` is above 0.
    """

    def __init__(self, minutes: float, clock: Callable[[], float] = time.monotonic) -> None:
        if not minutes > 0:
            raise ValueError(f"minutes must be above 0, got {minutes!r}")
        self._seconds = 60 * minutes
        self._clock = clock
        self._start = clock()

    def on_train_begin(self, run_context: RunContext) -> None:
        """Start the clock."""
        self._start = self._clock()

    def on_train_step_end(self, run_context: RunContext) -> None:
        """Ask the loop to stop if the time is over."""
        if self._clock() - self._start >= self._seconds:
            run_context.request_stop()
