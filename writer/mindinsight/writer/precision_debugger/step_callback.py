"""Callback that records the steps of a training loop with a PrecisionDebugger."""

from __future__ import annotations

from mindinsight.writer.callbacks.base import Callback
from mindinsight.writer.callbacks.context import RunContext
from mindinsight.writer.precision_debugger.debugger import PrecisionDebugger


class MsprobeStep(Callback):
    """Callback that starts ``debugger`` before each step of a training and ends the step after it.

    The model is the loop's ``train_network`` or ``network``; evaluations are not recorded.
    """

    def __init__(self, debugger: PrecisionDebugger) -> None:
        if not isinstance(debugger, PrecisionDebugger):
            raise TypeError(f"debugger is a PrecisionDebugger, got {type(debugger).__name__}")
        self._debugger = debugger

    def on_train_step_begin(self, run_context: RunContext) -> None:
        arguments = run_context.original_args()
        self._debugger.start(arguments.get("network") or arguments.get("train_network"))

    def on_train_step_end(self, run_context: RunContext) -> None:
        self._debugger.stop()
        self._debugger.step()

    def on_train_end(self, run_context: RunContext) -> None:
        self._debugger.close()
