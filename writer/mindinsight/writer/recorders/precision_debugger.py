"""Recorder of dumps with the interface and the files of msprobe, as an object or a callback."""

import atexit
import logging
import os
import random
import sys
import time
import weakref
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import numpy as np

from mindinsight.writer.callbacks.callback import Callback, RunContext
from mindinsight.writer.ranks import rank_of
from mindinsight.writer.recorders import recorder_config
from mindinsight.writer.recorders.capture import CAPACITY, WriteQueue, models_of
from mindinsight.writer.recorders.dump_recorder import delegate_dump
from mindinsight.writer.recorders.step_files import StepFiles, describe_variable, hook_gradients

_log: Final = logging.getLogger(__name__)

PROBES: Final = {"torch": f"{__package__}.torch_probe", "mindspore": f"{__package__}.mindspore_probe"}
_VALUES: Final = {"torch": f"{__package__}.torch_tensors", "mindspore": f"{__package__}.mindspore_values"}
_INTERVAL: Final = 5.0  # s between writes within a step, at least
_SHARE: Final = 20  # of the time since, at most one part in so many is spent on writing


class PrecisionDebugger:
    """Recorder of calls and modules of PyTorch and MindSpore, compatible with msprobe's class::

        debugger = PrecisionDebugger("config.json")        # or the same keys: task="tensor", dump_path=...
        for batch in loader:
            debugger.start(model)
            loss = loss_fn(model(batch.x), batch.y)
            loss.backward()
            debugger.stop()
            debugger.step()

    Keys are ``task`` (statistics, tensor, overflow_check, structure), ``dump_path``, ``level`` (L0 modules,
    L1 calls, mix both, L2 kernels), ``rank``, ``step``, ``extra_info``, and ``scope``, ``list``,
    ``data_mode``, ``summary_mode`` (statistics, md5) at the top level or in the task's section. Arguments
    override the file. Kernels are recorded in MindSpore's graph mode, by MindSpore's own dump. Elsewhere L2
    records calls.

    Files are in ``{dump_path}/step{N}/rank{R}``, or ``proc{pid}`` for a process without a rank, and are
    complete after ``stop`` or ``step``. A failure during the training is logged once and ends the dump, never
    the training. Raises ConfigError for an invalid configuration.
    """

    def __init__(self, config_path: str | Path | None = None, **keys: object) -> None:
        self.config: recorder_config.ProbeConfig = (
            recorder_config.parse_probe_config({}, keys)
            if config_path is None
            else recorder_config.load_probe_config(config_path, keys)
        )
        if self.config.without_effect:
            names = ", ".join(self.config.without_effect)
            _log.warning("these keys of the configuration have no effect: %s", names)
        self._queue = WriteQueue(CAPACITY)
        self._step = 0
        self._files: StepFiles | None = None
        self._probe: Any = None
        self._running = False
        self._ended = False  # for this step, by forward_backward_dump_end
        self._failed = False
        self._framework = "torch"
        self._delegates = False
        self._variables: dict[str, int] = {}
        self._written = time.monotonic()
        self._cost = 0.0  # s that the last write took
        atexit.register(_close, weakref.ref(self))

    def start(self, model: Any = None) -> None:
        """Begin to record a network or a list of networks, if the step and the rank are selected. Raises
        TypeError for another ``model``, ValueError without one unless the level is L1, and RuntimeError in
        MindSpore's graph mode after the first compilation.

        In graph mode MindSpore writes its own dump: this call writes its configuration. A second call before
        ``stop`` logs a warning.
        """
        models = self._models(model)
        if self._running:
            _log.warning("start() was called while recording; stop() ends the step's record first")
            return
        if self._failed or self._ended or not self._selects():
            return
        framework = _framework(models)
        if framework == "mindspore" and not self._delegates:
            self._delegates = delegate(self.config)
        if self._delegates:
            return
        if self.config.level == "L2":
            _log.warning("only MindSpore's graph mode has kernels to record: level L2 records calls, as L1")
            self.config = replace(self.config, level="L1")
        self._make_probe(framework)
        self._running = True
        self._probe.start(models, self._step_files())

    def stop(self) -> None:
        """Pause recording and write the recorded entries. ``start`` continues in the same step."""
        if self._running:
            self._running = False
            self._probe.stop()
            self._write()

    def forward_backward_dump_end(self) -> None:
        """End recording in this step, for example before the optimizer."""
        self.stop()
        self._ended = True

    def step(self) -> None:
        """End the step. The next ``start`` records into the directory of the next step."""
        self.stop()
        self._write()
        self._step += 1
        self._files, self._ended, self._variables = None, False, {}

    def save(self, variable: Any, name: str, save_backward: bool = True) -> None:
        """Record a variable and, with ``save_backward``, later its gradient, in ``debug.json`` of this
        step. Raises ValueError for a name that is empty or has a slash. ``variable`` is a tensor or a
        number, or lists and dictionaries of them."""
        if not isinstance(name, str) or not name or "/" in name:
            raise ValueError(f"name is text without '/', got {name!r}")
        if self._failed or not self._selects():
            return
        try:
            self._save(variable, name, save_backward)
        except Exception as error:
            self._fail(error)

    def close(self) -> None:
        """Write all entries and end the writer's thread. Also called when the program exits."""
        if self._running:
            self._running = False
            self._probe.stop()
        self._write()
        self._queue.close()

    def _models(self, model: Any) -> dict[str, Any]:
        if model is None:
            if self.config.level not in ("L1", "L2"):
                raise ValueError(f"level {self.config.level} records modules: call start(model)")
            return {}
        if isinstance(model, (list, tuple)):
            return models_of({f"{position}.": item for position, item in enumerate(model)})
        return models_of({"": model})

    def _selects(self) -> bool:
        steps, ranks = self.config.steps, self.config.ranks
        return (not steps or self._step in steps) and (not ranks or (_rank() or 0) in ranks)

    def _make_probe(self, framework: str) -> None:
        if self._probe is None:
            self._framework = framework
            probe = import_module(PROBES[framework])
            self._probe = probe.make_probe(self.config, self._commit, self._fail)

    def _step_files(self) -> StepFiles:
        if self._files is None:
            rank = _rank()
            folder = f"proc{os.getpid()}" if rank is None else f"rank{rank}"
            directory = self.config.dump_path / f"step{self._step}" / folder
            name = {"torch": "pytorch"}.get(self._framework, self._framework)
            self._files = StepFiles(directory, self.config, name)
        return self._files

    def _commit(self, draft: Any) -> None:
        task = self.config.task
        if task == "structure":
            return
        files = self._step_files()
        if task == "overflow_check":
            files.count_checked()
            if not draft.overflowed():
                return
        files.add(draft.name, draft.sections)
        self._put_tensors(files.tensors, draft.tensors)
        since = time.monotonic() - self._written
        if since > max(_INTERVAL, _SHARE * self._cost):
            self._write()

    def _put_tensors(self, directory: Path, tensors: Any) -> None:
        save = _values(self._framework).save_tensor
        for file, tensor in tensors:
            self._queue.put(partial(save, directory / file, tensor), tensor.nbytes)

    def _write(self) -> None:
        """Queue the current JSON files and, unless recording, wait until they are written."""
        if self._files is None or self._failed:
            return
        begin = time.monotonic()
        try:
            files = self._files
            contents = files.contents()
            if contents:
                self._queue.put(lambda: files.write(contents), sum(map(len, contents.values())))
            if not self._running:
                self._queue.flush()
        except Exception as error:
            self._fail(error)
        self._written = time.monotonic()
        self._cost = self._written - begin

    def _save(self, variable: Any, name: str, save_backward: bool) -> None:
        if self._probe is None:
            self._framework = _framework({"": variable})
        values = _values(self._framework)
        number = self._variables.get(name, 0)
        self._variables[name] = number + 1
        files = self._step_files()
        value, tensors = describe_variable(variable, f"{name}.{number}.debug", self.config, values)
        files.add_variable(f"{name}.{number}.debug", value)
        self._put_tensors(files.tensors, tensors)
        if save_backward:
            stem = f"{name}_grad.{number}.debug"
            hook_gradients(variable, stem, self.config, values, files, self._put_tensors)

    def _fail(self, error: Exception) -> None:
        if not self._failed:
            self._write()
            self._failed = True
            _log.error("the dump stopped, the training continues: %s: %s", type(error).__name__, error)


