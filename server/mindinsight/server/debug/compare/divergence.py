"""Decision on a comparison of two dumps: whether they agree and where they first diverge, as claims."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby
from operator import mul
from typing import Any, Final, TypeAlias

from mindinsight.server.claims import Claim, Verdict, few
from mindinsight.server.debug.compare import shared_causes
from mindinsight.server.debug.compare.compared_rows import (
    both_sides,
    dtypes_of,
    entry_of,
    evidence,
    is_backward,
    is_output,
    lengths,
    own_weights,
    shape_text,
    signature,
    tensor_name,
    weight_name,
)
from mindinsight.server.debug.compare.dump_comparison import Row, same_sorted
from mindinsight.server.debug.compare.recorded_differences import recorded_differences_claim
from mindinsight.server.debug.compare.row_states import (
    STATES,
    State,
    beyond,
    difference_clause,
    equal_statistics,
    state,
)
from mindinsight.server.debug.compare.tolerance import Tolerance
from mindinsight.server.debug.operator_links import draws_random
from mindinsight.server.debug.statistics_cache import Measurement

_Weights: TypeAlias = Mapping[tuple[object, ...], str]  # names of weights, by the signature of a difference

_UNPARALLEL: Final = 5e-7  # largest sine between a tensor and a multiple of it: four roundings of float32
_ROUNDINGS: Final = {"float16": 4e-3, "bfloat16": 3e-2}  # largest sine for these types: four roundings
_EPSILON: Final = 1e-15  # rounding of a cosine
_SHARE: Final = 0.25  # of the difference of outputs, beyond which it may come from that of the inputs
_NEAR_ONE: Final = 0.1  # distance from 1 at which four digits, as sentences have, may hide a factor
_TELLING: Final = 3  # values other than zero from which a common factor is no accident
_NOTABLE: Final = 0.01  # of the largest difference of a weight, below which others are left out
_NAMED: Final = 5  # names in a sentence
_MODULES: Final = ("Module.", "Cell.")
_WEIGHTLESS: Final = frozenset(
    ["AvgPool1d", "AvgPool2d", "CrossEntropyLoss", "Dropout", "ELU", "Flatten", "GELU", "GeLU", "Identity",
     "LeakyReLU", "LogSoftmax", "MaxPool1d", "MaxPool2d", "MSELoss", "ReLU", "ReLU6", "SiLU", "Sigmoid",
     "SoftmaxCrossEntropyWithLogits", "Softmax", "Tanh"]
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Outcome:
    """Result of a comparison: claims, the most important first, and the rows of the first difference."""

    claims: tuple[Claim, ...]
    first: tuple[Row, ...]
    counts: dict[str, int]  # rows by state
    tolerances: dict[str, float]  # largest relative distance allowed, by type compared


def _size(measurement: Measurement | None) -> int | None:
    return None if measurement is None else math.prod(measurement.shape)


def decide(rows: Iterable[Row], tolerance: Tolerance | None = None, unlisted: int = 0) -> Outcome:
    """Return the decision on a comparison. Tensors matched by order alone count only if all are equal and
    every tensor has a partner. ``unlisted`` is the number of files of both sides that could not be listed."""
    rows, tolerance = list(rows), tolerance or Tolerance()
    states = [state(row, tolerance) for row in rows]
    known = Counter(states)
    counts: dict[str, int] = {name: known[name] for name in STATES}
    decided = [row for row, of_row in zip(rows, states, strict=True) if of_row in ("agree", "differ")]
    tolerances = {dtype: tolerance.limit(dtype) for row in decided for dtype in dtypes_of(row) if dtype}
    differing = [row for row, of_row in zip(rows, states, strict=True) if of_row == "differ"]
    if not differing:
        return Outcome(_without_difference(rows, counts, tolerance, unlisted), (), counts, tolerances)
    operators = list(_by_operator(rows, states, tolerance))
    at = next(i for i, operator in enumerate(operators) if operator.differing)
    first = operators[at]
    later = operators[at + 1 :]
    own = own_weights(differing)
    others = _other_causes(later, first, own)
    unseen = list(_unseen(states, rows, first, unlisted))
    claims = list(shared_causes.module_claims(rows))
    several = any(claim.key == "claim.dump.other_modules" for claim in claims)  # causes of their own
    claims += [] if unseen else shared_causes.data_claim(rows, first.causes[0])
    data = any(claim.key == "claim.dump.data_differs" for claim in claims)
    if unrelated := shared_causes.unrelated_weights(decided):
        claims.append(shared_causes.weights_claim(decided, unrelated))
        others = [row for row in others if not weight_name(row, own)]
        several = True
    weights = [] if unrelated else list(_largest_weight(first, others, own))
    first_claim = _first_difference(first, operators, own)
    if (
        not unseen
        and first.inputs_agree
        and (updates := [*shared_causes.optimizer_claim(decided, differing)])
    ):
        remarks = (*shared_causes.rounding_claims(decided, tolerance), *_remarks(decided, first))
        return Outcome((*updates, *remarks), tuple(first.causes), counts, tolerances)
    drawn = data and is_output(first.causes[0])  # said by the claim about the data
    claims += [] if drawn else [first_claim] if claims else [*weights, first_claim]
    claims += weights if weights and weights[0] not in claims else []
    claims += unseen
    claims += recorded_differences_claim(
        [r for r, of_row in zip(rows, states, strict=True) if of_row == "unknown"]
    )
    rest = _others(later, others, first, differing, own, complete=len(decided) == len(rows))
    claims += [claim for claim in rest if not several or claim.key != "claim.dump.rest_follows"]
    claims += shared_causes.rounding_claims(decided, tolerance)
    return Outcome((*claims, *_remarks(decided, first)), tuple(first.causes), counts, tolerances)


def first_so_far(outcome: Outcome, count: int) -> Iterator[Claim]:
    """Yield a claim about the first difference among the tensors compared so far, if there is one.
    ``count`` is the number of all tensors."""
    compared = outcome.counts["agree"] + outcome.counts["differ"]
    for row in outcome.first[:1]:
        values = {"name": tensor_name(row), "how": difference_clause(row), "compared": compared, "all": count}
        yield Claim("claim.dump.first_so_far", "found", values, evidence([row]))


def _unseen(states: Sequence[State], rows: Sequence[Row], first: _Operator, unlisted: int) -> Iterator[Claim]:
    """Yield a claim about the number of tensors before the first difference that were not compared, if
    any."""
    before = next(i for i, row in enumerate(rows) if row is first.causes[0])
    other = first.causes[0].compared.pair.reference  # its order places rows of the reference alone
    alone = [entry_of(row).sequence for row in rows if row.compared.pair.target is None]
    count = sum(of_row not in ("agree", "differ") for of_row in states[:before]) + unlisted
    count += sum(other is None or sequence < other.sequence for sequence in alone)
    if count:
        yield Claim("claim.dump.unseen_before", "note", {"n": count})


@dataclass(frozen=True, slots=True)
class _Operator:
    """Matched rows of one operator of the target, and those that differ."""

    rows: list[Row]
    differing: list[Row]
    tolerance: Tolerance

    @property
    def causes(self) -> list[Row]:
        """Return the inputs that differ, or the outputs if no input does."""
        return [row for row in self.differing if not is_output(row)] or self.differing

    @property
    def backward(self) -> bool:
        """Return True for an operator of a backward pass. It also uses tensors that are not among its
        inputs."""
        return is_backward(entry_of(self.rows[0]).recorded)

    @property
    def weights_seen(self) -> bool:
        """Return True if a module's weights are among the rows, or it has none, or the operator is no
        module. Operators that are not modules receive their weights as inputs."""
        name = entry_of(self.rows[0]).recorded
        parts = name.split(".")
        return (
            not name.startswith(_MODULES)
            or any(entry_of(row).direction == "parameter" for row in self.rows)
            or (len(parts) > 3 and parts[-3] in _WEIGHTLESS)
        )

    @property
    def inputs_agree(self) -> bool:
        """Return True if all recorded inputs were compared and agree, and there is at least one."""
        inputs = [row for row in self.rows if not is_output(row)]
        return bool(inputs) and all(beyond(row, self.tolerance) is False for row in inputs)

    @property
    def inputs_are_near(self) -> bool:
        """Return True if the small differences of inputs that agree may explain the difference of the
        outputs.

        They may if they are a large share of the outputs' relative difference, or if they are as large as its
        absolute difference once added up or multiplied by another input, as where terms cancel.
        """
        inputs, outputs = (
            [row.compared.measures for row in rows if row.compared.measures]
            for rows in ([row for row in self.rows if not is_output(row)], self.differing)
        )
        relative, absolute = (
            [max((getattr(m, name) or 0.0 for m in side), default=0.0) for side in (inputs, outputs)]
            for name in ("relative_distance", "distance")
        )
        if relative[0] > _SHARE * relative[1] > 0:
            return True
        factors = [row.compared.reference.statistics.norm for row in self.rows if row.compared.reference]
        summed = max((math.sqrt(m.count / max(1, o.count)) for m in inputs for o in outputs), default=1.0)
        return (
            len(inputs) * absolute[0] * max(1.0, summed, *(norm or 0.0 for norm in factors))
            >= absolute[1]
            > 0
        )


def _by_operator(rows: Sequence[Row], states: Sequence[State], tolerance: Tolerance) -> Iterator[_Operator]:
    pairs = zip(rows, states, strict=True)
    for _, group in groupby(pairs, lambda pair: operator_key(pair[0])):
        of_operator = list(group)
        differing = [row for row, of_row in of_operator if of_row == "differ"]
        yield _Operator([row for row, _ in of_operator], differing, tolerance)


def operator_key(row: Row) -> tuple[str, str, bool]:
    """Return the graph and the recorded name of a row's operator, and whether only the reference has it."""
    entry = entry_of(row)
    return entry.graph, entry.recorded, row.compared.pair.target is None


