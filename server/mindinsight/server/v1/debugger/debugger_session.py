"""Debugger session of one dump: its graph, current step, watchpoints, hits and events."""

import asyncio
import threading
import time
import uuid
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Final, TypeAlias

from mindinsight.proto.graph_pb2 import GraphProto
from mindinsight.server.compute.background_jobs import BackgroundJob, Threads
from mindinsight.server.compute.lru_cache import LruCache
from mindinsight.server.debug.conditions import Limits
from mindinsight.server.debug.statistics_cache import StatisticsCache
from mindinsight.server.debug.watchpoints import Hit, Watchpoint, check
from mindinsight.server.formats.dumps import list_operators, list_tensors
from mindinsight.server.formats.dumps.dump_types import Dump, Operator, TensorEntry, TensorRef
from mindinsight.server.formats.graphs.graph_proto import read_graph
from mindinsight.server.graph.model.graph import PARAMETER_TYPE
from mindinsight.server.graph.scopes.scope_tree import Tree, build_tree
from mindinsight.server.http.indices import index_of
from mindinsight.server.v1.v1_responses import Fault, V1Error

Event: TypeAlias = dict[str, Any]

CAPACITY: Final = 1000  # events; a client that polls too rarely misses the oldest
WAIT_SECONDS: Final = 25.0  # that a response waits for an event, as in MindInsight
_POLL_SECONDS: Final = 0.1  # between two checks


class Events:
    """Ring buffer of a session's events, which clients poll.

    A position is `<id of the buffer>:<number of the event>`, and "0" is the start.
    """

    def __init__(self, patience: float = WAIT_SECONDS) -> None:
        self.patience = patience
        self._id = uuid.uuid4().hex
        self._events: deque[tuple[int, Event]] = deque(maxlen=CAPACITY)
        self._count = 0
        self._lock = threading.Lock()
        self._closed = False

    def close(self) -> None:
        """End the waits of all clients."""
        self._closed = True

    def add(self, event: Event) -> None:
        """Append a copy of an event, with its position as `pos` in its metadata. Beyond CAPACITY events, drop
        the oldest."""
        with self._lock:
            self._count += 1
            metadata = {**event.get("metadata", {}), "pos": f"{self._id}:{self._count}"}
            self._events.append((self._count, {**event, "metadata": metadata}))

    def after(self, position: str) -> Event | None:
        """Return the event after a position, or None if there is none yet. For an invalid position, or that
        of another buffer, return the oldest event."""
        ring, _, number = position.partition(":")
        last_number = (index_of(number, self._count + 1) or 0) if ring == self._id else 0
        with self._lock:
            return next((event for event_number, event in self._events if event_number > last_number), None)

    async def wait(self, position: str) -> Event:
        """Return the event after a position, or `{"metadata": {"pos": position}}` if there is none within
        `patience` seconds or before the buffer is closed."""
        end = time.monotonic() + self.patience
        while (event := self.after(position)) is None:
            if self._closed or time.monotonic() >= end:
                return {"metadata": {"pos": position}}
            await asyncio.sleep(_POLL_SECONDS)
        return event


@dataclass(frozen=True, eq=False)
class DumpGraph:
    """Graph of one rank of a dump, as a tree of scopes and operators. `operators[i]` is node i of
    `tree.graph`.

    A parameter is a leaf of each scope that uses it, so that one operator may have several indices in the
    tree.
    """

    tree: Tree
    operators: tuple[Operator, ...]

    @cached_property
    def by_name(self) -> dict[str, int]:
        """Return the first index of each operator in the tree, by full name."""
        indices: dict[str, int] = {}
        for index, node in enumerate(self.tree.nodes.tolist()):
            if node >= 0:
                indices.setdefault(self.operators[node].name, index)
        return indices

    def operator(self, index: int) -> Operator | None:
        """Return the operator at an index of the tree, or None for a scope."""
        node = int(self.tree.nodes[index])
        return self.operators[node] if node >= 0 else None

    def find(self, name: str) -> int | None:
        """Return the index of a path or of an operator's full name in the tree, or None."""
        return self.tree.indices.get(name, self.by_name.get(name))


def display_name(graph: str) -> str:
    """Return a graph's name with underscores for slashes, which separate scopes: `Net_0` for `Net/0`. An
    empty name becomes `graph`."""
    return graph.replace("/", "_") or "graph"


