"""Watchpoints: conditions on operators, ranks and steps, their limits, and presets for common anomalies."""

from __future__ import annotations

import math
import re
from collections import Counter, deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import lru_cache, partial
from typing import Final, TypeAlias

from mindinsight.server.claims import Claim
from mindinsight.server.debug.check_findings import (
    condition_in_words,
    expected_claims,
    group_hits,
    grouped_claims,
    without_meant_zeros,
)
from mindinsight.server.debug.conditions import (
    FAILED,
    HOLDS_INF,
    NO_PREVIOUS,
    Condition,
    Limits,
    Parameter,
    Target,
    Verdict,
    conditions,
)
from mindinsight.server.debug.conditions.expected_hits import Expectation, ExpectedHits, Standstill
from mindinsight.server.debug.conditions.loss_scaling import skipped_scale
from mindinsight.server.debug.conditions.masks import holds_minus_infinity, holds_plus_infinity
from mindinsight.server.debug.depth_growth import DepthGrowth
from mindinsight.server.debug.examine import TensorResult, TensorTask, examine_all, is_unread, measure_all
from mindinsight.server.debug.fault import gaps_at
from mindinsight.server.debug.fault_search import OriginSearch
from mindinsight.server.debug.operator_links import ValueFlow, canonical, is_constant, is_replaced, is_view
from mindinsight.server.debug.statistics_cache import StatisticsCache
from mindinsight.server.debug.tensor_targets import (
    forward_views,
    is_discrete,
    is_state,
    is_update,
    parameter_names,
    targets,
)
from mindinsight.server.errors import ValueProblem
from mindinsight.server.formats.dumps import list_operators, list_overflows, list_tensors
from mindinsight.server.formats.dumps.dump_types import Dump, Operator, TensorEntry, TensorRef

_OF_ZEROS: Final = ("tensor_all_zero", "gradient_vanishing")
_OF_OVERFLOW: Final = ("tensor_overflow", "gradient_exploding")
_OF_STANDSTILL: Final = ("weight_change_too_small", "weight_not_changed")

SlotKey: TypeAlias = tuple[str, str, str, str]  # graph, operator as recorded, direction, slot
RankedSlot: TypeAlias = tuple[int, str, str, str, str]  # rank, and the same


@dataclass(frozen=True, slots=True)
class Watchpoint:
    """Condition with its limits, and the operators, types, ranks and steps for which it is checked.

    An empty field does not restrict the scope.

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
        """Return True if the watchpoint checks a tensor of these classes. ``first`` says that the tensor
        is of the first dumped step of its graph."""
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
    """Hit of a watchpoint on a tensor.

    With ``verdict.error`` the tensor could not be judged. With ``expected`` it is no hit."""

    watchpoint: Watchpoint
    result: TensorResult
    verdict: Verdict
    viewed: str = ""  # operator or parameter whose values a view returns, such as a transposition
    expected: Expectation = ""  # why the limit is exceeded without a fault: the verdict is then no hit
    standstill: Standstill = "purpose"  # why a parameter may not have changed
    selected: bool = False  # zeros may be those of flags, such as a mask

    @property
    def entry(self) -> TensorEntry:
        """Return the tensor."""
        return self.result.entry


@dataclass(frozen=True, slots=True)
class Tally:
    """Coverage of a check: number of verdicts reached by each condition, and ranks of the dump."""

    decided: Counter[str]  # by condition id
    requested: Mapping[str, bool]  # condition ids, with True if a person asked for them
    ranks: int
    unread: int = 0  # tensors that could not be read
    failed: Mapping[str, str] = field(default_factory=dict)  # what rules of extensions raised, by condition
    weights: frozenset[str] = frozenset()  # names of all parameters but states of optimizers
    growth: Sequence[Claim] = ()  # that outputs grow from layer to layer
    steps: Sequence[int] = ()  # that have a dumped step before them, and of which no tensor is undecided
    late: Collection[RankedSlot] = ()  # tensors of zeros at the first step, and not at a later one
    filled: Collection[RankedSlot] = ()  # tensors that are not zero at some step

    @property
    def claims(self) -> Iterator[Claim]:
        """Yield the claims about what was checked, what was not checked, and which checks had no tensor to
        judge."""
        yield Claim(
            "claim.check.checked",
            "note",
            {
                "checked": [condition_in_words(name) for name in sorted(self.decided)],
                "other": [condition_in_words(name) for name in sorted(conditions().keys() - self.requested)],
            },
        )
        if "activation_range" in self.decided and not self.requested["activation_range"]:
            values = {"limit": f"{_SATURATED:g}", "inactive": f"{_INACTIVE:g}"}
            yield Claim("claim.check.saturation_limit", "note", values)
        if missing := sorted(self.requested.keys() - self.decided - self.failed.keys()):
            yield Claim(
                "claim.check.no_data",
                "unknown" if any(self.requested[name] for name in missing) else "note",
                {"conditions": [condition_in_words(name) for name in missing]},
            )


_BUFFER: Final = re.compile(r"(running|moving)_(mean|var)|num_batches|global_step|position_ids|\.mask$")


def _trained(dump: Dump, rank: int) -> Iterator[str]:
    """Yield the names of the parameters of a rank's first step, without buffers and optimizer states."""
    for step in dump.steps(rank)[:1]:
        names = parameter_names(list_tensors(dump, rank, step).items)
        yield from (name for name in names if not is_state(name, names) and not _BUFFER.search(name))


