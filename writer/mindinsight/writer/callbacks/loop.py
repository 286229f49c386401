"""List of callbacks for user-written loops, including those enabled by environment variables."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from mindinsight.writer.callbacks.callback import Callback

if TYPE_CHECKING:
    from mindinsight.writer.callbacks.callback import RunContext


# Variable -> module and class of the callback, loaded only where the variable is set.
_CALLBACKS: Final[Mapping[str, tuple[str, str]]] = {
    "MINDSPORE_DUMP_CONFIG": ("mindinsight.writer.recorders.dump_recorder", "AutomaticDump"),
}


def automatic_callbacks(environment: Mapping[str, str] = os.environ) -> list[Callback]:
    """Return a new callback for each environment variable that enables one."""
    return [
        getattr(import_module(module), name)()
        for variable, (module, name) in _CALLBACKS.items()
        if environment.get(variable)
    ]


class CallbackList(Callback):
    """Callback that calls each hook of a list of callbacks in order.

    Takes one callback, a sequence of them, or None. Callbacks of MindSpore are accepted. Raises TypeError for
    anything else. As a context manager it enters the callbacks in order and exits them in reverse, also on an
    error. With ``MINDSPORE_DUMP_CONFIG`` set it also records that dump.
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

    def __exit__(self, *exception: Any) -> None:
        self._entered.__exit__(*exception)

    def on_train_begin(self, run_context: RunContext) -> None:
        """Call ``on_train_begin`` of every callback in order."""
        self._call("on_train_begin", run_context)

    def on_train_epoch_begin(self, run_context: RunContext) -> None:
        """Call ``on_train_epoch_begin`` of every callback in order."""
        self._call("on_train_epoch_begin", run_context)

    def on_train_step_begin(self, run_context: RunContext) -> None:
        """Call ``on_train_step_begin`` of every callback in order."""
        self._call("on_train_step_begin", run_context)

    def on_train_step_end(self, run_context: RunContext) -> None:
        """Call ``on_train_step_end`` of every callback in order."""
        self._call("on_train_step_end", run_context)

    def on_train_epoch_end(self, run_context: RunContext) -> None:
        """Call ``on_train_epoch_end`` of every callback in order."""
        self._call("on_train_epoch_end", run_context)

    def on_train_end(self, run_context: RunContext) -> None:
        """Call ``on_train_end`` of every callback in order."""
        self._call("on_train_end", run_context)

    def on_eval_begin(self, run_context: RunContext) -> None:
        """Call ``on_eval_begin`` of every callback in order."""
        self._call("on_eval_begin", run_context)

    def on_eval_epoch_begin(self, run_context: RunContext) -> None:
        """Call ``on_eval_epoch_begin`` of every callback in order."""
        self._call("on_eval_epoch_begin", run_context)

    def on_eval_step_begin(self, run_context: RunContext) -> None:
        """Call ``on_eval_step_begin`` of every callback in order."""
        self._call("on_eval_step_begin", run_context)

    def on_eval_step_end(self, run_context: RunContext) -> None:
        """Call ``on_eval_step_end`` of every callback in order."""
        self._call("on_eval_step_end", run_context)

    def on_eval_epoch_end(self, run_context: RunContext) -> None:
        """Call ``on_eval_epoch_end`` of every callback in order."""
        self._call("on_eval_epoch_end", run_context)

    def on_eval_end(self, run_context: RunContext) -> None:
        """Call ``on_eval_end`` of every callback in order."""
        self._call("on_eval_end", run_context)

    def _call(self, hook: str, run_context: RunContext) -> None:
        for callback in self._callbacks:
            getattr(callback, hook)(run_context)


def _is_callback(candidate: object) -> bool:
    return isinstance(candidate, Callback) or hasattr(candidate, "on_train_step_end")