def dump_graph(dump: Dump, rank: int, graph: str | None = None) -> DumpGraph | None:
    """Return the graph of a rank from its first step, or None if the rank has no operators. Without a name,
    each graph becomes a scope."""
    operators: dict[tuple[str, str], Operator] = {}
    for name in dump.graphs(rank) if graph is None else (graph,):
        steps = (folder.step for folder in dump.folders if (folder.rank, folder.graph) == (rank, name))
        if (step := next(steps, None)) is not None:
            step_operators = list_operators(dump, rank, step, name)
            operators |= {(name, operator.recorded or operator.name): operator for operator in step_operators}
    scope_by_graph = graph is None and len(dump.graphs(rank)) > 1
    return _build(tuple(operators.values()), scope_by_graph) if operators else None


def _build(operators: Sequence[Operator], scope_by_graph: bool) -> DumpGraph:
    """Return the graph of operators. Parameters that an operator reads become inputs of the graph."""
    used_sources = {(operator.graph, source) for operator in operators for source in operator.sources}
    inner: list[Operator] = []
    outer: list[Operator] = []
    for operator in operators:
        is_input = _is_parameter(operator) and (operator.graph, operator.name) in used_sources
        (outer if is_input else inner).append(operator)
    proto = GraphProto(name="dump")
    # An operator is named by its number, a parameter by its name.
    ids = {(operator.graph, operator.name): str(number) for number, operator in enumerate(inner)}
    ids |= {(operator.graph, operator.name): operator.name for operator in outer}
    for operator in inner:
        name, path = ids[operator.graph, operator.name], _path(operator, scope_by_graph)
        node = proto.node.add(name=name, op_type=operator.type or "Operator", full_name=path)
        for source in operator.sources:
            node.input.add(name=ids.get((operator.graph, source), ""))
    for operator in outer:
        proto.parameters.add(name=ids[operator.graph, operator.name])
    if not inner:
        proto.node.add(name="graph", op_type="Graph", full_name="graph")
    return DumpGraph(build_tree(read_graph(proto.SerializeToString())), (*inner, *outer))


def _is_parameter(operator: Operator) -> bool:
    return operator.type == PARAMETER_TYPE


def _path(operator: Operator, scope_by_graph: bool) -> str:
    scope = () if _is_parameter(operator) else operator.scope
    parts = (*scope, operator.name.rpartition("/")[2])
    return "/".join((display_name(operator.graph), *parts) if scope_by_graph else parts)


BUSY: Final = "The session is busy; wait until its state is waiting."
WAITING: Final = "waiting"
SENDING: Final = "sending"
RUNNING: Final = "running"

_KEPT: Final = 8  # graphs, and listings of steps, that a session caches
OperatorKey = tuple[str, str]  # graph, operator as recorded


@dataclass(frozen=True, slots=True)
class SessionWatchpoint:
    """Watchpoint of a client: a condition with its limits, and the operators it covers.

    `names` None covers every operator of the condition's target.
    """

    id: int
    condition: str
    limits: Limits = field(default_factory=dict)
    names: frozenset[str] | None = None
    types: tuple[str, ...] = ()

    def at(self, steps: tuple[int, ...]) -> Watchpoint:
        """Return the watchpoint to check at `steps` of the dump."""
        operators = tuple(sorted(self.names or ()))
        return Watchpoint(self.id, self.condition, self.limits, operators, self.types, steps=steps)