def _first_difference(operator: _Operator, operators: Sequence[_Operator], own: _Weights) -> Claim:
    """Return the claim about the first operator that differs."""
    row = operator.causes[0]
    causes = evidence(operator.causes)
    name = entry_of(row).operator
    if row.compared.pair.argument is not None:
        argument = row.compared.pair.argument
        differ = {"target": argument.target, "reference": argument.reference}
        about = {"operator": name, "argument": argument.slot, **differ}
        return Claim("claim.dump.argument_differs", "found", about, causes)
    how = difference_clause(row)
    if not is_output(row):
        weight = weight_name(row, own)
        if weight is not None:
            return Claim("claim.dump.weight_differs", "found", {"name": weight, "how": how}, causes)
        return Claim("claim.dump.input_differs", "found", {"name": tensor_name(row), "how": how}, causes)
    values: dict[str, Any] = {"operator": name, "slot": entry_of(row).slot, "how": how}
    if missing := _unproven(operator, _Context.of(operators)):
        return Claim("claim.dump.output_differs", "found", values, causes, (missing,))
    name = "random" if draws_random(entry_of(row).type) else "introduced"
    return Claim(f"claim.dump.{name}", "found", values, causes)


@dataclass(frozen=True, slots=True)
class _Context:
    """Facts about all operators of a comparison that decide whether one of them introduced a difference."""

    agreeing: frozenset[str]  # recorded names of forward operators whose inputs and outputs agree
    weights: bool  # weights were recorded

    @classmethod
    def of(cls, operators: Iterable[_Operator]) -> _Context:
        known = list(operators)
        agreeing = [
            entry_of(operator.rows[0]).recorded
            for operator in known
            if not operator.backward and not operator.differing and operator.inputs_agree
        ]
        return cls(frozenset(agreeing), any(map(_records_weights, known)))


