"""Search for the operator at which ranks that should be equal diverge.

Data-parallel ranks have different inputs, but an operator given equal inputs on all ranks returns equal
results, and a collective operation that shares does so for any inputs. The first operator that does not is
where a reduction went wrong. Operators that draw random numbers or give each rank its part are skipped.
Whether inputs are equal is decided by values, because statistics can be equal by chance, and an operand that
was not recorded, such as a sharded weight, can differ by rank. If all operators agree, a few weights that
differ among many that are equal say that the ranks parted before.
"""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from typing import Final, TypeAlias

from mindinsight.server.claims import Claim, few
from mindinsight.server.debug.compare.error_measures import measure_value_pair
from mindinsight.server.debug.examine import TensorResult, measure_all
from mindinsight.server.debug.explanation_rules import number_text
from mindinsight.server.debug.operator_links import (
    Fingerprint,
    canonical,
    draws_random,
    fingerprint,
    gives_all_the_same,
    gives_each_its_part,
    is_replaced,
)
from mindinsight.server.debug.recorded_statistics import AnyStatistics
from mindinsight.server.debug.statistics_cache import StatisticsCache
from mindinsight.server.debug.tensor_targets import is_activation
from mindinsight.server.formats.dumps import compares_arguments, list_operators, list_tensors, tensor_values
from mindinsight.server.formats.dumps.dump_types import Dump, Operator, TensorEntry
from mindinsight.server.formats.dumps.recorder_files import Health, health_steps, read_norms
from mindinsight.server.formats.read_limits import UnreadableError

MAX_TENSORS: Final = 200_000  # tensors of all ranks of a step: with more, ranks are not compared
_TAKING: Final = ("slice", "split", "chunk", "narrow", "select", "getitem", "roll")  # take numbers
_OF_ONE: Final = ("abs", "cast", "cos", "exp", "log", "neg", "rsqrt", "sin", "sqrt", "square", "transpose")
_OF_TWO: Final = (
    *("add", "sub", "mul", "div", "realdiv", "maximum", "minimum", "matmul", "mm", "bmm", "batchmatmul"),
    *("equal", "less", "greater", "relugrad", "sigmoidgrad", "tanhgrad"),
)
_SHOWN: Final = 8  # ranks that a sentence lists
_EQUAL: Final = 4  # times as many weights that are equal as that differ: fewer are shards of a split model
_WRAPPED: Final = ("module.", "module_")  # begins the names of all weights of a data-parallel wrapper
_SPLIT: Final = re.compile(r"expert|flat_param")  # in names of weights that ranks have of their own
_TELLING: Final = ("norm", "mean", "minimum", "maximum")  # statistics that may tell results apart

Key: TypeAlias = tuple[str, str]  # graph, recorded name
Sides: TypeAlias = dict[str, dict[str, TensorResult]]  # direction -> slot -> tensor