def _framework(models: Mapping[str, Any]) -> str:
    """Return "mindspore" if it made one of the models or values, or if it is loaded and PyTorch is not, else
    "torch"."""
    packages = {cls.__module__.partition(".")[0] for item in models.values() for cls in type(item).__mro__}
    loaded = "mindspore" in sys.modules and "torch" not in packages | sys.modules.keys()
    return "mindspore" if loaded or "mindspore" in packages else "torch"


def _values(framework: str) -> Any:
    """Return the module that describes a framework's values."""
    return import_module(_VALUES[framework])


def _rank() -> int | None:
    """Return the rank among the processes of a distributed training, or None for a single process."""
    torch = sys.modules.get("torch")
    distributed = getattr(torch, "distributed", None)
    if distributed is not None and distributed.is_available() and distributed.is_initialized():
        return int(distributed.get_rank())
    launched = rank_of()
    return launched.number if launched.world > 1 else None


def _close(reference: weakref.ref[PrecisionDebugger]) -> None:
    if (debugger := reference()) is not None:
        debugger.close()


_NET: Final = "Net"
_SIDES: Final = {frozenset({"input"}): 1, frozenset({"output"}): 2}  # of data_mode -> input_output


def delegate(config: recorder_config.ProbeConfig) -> bool:
    """Write the configuration of MindSpore's own dump and return True, or return False in PyNative mode.
    Raises RuntimeError after the first compilation, and ConfigError for a path that MindSpore rejects."""
    mindspore = import_module(f"{__package__}.mindspore_operators")
    if not mindspore.delegates():
        return False
    delegate_dump(dump_config(config), mindspore.has_compiled(), mindspore.device())
    return True