def _unproven(operator: _Operator, context: _Context) -> str:
    """Return the key of what is missing to show that an operator introduced the difference of its outputs,
    "" if nothing is."""
    if not operator.inputs_agree:
        return "claim.missing.inputs"
    if operator.inputs_are_near:
        return "claim.missing.near"
    forward = entry_of(operator.rows[0]).recorded.replace("backward", "forward")
    if operator.backward and forward not in context.agreeing:
        return "claim.missing.forward"
    return "" if operator.weights_seen or context.weights else "claim.missing.weights"


def introducing(rows: Sequence[Row], tolerance: Tolerance) -> set[tuple[str, str, bool]]:
    """Return the keys of the operators that are known to introduce the difference of their outputs. The
    keys are those of `operator_key`."""
    operators = list(_by_operator(rows, [state(row, tolerance) for row in rows], tolerance))
    context = _Context.of(operators)
    return {
        operator_key(operator.rows[0])
        for operator in operators
        if operator.differing and is_output(operator.causes[0]) and not _unproven(operator, context)
        if not draws_random(entry_of(operator.rows[0]).type)
        if not any(map(shared_causes.in_optimizer, operator.rows))  # its arguments are not in the dump
    }


def _records_weights(operator: _Operator) -> bool:
    return any(
        entry_of(row).direction == "parameter" or entry_of(row).type == "Parameter" for row in operator.rows
    )