@dataclass(frozen=True, slots=True)
class Divergence:
    """First operator with different results on the ranks. ``ranks`` are the outlier ranks.

    ``ranks`` is empty if no result is shared by more than half of the ranks.
    """

    step: int
    ranks: tuple[int, ...]
    entry: TensorEntry  # the output on the first of ``ranks``, else on the first rank
    operator: Operator | None
    statistics: Mapping[int, AnyStatistics | None]  # of the output, by rank
    missing: str = ""  # key of the data without which equal inputs are unknown
    absent: tuple[int, ...] = ()  # ranks without this step
    operators: Mapping[int, Operator] = field(default_factory=dict)  # the same operator, by rank
    weights: tuple[str, ...] = ()  # names of all weights that differ, if ``entry`` is the first of them
    compared: int = 0  # weights
    wrapped: bool = True  # the names of the weights are those of a data-parallel training

    @property
    def claims(self) -> tuple[Claim, ...]:
        """Return the claim about the divergence, and one about the ranks that were not compared, if any."""
        if not self.absent:
            return (self.claim,)
        values = {"n": len(self.absent), "ranks": few([*map(str, self.absent)], _SHOWN), "step": self.step}
        return (self.claim, Claim("claim.ranks.absent", "note", values))

    @property
    def claim(self) -> Claim:
        """Return the claim about the divergence, unknown if data is missing."""
        if self.weights:
            facts = {"n": len(self.weights), "names": few(self.weights, _SHOWN), "count": self.compared}
            facts |= {"step": self.step, "figures": self._figures(), "weight": self.weights[0]}
            ranks = {"n": len(self.ranks), "ranks": few([*map(str, self.ranks)], _SHOWN)}
            facts["where"] = Claim("claim.part.ranks.odd", "note", ranks) if self.ranks else ""
            location = {"step": self.step, "ranks": list(self.ranks), "operator": self.entry.operator}
            if self.wrapped:
                return Claim("claim.ranks.weights", "found", facts, (location,))
            return Claim("claim.ranks.weights_unknown", "unknown", facts, (location,))
        values = {
            "operator": self.entry.operator,
            "ranks": few([*map(str, self.ranks)], _SHOWN),
            "figures": self._figures(),
            "why": Claim(f"claim.part.ranks.{'shared' if self._is_shared else 'same_inputs'}", "note"),
        }
        location = {"step": self.step, "ranks": list(self.ranks), "operator": self.entry.operator}
        if self.missing:
            return Claim("claim.ranks.unknown", "unknown", values, (location,), (self.missing,))
        return Claim(
            "claim.ranks.stray" if self.ranks else "claim.ranks.differ", "found", values, (location,)
        )

    @property
    def _is_shared(self) -> bool:
        """Return True if the operator returns the same result on all ranks for any inputs, as an all-reduce
        does."""
        return gives_all_the_same(self.entry.type)

    def _figures(self) -> Claim:
        """Return a clause with the numbers by rank of a statistic that differs between the ranks, or a clause
        that all statistics are equal."""
        for name in _TELLING:
            numbers = {
                rank: getattr(known, name) if known else None for rank, known in self.statistics.items()
            }
            if len(set(numbers.values())) > 1:
                shown = list(numbers.items())[:_SHOWN]
                texts = _distinct_texts([number for _, number in shown if number is not None])
                by_rank = [f"{rank}: {'–' if number is None else texts[number]}" for rank, number in shown]
                return Claim(f"claim.part.ranks.{name}", "note", {"numbers": by_rank})
        return Claim("claim.part.ranks.equal", "note")


def _distinct_texts(numbers: Sequence[float]) -> dict[float, str]:
    """Return numbers as texts with six digits, or with as many as are needed to distinguish them."""
    finite = {number for number in numbers if math.isfinite(number)}
    texts = {number: number_text(number) for number in numbers}
    for digits in range(7, 18):
        if len({texts[number] for number in finite}) == len(finite):
            break
        texts |= {number: f"{number:.{digits}g}" for number in finite}
    return texts


def find_divergence(
    dump: Dump,
    steps: Sequence[int] | None = None,
    executor: Executor | None = None,
    cache: StatisticsCache | None = None,
) -> Divergence | None:
    """Return the earliest divergence, else the first one that is unknown, or None. Steps with more than
    ``MAX_TENSORS`` tensors, and operators that a rank did not run, are skipped."""
    searched = (step for step in dump.steps() if steps is None or step in steps)
    return _first_known(
        divergence for step in searched for divergence in _in_step(dump, step, executor, cache)
    )


def reported_claims(dump: Dump, steps: Sequence[int] | None = None) -> list[Claim]:
    """Return a claim for the first of the ``steps`` that a flight recorder wrote because gradients or weights
    differ between the ranks, or which did not break again when it was recorded, [] if there is none."""
    for step, ranks in health_steps(dump).items():
        norms = read_norms(dump, ranks[0], step) if steps is None or step in steps else None
        if isinstance(norms, Health) and not norms.broke_again:
            values = {"step": step, "reason": norms.reason}
            return [Claim("claim.fault.not_again", "unknown", values, ({"step": step},))]
        if isinstance(norms, Health) and norms.ranks_differ:
            values = {"step": step, "reason": norms.reason}
            return [Claim("claim.ranks.reported", "found", values, ({"step": step, "ranks": ranks},))]
    return []


