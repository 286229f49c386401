"""Recorder of operator dumps for PyTorch and MindSpore, with MindSpore's dump configuration."""

from __future__ import annotations

import json
import logging
import os
import re
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np

from mindinsight.writer.arrays import HostArray
from mindinsight.writer.callbacks.callback import Callback, RunContext
from mindinsight.writer.recorders import capture
from mindinsight.writer.recorders.dump import Dump, DumpStep, Gap, dump_settings
from mindinsight.writer.recorders.recorder_config import (
    VARIABLE,
    ConfigError,
    DumpConfig,
    KernelFilter,
    load_dump_config,
    parse_dump_config,
)

_log: Final = logging.getLogger(__name__)

_FILE: Final = "data_dump.json"


def delegate_dump(
    config: DumpConfig, compiled: bool, device: str, environment: MutableMapping[str, str] = os.environ
) -> Path:
    """Write a configuration for MindSpore's own dump, set the variable that names it, and return its path.
    Raises RuntimeError if ``compiled`` is True and the variable is not set, because MindSpore reads it when
    it compiles the first graph. Raises ConfigError for a path that MindSpore rejects.

    If the variable already names a file with the same configuration, that file is kept.
    """
    present = environment.get(VARIABLE, "")
    if present and _is_file_of(present, config):
        _log.info("MindSpore writes this dump itself, configured by %s", present)
        return Path(present)
    if compiled:
        raise RuntimeError(
            "MindSpore has compiled a graph already, and read its dump configuration then: start the "
            f"recorder before the first step, or set {VARIABLE} before the program begins"
        )
    if not re.fullmatch(r"[A-Za-z0-9_/-]+", str(config.path)):
        raise ConfigError(
            f"in path MindSpore takes letters, digits, '-', '_' and '/', got {str(config.path)!r}"
        )
    config.path.mkdir(parents=True, exist_ok=True)
    file = config.path / _FILE
    file.write_text(json.dumps(settings_of(config, device), indent=2), encoding="utf-8")
    environment[VARIABLE] = str(file)
    _log.warning("in graph mode MindSpore writes the dump itself: its configuration is %s", file)
    return file


def settings_of(config: DumpConfig, device: str) -> dict[str, Any]:
    """Return a configuration in the form of MindSpore 2.10. On the CPU, statistics become tensors."""
    saved = "tensor" if device == "CPU" else config.saved_data
    if saved != config.saved_data:
        _log.warning("on the CPU MindSpore writes tensors, not saved_data %s", config.saved_data)
    settings: dict[str, Any] = {
        "op_debug_mode": config.op_debug_mode,
        "dump_mode": config.dump_mode,
        "saved_data": saved,
        "input_output": config.input_output,
        "kernels": list(config.kernels),
        "support_device": list(range(8)),
        "initial_iteration": config.initial_iteration,
    }
    if saved != "tensor":
        settings["statistic_category"] = list(config.statistic_category)
    if config.op_debug_mode == 3:
        settings["overflow_number"] = config.overflow_number
    return dump_settings(config.path, config.net_name, config.iteration, **settings)


def _is_file_of(path: str, config: DumpConfig) -> bool:
    try:
        return Path(path).read_text(encoding="utf-8") == config.source
    except OSError:
        return False