class Session:
    """State of a debugger session. Step n is the dump's iteration n - 1, and step 0 is before the first."""

    def __init__(
        self,
        number: str,
        dump_id: str,
        dump: Dump,
        executor: Executor,
        cache: StatisticsCache | None,
        threads: Threads,
    ) -> None:
        self.number = number
        self.dump_id = dump_id
        self.dump = dump
        self.step = 0
        self.state = WAITING
        self.watchpoints: dict[int, SessionWatchpoint] = {}
        self.hits: Sequence[Hit] = ()
        self.stale = False  # watchpoints changed after the last check
        self.recommended = False
        self.download: tuple[str, TensorRef] | None = None  # file name, tensor
        self.events = Events()
        self._tensors = LruCache[dict[OperatorKey, list[TensorEntry]]](_KEPT)
        self._graphs = LruCache[DumpGraph | None](_KEPT)
        self._executor = executor
        self._cache = cache
        self._threads = threads
        self._work: BackgroundJob[Hit] | None = None
        self._lock = threading.Lock()  # of the state, the watchpoints and the job; nothing waits under it
        self._pausing = False
        self._last_watchpoint = 0

    def total_steps(self, rank: int | None = None) -> int:
        """Return the last dumped step of a rank or of all ranks, counted from 1, or 0 if there is none."""
        return max(self.dump.steps(rank), default=-1) + 1

    @property
    def can_recheck(self) -> bool:
        """Return True if watchpoints changed after the last check of this step, and no job is running."""
        return self.stale and self.step > 0 and self.state == WAITING

    def status(self, *names: str) -> dict[str, Any]:
        """Return state, step and `enable_recheck` as JSON, restricted to `names` if any are given."""
        status = {"state": self.state, "step": self.step, "enable_recheck": self.can_recheck}
        return {name: status[name] for name in names or status}

    def add_watchpoint(self, watchpoint: SessionWatchpoint) -> int:
        """Add a watchpoint under a new number, mark the hits as stale, and return the number."""
        with self._lock:
            self._last_watchpoint += 1
            number = self._last_watchpoint
        self.set_watchpoint(replace(watchpoint, id=number))
        return number

    def set_watchpoint(self, watchpoint: SessionWatchpoint) -> None:
        """Add or replace the watchpoint with this id, and mark the hits as stale."""
        with self._lock:
            self.watchpoints = {**self.watchpoints, watchpoint.id: watchpoint}
            self.stale = True

    def remove_watchpoint(self, number: int) -> None:
        """Remove the watchpoint with this id, if there is one. Mark the hits as stale in any case."""
        with self._lock:
            self.watchpoints = {key: watch for key, watch in self.watchpoints.items() if key != number}
            self.stale = True

    def advance(self, steps: int) -> None:
        """Drop the hits, and advance in the background by `steps`, or to the end for -1, until the first step
        with a hit. Raises V1Error if a job is running."""
        last = self.total_steps() if steps < 0 else min(self.step + steps, self.total_steps())
        self._begin(lambda: self._advance(last))

    def recheck(self) -> None:
        """Drop the hits, and check the current step again in the background, with the current watchpoints.
        Raises V1Error if a job is running."""
        self._begin(lambda: self._check(self.step))

    def reset(self, step: int) -> None:
        """Go to a step without checking it, and drop the hits. 0 is before the first step."""
        self.step, self.hits, self.stale = step, (), bool(self.watchpoints)
        self.events.add({"metadata": self.status()})

    def pause(self) -> None:
        """Ask the background job to stop, without waiting for it."""
        with self._lock:
            self._pausing, work = True, self._work
        if work is not None:
            work.stop()

    def stop(self) -> None:
        """Stop the background job and wait up to 5 seconds for it."""
        self.pause()
        if self._work is not None:
            self._work.wait(5)

    def close(self) -> None:
        """Stop the background job and end the waits for events."""
        self.events.close()
        self.stop()

    def _begin(self, work: Callable[[], Iterator[Hit]]) -> None:
        with self._lock:
            if self.state != WAITING:
                raise V1Error(Fault.DEBUGGER_CONTINUE, BUSY)
            self.state, self._pausing = SENDING, False
        self.hits = ()
        self.events.add({"metadata": self.status()})
        job = BackgroundJob(self._threads, lambda: self._run(work()))
        with self._lock:
            self._work, pausing = job, self._pausing
        if pausing:
            job.stop()

    def _run(self, results: Iterator[Hit]) -> Iterator[Hit]:
        self.state = RUNNING
        self.events.add({"metadata": self.status()})
        try:
            yield from results
        finally:
            self.state = WAITING
            self.events.add({"metadata": self.status()})

    def _advance(self, last: int) -> Iterator[Hit]:
        while self.step < last and not self.hits:
            self.step += 1
            self.events.add({"metadata": self.status("step", "state")})
            yield from self._check(self.step)

    def _check(self, step: int) -> Iterator[Hit]:
        iteration = step - 1
        previous = max((step for step in self.dump.steps() if step < iteration), default=iteration)
        folders = tuple(folder for folder in self.dump.folders if folder.step in (previous, iteration))
        nonempty = (watch for watch in self.watchpoints.values() if watch.names is None or watch.names)
        watchpoints = [watchpoint.at((iteration,)) for watchpoint in nonempty]
        hits = []
        for hit in check(replace(self.dump, folders=folders), watchpoints, self._executor, self._cache):
            hits.append(hit)
            yield hit
        self.hits, self.stale = tuple(hits), False
        if hits:
            self.events.add({"receive_watchpoint_hits": True})

    def graph(self, rank: int, graph: str | None) -> DumpGraph | None:
        """Return a graph of a rank, or None if the dump has none."""
        return self._graphs.get((rank, graph), lambda: dump_graph(self.dump, rank, graph))

    def tensors(self, rank: int, step: int) -> dict[OperatorKey, list[TensorEntry]]:
        """Return the tensors of a step, counted from 1, by operator. {} if the rank or step was not
        dumped."""
        return self._tensors.get((rank, step), lambda: self._grouped(rank, step))

    def _grouped(self, rank: int, step: int) -> dict[OperatorKey, list[TensorEntry]]:
        entries: dict[OperatorKey, list[TensorEntry]] = {}
        for entry in list_tensors(self.dump, rank, step - 1):
            entries.setdefault((entry.graph, entry.recorded), []).append(entry)
        return entries
