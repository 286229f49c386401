"""Base class of callbacks: hooks a training loop calls, each with a RunContext.

The names, the order and the meaning of the arguments are those of ``mindspore.train.Callback``, so a
callback of ours runs in MindSpore's ``Model.train``, ``eval`` and ``fit`` and in any loop that drives a
:class:`~mindinsight.writer.callbacks.loop.CallbackList`.
"""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING

from mindinsight.writer.callbacks.context import RunContext
from mindinsight.writer.frameworks.mindspore_types import mindspore_subclass

if TYPE_CHECKING:
    from typing_extensions import Self


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
