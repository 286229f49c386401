"""Callbacks that write checkpoints: by a policy, or of the best evaluation."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal

from mindinsight.writer.callbacks.callback import Callback, position
from mindinsight.writer.frameworks import framework_of
from mindinsight.writer.network import graph_of

if TYPE_CHECKING:
    from mindinsight.writer.callbacks.callback import RunArguments, RunContext


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
    """Policy of a ModelCheckpoint, with MindSpore's names and defaults.

    A checkpoint is saved every ``save_checkpoint_steps`` steps or, if that is 0, every
    ``save_checkpoint_seconds`` seconds. The newest ``keep_checkpoint_max`` files are kept or, if that is 0,
    one file for each ``keep_checkpoint_per_n_minutes`` minutes. If both are 0, one file is kept.
    ``saved_network`` is saved instead of the trained network. ``append_info`` is a list of "epoch_num",
    "step_num" and at most one dict, stored with the parameters. ``exception_save`` also saves if the loop
    raises. All other arguments are passed to MindSpore's ``save_checkpoint``. Other frameworks reject them.

    Raises ValueError for a number below 0, for four zeros and for unknown names in ``append_info``, TypeError
    for an ``append_info`` of another shape and for unknown arguments.
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
        counts = {
            "save_checkpoint_steps": save_checkpoint_steps,
            "save_checkpoint_seconds": save_checkpoint_seconds,
            "keep_checkpoint_max": keep_checkpoint_max,
            "keep_checkpoint_per_n_minutes": keep_checkpoint_per_n_minutes,
        }
        steps, seconds, most, minutes = map(_count, counts, counts.values())
        if not any((steps, seconds, most, minutes)):
            raise ValueError(f"at least one of {', '.join(counts)} must be above 0")
        self.steps = steps
        self.seconds = 0 if steps else seconds
        self.keep_most = most or (0 if minutes else 1)
        self.keep_minutes = 0 if most else minutes
        self.saved_network = saved_network
        self.append_names, self.append_values = _append_info(append_info or [])
        self.exception_save = exception_save
        mindspore_options = {**kwargs, "integrated_save": integrated_save, "async_save": async_save}
        mindspore_options |= {"enc_key": enc_key, "enc_mode": enc_mode}
        self.mindspore_options = _beyond_defaults(mindspore_options)

    def extra(self, epoch: int, step: int) -> dict[str, object]:
        """Return the entries of ``append_info`` to store with the parameters at this epoch and step."""
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
    """Return the arguments that differ from MindSpore's defaults. Only these need MindSpore's writer."""
    if unknown := set(options) - set(_MINDSPORE_ONLY):
        raise TypeError(f"unknown arguments: {', '.join(sorted(unknown))}")
    return {name: value for name, value in options.items() if value != _MINDSPORE_ONLY[name]}


# Takes network, path and values to store with the parameters. Its result is ignored.
SaveFunction = Callable[[Any, Path, Mapping[str, object]], object]


def save_function(
    user_function: SaveFunction | None, network: object, options: Mapping[str, object]
) -> tuple[SaveFunction, str]:
    """Return ``user_function``, or without one a function that saves ``network``, and the suffix of its
    files. Without one, raises TypeError for a network of neither MindSpore nor PyTorch, and ValueError for
    ``options`` with a network of PyTorch. ``options`` are arguments of MindSpore's ``save_checkpoint``."""
    if user_function is not None:
        return user_function, _suffix(options)
    framework = framework_of(network)
    if not hasattr(framework, "save"):
        kind = type(network).__name__
        raise TypeError(f"give a save function: {kind} is not a network of MindSpore or PyTorch")
    assert framework is not None
    if options and not framework.SAVE_OPTIONS:
        raise ValueError(f"only MindSpore saves with {', '.join(sorted(options))}")

    def save(network: Any, path: Path, extra: Mapping[str, object]) -> None:
        framework.save(network, path, extra, options)

    return save, _suffix(options) if framework.SAVE_OPTIONS else framework.SUFFIX


def _suffix(options: Mapping[str, object]) -> str:
    return f".{options.get('format', 'ckpt')}"


Prefix = str | Callable[["RunArguments"], str]


