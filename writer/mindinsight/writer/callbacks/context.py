"""Arguments and context that a training loop hands to its callbacks."""

from __future__ import annotations

from typing import Any


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
