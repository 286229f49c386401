"""Debugger session of one dump: current step, watchpoints and hits."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from typing import Any, Final

from mindinsight.server.api.v1.debugger.dump_graph import DumpGraph, dump_graph
from mindinsight.server.api.v1.debugger.events import Events
from mindinsight.server.api.v1.errors import Fault, V1Error
from mindinsight.server.compute.background_job import BackgroundJob
from mindinsight.server.compute.lru_cache import LruCache
from mindinsight.server.compute.threads import Threads
from mindinsight.server.debug.conditions import Limits
from mindinsight.server.debug.statistics_cache import StatisticsCache
from mindinsight.server.debug.watchpoints import Hit, Watchpoint, check
from mindinsight.server.formats.dumps import list_tensors
from mindinsight.server.formats.dumps.types import Dump, TensorEntry, TensorRef

WAITING: Final = "waiting"
SENDING: Final = "sending"
RUNNING: Final = "running"

_KEPT: Final = 8  # graphs, and listings of steps
OperatorKey = tuple[str, str]  # graph, operator as recorded


@dataclass(frozen=True, slots=True)
class SessionWatchpoint:
    """A watchpoint as set by a client; ``names`` None covers every operator of the condition's target."""

    id: int
    condition: str
    limits: Limits = field(default_factory=dict)
    names: frozenset[str] | None = None
    types: tuple[str, ...] = ()

    def at(self, steps: tuple[int, ...]) -> Watchpoint:
        """The watchpoint to be checked at ``steps`` of the dump."""
        operators = tuple(sorted(self.names or ()))
        return Watchpoint(self.id, self.condition, self.limits, operators, self.types, steps=steps)


class Session:
    """State of a debugger session. Step n is the dump's iteration n - 1; at step 0 nothing has run."""

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
        self.outdated = False  # watchpoints changed since they were checked
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
        """Number of steps of a rank, or the largest of all ranks."""
        return max(self.dump.steps(rank), default=-1) + 1

    @property
    def can_recheck(self) -> bool:
        """Whether watchpoints have changed since the step was checked, and nothing is running."""
        return self.outdated and self.step > 0 and self.state == WAITING

    def status(self, *names: str) -> dict[str, Any]:
        """State, step and whether the step can be rechecked, as JSON; only the given names, if any."""
        status = {"state": self.state, "step": self.step, "enable_recheck": self.can_recheck}
        return {name: status[name] for name in names or status}

    def add_watchpoint(self, watchpoint: SessionWatchpoint) -> int:
        """Add a watchpoint under a new number, which is returned."""
        with self._lock:
            self._last_watchpoint += 1
            number = self._last_watchpoint
        self.set_watchpoint(replace(watchpoint, id=number))
        return number

    def set_watchpoint(self, watchpoint: SessionWatchpoint) -> None:
        """Add or replace the watchpoint with this id."""
        with self._lock:
            self.watchpoints = {**self.watchpoints, watchpoint.id: watchpoint}
            self.outdated = True

    def remove_watchpoint(self, number: int) -> None:
        """Remove the watchpoint with this id."""
        with self._lock:
            self.watchpoints = {
                key: watchpoint for key, watchpoint in self.watchpoints.items() if key != number
            }
            self.outdated = True

    def advance(self, steps: int) -> None:
        """Advance by ``steps``, or to the end for -1, in the background, until the first step with a hit."""
        last = self.total_steps() if steps < 0 else min(self.step + steps, self.total_steps())
        self._begin(lambda: self._advance(last))

    def recheck(self) -> None:
        """Check the step again with the current watchpoints, in the background."""
        self._begin(lambda: self._check(self.step))

    def reset(self, step: int) -> None:
        """Go to a step without checking it."""
        self.step, self.hits, self.outdated = step, (), bool(self.watchpoints)
        self.events.add({"metadata": self.status()})

    def pause(self) -> None:
        """Let the background job stop; returns at once."""
        with self._lock:
            self._pausing, work = True, self._work
        if work is not None:
            work.stop()

    def stop(self) -> None:
        """Stop the background job and wait for it, up to 5 s."""
        self.pause()
        if self._work is not None:
            self._work.wait(5)

    def close(self) -> None:
        """Stop the background job and wake up clients that wait for events."""
        self.events.close()
        self.stop()

    def _begin(self, work: Callable[[], Iterator[Hit]]) -> None:
        with self._lock:
            if self.state != WAITING:
                raise V1Error(
                    Fault.DEBUGGER_CONTINUE, "The session is busy; wait until its state is waiting."
                )
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
        watchpoints = [
            watchpoint.at((iteration,))
            for watchpoint in self.watchpoints.values()
            if watchpoint.names is None or watchpoint.names
        ]
        hits = []
        for hit in check(replace(self.dump, folders=folders), watchpoints, self._executor, self._cache):
            hits.append(hit)
            yield hit
        self.hits, self.outdated = tuple(hits), False
        if hits:
            self.events.add({"receive_watchpoint_hits": True})

    def graph(self, rank: int, graph: str | None) -> DumpGraph | None:
        """Return a graph of a rank, None if the dump has none."""
        return self._graphs.get((rank, graph), lambda: dump_graph(self.dump, rank, graph))

    def tensors(self, rank: int, step: int) -> dict[OperatorKey, list[TensorEntry]]:
        """Return the tensors of a step, grouped by operator."""
        return self._tensors.get((rank, step), lambda: self._grouped(rank, step))

    def _grouped(self, rank: int, step: int) -> dict[OperatorKey, list[TensorEntry]]:
        entries: dict[OperatorKey, list[TensorEntry]] = {}
        for entry in list_tensors(self.dump, rank, step - 1):
            entries.setdefault((entry.graph, entry.recorded), []).append(entry)
        return entries