_NEAR: Final = 10  # steps over which a weight that doubles is a jump: over hundreds, a training may do that


def check(
    dump: Dump,
    watchpoints: Sequence[Watchpoint],
    executor: Executor | None = None,
    cache: StatisticsCache | None = None,
) -> Iterator[Hit]:
    """Yield hits, and tensors that could not be judged, by rank, then by step, in execution order. Tensors
    without a watchpoint are not read."""
    judgements = check_and_count(dump, watchpoints, executor, cache)
    return (item for item in judgements if isinstance(item, Hit))


def check_and_count(
    dump: Dump,
    watchpoints: Sequence[Watchpoint],
    executor: Executor | None = None,
    cache: StatisticsCache | None = None,
) -> Iterator[Hit | Tally]:
    """Yield the hits as ``check`` does and, last, the `Tally` of what the check covered."""
    unread = 0
    decided: Counter[str] = Counter()
    failed: dict[str, str] = {}
    evidence = _Evidence(dump, executor, cache)
    still, depth = _Standstill(evidence), DepthGrowth()
    zeros: dict[RankedSlot, bool] = {}  # tensors of zeros at the first step: whether they are not later
    filled: set[RankedSlot] = set()  # tensors that are not zero at some step
    open_steps: set[int] = set()  # at which a weight may have changed or not
    for result, rules in _results(dump, watchpoints, executor, cache):
        if is_unread(result):
            unread += 1
            open_steps.add(result.entry.step)
        depth.add(result)
        yield from still.next(result, rules)
        for watchpoint, first in zip(rules, result.verdicts, strict=False):  # none when unreadable
            hit = evidence.hit(watchpoint, result, first)
            if watchpoint.condition == "tensor_all_zero" and watchpoint.spares_masks:
                slot = (result.entry.rank, *slot_key(result.entry))
                if first.hit and result.entry.step == dump.steps(result.entry.rank)[0]:
                    zeros[slot] = False
                elif not first.hit and not first.error:
                    filled.add(slot)
                    zeros |= {slot: True} if slot in zeros else {}
            if not hit.verdict.error:
                decided[watchpoint.condition] += 1
            elif watchpoint.condition in _OF_STANDSTILL:
                open_steps.add(result.entry.step)
            if hit.verdict.error == FAILED:
                failed.setdefault(watchpoint.condition, hit.verdict.why)
            elif not still.holds(hit) and (hit.verdict.hit or hit.verdict.error or hit.expected):
                yield hit
    yield from still.end()
    if not any(list_overflows(dump, rank, step).items for rank in dump.ranks for step in dump.steps(rank)):
        del decided["operator_overflow"]  # whether the device looked for overflows is not recorded
    requested = {watchpoint.condition: not watchpoint.spares_masks for watchpoint in watchpoints}
    growth = [] if all(requested.values()) else depth.claims()  # one of the common checks
    weights = frozenset(name for rank in dump.ranks for name in _trained(dump, rank))
    later = max((dump.steps(rank)[1:] for rank in dump.ranks), key=len, default=())
    steps = [step for step in later if step not in open_steps]
    late = {slot for slot, later in zeros.items() if later}
    yield Tally(decided, requested, len(dump.ranks), unread, failed, weights, growth, steps, late, filled)


