"""List of callbacks that is a callback itself, for loops that are written by hand."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from types import TracebackType
from typing import TYPE_CHECKING

from mindinsight.writer.callbacks.automatic import automatic_callbacks
from mindinsight.writer.callbacks.base import Callback

if TYPE_CHECKING:
    from mindinsight.writer.callbacks.context import RunContext


class CallbackList(Callback):
    """Calls each hook of every callback, in the order of the list.

    Takes one callback, a sequence of them, or None; a callback of MindSpore's will do as well. Raises
    TypeError for anything else. As a context manager it enters the callbacks in order and leaves them
    in reverse, also on an error. With ``MINDSPORE_DUMP_CONFIG`` set it also records that dump.
    """

    def __init__(self, callbacks: Callback | Sequence[Callback] | None = None) -> None:
        if callbacks is None:
            callbacks = []
        elif _is_callback(callbacks):
            callbacks = [callbacks]  # type: ignore[list-item]
        elif not isinstance(callbacks, (list, tuple)) or not all(map(_is_callback, callbacks)):
            raise TypeError(f"callbacks must be a Callback or a list of them, got {callbacks!r}")
        self._callbacks: list[Callback] = [*automatic_callbacks(), *callbacks]
        self._entered = ExitStack()

    def __enter__(self) -> CallbackList:
        with ExitStack() as entered:
            for callback in self._callbacks:
                entered.enter_context(callback)
            self._entered = entered.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._entered.__exit__(kind, error, trace)

    def on_train_begin(self, run_context: RunContext) -> None:
        self._call("on_train_begin", run_context)

    def on_train_epoch_begin(self, run_context: RunContext) -> None:
        self._call("on_train_epoch_begin", run_context)

    def on_train_step_begin(self, run_context: RunContext) -> None:
        self._call("on_train_step_begin", run_context)

    def on_train_step_end(self, run_context: RunContext) -> None:
        self._call("on_train_step_end", run_context)

    def on_train_epoch_end(self, run_context: RunContext) -> None:
        self._call("on_train_epoch_end", run_context)

    def on_train_end(self, run_context: RunContext) -> None:
        self._call("on_train_end", run_context)

    def on_eval_begin(self, run_context: RunContext) -> None:
        self._call("on_eval_begin", run_context)

    def on_eval_epoch_begin(self, run_context: RunContext) -> None:
        self._call("on_eval_epoch_begin", run_context)

    def on_eval_step_begin(self, run_context: RunContext) -> None:
        self._call("on_eval_step_begin", run_context)

    def on_eval_step_end(self, run_context: RunContext) -> None:
        self._call("on_eval_step_end", run_context)

    def on_eval_epoch_end(self, run_context: RunContext) -> None:
        self._call("on_eval_epoch_end", run_context)

    def on_eval_end(self, run_context: RunContext) -> None:
        self._call("on_eval_end", run_context)

    def _call(self, hook: str, run_context: RunContext) -> None:
        for callback in self._callbacks:
            getattr(callback, hook)(run_context)


def _is_callback(candidate: object) -> bool:
    return isinstance(candidate, Callback) or hasattr(candidate, "on_train_step_end")
