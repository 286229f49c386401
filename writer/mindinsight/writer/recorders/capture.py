"""Capture core of the recorders: networks, operator calls, names and graph of operators, and writes."""

import linecache
import logging
import os
import threading
from collections import Counter, deque
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from importlib import import_module
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from mindinsight.writer.files.event_queue import STALLED, patiently, start_within_limit
from mindinsight.writer.graph import GraphBuilder

_log: Final = logging.getLogger(__name__)


def models_of(model: Any) -> dict[str, Any]:
    """Return ``model``, a network or a mapping of several, as networks by name. A single one has the name "".
    Raises TypeError for anything else, for no network, and for networks of two frameworks."""
    models = dict(model) if isinstance(model, Mapping) else {"": model}
    for value in models.values():
        if not hasattr(value, "named_modules") and not is_cell(value):
            raise TypeError(
                f"a model is a torch.nn.Module or a mindspore.nn.Cell, got "
                f"{type(value).__module__}.{type(value).__qualname__}"
            )
    if not models:
        raise TypeError("there is no model to record")
    if len({is_cell(value) for value in models.values()}) > 1:
        raise TypeError("the models are of two frameworks: record each with a separate recorder")
    return models


def is_cell(value: object) -> bool:
    """Return True if a value is a MindSpore network (Cell)."""
    return hasattr(value, "cells_and_names") and any(
        cls.__module__.partition(".")[0] == "mindspore" for cls in type(value).__mro__
    )


def backend_of(models: Mapping[str, Any]) -> Any:
    """Return the module that captures the operators of the networks' framework, imported on demand.

    The module has ``make_capture``, ``facts_of``, ``host_copy``, ``named_parameters``, ``unseen_regions`` and
    ``NUMBERS_PER_SCOPE``. MindSpore's also has ``delegates``, ``has_compiled``, ``device`` and ``OWN_GRAPH``.
    """
    framework = "mindspore" if any(map(is_cell, models.values())) else "torch"
    return import_module(f"{__package__}.{framework}_operators")


Phase: TypeAlias = Literal["forward", "backward", "recompute", "optimizer"]

_PREFIXES: Final = {  # outermost scopes, by MindSpore's names
    "forward": "Default",
    "backward": "Gradients/Default",
    "recompute": "recompute_Default",
    "optimizer": "Default",
}


class CodeLine(NamedTuple):
    """Line of the user's code from which an operator was called."""

    file: str
    line: int
    function: str

    def as_text(self) -> str:
        """Return the line in the format of MindSpore's graphs."""
        code = linecache.getline(self.file, self.line).strip()
        return f"# In file {self.file}:{self.line}, 0~{len(code)}/{code}/"


class OperatorCall(NamedTuple):
    """Operator that is about to run, or has run.

    ``inputs`` are the tensors among the arguments in order, lists flattened. Their position is their slot.
    The tensors belong to the framework, and change if the operator runs in place.
    """

    type: str  # addmm, relu, ...
    scope: str  # "Default/fc1-Linear", "Gradients/Default/fc1-Linear"
    inputs: Sequence[Any]
    stack: tuple[CodeLine, ...] = ()  # innermost first. Backward operators: the forward stack
    numbers: Mapping[str, float] = {}  # among the arguments, by slot, of operators that compute with them


# Called before an operator runs. Returns a function to call with the outputs, or None to skip the outputs.
Observer: TypeAlias = Callable[[OperatorCall], Callable[[Sequence[Any]], None] | None]


class OperatorCapture:
    """Base of the frameworks' captures of operators between ``start`` and ``stop``.

    ``observer`` is called before each operator. An exception in the capture or the observer ends the capture
    and is passed to ``on_error``. The training's operators run on.
    """

    def __init__(self, observer: Observer, on_error: Callable[[Exception], None]) -> None:
        self._observer = observer
        self._on_error = on_error
        self._scopes: list[str] = []  # of the running modules
        self._failed = False
        self._busy = False  # in our own code, which may run operators, too
        self._process = os.getpid()  # a forked worker of a data loader is not captured

    def _guarded(self, action: Callable[..., Any], *arguments: Any) -> Any:
        """Call ``action``, and return its result, or None if it raises. Operators inside it are not
        captured."""
        self._busy = True
        try:
            return action(*arguments)
        except Exception as error:
            self._failed = True
            self._on_error(error)
            return None
        finally:
            self._busy = False


