"""Callbacks: their base class, the arguments of a training loop, and the list that a loop calls."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from importlib import import_module
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from mindinsight.writer.arrays import to_numpy
from mindinsight.writer.frameworks.framework_values import mindspore_subclass

if TYPE_CHECKING:
    from typing_extensions import Self


class RunArguments(dict[str, Any]):
    """Dict of the facts of a training or evaluation loop, which are also attributes.

    Names as in MindSpore: ``mode`` ("train" or "eval"), ``network``, ``train_network``, ``loss_fn``,
    ``optimizer``, ``epoch_num``, ``batch_num`` (steps of an epoch), ``cur_epoch_num`` and ``cur_step_num``
    (from 1, the step counts over all epochs), ``net_outputs``, ``train_dataset``, ``train_dataset_element``,
    ``valid_dataset``, ``metrics`` (name -> value), ``dataset_sink_mode``. A missing name raises
    AttributeError. ``get`` returns None.
    """

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"the loop did not set {name!r}") from None

    def __setattr__(self, name: str, value: object) -> None:
        self[name] = value


class RunContext:
    """Argument of every hook of a callback: the loop's arguments, and a request to stop the loop.

    A RunArguments is used directly. Another dict is copied into one, which ``original_args()`` returns, so a
    loop sets its progress there. Raises TypeError for anything else.
    """

    def __init__(self, original_args: dict[str, Any]) -> None:
        if not isinstance(original_args, dict):
            raise TypeError(f"original_args must be a dict, got {type(original_args).__name__}")
        if not isinstance(original_args, RunArguments):
            original_args = RunArguments(original_args)
        self._arguments = original_args
        self._stop_requested = False

    def original_args(self) -> RunArguments:
        """Return the loop's arguments, which all callbacks share and may change."""
        return self._arguments

    def request_stop(self) -> None:
        """Ask the loop to end after the current step."""
        self._stop_requested = True

    def get_stop_requested(self) -> bool:
        """Return True if a callback asked the loop to end. A loop checks this after each step."""
        return self._stop_requested


class Callback:
    """Base class of callbacks of a training loop, with hooks that do nothing.

    Override the hooks you need: ``on_train_*`` and ``on_eval_*``, or the old short forms.

    An old form (``begin``, ``step_end``, ...) is called for training and for evaluation alike, by the
    default of the two long ones. A callback is entered as a context manager before the first hook and
    left after the last one, also when the loop raised.
    """

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return mindspore_subclass(type(self), "mindspore.train.callback", "Callback")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return None

    def begin(self, run_context: RunContext) -> None:
        """Run before the first epoch of a training or an evaluation."""

    def epoch_begin(self, run_context: RunContext) -> None:
        """Run before each epoch."""

    def step_begin(self, run_context: RunContext) -> None:
        """Run before each step."""

    def step_end(self, run_context: RunContext) -> None:
        """Run after each step. ``net_outputs`` is set."""

    def epoch_end(self, run_context: RunContext) -> None:
        """Run after each epoch."""

    def end(self, run_context: RunContext) -> None:
        """Run after the last epoch. After an evaluation ``metrics`` is set."""

    def on_train_begin(self, run_context: RunContext) -> None:
        """Call ``begin`` before a training."""
        self.begin(run_context)

    def on_train_epoch_begin(self, run_context: RunContext) -> None:
        """Call ``epoch_begin`` before each epoch of a training."""
        self.epoch_begin(run_context)

    def on_train_step_begin(self, run_context: RunContext) -> None:
        """Call ``step_begin`` for a training."""
        self.step_begin(run_context)

    def on_train_step_end(self, run_context: RunContext) -> None:
        """Call ``step_end`` for a training."""
        self.step_end(run_context)

    def on_train_epoch_end(self, run_context: RunContext) -> None:
        """Call ``epoch_end`` for a training."""
        self.epoch_end(run_context)

    def on_train_end(self, run_context: RunContext) -> None:
        """Call ``end`` for a training."""
        self.end(run_context)

    def on_eval_begin(self, run_context: RunContext) -> None:
        """Call ``begin`` for an evaluation."""
        self.begin(run_context)

    def on_eval_epoch_begin(self, run_context: RunContext) -> None:
        """Call ``epoch_begin`` for an evaluation."""
        self.epoch_begin(run_context)

    def on_eval_step_begin(self, run_context: RunContext) -> None:
        """Call ``step_begin`` for an evaluation."""
        self.step_begin(run_context)

    def on_eval_step_end(self, run_context: RunContext) -> None:
        """Call ``step_end`` for an evaluation."""
        self.step_end(run_context)

    def on_eval_epoch_end(self, run_context: RunContext) -> None:
        """Call ``epoch_end`` for an evaluation."""
        self.epoch_end(run_context)

    def on_eval_end(self, run_context: RunContext) -> None:
        """Call ``end`` for an evaluation."""
        self.end(run_context)


def loss_of(net_outputs: object) -> float:
    """Return the loss of a step: the mean over all elements of the network's first output. Raises TypeError
    if the first output contains no real numbers."""
    while isinstance(net_outputs, (tuple, list)) and net_outputs:
        net_outputs = net_outputs[0]
    values = to_numpy(net_outputs).values
    if values.size == 0 or values.dtype.kind == "c":
        raise TypeError(f"a loss must be real numbers, got {values.dtype} of shape {values.shape}")
    return float(np.mean(values, dtype=np.float64))


def position(arguments: RunArguments) -> tuple[int, int]:
    """Return epoch and step within the epoch, from 1. Without ``batch_num`` the step is the global one."""
    step = int(arguments.get("cur_step_num", 1))
    length = int(arguments.get("batch_num") or 0)
    return int(arguments.get("cur_epoch_num", 1)), (step - 1) % length + 1 if length > 0 else step


# Variable -> module and class of the callback, loaded only where the variable is set.
_CALLBACKS: Final[Mapping[str, tuple[str, str]]] = {
    "MINDSPORE_DUMP_CONFIG": ("mindinsight.writer.recorders.dump_recorder", "AutomaticDump")
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