class ModelCheckpoint(Callback):
    """Callback that writes ``<prefix>-<epoch>_<step of the epoch>.ckpt`` and ``<prefix>-graph.meta``.

    PyTorch's files end in ``.pt``. ``prefix`` is a name without ``/``, or a function of the loop's arguments
    that returns one. If files with that prefix exist, it becomes ``<prefix>_1``, ``_2``, ... ``directory``
    defaults to the working directory and is created. ``save(network, path, extra)`` writes a file. By default
    MindSpore or PyTorch saves the network. The last step of a training is always saved. The loop's arguments
    receive ``last_save_ckpt_step`` and ``latest_ckpt_file``. Raises ValueError for an invalid prefix,
    TypeError for a ``config`` of another type.
    """

    def __init__(
        self,
        prefix: Prefix = "CKP",
        directory: str | Path | None = None,
        config: CheckpointConfig | None = None,
        save: SaveFunction | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        if config is not None and not isinstance(config, CheckpointConfig):
            raise TypeError(f"config must be a CheckpointConfig, got {type(config).__name__}")
        self._config = config or CheckpointConfig()
        self._directory = Path.cwd() if directory is None else Path(directory).absolute()
        self._directory.mkdir(parents=True, exist_ok=True)
        if isinstance(prefix, str):
            prefix = free_prefix(self._directory, checked_prefix(prefix))
        self._prefix = prefix
        self._save = save
        self._clock = clock
        self._saved_at = clock()
        self._saved_step = 0
        self._graph_written = False
        self._files = CheckpointFiles(self._config.keep_most, 60 * self._config.keep_minutes)
        self._latest = ""
        self._arguments: RunArguments | None = None

    @property
    def latest_ckpt_file_name(self) -> str:
        """Return the full path of the newest file, "" before the first one."""
        return self._latest

    def on_train_begin(self, run_context: RunContext) -> None:
        """Start the clock and the count of steps of the policy."""
        self._arguments = run_context.original_args()
        self._saved_step = int(self._arguments.get("cur_step_num", 0))
        self._saved_at = self._clock()

    def on_train_step_end(self, run_context: RunContext) -> None:
        """Save a checkpoint if the policy says so."""
        self._arguments = arguments = run_context.original_args()
        if self._is_due(int(arguments["cur_step_num"])):
            self._write(arguments)

    def on_train_end(self, run_context: RunContext) -> None:
        """Save a checkpoint of the last step, unless it is already saved."""
        arguments = run_context.original_args()
        if int(arguments.get("cur_step_num", 0)) != self._saved_step:
            self._write(arguments)
        self._arguments = None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None and self._config.exception_save and self._arguments is not None:
            self._write(self._arguments, "_breakpoint")

    def _is_due(self, step: int) -> bool:
        if self._config.steps:
            return step - self._saved_step >= self._config.steps
        return bool(self._config.seconds) and self._clock() - self._saved_at >= self._config.seconds

    def _write(self, arguments: RunArguments, note: str = "") -> None:
        network = network_of(self._config.saved_network, arguments)
        save, suffix = save_function(self._save, network, self._config.mindspore_options)
        prefix = self._prefix if isinstance(self._prefix, str) else checked_prefix(self._prefix(arguments))
        self._write_graph(prefix, network)
        epoch, step = position(arguments)
        path = self._directory / f"{prefix}-{epoch}_{step}{note}{suffix}"
        now = self._clock()
        save(network, path, self._config.extra(epoch, int(arguments["cur_step_num"])))
        self._files.add(path, now)
        self._latest, self._saved_at, self._saved_step = str(path), now, int(arguments["cur_step_num"])
        arguments.update(last_save_ckpt_step=self._saved_step, latest_ckpt_file=self._latest)

    def _write_graph(self, prefix: str, network: object) -> None:
        if self._graph_written:
            return
        self._graph_written = True
        if graph := graph_of(network):
            (self._directory / f"{prefix}-graph.meta").write_bytes(graph)


def checked_prefix(prefix: str) -> str:
    """Return ``prefix`` if it is a valid part of a file name. Raises ValueError otherwise."""
    if not isinstance(prefix, str) or not prefix or "/" in prefix:
        raise ValueError(f"a checkpoint prefix is a name without '/', got {prefix!r}")
    return prefix


def network_of(chosen: object, arguments: RunArguments) -> object:
    """Return ``chosen``, else the loop's ``train_network`` (with its optimizer), else its ``network``. Raises
    TypeError if all of them are None."""
    for network in (chosen, arguments.get("train_network"), arguments.get("network")):
        if network is not None:
            return network
    raise TypeError("the loop named no network to save")


class CheckpointFiles:
    """Retention policy for the files of one ModelCheckpoint.

    Keeps the newest ``most`` files or, when that is 0, one file for each ``seconds`` seconds.
    """

    def __init__(self, most: int, seconds: float) -> None:
        self._most = most
        self._seconds = seconds
        self._files: list[tuple[float, Path]] = []

    def add(self, path: Path, now: float) -> None:
        """Register a file written at ``now`` (seconds), and remove files that the policy does not keep."""
        self._files = [*(entry for entry in self._files if entry[1] != path), (now, path)]
        if self._most:
            while len(self._files) > self._most:
                self._drop(0)
        elif len(self._files) > 2 and self._files[-2][0] - self._files[-3][0] < self._seconds:
            self._drop(-2)  # it stood for a period that is not over yet

    def _drop(self, index: int) -> None:
        _, path = self._files.pop(index)
        path.unlink(missing_ok=True)


def free_prefix(directory: Path, prefix: str) -> str:
    """Return ``prefix`` if no checkpoint in ``directory`` has it, else ``<prefix>_<n>`` with a free n. The
    n is one more than the largest in use."""
    pattern = re.compile(rf"{re.escape(prefix)}(?:_(\d+))?-(?:\d+_\d+.*|graph\.meta)")
    used = [match[1] for entry in directory.iterdir() if (match := pattern.fullmatch(entry.name))]
    if not used:
        return prefix
    return f"{prefix}_{max(int(number or 0) for number in used) + 1}"


class KeepBest(Callback):
    """Callback that keeps one file, ``<prefix>-best.ckpt``, of the network with the best ``metric``.

    PyTorch's file ends in ``.pt``. ``mode`` says whether the largest or the smallest value is best. NaN never
    is. The metric is read from the loop's ``metrics`` at the end of an evaluation and of an epoch of ``fit``.
    ``best`` and ``best_epoch`` are the best so far. ``save(network, path, extra)`` receives the metric and
    the epoch as ``extra``. By default MindSpore or PyTorch saves the network. Raises ValueError for another
    mode or an invalid prefix.
    """

    def __init__(
        self,
        metric: str,
        mode: Literal["max", "min"] = "max",
        directory: str | Path = ".",
        prefix: str = "CKP",
        save: SaveFunction | None = None,
    ) -> None:
        if mode not in ("max", "min"):
            raise ValueError(f"mode must be 'max' or 'min', got {mode!r}")
        self._metric = metric
        self._sign = 1.0 if mode == "max" else -1.0
        self._stem = Path(directory).absolute() / f"{checked_prefix(prefix)}-best"
        self._stem.parent.mkdir(parents=True, exist_ok=True)
        self._save = save
        self.best = math.nan
        self.best_epoch = 0

    def on_eval_end(self, run_context: RunContext) -> None:
        """Save the network if the metric is the best so far. Do nothing without the metric, or if it is
        NaN."""
        super().on_eval_end(run_context)
        self._consider(run_context)

    def on_train_epoch_end(self, run_context: RunContext) -> None:
        """Save the network if the metric is the best so far. Do nothing without the metric, or if it is
        NaN."""
        super().on_train_epoch_end(run_context)
        self._consider(run_context)

    def _consider(self, run_context: RunContext) -> None:
        arguments = run_context.original_args()
        metrics = arguments.get("metrics") or {}
        if self._metric not in metrics:
            return
        value = float(metrics[self._metric])
        if math.isnan(value) or self._sign * value <= self._sign * self.best:
            return
        self.best, self.best_epoch = value, position(arguments)[0]
        network = network_of(None, arguments)
        save, suffix = save_function(self._save, network, {})
        extra = {self._metric: value, "epoch_num": self.best_epoch}
        save(network, self._stem.with_name(self._stem.name + suffix), extra)
