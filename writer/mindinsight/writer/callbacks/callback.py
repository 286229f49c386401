"""Base class of callbacks, the arguments a training loop hands to them, and the loss among these."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np

from mindinsight.writer.arrays import to_numpy
from mindinsight.writer.frameworks.framework_values import mindspore_subclass

if TYPE_CHECKING:
    from typing_extensions import Self


class RunArguments(dict[str, Any]):
    """Facts about the loop; each can be read and set as an item or as an attribute.

    Names a callback may look for (as in MindSpore): ``mode`` ("train" or "eval"), ``network``,
    ``train_network``, ``loss_fn``, ``optimizer``, ``epoch_num``, ``batch_num`` (steps of an epoch),
    ``cur_epoch_num`` and ``cur_step_num`` (from 1; the step counts over all epochs), ``net_outputs``,
    ``train_dataset``, ``train_dataset_element``, ``valid_dataset``, ``metrics`` (name -> value),
    ``dataset_sink_mode``. A name that is not set raises AttributeError; ``get`` answers None.
    """

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"the loop did not set {name!r}") from None

    def __setattr__(self, name: str, value: object) -> None:
        self[name] = value


class RunContext:
    """Handed to every hook: the loop's arguments, and a way to ask the loop to stop.

    ``original_args`` is kept as it is when it is a RunArguments; another dict is copied into one, which
    ``original_args()`` returns, so a loop sets its progress there. Raises TypeError for anything else.
    """

    def __init__(self, original_args: dict[str, Any]) -> None:
        if not isinstance(original_args, dict):
            raise TypeError(f"original_args must be a dict, got {type(original_args).__name__}")
        if not isinstance(original_args, RunArguments):
            original_args = RunArguments(original_args)
        self._arguments = original_args
        self._stop_requested = False

    def original_args(self) -> RunArguments:
        """The loop's arguments, shared by all callbacks: what one sets, the next one sees."""
        return self._arguments

    def request_stop(self) -> None:
        """Ask the loop to end after the current step."""
        self._stop_requested = True

    def get_stop_requested(self) -> bool:
        """Whether a callback asked the loop to end; a loop looks here after each step."""
        return self._stop_requested


class Callback:
    """Base class. Override the hooks you need: ``on_train_*`` and ``on_eval_*``, or the old short forms.

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
        """Before the first epoch of a training or an evaluation."""

    def epoch_begin(self, run_context: RunContext) -> None:
        """Before each epoch."""

    def step_begin(self, run_context: RunContext) -> None:
        """Before each step."""

    def step_end(self, run_context: RunContext) -> None:
        """After each step; ``net_outputs`` is known from here on."""

    def epoch_end(self, run_context: RunContext) -> None:
        """After each epoch."""

    def end(self, run_context: RunContext) -> None:
        """After the last epoch; an evaluation has its ``metrics`` here."""

    def on_train_begin(self, run_context: RunContext) -> None:
        self.begin(run_context)

    def on_train_epoch_begin(self, run_context: RunContext) -> None:
        self.epoch_begin(run_context)

    def on_train_step_begin(self, run_context: RunContext) -> None:
        self.step_begin(run_context)

    def on_train_step_end(self, run_context: RunContext) -> None:
        self.step_end(run_context)

    def on_train_epoch_end(self, run_context: RunContext) -> None:
        self.epoch_end(run_context)

    def on_train_end(self, run_context: RunContext) -> None:
        self.end(run_context)

    def on_eval_begin(self, run_context: RunContext) -> None:
        self.begin(run_context)

    def on_eval_epoch_begin(self, run_context: RunContext) -> None:
        self.epoch_begin(run_context)

    def on_eval_step_begin(self, run_context: RunContext) -> None:
        self.step_begin(run_context)

    def on_eval_step_end(self, run_context: RunContext) -> None:
        self.step_end(run_context)

    def on_eval_epoch_end(self, run_context: RunContext) -> None:
        self.epoch_end(run_context)

    def on_eval_end(self, run_context: RunContext) -> None:
        self.end(run_context)


def loss_of(net_outputs: object) -> float:
    """The loss of a step: the mean over all elements of the first output of the network.

    Raises TypeError when the first output holds no numbers.
    """
    while isinstance(net_outputs, (tuple, list)) and net_outputs:
        net_outputs = net_outputs[0]
    values = to_numpy(net_outputs).values
    if values.size == 0 or values.dtype.kind == "c":
        raise TypeError(f"a loss must be real numbers, got {values.dtype} of shape {values.shape}")
    return float(np.mean(values, dtype=np.float64))


def position(arguments: RunArguments) -> tuple[int, int]:
    """Epoch and step within the epoch, both from 1; the step over all epochs when their length is unknown."""
    step = int(arguments.get("cur_step_num", 1))
    length = int(arguments.get("batch_num") or 0)
    return int(arguments.get("cur_epoch_num", 1)), (step - 1) % length + 1 if length > 0 else step
