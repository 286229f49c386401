"""Where it went wrong first: the operator that made something not finite out of finite inputs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from mindinsight.server.debug.examine import Answer, measure_all
from mindinsight.server.debug.recorded import presumed
from mindinsight.server.debug.statistics_cache import StatisticsCache
from mindinsight.server.formats.call_stacks import Frame, own_frame
from mindinsight.server.formats.dumps import list_operators, list_tensors
from mindinsight.server.formats.dumps.types import Dump, Operator, TensorEntry

OperatorKey: TypeAlias = tuple[str, str]  # graph, operator as recorded


@dataclass(frozen=True, slots=True)
class Fault:
    """The first trouble of one rank and step.

    ``made`` by an operator: its outputs are not finite although all its dumped inputs are. ``arrived``:
    no operator made it, the values came in as a weight, a constant or data; the operator is the first
    that met them. ``answers`` are the tensors concerned, the first one first.
    """

    kind: Literal["made", "arrived"]
    rank: int
    step: int
    answers: tuple[Answer, ...]

    @property
    def entry(self) -> TensorEntry:
        return self.answers[0].entry


def faults(
    dump: Dump,
    ranks: Sequence[int] | None = None,
    steps: Sequence[int] | None = None,
    executor: Executor | None = None,
    cache: StatisticsCache | None = None,
) -> Iterator[Fault]:
    """The fault of each step and rank that has one, earliest step first: the first is where to look.

    No more of a step is read than is needed to know.
    """
    for step in dump.steps():
        for rank in dump.ranks:
            wanted = (steps is None or step in steps) and (ranks is None or rank in ranks)
            if wanted and step in dump.steps(rank):
                fault = first_fault(list_tensors(dump, rank, step).items, executor, cache)
                if fault is not None:
                    yield fault


def first_fault(
    entries: Sequence[TensorEntry], executor: Executor | None = None, cache: StatisticsCache | None = None
) -> Fault | None:
    """The fault of one rank and step, from its tensors in the order they were written."""
    fault = fault_among(_measured(entries, executor, cache))
    if fault is None or fault.kind == "arrived":
        return fault
    others = _measured(_other_outputs(fault.entry, entries), executor, cache)
    return replace(fault, answers=(*fault.answers, *filter(not_finite, others)))


def fault_among(answers: Iterable[Answer]) -> Fault | None:
    """The fault among measured tensors of one rank and step, in the order they were written."""
    tainted: set[OperatorKey] = set()
    arrived: list[Answer] = []
    for answer in filter(not_finite, answers):
        entry = answer.entry
        key = (entry.graph, entry.recorded)
        if entry.direction == "output" and key not in tainted:
            return Fault("made", entry.rank, entry.step, (answer,))
        if entry.direction != "output":
            tainted.add(key)
            arrived.append(answer)
    if not arrived:
        return None
    return Fault("arrived", arrived[0].entry.rank, arrived[0].entry.step, tuple(arrived))


def operator_of(dump: Dump, entry: TensorEntry) -> Operator | None:
    """The operator a tensor belongs to, with its source lines; None where the dump knows none."""
    found = list_operators(dump, entry.rank, entry.step, entry.graph)
    return next((each for each in found.items if each.recorded == entry.recorded), None)


def source_of(operator: Operator | None) -> Frame | None:
    """The line an operator came from: the user's own where there is one, else the innermost."""
    if operator is None or not operator.stack:
        return None
    return own_frame(operator.stack) or operator.stack[0]


def not_finite(answer: Answer) -> bool:
    """Whether a tensor is known to hold NaN or infinities."""
    return answer.measured is not None and not answer.measured.statistics.finite


def _other_outputs(guilty: TensorEntry, entries: Sequence[TensorEntry]) -> Iterator[TensorEntry]:
    output = (guilty.graph, guilty.recorded, "output")
    for each in entries:
        if (each.graph, each.recorded, each.direction) == output and each.slot != guilty.slot:
            yield each


def _measured(
    entries: Iterable[TensorEntry], executor: Executor | None, cache: StatisticsCache | None
) -> Iterator[Answer]:
    """Statistics in order; integers and what the dump itself knows to be finite are not read."""
    unread = [each for each in entries if not _surely_finite(each)]
    return measure_all(unread, executor, cache)


def _surely_finite(entry: TensorEntry) -> bool:
    if entry.dtype.startswith(("int", "uint", "bool")):
        return True
    recorded = entry.statistics
    if recorded is None or recorded.min is None or recorded.max is None:
        return False
    found = presumed(recorded, entry.shape)
    return found is not None and found.finite
