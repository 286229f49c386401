"""Search of a dump for the first fault: the operator that produced or received a non-finite value."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from itertools import tee
from typing import Final

from mindinsight.server.claims import Claim, few
from mindinsight.server.debug.conditions.loss_scaling import skipped_scale
from mindinsight.server.debug.examine import (
    TensorResult,
    contradicts_statistics,
    finite_by_statistics,
    finiteness,
    is_non_finite,
    is_unread,
    measure_all,
    operator_key,
    surely_finite,
)
from mindinsight.server.debug.fault_search import Kind, Measure, Origin, OriginSearch
from mindinsight.server.debug.operator_links import (
    Fingerprint,
    fingerprint,
    is_collective,
    is_replaced,
    shared_memory,
    takes_shape_alone,
    written_by,
)
from mindinsight.server.debug.statistics_cache import StatisticsCache
from mindinsight.server.debug.tensor_targets import (
    is_gradient,
    is_update,
    is_weight,
    parameter_names,
    tensor_in_words,
)
from mindinsight.server.formats.dumps import compares_arguments, list_operators, list_tensors
from mindinsight.server.formats.dumps.dump_types import Dump, FileDamage, NotRecorded, Operator, TensorEntry
from mindinsight.server.formats.graphs.call_stacks import Frame, own_frame

MODULES: Final = "L0"  # level of dumps that record modules, but not the functions called between them


@dataclass(frozen=True, slots=True)
class Fault:
    """First fault of one rank and step.

    ``results`` are its measured non-finite tensors, the first one first. ``entries`` and ``operators`` are
    all that were listed at the step.
    """

    origin: Origin
    rank: int
    step: int
    results: tuple[TensorResult, ...]
    others: tuple[Origin, ...] = ()  # of the other non-finite inputs of an operator that received them
    entries: Sequence[TensorEntry] = field(default=(), compare=False, repr=False)
    operators: Sequence[Operator] = field(default=(), compare=False, repr=False)
    later: int = 0  # outputs after the last non-finite one, if the values went no further
    last: str = ""  # operator of the last non-finite one, if it is another
    before: tuple[Claim, ...] = ()  # about non-finite values of earlier steps, which may have brought it

    @property
    def kind(self) -> Kind:
        """Return ``made`` if the operator produced the non-finite values, ``met`` if it received them, else
        ``unknown``. `Origin` explains them."""
        return self.origin.kind

    @property
    def entry(self) -> TensorEntry:
        """Return the first tensor known to hold non-finite values."""
        return self.origin.entry

    @property
    def is_received(self) -> bool:
        """Return True if a collective operation brought the values from another rank."""
        return self.kind == "made" and is_collective(self.entry.type)

    @property
    def is_located(self) -> bool:
        """Return True if the named operator is the fault or next to it, so that its source line is worth
        showing."""
        return self.origin.gap != "between"

    @property
    def claim(self) -> Claim:
        """Return the claim about the fault. Its verdict is ``found`` even if the origin is unknown."""
        entry = self.entry
        carrier = self.origin.carrier
        seen_later = self.kind == "made" and self.origin.operator not in (entry.operator, entry.recorded)
        alone = self.kind == "met" and (entry.type == "Parameter" or carrier == "constant")
        detail = "alone" if alone else "seen" if seen_later else carrier or self.origin.gap
        name = "received" if self.is_received else f"{self.kind}.{detail}" if detail else self.kind
        values = {
            "operator": self.origin.operator,
            "source": self.origin.source,
            "slot": entry.slot,
            "step": self.step,
            "tensor": tensor_in_words(entry),
        }
        location = {
            "rank": self.rank,
            "step": self.step,
            "graph": entry.graph,
            "operator": self.origin.operator,
        }
        missing = ("claim.missing.operand",) if carrier == "tensors" and not self.is_received else ()
        return Claim(f"claim.fault.{name}", "found", values, (location,), missing)

    @property
    def headline(self) -> Claim:
        """Return the claim about the fault. If its values spread no further, the claim has the number of
        finite outputs after it."""
        claim = self.claim
        if not self.later:
            return claim
        about = {"claim": claim, "n": self.later, "last": self.last}
        key = "claim.fault.contained_by" if self.last else "claim.fault.contained"
        return Claim(key, "found", about, claim.evidence)

    @property
    def claims(self) -> tuple[Claim, ...]:
        """Return the claim about the fault, and if there are any, one about the other inputs that brought
        non-finite values, and one about the weight that the operator overwrote."""
        entry, named = self.entry, [self.origin.source] * bool(self.origin.source)
        names = dict.fromkeys(other.source for other in self.others if other.source not in ("", *named))
        slots = [other.entry.slot for other in self.others if not other.source]
        others = [*names, *(Claim("claim.part.input", "note", {"slot": slot}) for slot in slots)]
        values = {"operator": entry.operator, "n": len(others), "inputs": others}
        also = [Claim("claim.fault.met.also", "note", values)] if others else []
        return (self.headline, *also, *self._written, *self.before)

    @property
    def _written(self) -> Iterator[Claim]:
        """Yield the claim that the operator at fault wrote its result into a weight."""
        operator = faulty_operator(self)
        if operator is None or self.kind == "unknown" or not self.is_located:
            return
        weight = written_by(operator, self.operators)
        if is_weight(weight, parameter_names(self.entries)):
            yield Claim("claim.fault.written", "note", {"operator": operator.name, "weight": weight})


@dataclass
class Coverage:
    """Numbers of tensors that a search covered. The search ends at the step in which it finds a fault."""

    tensors: int = 0
    unread: int = 0  # files that could not be read
    silent: int = 0  # without values, and with statistics that decide nothing
    masks: int = 0  # with minus infinities that are no fault
    open_masks: int = 0  # masks that may affect outputs that were not recorded
    by_statistics: int = 0  # judged by recorded statistics, without their values
    scaled: int = 0  # not finite in a step whose update a loss scaler skipped
    aside: int = 0  # not finite, of operators whose results the training does not use
    aside_of: dict[str, None] = field(default_factory=dict)  # names of these operators
    skipped: dict[int, float] = field(default_factory=dict)  # loss scale by such step
    contradicted: int = 0  # with statistics that disagree with the file, which was used
    unlisted: int = 0  # files that describe tensors and could not be read
    operators: bool = False  # the dump has tensors of an operator
    backward: bool = False  # the dump has an operator of a backward pass

    def spare(self, entry: TensorEntry, search: OriginSearch, scale: float | None) -> None:
        """Add a tensor that is not finite and no fault: of an operator aside, of a step that a loss scaler
        skipped at this ``scale``, or a mask."""
        if search.is_aside(entry) and not search.is_mask(entry):
            self.aside += 1
            self.aside_of[entry.operator] = None
            return
        self.scaled += scale is not None
        self.masks += scale is None
        self.open_masks += scale is None and search.is_open_mask(entry)

    @property
    def judged(self) -> int:
        """Return the number of tensors known to be finite or non-finite."""
        return self.tensors - self.unread - self.silent

    @property
    def claims(self) -> tuple[Claim, ...]:
        """Return the claims of a search that found no fault: about the tensors it could judge and those it
        could not."""
        unread = Claim("claim.fault.unread", "unknown", {"n": self.unread})
        if not self.judged:
            first = Claim("claim.fault.nothing" if self.tensors else "claim.fault.empty", "unknown")
            return (first, *([unread] if self.unread else []))
        spared = self.masks + self.scaled + self.aside
        if self.judged == self.tensors and not spared:
            return (Claim("claim.fault.none", "clear", {"n": self.tensors}), *self._notes)
        finite = self.judged - spared
        counts = {"n": finite, "judged": finite, "tensors": self.tensors}
        first = (
            Claim("claim.fault.finite", "clear", counts)
            if spared
            else Claim("claim.fault.some", "unknown", counts)
        )
        details = (
            Claim("claim.fault.masks", "note", {"n": self.masks - self.open_masks}),
            Claim("claim.fault.masks.open", "unknown", {"n": self.open_masks}),
            unread,
            Claim("claim.fault.silent", "unknown", {"n": self.silent}),
        )
        return (first, *(claim for claim in details if claim.values["n"]), *self._notes)

    @property
    def aside_claim(self) -> Iterator[Claim]:
        """Yield the claim about non-finite values that no recorded operator that trains uses, if any. What
        takes them in another way, such as a number of Python, is unknown."""
        if self.aside:
            names = few(list(self.aside_of), _NAMED)
            yield Claim("claim.fault.aside", "unknown", {"n": self.aside, "operators": names})

    @property
    def _notes(self) -> Iterator[Claim]:
        """Yield notes on how the search judged tensors, and on what it could not search."""
        if self.by_statistics:
            values = {"n": self.by_statistics}
            yield Claim("claim.fault.by_statistics", "note", values)
        if self.skipped:
            steps = few([*map(str, self.skipped)], _NAMED)
            scale = max(self.skipped.values())
            yield Claim("claim.fault.scaled", "note", {"n": self.scaled, "steps": steps, "scale": scale})
        yield from self.aside_claim
        if not self.operators:
            yield Claim("claim.fault.no_operator", "note")
        elif not self.backward:
            yield Claim("claim.fault.no_backward", "note")

    def count(self, result: TensorResult) -> None:
        """Add one measured tensor to the numbers."""
        unknown = finiteness(result) == "unknown"
        self.tensors += 1
        unread = is_unread(result)
        self.unread += unread
        self.silent += unknown and not unread
        self.contradicted += contradicts_statistics(result)
        self.by_statistics += not unknown and result.measurement is not None and not result.computed


@dataclass
class Report:
    """Report of a search: faults by step, the earliest first, with coverage and damage."""

    faults: list[Fault] = field(default_factory=list)
    coverage: Coverage = field(default_factory=Coverage)
    damage: list[FileDamage] = field(default_factory=list)  # files that could not be listed or read
    not_recorded: tuple[NotRecorded, ...] = ()
    ranks: tuple[int, ...] = ()  # of the dump
    overflow_mode: int = 0  # setting by which only operators that overflow are recorded, 0 if all are
    checked: int = 0  # calls looked at by a recorder that kept only those with a non-finite output

    @property
    def claims(self) -> tuple[Claim, ...]:
        """Return the claims of a search: the first fault or the coverage, and the gaps of the recording."""
        checked = Claim("claim.fault.no_overflow.checked", "clear", {"n": self.checked})
        if self.no_overflow:
            mode = Claim("claim.fault.no_overflow", "clear", {"mode": self.overflow_mode})
            return (checked if self.checked else mode,)
        first = self.faults[0].claims if self.faults else self.coverage.claims
        whole = self.coverage.judged == self.coverage.tensors
        whole = whole and not (self.coverage.masks or self.coverage.scaled or self.coverage.aside)
        if self.checked and whole and not self.faults and not self.damage:
            first = (checked, *first)
        return (*first, *self.gap_claims)

    @property
    def no_overflow(self) -> bool:
        """Return True if the recorder kept only overflows or non-finite outputs, and the dump has no tensor
        and no damage."""
        partial = bool(self.overflow_mode or self.checked)
        return partial and not self.coverage.tensors and not self.damage

    @property
    def gap_claims(self) -> tuple[Claim, ...]:
        """Return the claims about the gaps of the recording: what ran, and ranks between those recorded.
        They include statistics that contradict a file, and files that could not be listed."""
        counts = {"contradicted": self.coverage.contradicted, "unlisted": self.coverage.unlisted}
        claims = [
            Claim(f"claim.fault.{name}", "unknown" if name == "unlisted" else "note", {"n": n})
            for name, n in counts.items()
            if n
        ]
        if not self.coverage.judged:
            return tuple(claims)
        claims += not_recorded_claim("claim.fault.not_recorded", self.not_recorded)
        absent = sorted(set(range(max(self.ranks, default=0))) - set(self.ranks))
        if not absent:
            return tuple(claims)
        values = {"n": len(absent), "absent": few(absent, _NAMED), "ranks": few(self.ranks, _NAMED)}
        return (*claims, Claim("claim.fault.ranks_absent", "note", values))


SEARCHED: Final = Claim("claim.fault.searched", "note")  # added where only non-finite values were searched
_NAMED: Final = 5  # modules or operators of a gap that a sentence names
# Gaps that leave out tensors of a recording that was to have them.
_CUT: Final = ("limit", "lost", "ended", "thread", "mixed")
_OVERFLOW_MODE: Final = re.compile(r'"op_debug_mode"\s*:\s*([123])\b')
_GAPS: Final = (*_CUT, "backward", "compiled")


def not_recorded_claim(key: str, gaps: Sequence[NotRecorded], **values: object) -> Iterator[Claim]:
    """Yield a claim about the parts of a step that ran and are not in the dump, if any. Its verdict is
    unknown, because missing tensors may be non-finite or different. It is a note if all gaps are of kinds
    that no recorder can see."""
    if gaps:
        kinds = dict.fromkeys(gap.kind for gap in gaps)
        parts = [_gap([gap for gap in gaps if gap.kind == kind]) for kind in kinds]
        unknown = not kinds.keys().isdisjoint(_CUT)
        yield Claim(key, "unknown" if unknown else "note", {**values, "gaps": parts})


def _gap(gaps: Sequence[NotRecorded]) -> Claim:
    """Return a clause about parts of one kind that ran and were not recorded, with their number and names on
    all ranks."""
    kind = gaps[0].kind if gaps[0].kind in _GAPS else "other"
    values = {
        "n": sum(gap.count for gap in gaps),
        "names": few(list(dict.fromkeys(name for gap in gaps for name in gap.names)), _NAMED),
        "detail": gaps[0].detail,
        "kind": gaps[0].kind,
    }
    return Claim(f"claim.part.gap.{kind}", "note", values)


def gaps_at(dump: Dump, ranks: Sequence[int] | None, steps: Sequence[int] | None) -> tuple[NotRecorded, ...]:
    """Return what a dump says it lacks at these ranks and steps. None stands for all of them."""
    return tuple(
        gap
        for gap in dump.not_recorded
        if (ranks is None or gap.rank in ranks)
        and (steps is None or not gap.steps or not set(steps).isdisjoint(gap.steps))
    )


def missing_place(
    dump: Dump, ranks: Sequence[int] | None, steps: Sequence[int] | None
) -> tuple[int, int] | None:
    """Return the first requested (rank, step) that a dump lacks, or None if it has all. A step is missing
    if none of the searched ranks has it. A missing rank is returned with the first requested step, or 0
    without any."""
    for rank in ranks or ():
        if rank not in dump.ranks:
            return rank, (steps or (0,))[0]
    searched = list(ranks or dump.ranks)
    known = {step for rank in searched for step in dump.steps(rank)}
    return next(((rank, step) for step in steps or () if step not in known for rank in searched[:1]), None)


@dataclass(frozen=True, slots=True)
class SearchedStep:
    """Step that is searched now, and its position among the steps to search."""

    rank: int
    step: int
    position: int  # from 1
    count: int


def search_faults(
    dump: Dump,
    ranks: Sequence[int] | None = None,
    steps: Sequence[int] | None = None,
    executor: Executor | None = None,
    cache: StatisticsCache | None = None,
    every: bool = False,
) -> Iterator[SearchedStep | Report]:
    """Yield each step of a rank before it is searched, and at the end a report with the fault of the earliest
    step that has one, or with ``every`` those of all steps.

    By default all ranks and steps are searched. If several ranks have one, the rank that did not receive it
    in a collective operation is reported. Only the tensors needed to decide are read. The coverage counts the
    steps searched.
    """
    mode = _OVERFLOW_MODE.search(dump.config)
    report = Report(
        coverage=Coverage(unlisted=len(dump.damage)),
        damage=list(dump.damage),
        not_recorded=gaps_at(dump, ranks, steps),
        ranks=dump.ranks if ranks is None else (),
        overflow_mode=int(mode[1]) if mode else 0,
    )
    places = [
        (step, rank)
        for step in dump.steps()
        for rank in dump.ranks
        if (steps is None or step in steps) and (ranks is None or rank in ranks) and step in dump.steps(rank)
    ]
    for position, (step, rank) in enumerate(places, 1):
        if report.faults and not every and report.faults[-1].step != step:
            break
        yield SearchedStep(rank, step, position, len(places))
        report.checked += sum(
            folder.checked for folder in dump.folders if (folder.rank, folder.step) == (rank, step)
        )
        report.coverage.backward |= bool(report.checked)  # looked at, if not kept
        _search_step(report, dump, rank, step, executor, cache)
        if report.faults and not every and not report.faults[-1].is_received:
            report.faults = report.faults[-1:]  # the ranks before received it from this one
            break
    if report.faults and report.coverage.aside:
        before = tuple(report.coverage.aside_claim)
        report.faults[0] = replace(report.faults[0], before=before)
    yield report


def report_of(search: Iterable[SearchedStep | Report]) -> Report:
    """Run a search by `search_faults` to its end and return its report."""
    *_, report = search
    assert isinstance(report, Report)
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
    items = [entry for entry in listing.items if not is_replaced(entry)]
    report.damage += listing.damage
    coverage = report.coverage
    coverage.unlisted += len(set(listing.damage) - {entry.damage for entry in items})
    # Integers are read as well: an unreadable file must be counted.
    candidates = [entry for entry in items if entry.ref is not None or not surely_finite(entry)]
    sure = len(items) - len(candidates)
    coverage.tensors += sure
    coverage.by_statistics += sure and sum(map(finite_by_statistics, items))
    coverage.operators = coverage.operators or any(entry.type != "Parameter" for entry in items)
    coverage.backward = coverage.backward or any(map(is_gradient, items))
    known: dict[int, TensorResult] = {}  # by position in the listing

    def measure(entries: Iterable[TensorEntry]) -> Iterator[TensorResult]:
        wanted, unmeasured = tee(entries)
        measured = measure_all(
            (entry for entry in unmeasured if entry.sequence not in known), executor, cache
        )
        for entry in wanted:
            while entry.sequence not in known:  # another call may have measured it in the meantime
                result = next(measured)
                known[result.entry.sequence] = result
            yield known[entry.sequence]

    search: OriginSearch | None = None
    scale: float | None = None  # at which gradients overflowed without being a fault
    for result in measure(candidates):
        coverage.count(result)
        if is_unread(result) and result.damage is not None and result.entry.ref is not None:
            report.damage.append(result.damage)
        if is_non_finite(result) and search is None:  # operators are read only for a step with a fault
            operators = list_operators(dump, rank, step).items
            numbers = compares_arguments(dump) or dump.framework != "pytorch"  # MindSpore's are tensors
            gaps = gaps_at(dump, [rank], [step])
            search = OriginSearch(items, operators, measure, dump.level == MODULES, numbers, not gaps)
            if origin := search.origin():
                scale = skipped_scale(origin, items, measure)
                if scale is not None:
                    coverage.skipped[step], coverage.scaled = scale, coverage.scaled + 1
                    continue
                others = search.other_inputs(origin.entry) if origin.kind == "met" else []
                results = tuple(search.results(origin.entry))
                origin = _without_guess(origin, gaps)
                fault = Fault(origin, rank, step, results, tuple(others), items, operators)
                later = (0, "") if listing.damage or gaps else _later_finite(fault, search, measure)
                report.faults.append(replace(fault, later=later[0], last=later[1]))
                return
        if search is not None and is_non_finite(result):
            coverage.spare(result.entry, search, scale)


def _later_finite(fault: Fault, search: OriginSearch, measure: Measure) -> tuple[int, str]:
    """Return the number of finite outputs and parameters after the last non-finite one, and the operator of
    that one, "" for the first. The number is 0 if a gradient, an update or a weight is non-finite, or if a
    tensor is unknown. An operator of the forward pass must have received each non-finite output. Otherwise
    that may be the loss."""
    first = fault.entry
    after = [
        entry
        for entry in reversed(fault.entries)
        if entry.direction in ("output", "parameter") and entry.sequence > first.sequence
    ]
    lost = [result for result in fault.results if result.entry.direction == "output"]
    last = first
    for result in measure(entry for entry in after if not surely_finite(entry)):
        entry, state = result.entry, finiteness(result)
        if state == "unknown":
            return 0, ""
        if state == "non_finite" and not search.is_mask(entry) and not search.is_aside(entry):
            if entry.direction == "parameter" or is_gradient(entry) or is_update(entry):
                return 0, ""
            lost.append(result)
            last = max(last, entry, key=lambda known: known.sequence)
    later = sum(entry.sequence > last.sequence for entry in after) if _all_taken(fault, lost, measure) else 0
    return later, last.operator if last.recorded != first.recorded else ""


def _all_taken(fault: Fault, lost: Sequence[TensorResult], measure: Measure) -> bool:
    """Return True if later operators of the forward pass received all outputs, by the graph or by content."""
    forward = [
        entry for entry in fault.entries if not is_gradient(entry) and not takes_shape_alone(entry.type)
    ]
    ran = {operator_key(entry): entry.sequence for entry in forward if entry.direction == "output"}
    named = {(operator.graph, operator.name): operator for operator in fault.operators}
    used: dict[tuple[str, str], int] = {}  # when an operator's output was received last, by graph and name
    for operator in fault.operators:
        at = ran.get((operator.graph, operator.recorded), -1)
        for source in operator.sources:
            used[operator.graph, source] = max(at, used.get((operator.graph, source), -1))
    unlinked = [
        result
        for result in lost
        if not any(
            used.get((result.entry.graph, name), -1) > result.entry.sequence
            for name in shared_memory(result.entry, named)
        )
    ]
    if not unlinked:
        return True
    received: dict[Fingerprint | None, int] = {None: -1}
    for result in measure(entry for entry in forward if entry.direction == "input"):
        content, at = fingerprint(result), ran.get(operator_key(result.entry), -1)
        if content is not None:
            received[content] = max(at, received.get(content, -1))
    return all(received.get(fingerprint(result), -1) > result.entry.sequence for result in unlinked)


def _without_guess(origin: Origin, gaps: Iterable[NotRecorded]) -> Origin:
    """Return the origin, made unknown if an operator that was not recorded may be the source of its
    values."""
    backward = is_gradient(origin.entry)
    unseen = any(gap.kind == "compiled" or (gap.kind == "backward" and backward) for gap in gaps)
    if origin.kind == "met" and origin.carrier in ("data", "input") and unseen:
        return replace(origin, kind="unknown", carrier="", gap="unseen")
    return origin


def find_step_fault(
    entries: Sequence[TensorEntry],
    operators: Sequence[Operator],
    measure: Measure,
    certain: bool = False,
    complete: bool = False,
) -> Fault | None:
    """Return the fault of one rank and step, or None if all tensors that ``measure`` knows are finite.
    With ``certain``, only an operator that produced non-finite values from finite inputs counts.
    ``complete`` says that all operators of the step were recorded."""
    search = OriginSearch(entries, operators, measure, complete=complete)
    origin = search.origin(certain)
    if origin is None:
        return None
    results = tuple(search.results(origin.entry))
    return Fault(origin, origin.entry.rank, origin.entry.step, results, (), entries, operators)


def faulty_operator(fault: Fault) -> Operator | None:
    """Return the operator of a fault with its call stacks, or None if the dump does not describe it."""
    operators = (operator for operator in fault.operators if operator.graph == fault.entry.graph)
    return find_operator(operators, fault.origin.operator)


def find_operator(operators: Iterable[Operator], name: str) -> Operator | None:
    """Return the first operator with the recorded or full name, or None."""
    return next((operator for operator in operators if name in (operator.recorded, operator.name)), None)


def source_frame(operator: Operator | None) -> Frame | None:
    """Return the user's innermost frame of an operator's call stack, else the innermost one, or None without
    a stack."""
    if operator is None or not operator.stack:
        return None
    return own_frame(operator.stack) or operator.stack[0]