def dump_config(config: recorder_config.ProbeConfig) -> recorder_config.DumpConfig:
    """Return the configuration of MindSpore's own dump with the keys that msprobe's also has."""
    settings: dict[str, Any] = {
        "path": str(config.dump_path),
        "net_name": _NET,
        "iteration": "|".join(map(str, sorted(config.steps))) or "all",
        "saved_data": "tensor" if config.saves_tensors else "statistic",
        "input_output": _SIDES.get(config.sides, 0),
        "op_debug_mode": 3 if config.task == "overflow_check" else 0,
    }
    if config.names:
        settings |= {"dump_mode": 1, "kernels": list(config.names)}
    return recorder_config.parse_dump_config(settings)


def seed_all(seed: int = 1234, mode: bool = False) -> None:
    """Seed Python, NumPy and, if they are loaded, PyTorch and MindSpore. Raises TypeError if the seed is not
    an integer or ``mode`` is no bool, and ValueError if the seed is outside of 0 to 2³²-1.

    With ``mode``, operators use their deterministic form (``use_deterministic_algorithms`` in PyTorch,
    ``deterministic="ON"`` in MindSpore). In PyTorch an operator without such a form then raises.
    """
    if isinstance(seed, bool) or not isinstance(seed, int):
        raise TypeError(f"seed is an integer, got {seed!r}")
    if not 0 <= seed < 1 << 32:
        raise ValueError(f"seed is from 0 to 4294967295, got {seed}")
    if not isinstance(mode, bool):
        raise TypeError(f"mode is True or False, got {mode!r}")
    os.environ["PYTHONHASHSEED"] = str(seed)  # of processes that are started from here on
    random.seed(seed)
    np.random.seed(seed)
    if torch := sys.modules.get("torch"):
        _seed_torch(torch, seed, mode)
    if mindspore := sys.modules.get("mindspore"):
        mindspore.set_seed(seed)
        if mode:
            mindspore.set_context(deterministic="ON")


def _seed_torch(torch: Any, seed: int, mode: bool) -> None:
    torch.manual_seed(seed)  # of all devices
    if mode:
        os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    torch.use_deterministic_algorithms(mode)
    torch.backends.cudnn.deterministic = mode
    if mode:
        torch.backends.cudnn.benchmark = False


class MsprobeStep(Callback):
    """Callback that starts ``debugger`` before each training step and ends the step afterwards.

    The model is the loop's ``network``, else its ``train_network``. Evaluations are not recorded.
    """

    def __init__(self, debugger: PrecisionDebugger) -> None:
        if not isinstance(debugger, PrecisionDebugger):
            raise TypeError(f"debugger is a PrecisionDebugger, got {type(debugger).__name__}")
        self._debugger = debugger

    def on_train_step_begin(self, run_context: RunContext) -> None:
        """Start the debugger."""
        arguments = run_context.original_args()
        self._debugger.start(arguments.get("network") or arguments.get("train_network"))

    def on_train_step_end(self, run_context: RunContext) -> None:
        """End the debugger's step."""
        self._debugger.stop()
        self._debugger.step()

    def on_train_end(self, run_context: RunContext) -> None:
        """Close the debugger."""
        self._debugger.close()
