"""List of callbacks for user-written loops, including those enabled by environment variables."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
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


def _hook_of_all(name: str) -> Callable[[CallbackList, RunContext], None]:
    """Return a method that calls the hook ``name`` of every callback in order."""

    def hook(self: CallbackList, run_context: RunContext) -> None:
        for callback in self._callbacks:
            getattr(callback, name)(run_context)

    hook.__name__, hook.__doc__ = name, f"Call ``{name}`` of every callback in order."
    return hook


for _name in [name for name in vars(Callback) if name.startswith("on_")]:
    setattr(CallbackList, _name, _hook_of_all(_name))


def _is_callback(candidate: object) -> bool:
    return isinstance(candidate, Callback) or hasattr(candidate, "on_train_step_end")
