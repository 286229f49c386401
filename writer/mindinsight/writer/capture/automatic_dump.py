"""Callback that records the dump which ``MINDSPORE_DUMP_CONFIG`` asks for."""

from __future__ import annotations

import logging
from types import TracebackType
from typing import Final

from mindinsight.writer.callbacks.base import Callback
from mindinsight.writer.callbacks.context import RunContext
from mindinsight.writer.capture.dump_recorder import DumpRecorder

_log: Final = logging.getLogger(__name__)

_CLAIM: Final = "dump_recorder"  # argument of the loop that one of several callbacks sets


class AutomaticDump(Callback):
    """Callback that starts a DumpRecorder of the loop's network, and ends an iteration with each step.

    Where MindSpore writes the dump itself, in graph mode, it does nothing. Whatever is wrong is logged once;
    the training goes on.
    """

    def __init__(self) -> None:
        self._recorder: DumpRecorder | None = None
        self._announced = False  # the loop says when a step begins

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close()

    def on_train_begin(self, run_context: RunContext) -> None:
        arguments = run_context.original_args()
        network = arguments.get("train_network") or arguments.get("network")
        if network is None or arguments.get(_CLAIM) is not None:
            return
        try:
            recorder = DumpRecorder(network)
            if recorder.delegates:
                return
            recorder.start()
        except Exception as error:
            _log.error("no dump is recorded, the training goes on: %s: %s", type(error).__name__, error)
            return
        self._recorder = arguments[_CLAIM] = recorder
        _log.info("records the dump that MINDSPORE_DUMP_CONFIG asks for in %s", recorder.config.path)

    def on_train_step_begin(self, run_context: RunContext) -> None:
        self._announced = True
        if self._recorder is not None:
            self._recorder.resume()

    def on_train_step_end(self, run_context: RunContext) -> None:
        if self._recorder is not None:
            self._recorder.step()
            if self._announced:  # what the callbacks compute between two steps is no part of a step
                self._recorder.pause()

    def on_train_end(self, run_context: RunContext) -> None:
        arguments = run_context.original_args()
        if self._recorder is not None and arguments.get(_CLAIM) is self._recorder:
            del arguments[_CLAIM]
        self._close()

    def _close(self) -> None:
        if self._recorder is not None:
            self._recorder.close()
            self._recorder = None