def phase_scope(phase: Phase, scope: str) -> str:
    """Return the full scope of an operator: the prefix of the phase and the non-empty parts of ``scope``."""
    return "/".join([_PREFIXES[phase], *filter(None, scope.split("/"))])


NUMBER_PREFIX: Final = "input."  # of the names of attributes, before the slot
_INPUTS: Final = "inputs"  # MindSpore names the inputs of a network inputs0, inputs1


class TensorFacts(NamedTuple):
    """Identity of a tensor while it exists in a step, its shape and element type."""

    key: Hashable
    shape: tuple[int, ...]
    dtype: str


class GraphRecorder:
    """Namer of the operators of a step, and builder of their graph.

    The name of an operator is ``<scope>/<type>-op<n>``. n counts the operators of the type in the step, or,
    with ``per_scope``, in the scope. Steps that run the same operators give the same names.
    """

    def __init__(
        self, name: str, parameters: Iterable[tuple[str, TensorFacts]] = (), per_scope: bool = False
    ) -> None:
        self._builder = GraphBuilder(name)
        self._per_scope = per_scope
        self._counts: Counter[str] = Counter()
        self._parameters = {facts.key: (label, facts) for label, facts in parameters}
        self._nodes: dict[Hashable, str] = {}  # key of a tensor -> node, parameter or input
        self._unnamed = 0
        self._last = ""

    def operator(
        self,
        kind: str,
        scope: str,
        inputs: Sequence[TensorFacts],
        stack: Sequence[CodeLine] = (),
        numbers: Mapping[str, float] = {},
    ) -> str:
        """Add an operator that is about to run, and return its full name. Call ``outputs`` after it ran.
        ``scope`` is the full scope. ``stack`` is the code that called it, innermost line first.
        ``numbers`` are inputs that are no tensors, by slot."""
        counted = f"{scope}/{kind}" if self._per_scope else kind
        number = self._counts[counted]
        self._counts[counted] += 1
        sources = [self._source(facts) for facts in inputs]
        self._pending = (kind, scope, number, sources, tuple(stack), numbers)
        return f"{scope}/{kind}-op{number}"

    def outputs(self, outputs: Sequence[TensorFacts]) -> None:
        """Add the operator last passed to ``operator`` to the graph, with its ``outputs``."""
        kind, scope, number, sources, stack, numbers = self._pending
        types = [(list(facts.shape), facts.dtype) for facts in outputs]
        shape, dtype = types[0] if types else (None, "")
        with self._builder.scope(f"/{scope}"):
            node = self._builder.node(
                kind,
                sources,
                shape,
                dtype,
                attributes={f"{NUMBER_PREFIX}{slot}": value for slot, value in numbers.items()},
                several=types if len(types) > 1 else None,
                source_lines=[line.as_text() for line in stack],
                number=number,
            )
        for facts in outputs:
            self._nodes[facts.key] = node
        self._last = node

    @property
    def has_operators(self) -> bool:
        """Return True if an operator ran."""
        return bool(self._last)

    def serialised(self) -> bytes:
        """Return the graph as bytes of a ModelProto. The operator that ran last, if any, is its output."""
        for label, facts in self._parameters.values():
            if label not in self._builder:
                self._builder.parameter(label, list(facts.shape), facts.dtype)
        if self._last:
            self._builder.output(self._last)
        return self._builder.serialised()

    def _source(self, facts: TensorFacts) -> str:
        """Return the name of the node, parameter or input of the network that a tensor comes from."""
        known = self._nodes.get(facts.key)
        if known is not None:
            return known
        label, origin = self._parameters.get(facts.key, ("", facts))
        if not label:
            label = f"{_INPUTS}{self._unnamed}"
            self._unnamed += 1
        if label not in self._builder:
            self._builder.parameter(label, list(origin.shape), origin.dtype)
        self._nodes[facts.key] = label
        return label