class _Evidence:
    """Examination of hits of the common checks: other tensors of the step may show that a hit is no fault."""

    def __init__(self, dump: Dump, executor: Executor | None, cache: StatisticsCache | None) -> None:
        self._dump = dump
        self._measure = partial(measure_all, executor=executor, cache=cache)
        self._search = lru_cache(maxsize=1)(self._new_search)
        self._flow = lru_cache(maxsize=1)(self._new_flow)
        self._overflowed = lru_cache(maxsize=1)(self._new_overflowed)
        self.expected = lru_cache(maxsize=1)(self._new_expected)

    def hit(self, watchpoint: Watchpoint, result: TensorResult, first: Verdict) -> Hit:
        """Return the hit with the final verdict, given that of the rule."""
        entry, common = result.entry, watchpoint.spares_masks
        infinite = holds_minus_infinity(result) or holds_plus_infinity(result)
        masked = first.hit and common and infinite
        verdict = _without_mask(self._search(entry.rank, entry.step), entry, first) if masked else first
        expected: Expectation = ""
        overflow = watchpoint.condition in _OF_OVERFLOW
        judged = verdict.hit and common and (overflow or watchpoint.condition in _OF_ZEROS)
        if judged and self._search(entry.rank, entry.step).is_aside(entry):
            return Hit(watchpoint, result, Verdict(False))  # which the first fault tells
        if judged and overflow and self.skipped(entry):
            verdict = Verdict(False)
        if verdict.hit and common and watchpoint.condition in _OF_ZEROS:
            constant = (
                _may_be_zeros(entry) if watchpoint.condition == "tensor_all_zero" else is_discrete(entry)
            )
            zeros = constant or self._flow(entry.rank, entry.step).follows_from_zeros(entry)
            verdict = Verdict(False) if zeros else verdict
            if verdict.hit:
                least = watchpoint.limits.get("abs_mean_lt", 0.0)
                expected = self.expected(entry.rank, entry.step).of_gradient(entry, least)
                finished = self.expected(entry.rank, entry.step).finished_loss(entry)
                expected = expected or ("finished" if finished else "")
                if not expected and watchpoint.condition == "tensor_all_zero":
                    expected = self.expected(entry.rank, entry.step).of_zeros(entry)
        if verdict.hit and common and watchpoint.condition == "weight_change_too_large":
            if self._gap(entry) > _NEAR:
                return Hit(watchpoint, result, replace(verdict, hit=False))
            ratio, limit = _ratio(verdict), watchpoint.limits["abs_mean_update_ratio_gt"]
            expected = self.expected(entry.rank, entry.step).of_change(entry, ratio or 0.0, limit)
        if expected:
            return Hit(watchpoint, result, replace(verdict, hit=False), expected=expected)
        view = verdict.hit and not watchpoint.operators and is_view(entry.type)
        zero = verdict.hit and common and watchpoint.condition == "tensor_all_zero"
        flow = self._flow(entry.rank, entry.step) if view or zero else None
        viewed = flow.viewed(entry) if flow and view else ""
        selected = bool(flow and zero and flow.follows_from_flags(entry))
        return Hit(watchpoint, result, verdict, viewed, selected=selected)

    def skipped(self, entry: TensorEntry) -> bool:
        """Return True if a loss scaler skipped the update of a step, and a tensor is no earlier than the
        gradient that overflowed."""
        first = self._overflowed(entry.rank, entry.step)
        return first is not None and entry.sequence >= first

    def _new_overflowed(self, rank: int, step: int) -> int | None:
        """Return the position of the gradient for which a loss scaler skipped an update, or None."""
        origin = self._search(rank, step).origin()
        entries = list_tensors(self._dump, rank, step).items
        scale = skipped_scale(origin, entries, self._measure) if origin else None
        return None if scale is None or origin is None else origin.entry.sequence

    def _new_search(self, rank: int, step: int) -> OriginSearch:
        entries, operators = list(list_tensors(self._dump, rank, step).items), self._operators(rank, step)
        complete = not gaps_at(self._dump, [rank], [step])
        return OriginSearch(entries, operators, self._measure, complete=complete)

    def _new_flow(self, rank: int, step: int) -> ValueFlow:
        first = step == min(self._dump.steps(rank))
        entries = list_tensors(self._dump, rank, step).items
        discrete = {entry.operator for entry in entries if entry.direction == "output" and is_discrete(entry)}
        initial = self._initial_zeros(rank, step) if first else ()
        return ValueFlow(self._operators(rank, step), initial, discrete)

    def _initial_zeros(self, rank: int, step: int) -> frozenset[str]:
        """Return the recorded names of the views of parameters that are zero, as LoRA begins with."""
        operators = self._operators(rank, step)
        parameters = {operator.name for operator in operators if operator.type == "Parameter"}
        views = {
            operator.recorded
            for operator in operators
            if is_view(operator.type) and len(operator.sources) == 1 and operator.sources[0] in parameters
        }
        entries = list_tensors(self._dump, rank, step).items
        outputs = [entry for entry in entries if entry.direction == "output" and entry.recorded in views]
        return frozenset(
            result.entry.recorded
            for result in self._measure(outputs)
            if result.measurement and result.measurement.statistics.absolute_mean == 0
        )

    def _gap(self, entry: TensorEntry) -> int:
        """Return the distance to the dumped step before, 0 for the first."""
        return entry.step - max(
            (step for step in self._dump.steps(entry.rank) if step < entry.step), default=entry.step
        )

    def _new_expected(self, rank: int, step: int) -> ExpectedHits:
        earlier = [number for number in self._dump.steps(rank) if number < step]
        before, first = (
            list_tensors(self._dump, rank, pick(earlier)).items if earlier else () for pick in (max, min)
        )
        entries = list(list_tensors(self._dump, rank, step).items)
        return ExpectedHits(entries, before, self._operators(rank, step), self._measure, first)

    def _operators(self, rank: int, step: int) -> Sequence[Operator]:
        return list_operators(self._dump, rank, step).items


