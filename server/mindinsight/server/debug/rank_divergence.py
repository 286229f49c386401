"""Search for the operator at which ranks that should be equal are no longer so.

Data-parallel ranks have inputs of their own, but what they have in common stays common: an operator that is
given the same on all ranks gives the same, and a collective operation does so whatever it is given. The first
operator that does not is where a reduction went wrong. Operators that draw random numbers are passed over.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Final, TypeAlias

from mindinsight.server.claims import Claim
from mindinsight.server.debug.collectives import gives_all_the_same
from mindinsight.server.debug.examine import TensorResult, measure_all
from mindinsight.server.debug.explanation.rules import number_text
from mindinsight.server.debug.neighbours import Fingerprint, fingerprint
from mindinsight.server.debug.operator_types import canonical
from mindinsight.server.debug.statistics_cache import StatisticsCache
from mindinsight.server.formats.dumps import list_operators, list_tensors
from mindinsight.server.formats.dumps.types import Dump, Operator, TensorEntry

MAX_TENSORS: Final = 200_000  # of all ranks of a step; beyond, ranks are not compared
_RANDOM: Final = ("dropout", "bernoulli", "rand", "normal", "uniform", "multinomial", "exponential")
_SHOWN: Final = 8  # ranks whose norms a sentence lists

Key: TypeAlias = tuple[str, str]  # graph, recorded name
Sides: TypeAlias = dict[str, dict[str, TensorResult]]  # direction -> slot -> tensor


@dataclass(frozen=True, slots=True)
class Divergence:
    """The first operator with different results on the ranks; ``ranks`` are those away from most others.

    ``ranks`` is empty where no result is that of more than half of the ranks.
    """

    step: int
    ranks: tuple[int, ...]
    entry: TensorEntry  # the output on the first of ``ranks``, else on the first rank
    operator: Operator | None
    norms: Mapping[int, float | None]  # of the output, by rank

    @property
    def claim(self) -> Claim:
        shown = list(self.norms.items())[:_SHOWN]
        norms = [f"{rank}: {'–' if norm is None else number_text(norm)}" for rank, norm in shown]
        values = {"operator": self.entry.operator, "ranks": [*map(str, self.ranks[:_SHOWN])], "norms": norms}
        location = {"step": self.step, "ranks": list(self.ranks), "operator": self.entry.operator}
        return Claim(
            "claim.ranks.stray" if self.ranks else "claim.ranks.differ", "found", values, (location,)
        )


def find_divergence(
    dump: Dump,
    steps: Sequence[int] | None = None,
    executor: Executor | None = None,
    cache: StatisticsCache | None = None,
) -> Divergence | None:
    """Divergence of the earliest step that has one; None where ranks agree or there is only one."""
    for step in dump.steps():
        ranks = [rank for rank in dump.ranks if step in dump.steps(rank)]
        if len(ranks) < 2 or (steps is not None and step not in steps):
            continue
        divergence = _in_step(dump, step, ranks, executor, cache)
        if divergence is not None:
            return divergence
    return None


def _in_step(
    dump: Dump, step: int, ranks: Sequence[int], executor: Executor | None, cache: StatisticsCache | None
) -> Divergence | None:
    listings = {rank: list_tensors(dump, rank, step).items for rank in ranks}
    if sum(map(len, listings.values())) > MAX_TENSORS:
        return None
    calls = {rank: _calls(measure_all(items, executor, cache)) for rank, items in listings.items()}
    for key, first in calls[ranks[0]].items():
        sides = {rank: calls[rank][key] for rank in ranks if key in calls[rank]}
        if len(sides) == len(ranks) and (slot := _diverging_slot(first, sides)) is not None:
            return _divergence(dump, step, key, slot, sides)
    return None


def _calls(results: Iterable[TensorResult]) -> dict[Key, Sides]:
    """Tensors by operator, direction and slot, operators in the order they ran."""
    calls: dict[Key, Sides] = defaultdict(lambda: defaultdict(dict))
    for result in results:
        entry = result.entry
        if entry.type != "Parameter":
            calls[entry.graph, entry.recorded][entry.direction][entry.slot] = result
    return calls


def _diverging_slot(first: Sides, sides: Mapping[int, Sides]) -> str | None:
    """Output slot that differs although it should not."""
    outputs = first.get("output", {})
    operator_type = next((result.entry.type for result in outputs.values()), "")
    kind = canonical(operator_type)
    if any(word in kind for word in _RANDOM):
        return None
    inputs = first.get("input", {})
    given_the_same = inputs and all(_equal("input", slot, sides) for slot in inputs)
    if not given_the_same and not gives_all_the_same(operator_type):
        return None
    return next((slot for slot in outputs if not _equal("output", slot, sides)), None)


def _prints(direction: str, slot: str, sides: Mapping[int, Sides]) -> dict[int, Fingerprint | None]:
    tensors = {rank: side.get(direction, {}).get(slot) for rank, side in sides.items()}
    return {rank: None if result is None else fingerprint(result) for rank, result in tensors.items()}


def _equal(direction: str, slot: str, sides: Mapping[int, Sides]) -> bool:
    """Whether a tensor has the same content on all ranks; for an input that is not known, it has not."""
    prints = list(_prints(direction, slot, sides).values())
    if any(content is None for content in prints):
        return direction == "output"
    return all(content == prints[0] for content in prints)


def _divergence(dump: Dump, step: int, key: Key, slot: str, sides: Mapping[int, Sides]) -> Divergence:
    prints = _prints("output", slot, sides)
    usual, count = Counter(prints.values()).most_common(1)[0]
    stray = tuple(rank for rank, content in prints.items() if content != usual)
    ranks = stray if count > len(prints) / 2 else ()
    shown = ranks[0] if ranks else next(iter(sides))
    results = {rank: side["output"][slot] for rank, side in sides.items()}
    graph, recorded = key
    operators = list_operators(dump, shown, step, graph).items
    operator = next((known for known in operators if known.recorded == recorded), None)
    measured = {rank: result.measurement for rank, result in results.items()}
    norms = {
        rank: measurement.statistics.norm if measurement else None for rank, measurement in measured.items()
    }
    return Divergence(step, ranks, results[shown].entry, operator, norms)