def _other_causes(later: Sequence[_Operator], first: _Operator, own: _Weights) -> list[Row]:
    """Return the rows that differ independently of the first cause."""
    others = [row for row in first.causes[1:] if not is_output(row) and weight_name(row, own)]
    others += [row for operator in later for row in _causes_by_themselves(operator, own)]
    known = signature(first.causes[0])
    return [row for row in others if signature(row) != known]


def _largest_weight(first: _Operator, others: Sequence[Row], own: _Weights) -> Iterator[Claim]:
    """Yield a claim about the weight that differs most, unless it is the first or a weight became
    non-finite. That is the weight with the largest relative distance. Weights with small absolute
    differences are left out, because a bias near zero has a large relative distance after any rounding."""
    inputs = [row for row in (first.causes[0], *others) if not is_output(row)]
    named = [(name, row) for row in inputs if (name := weight_name(row, own))]
    weights = dict(reversed(named))  # the first row of each weight
    measured = [(name, row.compared.measures) for name, row in weights.items()]
    known = [(name, measures) for name, measures in measured if measures and not measures.apart]
    peak = max((measures.max_absolute or 0.0 for _, measures in known), default=0.0)
    distances = {
        name: measures.relative_distance
        for name, measures in known
        if measures.relative_distance is not None and (measures.max_absolute or 0.0) >= _NOTABLE * peak
    }
    if len(known) < len(weights) or len(weights) < 2 or not distances:
        return
    largest = max(distances, key=distances.__getitem__)
    row = weights[largest]
    if signature(row) == signature(first.causes[0]):
        return
    values = {
        "n": len(weights),
        "name": largest,
        "how": difference_clause(row),
        "distance": distances[largest],
    }
    yield Claim("claim.dump.largest_weight", "found", values, evidence([row]))