class _Standstill:
    """Hits on weights that hardly change, held back until the changes of all weights in a step are known."""

    def __init__(self, evidence: _Evidence) -> None:
        self._evidence = evidence
        self._step: tuple[int, int] | None = None  # rank, step
        self._changes: dict[SlotKey, float] = {}
        self._held: list[Hit] = []

    def next(self, result: TensorResult, rules: Sequence[Watchpoint]) -> Iterator[Hit]:
        """Record the change of a weight, and yield the held-back hits of the previous step if a new step
        begins."""
        if self._step != (result.entry.rank, result.entry.step):
            yield from self.end()
            self._step = result.entry.rank, result.entry.step
        for watchpoint, verdict in zip(rules, result.verdicts, strict=False):
            ratio = _ratio(verdict) if watchpoint.condition == "weight_change_too_small" else None
            if ratio is not None and watchpoint.spares_masks:
                self._changes[slot_key(result.entry)] = ratio

    def holds(self, hit: Hit) -> bool:
        """Hold back a hit that depends on the changes of other weights in the step, and return True if held
        back."""
        common = hit.watchpoint.spares_masks and hit.watchpoint.condition in _OF_STANDSTILL
        if hit.verdict.hit and common:
            self._held.append(hit)
        return hit.verdict.hit and common

    def end(self) -> Iterator[Hit]:
        """Yield the hits that were held back."""
        held, changes, self._held, self._changes = self._held, self._changes, [], {}
        for hit in held:
            if self._evidence.skipped(hit.entry):
                continue
            ratio = changes.get(slot_key(hit.entry))
            step = self._evidence.expected(hit.entry.rank, hit.entry.step)
            limit = hit.watchpoint.limits.get("abs_mean_update_ratio_lt", math.inf)
            share = hit.verdict.share
            expected = step.of_standstill(hit.entry, ratio, list(changes.values()), share, limit)
            expected = expected or ("finished" if step.finished_loss(hit.entry) else "")
            why: Standstill = "purpose" if expected else step.standstill(hit.entry)
            verdict = replace(hit.verdict, hit=not expected)
            yield replace(hit, verdict=verdict, expected=expected, standstill=why)