def _first_known(divergences: Iterable[Divergence]) -> Divergence | None:
    """Return the first divergence without missing data, else the first one, or None."""
    unknown: Divergence | None = None
    for divergence in divergences:
        if not divergence.missing:
            return divergence
        unknown = unknown or divergence
    return unknown


def _in_step(
    dump: Dump, step: int, executor: Executor | None, cache: StatisticsCache | None
) -> Iterator[Divergence]:
    """Yield the divergences of one step in execution order. Nothing if it has too many tensors."""
    ranks = [rank for rank in dump.ranks if step in dump.steps(rank)]
    listings = {
        rank: [entry for entry in list_tensors(dump, rank, step).items if not is_replaced(entry)]
        for rank in (ranks if len(ranks) > 1 else ())
    }
    if not listings or sum(map(len, listings.values())) > MAX_TENSORS:
        return
    measured = {rank: list(measure_all(items, executor, cache)) for rank, items in listings.items()}
    calls = {rank: _calls(results) for rank, results in measured.items()}
    for key, first in calls[ranks[0]].items():
        sides = {rank: calls[rank][key] for rank in ranks if key in calls[rank]}
        if len(sides) < len(ranks) or (slot := _diverging_slot(first, sides)) is None:
            continue
        divergence = _divergence(dump, step, key, slot, sides)
        if divergence is not None:
            yield replace(divergence, absent=tuple(rank for rank in dump.ranks if rank not in sides))
    yield from _differing_weights(step, measured)


def _differing_weights(step: int, measured: Mapping[int, Sequence[TensorResult]]) -> Iterator[Divergence]:
    """Yield a divergence if few of the weights that all ranks recorded differ and the others are equal, or
    if all differ. Constants, such as biases before their first update, do not count as equal."""
    sides = [
        {result.entry.operator: result for result in results if result.entry.type == "Parameter"}
        for results in measured.values()
    ]
    known = {
        name: prints
        for name in sides[0]
        if all(name in side for side in sides)
        and None not in (prints := [fingerprint(side[name]) for side in sides])
        and not _is_constant(sides[0][name])
    }
    names = tuple(name for name, prints in known.items() if prints.count(prints[0]) < len(prints))
    wrapped = all(name.startswith(_WRAPPED) for name in sides[0])
    few_differ = len(names) * _EQUAL <= len(known) - len(names)
    all_differ = len(names) == len(known) >= _EQUAL  # shards have normalizations that are equal
    if not names or not (few_differ or all_differ) or any(map(_SPLIT.search, names)):
        return
    results = dict(zip(measured, (side[names[0]] for side in sides), strict=True))
    usual, count = Counter(known[names[0]]).most_common(1)[0]
    stray = tuple(rank for rank, content in zip(measured, known[names[0]], strict=True) if content != usual)
    ranks = stray if count > len(sides) / 2 else ()
    statistics = {
        rank: own.measurement.statistics if own.measurement else None for rank, own in results.items()
    }
    entry = results[ranks[0] if ranks else next(iter(results))].entry
    yield Divergence(step, ranks, entry, None, statistics, "", (), {}, names, len(known), wrapped)


def _is_constant(result: TensorResult) -> bool:
    known = result.measurement.statistics if result.measurement else None
    return known is None or known.minimum == known.maximum


def _calls(results: Iterable[TensorResult]) -> dict[Key, Sides]:
    """Group tensors by operator, direction and slot. Operators are in execution order."""
    calls: dict[Key, Sides] = defaultdict(lambda: defaultdict(dict))
    for result in results:
        entry = result.entry
        if entry.type != "Parameter":
            calls[entry.graph, entry.recorded][entry.direction][entry.slot] = result
    return calls


def _diverging_slot(first: Sides, sides: Mapping[int, Sides]) -> str | None:
    """Return the first output slot that differs between ranks although it should be equal, or None."""
    outputs = first.get("output", {})
    operator_type = next((result.entry.type for result in outputs.values()), "")
    if draws_random(operator_type) or gives_each_its_part(operator_type):
        return None
    inputs = first.get("input", {})
    given_the_same = inputs and all(_equal("input", slot, sides) for slot in inputs)
    if not given_the_same and not gives_all_the_same(operator_type):
        return None
    return next((slot for slot in outputs if not _equal("output", slot, sides)), None)


