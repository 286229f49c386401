"""Watchpoints: conditions on operators, ranks and steps, their limits, and presets for common anomalies."""

from __future__ import annotations

import math
import re
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import lru_cache, partial
from typing import Final, TypeAlias

from mindinsight.server.claims import Claim, few
from mindinsight.server.debug.conditions import (
    FAILED,
    HOLDS_INF,
    NO_PREVIOUS,
    Condition,
    Finding,
    Limits,
    Parameter,
    Target,
    Verdict,
    conditions,
)
from mindinsight.server.debug.examine import TensorResult, TensorTask, examine_all, is_unread, measure_all
from mindinsight.server.debug.fault_search import OriginSearch, holds_minus_infinity, holds_plus_infinity
from mindinsight.server.debug.operator_links import canonical, is_constant
from mindinsight.server.debug.statistics_cache import StatisticsCache
from mindinsight.server.debug.tensor_targets import parameter_names, targets, tensor_in_words
from mindinsight.server.errors import ValueProblem
from mindinsight.server.formats.dumps import list_operators, list_overflows, list_tensors
from mindinsight.server.formats.dumps.dump_types import Dump, TensorEntry, TensorRef

SlotKey: TypeAlias = tuple[str, str, str, str]  # graph, operator as recorded, direction, slot

# Worst first: kinds that break a training, then kinds that slow it, then those that are only unusual.
_SEVERITY: Final = (
    *("non_finite", "overflowed", "exploding", "dead", "inactive", "vanishing", "saturated"),
    *("frozen", "tolerated", "slow", "initial", "condition"),
)
_KINDS: Final = {
    "tensor_overflow": "non_finite",
    "weight_overflow": "non_finite",
    "operator_overflow": "overflowed",
    "weight_change_too_large": "exploding",
    "tensor_all_zero": "dead",
    "gradient_vanishing": "vanishing",
    "weight_not_changed": "frozen",
    "weight_change_too_small": "slow",
    "weight_initialization": "initial",
}
# A dead tensor is also inactive, and a frozen one hardly changes: only the stronger statement is shown.
_IMPLIED: Final[Mapping[str, tuple[str, ...]]] = {
    **dict.fromkeys(("inactive", "saturated", "vanishing"), ("dead",)),
    "slow": ("frozen", "tolerated"),
}
_SHOWN: Final = 8  # steps, or tensors, that a sentence lists
_STATED: Final = {  # limit named by the sentence of a kind: a hit of another limit is a "condition"
    "dead": "zero_percentage_ge",
    "exploding": "abs_mean_update_ratio_gt",
    "initial": "zero_percentage_ge",
    "slow": "abs_mean_update_ratio_lt",
    "vanishing": "abs_mean_lt",
}
_SATURATED: Final = {"tanh": -1.0, "sigmoid": 0.0}  # lower end of functions that are flat at both ends
_INACTIVE: Final = ("relu", "relu6", "reluv2")  # functions that are flat below zero, unlike leaky ones
_NEAR: Final = 1e-4  # largest distance of a range from both ends that still counts as all of the function
_SHIFT: Final = re.compile(r"(^|[._/])(bias|beta)$", re.I)  # parameters that start with zeros by design


@dataclass(frozen=True, slots=True)
class Watchpoint:
    """Condition with its limits and scope. An empty field does not restrict the scope.

    Without operators, or with patterns, only tensors of the condition's target are checked. An operator named
    in full is always checked.
    """

    id: int
    condition: str
    limits: Limits = field(default_factory=dict)  # from ``checked_limits``
    operators: tuple[str, ...] = ()  # full names, or patterns with * and ?
    types: tuple[str, ...] = ()  # operator types in lower case: relu
    ranks: tuple[int, ...] = ()
    steps: tuple[int, ...] = ()
    spares_masks: bool = False  # do not count infinities and zeros that were filled in, or of optimizers

    def watches(self, entry: TensorEntry, classes: frozenset[Target], first: bool) -> bool:
        """Return True if the watchpoint checks a tensor of these classes.

        ``first`` says that the tensor is of the first dumped step of its graph.
        """
        condition = conditions()[self.condition]
        named = entry.direction in ("output", "parameter") and not _names(entry).isdisjoint(self.operators)
        return (
            (named or condition.target in classes)
            and (first or not condition.first_step_only)
            and (not self.ranks or entry.rank in self.ranks)
            and (not self.steps or entry.step in self.steps)
            and (not self.types or entry.type.rpartition(".")[2].lower() in self.types)
            and (
                named
                or not self.operators
                or any(fnmatchcase(name, pattern) for name in _names(entry) for pattern in self.operators)
            )
        )