def _others(
    later: Sequence[_Operator],
    others: Sequence[Row],
    first: _Operator,
    differing: Sequence[Row],
    own: _Weights,
    complete: bool,
) -> Iterator[Claim]:
    """Yield a claim about the differences that do not follow from the first one (``others``), or that all
    may follow. With ``complete`` all tensors were compared, so an input that equals no recorded output
    came from elsewhere."""
    count = len(differing) - 1
    names = list(dict.fromkeys(weight_name(row, own) or tensor_name(row) for row in others))
    if names:
        values = {"n": len(names), "names": few(names, _NAMED)}
        yield Claim("claim.dump.more_differ", "found", values, evidence(others[:_NAMED]))
    elif complete and (apart := _inputs_from_elsewhere([first, *later], differing, own)):
        values = {"n": len(apart), "names": few([tensor_name(row) for row in apart], _NAMED)}
        yield Claim("claim.dump.inputs_differ", "found", values, evidence(apart[:_NAMED]))
    elif count:
        yield Claim("claim.dump.rest_follows", "note", {"n": count})


def _inputs_from_elsewhere(
    operators: Sequence[_Operator], differing: Sequence[Row], own: _Weights
) -> list[Row]:
    """Return the differing inputs of the forward pass, except the first, that no recorded operator
    produced."""
    given = {signature(row) for row in differing if is_output(row)} | {signature(operators[0].causes[0])}
    apart: dict[tuple[object, ...], Row] = {}
    for operator in operators:
        for row in operator.differing:
            entry = entry_of(row)
            backward = operator.backward or is_backward(entry.operator)
            if backward or entry.direction != "input" or weight_name(row, own):
                continue
            if signature(row) not in given:
                apart.setdefault(signature(row), row)
    return list(apart.values())


def _causes_by_themselves(operator: _Operator, own: _Weights) -> list[Row]:
    """Return an operator's rows that differ independently of earlier rows: weights, or outputs of equal
    inputs. Parameters recorded as operators are skipped, because after the step they hold the optimizer's
    result."""
    if not operator.differing or entry_of(operator.rows[0]).type == "Parameter":
        return []
    by_itself = operator.inputs_agree and not operator.inputs_are_near
    backward = operator.backward or is_backward(entry_of(operator.rows[0]).operator)
    if by_itself and not backward and operator.weights_seen:
        return operator.differing[:1]
    return [row for row in operator.differing if not is_output(row) and weight_name(row, own)]


def _remarks(rows: Sequence[Row], first: _Operator) -> Iterator[Claim]:
    """Yield claims about a factor or a permutation between the first differing tensors, and about all
    rows."""
    row = first.causes[0]
    measures, target, reference = row.compared.measures, row.compared.target, row.compared.reference
    if measures and measures.differing and not measures.apart and target and reference:
        factor = _factor(row)
        if factor is not None:
            shown = f"{factor:.6g}" if abs(factor - 1) < _NEAR_ONE else factor
            yield Claim("claim.dump.scaled", "note", {"name": tensor_name(row), "factor": shown})
        elif _size(target) != 1 and equal_statistics(target, reference) and _rearranged(row):
            yield Claim("claim.dump.rearranged", "note", {"name": tensor_name(row)})
    yield from _facts(rows)