CAPACITY: Final = 256 << 20  # bytes of queued tensors. The training waits while more are queued
_END: Final = 5.0  # seconds that a thread with nothing left to write may take to end


class WriteQueue:
    """Queue of writes that one thread carries out in order.

    ``put`` waits while ``capacity`` bytes are queued. A write that raises an ``Exception``, or does not end
    for ten minutes, ends the queue. The error is logged once, later writes are dropped and counted, and
    nothing is raised into the training.
    """

    def __init__(self, capacity: int = CAPACITY) -> None:
        self._capacity = capacity
        self._jobs: deque[tuple[Callable[[], None], int]] = deque()
        self._queued = 0  # bytes
        self._written = 0  # jobs
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._run, name="dump-writer", daemon=True)
        self._unstarted = [self._thread]  # whoever takes it out starts it
        self._closed = False
        self._process = os.getpid()
        self.error: Exception | None = None
        self.dropped = 0  # writes after the error

    def put(self, write: Callable[[], None], size: int = 0) -> None:
        """Queue a write of ``size`` bytes, and wait while the queue has no room for the write. Drop and
        count the write after an error, a stall of the disk or ``close``. Do nothing in a forked process. A
        write larger than the capacity waits for an empty queue."""
        if os.getpid() != self._process:  # a forked worker has a copy of the queue, but not the thread
            return
        self._start()
        with self._changed:
            fits = self._wait(lambda: not self._queued or self._queued + size <= self._capacity)
            if fits and self.error is None and not self._closed:
                self._jobs.append((write, size))
                self._queued += size
                self._changed.notify_all()
                return
            self.dropped += 1
        if not fits:
            self._stall()

    def flush(self) -> None:
        """Wait until all queued writes are done, or an error or a stall of the disk has ended the queue."""
        if os.getpid() != self._process:
            return
        with self._changed:
            done = self._wait(lambda: not self._jobs and not self._queued)
        if not done:
            self._stall()

    def close(self) -> None:
        """Carry out the queued writes and end the thread."""
        self.flush()
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        if self._thread.is_alive() and os.getpid() == self._process:
            self._thread.join(_END)

    def _start(self) -> None:
        """Start the thread at the first write. No lock is held, as a thread may begin late, or never."""
        try:
            if self._unstarted:
                start_within_limit(self._unstarted.pop())
        except IndexError:  # another thread starts it just now
            pass
        except (RuntimeError, MemoryError) as error:
            self._fail(error)

    def _wait(self, done: Callable[[], bool]) -> bool:
        """Wait until ``done`` or an error and return True, or return False if no write has ended for too
        long. The lock is held."""
        for _ in patiently(lambda: self._written):
            if done() or self.error is not None:
                return True
            self._changed.wait(1.0)
        return False

    def _stall(self) -> None:
        if self.error is None:
            self._fail(TimeoutError(f"the disk has taken nothing for {STALLED:g} s"))

    def _run(self) -> None:
        while True:
            with self._changed:
                while not self._jobs and not self._closed:
                    self._changed.wait()
                if not self._jobs:
                    return
                write, size = self._jobs.popleft()
            try:
                write()
            except Exception as error:
                self._fail(error)
                return
            with self._changed:
                if self.error is not None:  # nobody waits for this any more
                    return
                self._written += 1
                self._queued -= size
                self._changed.notify_all()

    def _fail(self, error: Exception) -> None:
        _log.error("the dump stopped, the training continues: %s: %s", type(error).__name__, error)
        with self._changed:
            self.error = error
            self.dropped += 1 + len(self._jobs)
            self._jobs.clear()
            self._queued = 0
            self._changed.notify_all()