def _prints(direction: str, slot: str, sides: Mapping[int, Sides]) -> dict[int, Fingerprint | None]:
    """Return the fingerprint of a tensor by rank."""
    tensors = {rank: side.get(direction, {}).get(slot) for rank, side in sides.items()}
    return {rank: None if result is None else fingerprint(result) for rank, result in tensors.items()}


def _equal(direction: str, slot: str, sides: Mapping[int, Sides]) -> bool:
    """Return True if a tensor has the same content on all ranks. If the content is unknown, inputs count
    as different and outputs as equal."""
    prints = list(_prints(direction, slot, sides).values())
    if any(content is None for content in prints):
        return direction == "output"
    return all(content == prints[0] for content in prints)


def _missing(dump: Dump, step: int, key: Key, sides: Mapping[int, Sides]) -> str | None:
    """Return "" if the operands are equal on all ranks, None if they differ, or the locale key that names the
    missing data."""
    first = next(iter(sides.values()))
    operator_type = next(result.entry.type for result in first["output"].values())
    if gives_all_the_same(operator_type):
        return ""
    for slot in first["input"]:
        same = _same_values([side["input"][slot] for side in sides.values()])
        if not same:
            return "claim.missing.rank_values" if same is None else None
    operators = [_operator(dump, rank, step, key) for rank in sides]
    if len({operator.arguments for operator in operators if operator}) > 1:
        return None
    complete = all(operator and _is_complete(dump, operator) for operator in operators)
    return "" if complete else "claim.missing.rank_operands"


def _same_values(results: Sequence[TensorResult]) -> bool | None:
    """Return True if inputs with equal fingerprints have equal values, or None if these cannot be read."""
    first = results[0].entry
    if first.statistics is not None and first.statistics.checksum:
        return True
    if any(result.entry.ref is None for result in results):
        return None
    try:
        values = [tensor_values(result.entry.ref) for result in results if result.entry.ref]
        pairs = [measure_value_pair(other, values[0]) for other in values[1:]]
    except (UnreadableError, OSError, TypeError):
        return None
    return all(pair is not None and not pair.differing for pair in pairs)


def _is_complete(dump: Dump, operator: Operator) -> bool:
    """Return True if all operands of an operator were recorded: its tensors, and its numbers if it takes
    any."""
    kind, count = canonical(operator.type), len(operator.inputs)
    if compares_arguments(dump):
        return operator.inputs_known
    if any(word in kind for word in _TAKING) or not operator.inputs_known:
        return False
    least = 1 if is_activation(operator.type) or kind in _OF_ONE else 2 if kind in _OF_TWO else math.inf
    return bool(operator.sources) or count >= least


def _operator(dump: Dump, rank: int, step: int, key: Key) -> Operator | None:
    operators = list_operators(dump, rank, step, key[0]).items
    return next((known for known in operators if known.recorded == key[1]), None)


def _divergence(dump: Dump, step: int, key: Key, slot: str, sides: Mapping[int, Sides]) -> Divergence | None:
    missing = _missing(dump, step, key, sides)
    if missing is None:
        return None
    prints = _prints("output", slot, sides)
    usual, count = Counter(prints.values()).most_common(1)[0]
    stray = tuple(rank for rank, content in prints.items() if content != usual)
    ranks = stray if count > len(prints) / 2 else ()
    shown = ranks[0] if ranks else next(iter(sides))
    results = {rank: side["output"][slot] for rank, side in sides.items()}
    operators = {rank: known for rank in sides if (known := _operator(dump, rank, step, key))}
    operator = operators.get(shown)
    measured = {rank: result.measurement for rank, result in results.items()}
    statistics = {rank: known.statistics if known else None for rank, known in measured.items()}
    entry = results[shown].entry
    return Divergence(step, ranks, entry, operator, statistics, missing, operators=operators)