@dataclass(frozen=True, slots=True)
class Hit:
    """Hit of a watchpoint on a tensor, or, if ``verdict.error`` is set, a tensor that could not be judged."""

    watchpoint: Watchpoint
    result: TensorResult
    verdict: Verdict

    @property
    def entry(self) -> TensorEntry:
        """Return the tensor."""
        return self.result.entry


@dataclass(frozen=True, slots=True)
class Tally:
    """What a check covered: verdicts that could be reached by condition, and ranks of the dump."""

    decided: Counter[str]  # by condition id
    requested: Mapping[str, bool]  # condition ids, with True if a person asked for them
    ranks: int
    unread: int = 0  # tensors that could not be read
    failed: frozenset[str] = frozenset()  # condition ids, of other distributions, that raised an error

    @property
    def claims(self) -> Iterator[Claim]:
        """Yield the claims that name what was checked, what was not, and what had nothing to judge."""
        yield Claim(
            "claim.check.checked",
            "note",
            {
                "checked": [condition_in_words(name) for name in sorted(self.decided)],
                "other": [condition_in_words(name) for name in sorted(conditions().keys() - self.requested)],
            },
        )
        if missing := sorted(self.requested.keys() - self.decided - self.failed):
            yield Claim(
                "claim.check.no_data",
                "unknown" if any(self.requested[name] for name in missing) else "note",
                {"conditions": [condition_in_words(name) for name in missing]},
            )


def condition_in_words(name: str) -> Claim | str:
    """Return the name that the pages give to a condition: its id if it is another distribution's."""
    return name if "." in name else Claim(f"dump.condition.{name}", "note")


def check(
    dump: Dump,
    watchpoints: Sequence[Watchpoint],
    executor: Executor | None = None,
    cache: StatisticsCache | None = None,
) -> Iterator[Hit]:
    """Yield hits by rank, then by step, in execution order. Tensors without a watchpoint are not read."""
    judgements = check_and_count(dump, watchpoints, executor, cache)
    return (item for item in judgements if isinstance(item, Hit))


def check_and_count(
    dump: Dump,
    watchpoints: Sequence[Watchpoint],
    executor: Executor | None = None,
    cache: StatisticsCache | None = None,
) -> Iterator[Hit | Tally]:
    """Yield the hits as ``check`` does and, last, what the check covered."""
    unread = 0
    decided: Counter[str] = Counter()
    failed: set[str] = set()
    search = lru_cache(maxsize=1)(partial(_search, dump, executor, cache))
    for result, rules in _results(dump, watchpoints, executor, cache):
        entry = result.entry
        unread += is_unread(result)
        for watchpoint, first in zip(rules, result.verdicts, strict=False):  # none when unreadable
            infinite = holds_minus_infinity(result) or holds_plus_infinity(result)
            masked = first.hit and watchpoint.spares_masks and infinite
            verdict = _without_mask(search(entry.rank, entry.step), entry, first) if masked else first
            if verdict.hit and watchpoint.spares_masks and watchpoint.condition == "tensor_all_zero":
                verdict = Verdict(False) if _may_be_zeros(entry) else verdict
            if not verdict.error:
                decided[watchpoint.condition] += 1
            if verdict.error == FAILED:
                failed.add(watchpoint.condition)
            elif verdict.hit or verdict.error:
                yield Hit(watchpoint, result, verdict)
    if not any(list_overflows(dump, rank, step).items for rank in dump.ranks for step in dump.steps(rank)):
        del decided["operator_overflow"]  # whether the device looked for overflows is not recorded
    requested = {watchpoint.condition: not watchpoint.spares_masks for watchpoint in watchpoints}
    yield Tally(decided, requested, len(dump.ranks), unread, frozenset(failed))


