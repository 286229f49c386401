"""Policy of checkpoints: when they are written, how many stay, what goes into them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

_COUNTS = (
    "save_checkpoint_steps",
    "save_checkpoint_seconds",
    "keep_checkpoint_max",
    "keep_checkpoint_per_n_minutes",
)
_MINDSPORE_ONLY = {
    "integrated_save": True,
    "async_save": False,
    "enc_key": None,
    "enc_mode": "AES-GCM",
    "crc_check": False,
    "remove_redundancy": False,
    "format": "ckpt",
}


class CheckpointConfig:
    """Policy of a ModelCheckpoint, with the names and defaults of MindSpore's.

    Saving: every ``save_checkpoint_steps`` steps or, when that is 0, every ``save_checkpoint_seconds``
    seconds. Keeping: the newest ``keep_checkpoint_max`` files or, when that is 0, one file for each
    ``keep_checkpoint_per_n_minutes`` minutes; without either, one file. ``saved_network`` is saved
    instead of the network that is trained. ``append_info`` is a list of "epoch_num", "step_num" and at
    most one dict, stored beside the parameters. ``exception_save`` saves once more when the loop raises.
    All other arguments go to MindSpore's own ``save_checkpoint``; other frameworks refuse them.

    Raises ValueError for a number below 0, for four zeros and for unknown names in ``append_info``;
    TypeError for an ``append_info`` of another shape and for unknown arguments.
    """

    def __init__(
        self,
        save_checkpoint_steps: int | None = 1,
        save_checkpoint_seconds: int | None = 0,
        keep_checkpoint_max: int | None = 5,
        keep_checkpoint_per_n_minutes: int | None = 0,
        integrated_save: bool = True,
        async_save: bool | str = False,
        saved_network: Any = None,
        append_info: Sequence[str | Mapping[str, object]] | None = None,
        enc_key: bytes | None = None,
        enc_mode: str = "AES-GCM",
        exception_save: bool = False,
        **kwargs: Any,
    ) -> None:
        numbers = (
            save_checkpoint_steps,
            save_checkpoint_seconds,
            keep_checkpoint_max,
            keep_checkpoint_per_n_minutes,
        )
        steps, seconds, most, minutes = map(_count, _COUNTS, numbers)
        if not any((steps, seconds, most, minutes)):
            raise ValueError(f"at least one of {', '.join(_COUNTS)} must be above 0")
        self.steps = steps
        self.seconds = 0 if steps else seconds
        self.keep_most = most or (0 if minutes else 1)
        self.keep_minutes = 0 if most else minutes
        self.saved_network = saved_network
        self.append_names, self.append_values = _append_info(append_info or [])
        self.exception_save = exception_save
        mindspore_options = {
            **kwargs,
            "integrated_save": integrated_save,
            "async_save": async_save,
            "enc_key": enc_key,
            "enc_mode": enc_mode,
        }
        self.mindspore_options = _beyond_defaults(mindspore_options)

    def extra(self, epoch: int, step: int) -> dict[str, object]:
        """The entries of ``append_info`` for this epoch and step, to be stored with the parameters."""
        numbers = {"epoch_num": epoch, "step_num": step}
        return {name: numbers[name] for name in self.append_names} | self.append_values


def _count(name: str, value: int | None) -> int:
    if value is None:
        return 0
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise ValueError(f"{name} must be an int of at least 0, got {value!r}")
    return value


def _append_info(entries: Sequence[str | Mapping[str, object]]) -> tuple[list[str], dict[str, object]]:
    names = [entry for entry in entries if isinstance(entry, str)]
    dicts = [entry for entry in entries if isinstance(entry, Mapping)]
    if len(dicts) > 1 or len(names) + len(dicts) != len(entries):
        raise TypeError(f"append_info holds names and at most one dict, got {entries!r}")
    if unknown := set(names) - {"epoch_num", "step_num"}:
        raise ValueError(f"append_info knows epoch_num and step_num, not {', '.join(sorted(unknown))}")
    return names, dict(dicts[0]) if dicts else {}


def _beyond_defaults(options: dict[str, Any]) -> dict[str, Any]:
    """The arguments that differ from MindSpore's defaults, so that only these need its writer."""
    if unknown := set(options) - set(_MINDSPORE_ONLY):
        raise TypeError(f"unknown arguments: {', '.join(sorted(unknown))}")
    return {name: value for name, value in options.items() if value != _MINDSPORE_ONLY[name]}