def _ratio(verdict: Verdict) -> float | None:
    """Return the change of a tensor relative to its magnitude, or None if it could not be judged."""
    finding = next(
        (known for known in verdict.findings if known.name.startswith("abs_mean_update_ratio")), None
    )
    return finding.actual if finding and not verdict.error else None


def _may_be_zeros(entry: TensorEntry) -> bool:
    """Return True if zeros are normal in a tensor: integers, flags, optimizer states, filled-in
    constants."""
    weight = entry.slot == "1" and canonical(entry.type) == "nlllossforward"  # 0 where nothing is averaged
    return weight or is_discrete(entry) or is_constant(entry.type) or is_update(entry)


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
        forward = forward_views(list_operators(dump, rank, step).items)
        for entry in entries:
            classes, first = targets(entry, parameters, forward), entry.graph not in started
            watching = [watchpoint for watchpoint in watchpoints if watchpoint.watches(entry, classes, first)]
            if watching and not is_replaced(entry):
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


def check_claims(hits: Sequence[Hit], tally: Tally) -> list[Claim]:
    """Return the claims of a finished check, given the hits and undecided tensors, and what it covered.
    Without a hit the check is clear only about the tensors it could judge."""
    judged = tally.decided.total()
    findings = group_hits((hit for hit in hits if hit.verdict.hit), tally.ranks > 1)
    others, zeros = without_meant_zeros(findings, tally)
    confirmed = [*grouped_claims(others, tally.weights, tally.steps), *tally.growth]
    expected = expected_claims([hit for hit in hits if hit.expected])
    undecided = sum(hit.verdict.error not in (0, NO_PREVIOUS) and not hit.verdict.hit for hit in hits)
    if all(claim.verdict == "note" for claim in confirmed):
        clear, unknown = Claim("claim.check.none", "clear"), Claim("claim.check.unknown", "unknown")
        confirmed = [clear if judged else unknown, *confirmed]
    if tally.unread:
        confirmed.append(Claim("claim.check.unread", "unknown", {"n": tally.unread}))
    for name, why in sorted(tally.failed.items()):
        facts = {"condition": condition_in_words(name), "why": why}
        confirmed.append(Claim("claim.check.failed", "unknown", facts))
    confirmed += zeros
    if undecided and judged:
        confirmed.append(Claim("claim.check.undecided", "note", {"n": undecided}))
    return [*confirmed, *expected, *tally.claims] if judged else confirmed


def checked_limits(condition_id: str, requested: Mapping[str, float | None]) -> Limits:
    """Return the limits of a condition: those in ``requested``, or all defaults without any. Raises
    ValueError for an unknown condition or parameter, and for a wrong value.

    A limit of None is not requested. Supporting parameters (epsilon, atol) that are not requested have their
    default. The error names the wrong parameter and its allowed values.
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

# A tenth of the values: nine of ten gradients are exactly zero behind it. MindInsight's limit, 0.1 %, leaves
# out a layer of which 19 of 20 values are exactly 1 or -1.
_SATURATED: Final = 10.0
_INACTIVE: Final = 99.9  # of a ReLU, in which zeros are normal: MindInsight's limit

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
    (("tanh",), -_TANH, _TANH, {"range_percentage_lt": _SATURATED}),
    (("sigmoid",), 1 - _SIGMOID, _SIGMOID, {"range_percentage_lt": _SATURATED}),
    (("relu", "relu6", "reluv2", "leakyrelu", "prelu"), -1.0, 0.0, {"range_percentage_gt": _INACTIVE}),
)


def common_faults() -> tuple[Watchpoint, ...]:
    """Return watchpoints for overflow, zeros, vanishing gradients, constant or jumping weights, and
    saturation. The set and its limits are those that MindInsight's debugger recommended, without its
    absolute tolerances for the change of weights, and with a higher limit for saturation."""
    ranges: list[Preset] = [
        ("activation_range", {"range_start_inclusive": start, "range_end_inclusive": end, **limits}, types)
        for types, start, end, limits in _RANGES
    ]
    return tuple(
        Watchpoint(number, condition, checked_limits(condition, limits), types=types, spares_masks=True)
        for number, (condition, limits, types) in enumerate([*_PRESETS, *ranges], 1)
    )
