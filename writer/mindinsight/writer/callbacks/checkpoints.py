"""Callback that writes checkpoints, and the retention of their files."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from mindinsight.writer.callbacks.base import Callback
from mindinsight.writer.callbacks.checkpoint_config import CheckpointConfig
from mindinsight.writer.callbacks.loss import position
from mindinsight.writer.callbacks.saving import SaveFunction, save_function
from mindinsight.writer.network import graph_of

if TYPE_CHECKING:
    from mindinsight.writer.callbacks.context import RunArguments, RunContext

Prefix = str | Callable[["RunArguments"], str]


class ModelCheckpoint(Callback):
    """Writes ``<prefix>-<epoch>_<step of the epoch>.ckpt`` (``.pt`` for PyTorch) and ``<prefix>-graph.meta``.

    ``prefix`` is a name without ``/`` or a function from the loop's arguments to one; when files with that
    prefix exist it becomes ``<prefix>_1``, ``_2``, ... ``directory`` defaults to the working directory and
    is created. ``save(network, path, extra)`` writes a file; without it MindSpore or PyTorch saves the
    network. The last step of a training is always saved. The loop's arguments learn
    ``last_save_ckpt_step`` and ``latest_ckpt_file``.
    Raises ValueError for a bad prefix, TypeError for a ``config`` of another type.
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
        """Full path of the newest file, "" before the first one."""
        return self._latest

    def on_train_begin(self, run_context: RunContext) -> None:
        self._arguments = run_context.original_args()
        self._saved_step = int(self._arguments.get("cur_step_num", 0))
        self._saved_at = self._clock()

    def on_train_step_end(self, run_context: RunContext) -> None:
        self._arguments = arguments = run_context.original_args()
        if self._is_due(int(arguments["cur_step_num"])):
            self._write(arguments)

    def on_train_end(self, run_context: RunContext) -> None:
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
    if not isinstance(prefix, str) or not prefix or "/" in prefix:
        raise ValueError(f"a checkpoint prefix is a name without '/', got {prefix!r}")
    return prefix


def network_of(chosen: object, arguments: RunArguments) -> object:
    """The network to save: the chosen one, the one that trains with its optimizer, or the bare one."""
    for network in (chosen, arguments.get("train_network"), arguments.get("network")):
        if network is not None:
            return network
    raise TypeError("the loop named no network to save")


class CheckpointFiles:
    """Retention of the files of one ModelCheckpoint, oldest first.

    Keeps the newest ``most`` files or, when that is 0, one file for each ``seconds`` seconds.
    """

    def __init__(self, most: int, seconds: float) -> None:
        self._most = most
        self._seconds = seconds
        self._files: list[tuple[float, Path]] = []

    def add(self, path: Path, now: float) -> None:
        """``path`` was written at ``now`` (seconds): remove what the rule no longer keeps."""
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
    """``prefix``, or ``<prefix>_<n>`` with the first n above all in use, when files of that prefix exist."""
    pattern = re.compile(rf"{re.escape(prefix)}(?:_(\d+))?-(?:\d+_\d+.*|graph\.meta)")
    used = [match[1] for entry in directory.iterdir() if (match := pattern.fullmatch(entry.name))]
    if not used:
        return prefix
    return f"{prefix}_{max(int(number or 0) for number in used) + 1}"