def _search(
    dump: Dump, executor: Executor | None, cache: StatisticsCache | None, rank: int, step: int
) -> OriginSearch:
    entries, operators = list(list_tensors(dump, rank, step).items), list_operators(dump, rank, step).items
    return OriginSearch(entries, operators, lambda wanted: measure_all(wanted, executor, cache))


def _may_be_zeros(entry: TensorEntry) -> bool:
    """Return True if an operator fills in constants, is of an optimizer, whose state starts at zero, or
    gives flags, indices or counts, as a test for NaN does that finds none."""
    discrete = entry.dtype == "bool" or "int" in entry.dtype
    return discrete or is_constant(entry.type) or "optimizer-" in entry.operator


def _without_mask(search: OriginSearch, entry: TensorEntry, verdict: Verdict) -> Verdict:
    """Return the verdict on a tensor with minus infinities: no hit on a mask, undecided if it may have an
    effect."""
    if not search.is_mask(entry):
        return verdict
    return Verdict(False, error=HOLDS_INF if search.is_open_mask(entry) else 0)


def _results(
    dump: Dump, watchpoints: Sequence[Watchpoint], executor: Executor | None, cache: StatisticsCache | None
) -> Iterator[tuple[TensorResult, Sequence[Watchpoint]]]:
    """Yield each examined tensor with the watchpoints that check it."""
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
    """Yield tasks for the tensors of one rank, each with the same tensor of the previous dumped step."""
    previous: dict[SlotKey, TensorRef] = {}
    started: set[str] = set()
    for step in dump.steps(rank):
        entries = list(list_tensors(dump, rank, step).items)
        overflowed = overflowed_operators(dump, rank, step)
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
    """Return the key of a tensor, which is the same at every step of its rank."""
    return (entry.graph, entry.recorded, entry.direction, entry.slot)


def overflowed_operators(dump: Dump, rank: int, step: int) -> frozenset[str]:
    """Return the names of the operators with an overflow that the device reported."""
    return frozenset(
        overflow.operator for overflow in list_overflows(dump, rank, step).items if overflow.status
    )


def _names(entry: TensorEntry) -> set[str]:
    return {entry.operator, entry.recorded}


_WITH_FIGURE: Final = ("exploding", "inactive", "saturated", "slow", "vanishing")  # kinds that state one