class DumpRecorder:
    """Recorder of a dump of every operator of a training loop::

        config = {"path": "/tmp/dump", "net_name": "Net", "iteration": "0|10-12", "saved_data": "full"}
        with DumpRecorder(model, config) as recorder:
            for batch in loader:
                train_step(batch)
                recorder.step()

    ``config`` is the path of a ``data_dump.json`` or an object with its keys. It defaults to the file in the
    variable ``MINDSPORE_DUMP_CONFIG``. ``model`` is a ``torch.nn.Module`` or ``mindspore.nn.Cell``, or a
    mapping of names to several networks that train together. In graph mode MindSpore writes the dump itself:
    ``start`` writes its configuration and must precede the first compilation. The layout is that of
    MindSpore's synchronous dump. A step that runs other operators than the one before gets a graph and lines
    of code of its own. Iterations that are not selected run without any of our code.

    Tensors are copied in the training step and written by a thread. The training waits while ``capacity``
    bytes are queued. With ``limit``, tensors beyond that many bytes are omitted and counted. A failure during
    the training is logged once and ends the dump, never the training. Raises ConfigError for an invalid
    configuration, TypeError for a model and ValueError if no configuration is found.
    """

    def __init__(
        self,
        model: Any,
        config: str | Path | Mapping[str, object] | None = None,
        path: str | Path | None = None,
        rank: int | None = None,
        capacity: int = capture.CAPACITY,
        limit: int | None = None,
    ) -> None:
        self._limit = limit
        self._bytes = 0
        self._excess = 0
        self._cut_iterations: dict[int, None] = {}  # iterations that the limit cut, in order
        self._process = os.getpid()
        self.config = _config(config, path)
        self._models = capture.models_of(model)
        self._backend = capture.backend_of(self._models)
        self.delegates = bool(getattr(self._backend, "delegates", lambda: False)())  # MindSpore writes it
        self._selects = self.config.selects()
        self._kernels = KernelFilter(self.config.kernels if self.config.dump_mode == 1 else ())
        self._dump = None if self.delegates else self._made_dump(rank)
        self._queue = capture.WriteQueue(capacity)
        self._iteration = self.config.initial_iteration
        self._overflows = 0
        self._failed = False
        self._error: Exception | None = None
        self._step: DumpStep | None = None
        self._without_operators: dict[int, None] = {}  # iterations, in order
        self._mixed: dict[int, None] = {}  # iterations with files of an earlier recording
        self._capture: Any = None
        self._started = False
        self._paused = False
        self._graph = capture.GraphRecorder(self.config.net_name)
        if self.config.without_effect:
            names = ", ".join(self.config.without_effect)
            _log.warning("these keys of the dump configuration have no effect: %s", names)

    def __enter__(self) -> DumpRecorder:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def start(self) -> None:
        """Begin with the first iteration. In MindSpore's graph mode, configure MindSpore's own dump
        instead. Raises RuntimeError in a second call, and otherwise like ``delegate_dump``. ``with`` calls
        this method."""
        if self._started:
            raise RuntimeError("this DumpRecorder has been started already")
        if self._dump is None:
            delegate_dump(self.config, self._backend.has_compiled(), self._backend.device())
        else:
            if compiled := self._backend.unseen_regions(self._models):
                _log.warning("the dump has no operators of compiled regions: %s", ", ".join(compiled))
                self._note([Gap("compiled", tuple(compiled))])
            self._capture = self._backend.make_capture(self._models, self._observe, self._fail)
            self._begin()
        self._started = True

    def step(self) -> None:
        """End an iteration: write the parameters' current values and begin the next iteration. Raises
        RuntimeError before ``start``."""
        if not self._started:
            raise RuntimeError("step() was called before start(); use the recorder in a with block")
        if self._capture is None:  # MindSpore counts its iterations itself
            return
        self._end()
        self._iteration += 1
        self._begin()

    @property
    def problem(self) -> str:
        """Return the error or the omission that affects the dump, "" if none. Final after ``close``."""
        error = self._error or self._queue.error
        if error is not None:
            return f"{type(error).__name__}: {error}"
        return f"{self._excess} tensors are beyond {self._limit} bytes" if self._excess else ""

    def pause(self) -> None:
        """Stop recording until ``resume``. Operators in between belong to no step."""
        if self._capture is not None and self._capture.running:
            self._capture.stop()
            self._paused = True

    def resume(self) -> None:
        """Continue recording after ``pause``."""
        if self._paused:
            self._paused = False
            self._capture.start()

    def close(self) -> None:
        """End the dump and wait until it is written. An unfinished iteration stays incomplete."""
        if self._capture is not None and self._capture.running:
            self._capture.stop()
            if self._graph.has_operators:
                self._write_graph()
        self._queue.close()
        if self._kernels.unmatched:
            _log.warning("no operator matches these kernels: %s", ", ".join(self._kernels.unmatched))
        if self._excess:
            _log.warning("%d tensors are missing from the dump: limit %s bytes", self._excess, self._limit)
        if self._queue.dropped:
            _log.error("%d tensors are missing from the dump %s", self._queue.dropped, self.config.path)
        self._note_gaps()

    def _note_gaps(self) -> None:
        """Log the gaps of the dump and write them to its metadata."""
        unseen = tuple(sorted(getattr(self._capture, "unseen_backward", ())))
        if unseen:
            _log.warning("the dump has no backward operators of %s", ", ".join(unseen))
        gaps = [Gap("backward", unseen)] if unseen else []
        if self._without_operators:
            _log.warning("no operator ran in the thread of the recorder, so the dump has none of some steps")
            gaps.append(Gap("thread", iterations=tuple(self._without_operators)))
        if self._mixed:
            _log.warning("%s has files of an earlier recording in the same steps", self.config.path)
            gaps.append(Gap("mixed", iterations=tuple(self._mixed)))
        if self._excess:
            gaps.append(Gap("limit", count=self._excess, iterations=tuple(self._cut_iterations)))
        if self._queue.dropped:
            gaps.append(Gap("lost", count=self._queue.dropped))
        if self._error or self._queue.error:
            gaps.append(Gap("ended", detail=self.problem))
        self._note(gaps)

    def _note(self, gaps: Sequence[Gap]) -> None:
        if self._dump is None or os.getpid() != self._process:
            return
        try:
            self._dump.not_recorded(gaps)
        except (OSError, ValueError) as error:  # the disk may be full
            _log.error("the gaps of the dump could not be recorded: %s", error)

    def _made_dump(self, rank: int | None) -> Dump:
        return Dump(
            self.config.path,
            self.config.net_name,
            rank=rank,
            saved_data=self.config.saved_data,
            statistic_category=self.config.statistic_category,
            settings=self.config.source,
            graph_id=getattr(self._backend, "OWN_GRAPH", 0) if os.environ.get(VARIABLE) else 0,
        )

    def _begin(self) -> None:
        if self._queue.error is not None or self._failed or not self._selects(self._iteration):
            return
        facts = self._backend.facts_of
        parameters = [(name, facts(tensor)) for name, tensor in self._backend.named_parameters(self._models)]
        per_scope = self._backend.NUMBERS_PER_SCOPE
        self._graph = capture.GraphRecorder(self.config.net_name, parameters, per_scope)
        self._capture.start()

    def _end(self) -> None:
        """End the iteration: write the parameters and the graph, if operators were captured."""
        if not self._capture.running:
            return
        self._capture.stop()
        if self._failed:
            return
        if not self._graph.has_operators:
            self._without_operators[self._iteration] = None
        try:
            if self.config.input_output != 1 and not self.config.op_debug_mode:
                for name, tensor in self._backend.named_parameters(self._models):
                    if self._kernels(name):
                        self._put("Parameter", name, "output", 0, self._copied(tensor))
                if (step := self._step) is not None and (required := self._required()):
                    self._queue.put(lambda: step.requires_grad(required), 0)
            self._write_graph()
        except Exception as error:  # whatever is wrong with the dump, the training continues
            self._fail(error)
        self._step = None

    def _required(self) -> dict[str, bool]:
        """Return whether each parameter is to have a gradient, {} if the framework does not say."""
        trained = getattr(self._backend, "is_trained", None)
        if trained is None:
            return {}
        named = self._backend.named_parameters(self._models)
        return {name: trained(tensor) for name, tensor in named if self._kernels(name)}

    def _observe(self, call: capture.OperatorCall) -> Callable[[Sequence[Any]], None] | None:
        """Copy the inputs of an operator before it runs, and return a function to call with its outputs."""
        facts = [fact for fact in map(self._backend.facts_of, call.inputs) if fact is not None]
        name = self._graph.operator(call.type, call.scope, facts, call.stack, call.numbers)
        wanted = self._kernels(name)
        takes_inputs = wanted and self.config.input_output != 2
        inputs = [self._copied(item) for item in call.inputs] if takes_inputs else []
        return partial(self._finish, call.type, name, wanted, inputs)

    def _finish(
        self, kind: str, name: str, wanted: bool, inputs: Sequence[HostArray | None], outputs: Sequence[Any]
    ) -> None:
        self._graph.outputs([self._backend.facts_of(item) for item in outputs])
        if not wanted:
            return
        mode = self.config.op_debug_mode
        takes_outputs = self.config.input_output != 1 or mode == 3
        copies = [self._copied(item) for item in outputs] if takes_outputs or mode else []
        if mode and not self._overflowed(copies):
            return
        self._put_all(kind, name, "input", inputs)
        if takes_outputs and mode != 4:
            self._put_all(kind, name, "output", copies)

    def _overflowed(self, outputs: Sequence[HostArray | None]) -> bool:
        """Return True if an output is non-finite and at most ``overflow_number`` operators had one so far."""
        if all(host is None or bool(np.isfinite(host.values).all()) for host in outputs):
            return False
        self._overflows += 1
        return not self.config.overflow_number or self._overflows <= self.config.overflow_number

    def _put_all(self, kind: str, name: str, io: str, tensors: Sequence[HostArray | None]) -> None:
        for slot, host in enumerate(tensors):
            self._put(kind, name, io, slot, host)

    def _put(self, kind: str, name: str, io: str, slot: int, host: HostArray | None) -> None:
        if host is None or self._dump is None:
            return
        self._bytes += host.values.nbytes
        if self._limit is not None and self._bytes > self._limit:
            self._excess += 1
            self._cut_iterations[self._iteration] = None
            return
        step = self._step
        if step is None:  # only now, as an iteration without tensors has no folder
            if self._dump.holds(self._iteration):
                self._mixed[self._iteration] = None
            step = self._step = self._dump.iteration(self._iteration)
        self._queue.put(lambda: step.write(kind, name, io, slot, host), host.values.nbytes)

    def _copied(self, tensor: Any) -> HostArray | None:
        """Return a copy of a tensor in host memory, or None if it has no values (meta device)."""
        host: HostArray | None = self._backend.host_copy(tensor)
        if host is not None and self._dump is not None:
            self._dump.take_origin(tensor)
        return host

    def _write_graph(self) -> None:
        if self._queue.error is None and self._dump is not None:
            content, dump, iteration = self._graph.serialised(), self._dump, self._iteration
            self._queue.put(lambda: dump.graph(content, iteration), len(content))

    def _fail(self, error: Exception) -> None:
        if self._failed:
            return
        self._failed = True
        self._error = error
        _log.error("the dump stopped, the training continues: %s: %s", type(error).__name__, error)


