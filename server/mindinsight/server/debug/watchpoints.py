"""Watchpoints: conditions on chosen operators, ranks and steps, all checked in one pass over a dump."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import TypeAlias

from mindinsight.server.debug.conditions import Limits, Target, Verdict, conditions
from mindinsight.server.debug.examine import TensorResult, TensorTask, examine_all
from mindinsight.server.debug.statistics_cache import StatisticsCache
from mindinsight.server.debug.targets import parameter_names, targets
from mindinsight.server.formats.dumps import list_overflows, list_tensors
from mindinsight.server.formats.dumps.types import Dump, TensorEntry, TensorRef

SlotKey: TypeAlias = tuple[str, str, str, str]  # graph, operator as recorded, direction, slot


@dataclass(frozen=True, slots=True)
class Watchpoint:
    """Watchpoint: a condition with its limits and its scope; an empty field does not restrict.

    Without operators, or with patterns, only tensors of the condition's target are checked; an operator that
    is named in full is always checked.
    """

    id: int
    condition: str
    limits: Limits = field(default_factory=dict)  # as ``limits.checked_limits`` gives them
    operators: tuple[str, ...] = ()  # full names, or patterns with * and ?
    types: tuple[str, ...] = ()  # operator types in lower case: relu
    ranks: tuple[int, ...] = ()
    steps: tuple[int, ...] = ()

    def watches(self, entry: TensorEntry, classes: frozenset[Target], first: bool) -> bool:
        """Whether to check a tensor of these classes; ``first``: at the first dumped step of its graph."""
        condition = conditions()[self.condition]
        named = entry.direction in ("output", "parameter") and not _names(entry).isdisjoint(self.operators)
        return (
            (named or condition.target in classes)
            and (first or not condition.first_step_only)
            and (not self.ranks or entry.rank in self.ranks)
            and (not self.steps or entry.step in self.steps)
            and (not self.types or entry.type.rpartition(".")[2].lower() in self.types)
            and (named or not self.operators or _matches_pattern(entry, self.operators))
        )


@dataclass(frozen=True, slots=True)
class Hit:
    """Hit of a watchpoint on a tensor, or (``verdict.error``) a tensor that could not be judged."""

    watchpoint: Watchpoint
    result: TensorResult
    verdict: Verdict

    @property
    def entry(self) -> TensorEntry:
        return self.result.entry


def check(
    dump: Dump,
    watchpoints: Sequence[Watchpoint],
    executor: Executor | None = None,
    cache: StatisticsCache | None = None,
) -> Iterator[Hit]:
    """Hits rank by rank and step by step, in execution order; tensors without a watchpoint are not read."""
    for result, rules in _results(dump, watchpoints, executor, cache):
        for watchpoint, verdict in zip(rules, result.verdicts, strict=False):  # none when unreadable
            if verdict.hit or verdict.error:
                yield Hit(watchpoint, result, verdict)


def _results(
    dump: Dump, watchpoints: Sequence[Watchpoint], executor: Executor | None, cache: StatisticsCache | None
) -> Iterator[tuple[TensorResult, Sequence[Watchpoint]]]:
    rules: deque[Sequence[Watchpoint]] = deque()

    def tasks() -> Iterator[TensorTask]:
        for rank in dump.ranks:
            for task, watching in _tasks(dump, rank, watchpoints):
                rules.append(watching)
                yield task

    for result in examine_all(tasks(), executor, cache):
        yield result, rules.popleft()


def _tasks(
    dump: Dump, rank: int, watchpoints: Sequence[Watchpoint]
) -> Iterator[tuple[TensorTask, Sequence[Watchpoint]]]:
    """Tasks for the tensors of one rank; ``previous`` is from the previous dumped step of the graph."""
    previous: dict[SlotKey, TensorRef] = {}
    started: set[str] = set()
    for step in dump.steps(rank):
        entries = list_tensors(dump, rank, step).items
        overflowed = {
            overflow.operator for overflow in list_overflows(dump, rank, step).items if overflow.status
        }
        parameters = parameter_names(entries)
        for entry in entries:
            classes, first = targets(entry, parameters), entry.graph not in started
            watching = [watchpoint for watchpoint in watchpoints if watchpoint.watches(entry, classes, first)]
            if watching:
                rules = tuple((watchpoint.condition, watchpoint.limits) for watchpoint in watching)
                overflow = not _names(entry).isdisjoint(overflowed)
                yield TensorTask(entry, rules, previous.get(slot_key(entry)), overflow), watching
        previous |= {slot_key(entry): entry.ref for entry in entries if entry.ref is not None}
        started |= {entry.graph for entry in entries}


def slot_key(entry: TensorEntry) -> SlotKey:
    """Key of a tensor, the same at every step of its rank."""
    return (entry.graph, entry.recorded, entry.direction, entry.slot)


def _names(entry: TensorEntry) -> set[str]:
    return {entry.operator, entry.recorded}


def _matches_pattern(entry: TensorEntry, patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(name, pattern) for name in _names(entry) for pattern in patterns)