@dataclass(frozen=True, slots=True)
class CheckFinding:
    """Anomaly of one tensor, with the hits at all its steps."""

    kind: str  # one of _SEVERITY
    hits: tuple[Hit, ...]  # of the first rank, in order of steps
    ranks: tuple[int, ...]  # all of which the same is to be said
    names_ranks: bool = False

    @property
    def steps(self) -> list[int]:
        """Return the steps of the hits, in ascending order."""
        return sorted({hit.entry.step for hit in self.hits})

    @property
    def name(self) -> str | Claim:
        """Return the tensor's name for a sentence."""
        return tensor_in_words(self.hits[0].entry)

    @property
    def tensor(self) -> str | Claim:
        """Return the tensor in words, with its ranks if the dump has several."""
        if not self.names_ranks:
            return self.name
        ranks = few([str(rank) for rank in self.ranks], _SHOWN)
        return Claim(
            "claim.part.of_ranks", "note", {"tensor": self.name, "n": len(self.ranks), "ranks": ranks}
        )

    @property
    def claim(self) -> Claim:
        """Return the claim about the anomaly, with its first steps as evidence."""
        entry, steps = self.hits[0].entry, self.steps
        worst, finding = self._worst
        limits = self.hits[0].watchpoint.limits
        named: object = few([str(step) for step in steps], _SHOWN)
        if worst is not None and self.kind in _WITH_FIGURE:
            named = Claim("claim.part.worst_step", "note", {"steps": named, "step": worst})
        values = {
            "tensor": self.tensor,
            "steps": named,
            "condition": condition_in_words(self.hits[0].watchpoint.condition),
            "actual": finding.actual if finding else 0,
            "limit": limits[finding.name if finding else "rtol"] if finding or "rtol" in limits else 0,
            "tolerance": limits.get("atol", 0),
        }
        location = {"steps": steps, "graph": entry.graph, "operator": entry.operator}
        evidence = tuple({"rank": rank, **location} for rank in self.ranks)
        return Claim(f"claim.check.{self.kind}", "found", values, evidence)

    @property
    def _worst(self) -> tuple[int | None, Finding | None]:
        """Return the figure that is farthest beyond its limit, and its step if other steps have others."""
        findings = [
            (hit.entry.step, result)
            for hit in self.hits
            if (result := next((result for result in hit.verdict.findings if result.hit), None))
        ]
        if not findings:
            return None, None
        name = findings[0][1].name
        own = [(step, result) for step, result in findings if result.name == name]
        pick = min if name.endswith("_lt") else max
        step, worst = pick(own, key=lambda item: item[1].actual)
        return (step if len({result.actual for _, result in own}) > 1 else None), worst


def group_hits(hits: Iterable[Hit], names_ranks: bool = False) -> list[CheckFinding]:
    """Return one anomaly for each tensor and kind, the worst kind first, then by first step.

    Ranks with equal anomalies share one.
    """
    grouped: dict[tuple[int, str, str, str, str], dict[str, list[Hit]]] = {}
    for hit in hits:
        entry = hit.entry
        key = (entry.rank, entry.graph, entry.recorded, entry.direction, entry.slot)
        grouped.setdefault(key, {}).setdefault(_kind(hit), []).append(hit)
    findings = [
        CheckFinding(
            kind, tuple(sorted(own, key=lambda hit: hit.entry.step)), (own[0].entry.rank,), names_ranks
        )
        for kinds in grouped.values()
        for kind, own in _explained(kinds).items()
        if not _is_implied(kind, own, kinds)
    ]
    merged = _of_ranks(findings)
    return sorted(merged, key=lambda finding: (_SEVERITY.index(finding.kind), finding.steps[0]))


def _of_ranks(anomalies: Iterable[CheckFinding]) -> list[CheckFinding]:
    """Return findings that differ by rank alone as one."""
    merged: dict[tuple[object, ...], CheckFinding] = {}
    for finding in anomalies:
        entry, hit = finding.hits[0].entry, finding.hits[0]
        position = (finding.kind, entry.graph, entry.recorded, entry.direction, entry.slot)
        findings = tuple(own.verdict.findings for own in finding.hits)
        key = (*position, tuple(finding.steps), hit.watchpoint.id, findings)
        known = merged.get(key)
        merged[key] = replace(known, ranks=(*known.ranks, entry.rank)) if known else finding
    return list(merged.values())


def check_claims(hits: Sequence[Hit], tally: Tally) -> list[Claim]:
    """Return the claims of a finished check, given the hits and undecided tensors, and what it covered.

    Without a hit the check is clear only about the tensors it could judge.
    """
    judged = tally.decided.total()
    confirmed = _grouped_claims(group_hits((hit for hit in hits if hit.verdict.hit), tally.ranks > 1))
    undecided = sum(hit.verdict.error not in (0, NO_PREVIOUS) and not hit.verdict.hit for hit in hits)
    if not confirmed:
        clear, unknown = Claim("claim.check.none", "clear"), Claim("claim.check.unknown", "unknown")
        confirmed = [clear if judged else unknown]
    if tally.unread:
        confirmed.append(Claim("claim.check.unread", "unknown", {"n": tally.unread}))
    if tally.failed:
        names = [condition_in_words(name) for name in sorted(tally.failed)]
        confirmed.append(Claim("claim.check.failed", "unknown", {"conditions": names}))
    if undecided and judged:
        confirmed.append(Claim("claim.check.undecided", "note", {"n": undecided}))
    return [*confirmed, *tally.claims] if judged else confirmed