def _config(config: str | Path | Mapping[str, object] | None, path: str | Path | None) -> DumpConfig:
    if config is None:
        config = os.environ.get(VARIABLE, "")
        if not config:
            raise ValueError(f"no dump configuration: give a path or an object, or set {VARIABLE}")
    if isinstance(config, Mapping):
        settings = {**config, **({} if path is None else {"path": str(Path(path).absolute())})}
        return parse_dump_config(settings)
    loaded = load_dump_config(config)
    return loaded if path is None else replace(loaded, path=Path(path).absolute())


_CLAIM: Final = "dump_recorder"  # argument of the loop that one of several callbacks sets


class AutomaticDump(Callback):
    """Callback that starts a DumpRecorder of the loop's network, and ends an iteration with each step.

    In graph mode, where MindSpore writes the dump itself, it does nothing. A failure is logged once, and the
    training continues.
    """

    def __init__(self) -> None:
        self._recorder: DumpRecorder | None = None
        self._announced = False  # the loop says when a step begins

    def __exit__(self, *_: object) -> None:
        self._close()

    def on_train_begin(self, run_context: RunContext) -> None:
        """Start a recorder, unless another callback of the loop has started one."""
        arguments = run_context.original_args()
        network = arguments.get("train_network") or arguments.get("network")
        if network is None or arguments.get(_CLAIM) is not None:
            return
        try:
            recorder = DumpRecorder(network)
            if recorder.delegates:
                return
            recorder.start()
        except Exception as error:
            _log.error("no dump is recorded, the training continues: %s: %s", type(error).__name__, error)
            return
        self._recorder = arguments[_CLAIM] = recorder
        _log.info("recording the dump of MINDSPORE_DUMP_CONFIG in %s", recorder.config.path)

    def on_train_step_begin(self, run_context: RunContext) -> None:
        """Resume recording."""
        self._announced = True
        if self._recorder is not None:
            self._recorder.resume()

    def on_train_step_end(self, run_context: RunContext) -> None:
        """End the iteration."""
        if self._recorder is not None:
            self._recorder.step()
            if self._announced:  # computations of callbacks between two steps are not recorded
                self._recorder.pause()

    def on_train_end(self, run_context: RunContext) -> None:
        """Close the recorder."""
        arguments = run_context.original_args()
        if self._recorder is not None and arguments.get(_CLAIM) is self._recorder:
            del arguments[_CLAIM]
        self._close()

    def _close(self) -> None:
        if self._recorder is not None:
            self._recorder.close()
            self._recorder = None
