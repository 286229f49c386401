"""The first fault of a dump: which operator made something that is not finite, or how it came in.

One verdict for the command, the routes, the pages and the graph; in words by the keys ``Fault.key`` of the
locale files. What could not be judged is counted beside it (``Coverage``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from itertools import tee

from mindinsight.server.debug.examine import Answer, measure_all
from mindinsight.server.debug.fault_search import (
    Kind,
    Measure,
    Origin,
    Search,
    finiteness,
    surely_finite,
)
from mindinsight.server.debug.statistics_cache import StatisticsCache
from mindinsight.server.formats.dumps import list_operators, list_tensors
from mindinsight.server.formats.dumps.types import Dump, FileDamage, Operator, TensorEntry
from mindinsight.server.formats.graphs.call_stacks import Frame, own_frame


@dataclass(frozen=True, slots=True)
class Fault:
    """The first trouble of one rank and step, and the measured tensors it concerns, the first one first."""

    origin: Origin
    rank: int
    step: int
    answers: tuple[Answer, ...]

    @property
    def kind(self) -> Kind:
        return self.origin.kind

    @property
    def entry(self) -> TensorEntry:
        return self.origin.entry

    @property
    def key(self) -> str:
        """Key of the sentence in the locale files; its parameters are ``words``."""
        alone = self.kind == "met" and self.entry.type == "Parameter"
        detail = "alone" if alone else self.origin.carrier or self.origin.gap
        return f"dump.fault.{self.kind}.{detail}" if detail else f"dump.fault.{self.kind}"

    @property
    def words(self) -> dict[str, str]:
        entry = self.entry
        return {
            "operator": self.origin.operator,
            "source": self.origin.source,
            "slot": entry.slot,
            "tensor": f"{entry.operator} {entry.direction} {entry.slot}",
        }


@dataclass
class Coverage:
    """How many tensors a search looked at; it stops in the step where it finds a fault."""

    tensors: int = 0
    unread: int = 0  # files that could not be read
    silent: int = 0  # without values, and with statistics that do not tell

    @property
    def judged(self) -> int:
        return self.tensors - self.unread - self.silent

    @property
    def sentences(self) -> tuple[tuple[str, dict[str, int]], ...]:
        """What is known where no fault was found: keys of the locale files with their numbers."""
        if not self.judged:
            return (("dump.fault.nothing" if self.tensors else "dump.fault.empty", {}),)
        if self.judged == self.tensors:
            return (("dump.fault.none", {"n": self.tensors}),)
        some = ("dump.fault.some", {"judged": self.judged, "tensors": self.tensors})
        left = (("dump.fault.unread", {"n": self.unread}), ("dump.fault.silent", {"n": self.silent}))
        return (some, *(sentence for sentence in left if sentence[1]["n"]))

    def count(self, answer: Answer) -> None:
        unknown = finiteness(answer) == "unknown"
        self.tensors += 1
        self.unread += unknown and answer.damage is not None
        self.silent += unknown and answer.damage is None


@dataclass
class Report:
    """Faults of the steps searched so far, earliest first, with what was looked at and what could not be."""

    faults: list[Fault] = field(default_factory=list)
    coverage: Coverage = field(default_factory=Coverage)
    damage: list[FileDamage] = field(default_factory=list)  # what could not be listed


def find_faults(
    dump: Dump,
    ranks: Sequence[int] | None = None,
    steps: Sequence[int] | None = None,
    executor: Executor | None = None,
    cache: StatisticsCache | None = None,
    every: bool = False,
) -> Report:
    """The fault of the earliest step that has one, which is where to look; with ``every``, of all steps.

    No more is read than is needed to know; the coverage is that of the steps that were searched.
    """
    report = Report(damage=list(dump.damage))
    for step in dump.steps():
        for rank in dump.ranks:
            wanted = (steps is None or step in steps) and (ranks is None or rank in ranks)
            if wanted and step in dump.steps(rank):
                _search_step(report, dump, rank, step, executor, cache)
                if report.faults and not every:
                    return report
    return report


def _search_step(
    report: Report,
    dump: Dump,
    rank: int,
    step: int,
    executor: Executor | None,
    cache: StatisticsCache | None,
) -> None:
    listing = list_tensors(dump, rank, step)
    report.damage += listing.damage
    coverage = report.coverage
    unsure = [entry for entry in listing.items if not surely_finite(entry)]
    coverage.tensors += len(listing.items) - len(unsure)
    known: dict[int, Answer] = {}  # by place in the listing

    def measure(entries: Iterable[TensorEntry]) -> Iterator[Answer]:
        wanted, again = tee(entries)
        new = measure_all((each for each in again if each.sequence not in known), executor, cache)
        return (known.get(each.sequence) or next(new) for each in wanted)

    for answer in measure(unsure):
        known[answer.entry.sequence] = answer
        coverage.count(answer)
        if not_finite(answer):  # only now the operators are worth reading
            fault = fault_of(listing.items, list_operators(dump, rank, step).items, measure)
            report.faults += [fault] if fault else []
            return


def fault_of(
    entries: Iterable[TensorEntry],
    operators: Sequence[Operator],
    measure: Measure,
    certain: bool = False,
) -> Fault | None:
    """The fault of one rank and step from its tensors; with ``certain``, only one that an operator made."""
    search = Search(entries, operators, measure)
    origin = search.origin(certain)
    if origin is None:
        return None
    return Fault(origin, origin.entry.rank, origin.entry.step, tuple(search.answers(origin.entry)))


def operator_of(dump: Dump, fault: Fault) -> Operator | None:
    """The operator a fault names, with its source lines; None where the dump knows none."""
    found = list_operators(dump, fault.rank, fault.step, fault.entry.graph)
    return next((each for each in found.items if fault.origin.operator in (each.recorded, each.name)), None)


def source_of(operator: Operator | None) -> Frame | None:
    """The line an operator came from: the user's own where there is one, else the innermost."""
    if operator is None or not operator.stack:
        return None
    return own_frame(operator.stack) or operator.stack[0]


def not_finite(answer: Answer) -> bool:
    """Whether a tensor is known to hold NaN or infinities."""
    return finiteness(answer) == "not_finite"