def _grouped_claims(findings: Iterable[CheckFinding]) -> list[Claim]:
    """Return one claim for each kind and set of steps, about the first tensor, with the names of the rest."""
    groups: dict[tuple[str, tuple[int, ...], tuple[int, ...]], list[CheckFinding]] = {}
    for finding in findings:
        key = (finding.kind, finding.ranks, tuple(finding.steps))
        groups.setdefault(key, []).append(finding)
    claims = []
    for first, *others in groups.values():
        claims.append(first.claim)
        if others:
            names = few([other.name for other in others], _SHOWN)
            claims.append(Claim("claim.check.more", "note", {"n": len(others), "tensors": names}))
    return claims


def _kind(hit: Hit) -> str:
    """Return the kind of a hit, or "condition" if it says only that a chosen limit was exceeded."""
    finding = next((finding for finding in hit.verdict.findings if finding.hit), None)
    limits = hit.watchpoint.limits
    if hit.watchpoint.condition == "activation_range":
        return _range_kind(canonical(hit.entry.type), finding.name if finding else "", limits)
    kind = _KINDS.get(hit.watchpoint.condition, "condition")
    if kind == "frozen" and limits.get("atol"):
        return "tolerated"
    stated = _STATED.get(kind)
    if stated is None:
        return kind
    all_zero = stated != "zero_percentage_ge" or (finding is not None and finding.actual == 100)
    return kind if finding is not None and finding.name == stated and all_zero else "condition"


def _range_kind(function: str, limit: str, limits: Limits) -> str:
    """Return the kind of a hit on the share of a function's values within a range."""
    start, end = limits.get("range_start_inclusive", 0.0), limits.get("range_end_inclusive", 0.0)
    low = _SATURATED.get(function)
    if limit == "range_percentage_lt" and low is not None and max(start - low, 1 - end) < _NEAR:
        return "saturated"
    flat = limit == "range_percentage_gt" and function in _INACTIVE and end == 0
    return "inactive" if flat else "condition"


def _explained(kinds: dict[str, list[Hit]]) -> dict[str, list[Hit]]:
    """Return the hits on a tensor without those that follow from zeros at its first recorded step."""
    if "initial" not in kinds:
        return kinds
    exploding = kinds.get("exploding", [])[1:]
    remaining = {**kinds, "exploding": exploding}
    if _SHIFT.search(kinds["initial"][0].entry.operator):
        del remaining["initial"]
    return {kind: hits for kind, hits in remaining.items() if hits}


def _is_implied(kind: str, hits: Sequence[Hit], kinds: dict[str, list[Hit]]) -> bool:
    """Return True if a stronger statement covers every step of this one."""
    implying = _IMPLIED.get(kind, ())
    stronger = {hit.entry.step for name in implying for hit in kinds.get(name, ())}
    return {hit.entry.step for hit in hits} <= stronger


def checked_limits(condition_id: str, requested: Mapping[str, float | None]) -> Limits:
    """Return the limits of a condition: those requested, or all defaults if none is.

    Supporting parameters (epsilon, atol) always have their default. Raises ValueError with the name of the
    wrong parameter and its allowed values.
    """
    condition = conditions().get(condition_id)
    if condition is None:
        raise ValueProblem(
            "error.condition.unknown", condition=condition_id, names=", ".join(sorted(conditions()))
        )
    known = {parameter.name: parameter for parameter in condition.parameters}
    unknown = sorted(set(requested) - set(known))
    if unknown:
        words = {"condition": condition_id, "name": unknown[0], "names": ", ".join(known)}
        key = "error.condition.no_parameter" if known else "error.condition.no_parameters"
        raise ValueProblem(key, **words)
    enabled = {name: value for name, value in requested.items() if value is not None}
    limits = {name: _checked(known[name], value) for name, value in enabled.items()}
    defaulted = not any(known[name].checks for name in limits)
    for parameter in condition.parameters:
        if parameter.default is not None and (defaulted or not parameter.checks):
            limits.setdefault(parameter.name, parameter.default)
    _check_together(condition, limits)
    return limits