def _facts(rows: Sequence[Row]) -> Iterator[Claim]:
    """Yield claims about new non-finite values, checksums, types and shapes."""
    lost = [row for row in rows if row.lost]
    if lost:
        yield Claim("claim.dump.newly_non_finite", "found", {"n": len(lost)}, evidence(lost[:_NAMED]))
    checksums = sum(row.compared.measures is None and row.compared.same_checksum is True for row in rows)
    if checksums:
        yield Claim("claim.dump.by_checksum", "note", {"n": checksums})
    damage = [row.compared.damage for row in rows if row.compared.same_checksum is not None]
    unread = sum(entry is not None and entry.reason != "dump.no_numbers" for entry in damage)
    if unread:
        yield Claim("claim.dump.unread", "unknown", {"n": unread})
    both = sum(_same_non_finite(row) for row in rows)
    if both:
        yield Claim("claim.dump.non_finite_on_both", "note", {"n": both})
    yield from shared_causes.renamed_claim(rows)
    types = [row for row in rows if len({dtype for dtype in dtypes_of(row) if dtype}) > 1]
    if types:
        target, reference = dtypes_of(types[0])
        values = {"n": len(types), "name": tensor_name(types[0]), "target": target, "reference": reference}
        yield Claim("claim.dump.types_differ", "note", values)
    compared = [row for row in rows if row.compared.measures or row.compared.same_checksum]
    shapes = [row for row in compared if len({shape_text(*side) for side in both_sides(row)}) > 1]
    weights = [row for row in shapes if entry_of(row).direction == "parameter"]
    others = [row for row in shapes if row not in weights]
    for rows_alike in filter(None, (weights, others)):
        telling = next(filter(_reshaped, rows_alike), None)  # an activation may be flattened
        target, reference = (shape_text(*side) for side in both_sides(telling or rows_alike[0]))
        about = {"n": len(rows_alike), "name": tensor_name(telling or rows_alike[0])}
        key = "claim.dump.weights_reshaped" if rows_alike is weights else "claim.dump.shapes_differ"
        verdict: Verdict = "found" if telling or rows_alike is weights else "note"
        yield Claim(key, verdict, {**about, "target": target, "reference": reference})


def _reshaped(row: Row) -> bool:
    """Return True if neither shape is the other with axes that were split, as in [4, 6] and [4, 2, 3]."""
    target, reference = (set(accumulate(lengths(*side), mul)) for side in both_sides(row))
    return not (target <= reference or reference <= target)


def _same_non_finite(row: Row) -> bool:
    """Return True if both tensors are non-finite, with equal values at the same indices."""
    measures, target = row.compared.measures, row.compared.target
    return bool(measures and not measures.apart and target and target.statistics.finite is False)


def _factor(row: Row) -> float | None:
    """Return the factor by which the reference was multiplied, or None if the target is not a multiple."""
    measures, target, reference = row.compared.measures, row.compared.target, row.compared.reference
    if not measures or measures.cosine is None or not target or not reference:
        return None
    statistics = reference.statistics
    if statistics.count is None or statistics.zeros is None or statistics.count - statistics.zeros < _TELLING:
        return None
    norms = target.statistics.norm, reference.statistics.norm
    sine = max((_ROUNDINGS.get(dtype, _UNPARALLEL) for dtype in dtypes_of(row)), default=_UNPARALLEL)
    if 1 - abs(measures.cosine) > sine**2 / 2 + _EPSILON or not norms[0] or not norms[1]:
        return None
    factor = math.copysign(norms[0] / norms[1], measures.cosine)
    return factor if abs(factor - 1) > 1e-3 else None  # closer to 1 it is a rounding, not a factor


def _rearranged(row: Row) -> bool:
    """Return True if two tensors hold the same values in another order. False if too large to be sorted."""
    refs = [entry.ref if entry else None for entry, _ in both_sides(row)]
    return refs[0] is not None and refs[1] is not None and same_sorted(refs[0], refs[1])