def _checked(parameter: Parameter, value: float) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueProblem("error.condition.no_number", name=parameter.name, value=repr(value))
    below = value <= parameter.low if parameter.above_low else value < parameter.low
    if below or value > parameter.high:
        words = {"name": parameter.name, "value": f"{value:g}"}
        limits = {"low": f"{parameter.low:g}", "high": f"{parameter.high:g}"}
        raise ValueProblem(f"error.condition.{_allowed(parameter)}", **words, **limits)
    return float(value)


def _allowed(parameter: Parameter) -> str:
    """Return the name of the text that says which values a parameter may have."""
    if parameter.high < math.inf:
        return "outside"
    return "not_above" if parameter.above_low else "below"


def _check_together(condition: Condition, limits: Limits) -> None:
    checking = [parameter for parameter in condition.parameters if parameter.checks]
    if checking and not any(parameter.name in limits for parameter in checking):
        names = ", ".join(parameter.name for parameter in checking)
        raise ValueProblem("error.condition.no_limit", condition=condition.id, names=names)
    for parameter in checking:
        missing = [name for name in parameter.requires if name not in limits]
        if parameter.name in limits and missing:
            raise ValueProblem("error.condition.needs", name=parameter.name, names=", ".join(missing))


Preset: TypeAlias = tuple[str, Mapping[str, float], tuple[str, ...]]  # condition, limits, operator types

# Beyond these inputs both functions are constant in single precision, and their gradients are zero.
_TANH: Final = math.tanh(8.8)
_SIGMOID: Final = 1 / (1 + math.exp(-16.2))

_RELATIVE: Final = {"epsilon": 1e-30}  # small weights change by less than any absolute tolerance

_PRESETS: Final[tuple[Preset, ...]] = (
    ("tensor_overflow", {}, ()),
    ("operator_overflow", {}, ()),
    ("weight_overflow", {}, ()),
    ("tensor_all_zero", {}, ()),
    ("gradient_vanishing", {"abs_mean_lt": 1e-9}, ()),
    ("weight_change_too_small", {"abs_mean_update_ratio_lt": 1e-4, **_RELATIVE}, ()),
    ("weight_change_too_large", {"abs_mean_update_ratio_gt": 1.0, **_RELATIVE}, ()),
    ("weight_not_changed", {"rtol": 1e-5, "atol": 0.0}, ()),
    ("weight_initialization", {}, ()),
)
_RANGES: Final[tuple[tuple[tuple[str, ...], float, float, Mapping[str, float]], ...]] = (
    (("tanh",), -_TANH, _TANH, {"range_percentage_lt": 0.1}),
    (("sigmoid",), 1 - _SIGMOID, _SIGMOID, {"range_percentage_lt": 0.1}),
    (("relu", "relu6", "reluv2", "leakyrelu", "prelu"), -1.0, 0.0, {"range_percentage_gt": 99.9}),
)


def common_faults() -> tuple[Watchpoint, ...]:
    """Return watchpoints for overflow, zeros, vanishing gradients, constant or jumping weights, and
    saturation.

    The set and its limits are those that MindInsight's debugger recommended, without its absolute
    tolerances for the change of weights.
    """
    ranges: list[Preset] = [
        ("activation_range", {"range_start_inclusive": start, "range_end_inclusive": end, **limits}, types)
        for types, start, end, limits in _RANGES
    ]
    return tuple(
        Watchpoint(number, condition, checked_limits(condition, limits), types=types, spares_masks=True)
        for number, (condition, limits, types) in enumerate([*_PRESETS, *ranges], 1)
    )