def _without_difference(
    rows: Sequence[Row], counts: dict[str, int], tolerance: Tolerance, unlisted: int
) -> tuple[Claim, ...]:
    """Return the claims if no compared tensor differs: all agree, or some or all could not be compared."""
    agreeing = [row for row in rows if state(row, tolerance) == "agree"]
    equal = [row for row in rows if row.compared.pair.way == "order" and _is_equal(row)]
    by_order = equal if len(equal) == counts["order"] and not counts["alone"] else []
    agreeing += by_order
    facts = (
        *([Claim("claim.dump.equal_by_order", "note", {"n": len(by_order)})] if by_order else []),
        *shared_causes.weight_within(agreeing),
        *shared_causes.rounding_claims(agreeing, tolerance),
        *_facts(agreeing),
    )
    for name, key in (("target", "claim.part.target"), ("reference", "claim.part.reference")):
        if not unlisted and all(getattr(row.compared.pair, name) is None for row in rows):
            side = Claim(key, "note")
            return (Claim("claim.dump.side_empty", "unknown", {"side": side}),)
    reasons = _reasons(rows, counts | {"order": 0 if by_order else counts["order"]}, tolerance, unlisted)
    if not unlisted and not agreeing and not counts["unknown"]:
        matched = any(row.compared.pair.way not in ("none", "order") for row in rows)
        key = "claim.dump.no_tensor_common" if matched else "claim.dump.nothing_common"
        return (Claim(key, "unknown", {"reasons": reasons}),)
    recorded = [row for row in rows if state(row, tolerance) == "unknown"]
    within = tuple(recorded_differences_claim(recorded))
    if not any(_count(row) for row in agreeing):
        if not unlisted and (statistics := sum(map(_has_statistics, recorded))):
            unknown, missing = {"n": statistics}, ("claim.missing.tensors",)
            return within or (Claim("claim.dump.only_statistics", "unknown", unknown, (), missing),)
        return (Claim("claim.dump.nothing_compared", "unknown", {"reasons": reasons}), *within)
    if reasons:
        partly = {"n": len(agreeing), "all": len(rows), "reasons": reasons}
        return (Claim("claim.dump.partly_agree", "unknown", partly), *within, *facts)
    worst = max(
        agreeing, key=lambda row: row.compared.measures.max_absolute or 0 if row.compared.measures else 0
    )
    largest = worst.compared.measures.max_absolute if worst.compared.measures else 0
    valued = sum(row.compared.measures is not None for row in agreeing)
    if not valued:
        facts = tuple(fact for fact in facts if fact.key != "claim.dump.by_checksum")
        return (Claim("claim.dump.same_checksums", "clear", {"n": len(agreeing)}), *facts)
    if not largest:
        return (Claim("claim.dump.identical", "clear", {"n": valued}), *facts)
    values = {"n": valued, "amount": largest, "name": tensor_name(worst)}
    return (Claim("claim.dump.agree", "clear", values, evidence([worst])), *facts)


def _is_equal(row: Row) -> bool:
    """Return True if both tensors have values, and equal ones."""
    measures = row.compared.measures
    return bool(measures and measures.count and not measures.differing and not measures.apart)


def _count(row: Row) -> int:
    """Return the number of values compared. A checksum counts as one."""
    measures = row.compared.measures
    return measures.count + measures.apart if measures else int(row.compared.same_checksum is not None)


def _has_statistics(row: Row) -> bool:
    """Return True if both tensors have recorded statistics and no damage."""
    return bool(row.compared.target and row.compared.reference and not row.compared.damage)


def _reasons(rows: Sequence[Row], counts: dict[str, int], tolerance: Tolerance, unlisted: int) -> list[Claim]:
    """Return claims about why tensors were not compared."""
    unknown = [row for row in rows if state(row, tolerance) == "unknown"]
    unread = sum(row.compared.damage is not None or _damaged(row) for row in unknown)
    equal = counts["order"] and sum(row.compared.pair.way == "order" and _is_equal(row) for row in rows)
    empty = sum(state(row, tolerance) == "agree" and not _count(row) for row in rows)
    only_target = sum(row.compared.pair.reference is None for row in rows)
    numbers = {
        "claim.part.only_target": only_target,
        "claim.part.only_reference": counts["alone"] - only_target,
        "claim.part.unreadable": unread,
        "claim.part.without_values": len(unknown) - unread,
        "claim.part.by_order": counts["order"] - equal,
        "claim.part.by_order_equal": equal,
        "claim.part.unlisted": unlisted,
        "claim.part.empty": empty if empty == counts["agree"] else 0,
    }
    return [Claim(key, "note", {"n": number}) for key, number in numbers.items() if number]


def _damaged(row: Row) -> bool:
    return any(entry and entry.damage for entry in (row.compared.pair.target, row.compared.pair.reference))
