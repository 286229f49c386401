"""Explanation of a first fault: the element at which it began, and a weight that grew before it."""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np

from mindinsight.server.claims import Claim, Verdict
from mindinsight.server.debug.examine import TensorTask, examine
from mindinsight.server.debug.explanation_rules import (
    Array,
    Cause,
    Element,
    cause_of,
    number_at_fault,
    number_beside,
    number_text,
    sum_of_terms,
)
from mindinsight.server.debug.fault import Fault, faulty_operator
from mindinsight.server.debug.operator_links import graph_links, is_sum, passes_on
from mindinsight.server.debug.tensor_targets import tensor_in_words
from mindinsight.server.debug.value_chain import ValueChain
from mindinsight.server.formats.dumps import describe_tensor, list_operators, read_tensor
from mindinsight.server.formats.dumps.dump_types import Dump, Operator, TensorEntry
from mindinsight.server.formats.dumps.recorder_files import read_health
from mindinsight.server.formats.read_limits import UnreadableError

GROWN: Final = 10.0  # growth of a weight's norm since the last healthy step that explains a large value
_EXTREME: Final = 1e6  # magnitude in a weight that explains an overflow: trained ones stay below thousands
_MOST_FOLLOWED: Final = 20_000  # tensors of a step
_DEPTH: Final = 2  # operators between a layer's product and its weight: a transposition, a cast


def grown_weight(dump: Dump, rank: int, step: int, graph: str, operator: str) -> Mapping[str, str] | None:
    """Return the values ``weight``, ``now``, ``then``, ``step`` and ``ago`` for the sentence on the weight of
    ``operator`` that grew most, or None if no weight grew tenfold or no norms were recorded.

    ``operator`` is a full name. Weights are searched among its sources and their sources in the same scope.
    """
    health = read_health(dump, rank, step)
    if health is None:
        return None
    operators = {known.name: known for known in list_operators(dump, rank, step, graph).items}
    ratios = {
        name: health.weights_now[name] / health.weights[name]
        for name in _weights(operators, operator, health.weights)
        if health.weights[name] > 0 and math.isfinite(health.weights_now.get(name, math.nan))
    }
    name = max(ratios, key=ratios.__getitem__, default="")
    if not name or ratios[name] < GROWN:
        return None
    return {
        "weight": name,
        "now": number_text(health.weights_now[name]),
        "then": number_text(health.weights[name]),
        "step": str(health.step),
        "ago": str(step - health.step),
    }


def _weights(operators: Mapping[str, Operator], start: str, names: Iterable[str]) -> set[str]:
    """Return the parameters that go into an operator, directly or through others of its scope."""
    known, weights, layer = set(names), set[str](), {start}
    scope = operators[start].scope if start in operators else ()
    for _ in range(_DEPTH + 1):
        sources = {source for name in layer if name in operators for source in operators[name].sources}
        weights |= sources & known
        layer = {name for name in sources if name in operators and operators[name].scope == scope}
    return weights


LARGEST_TENSOR: Final = 64 << 20  # limit of the bytes of a tensor that is read to explain a fault
_SHOWN: Final = 4  # input values that a sentence lists
UNEXPLAINED: Final = ("unknown", "result", "unexplained", "no_inputs")  # reasons given if no rule holds
SOURCE: Final = "claim.cause.source"


@dataclass(frozen=True, slots=True)
class Explanation:
    """Explanation of an operator's non-finite output.

    ``reason`` names the rule: ``log_negative``, ``overflow``, ..., or is one of ``UNEXPLAINED`` if none
    holds.
    """

    reason: str
    index: tuple[int, ...]  # of the first non-finite output element
    claims: tuple[Claim, ...]  # the cause first


def received_claims(fault: Fault) -> list[Claim]:
    """Return the claim about the non-finite elements of a tensor that an operator received, [] for other
    faults, and if the values are missing, unreadable, too large or not floating-point."""
    try:
        values = _read(fault.entry) if fault.kind == "met" and fault.entry.ref is not None else None
    except (UnreadableError, OSError, TypeError, ValueError):
        return []
    if values is None or values.dtype.kind != "f" or (index := _first_non_finite(values)) is None:
        return []
    tensor = fault.origin.source or tensor_in_words(fault.entry)
    count = int(np.count_nonzero(~np.isfinite(values)))
    facts = {"n": count, "count": values.size, "tensor": tensor, "at": str(list(index))}
    return [Claim("claim.fault.elements", "note", facts)]


def _first_non_finite(values: Array) -> tuple[int, ...] | None:
    broken = ~np.isfinite(values)
    row = int(np.argmax(broken)) if broken.any() else None
    return None if row is None else tuple(int(axis) for axis in np.unravel_index(row, values.shape))


def explain(dump: Dump, fault: Fault) -> Explanation | None:
    """Return the explanation of a fault that an operator made. Return None for other faults, and if values
    are missing, unreadable or too large, or the output is not floating-point."""
    if fault.kind != "made" or fault.entry.ref is None:
        return None
    operator = faulty_operator(fault)
    numbers = _numbers(operator)
    try:
        output = _read(fault.entry)
        entries = _input_entries(fault, operator)
        inputs = {slot: _read(entry) for slot, entry in entries.items()}
    except (UnreadableError, OSError, TypeError, ValueError):
        return None
    given = {slot: values for slot, values in inputs.items() if values is not None}
    if output is None or output.dtype.kind != "f" or len(given) < len(inputs):
        return None
    if (index := _first_non_finite(output)) is None:
        return None
    given = _in_order(given, numbers)
    element = Element(tuple(given.values()), output, index, _dtype(fault.entry))
    kind = _type(fault, operator)
    cause = number_at_fault(numbers, element) or cause_of(kind, element) or sum_of_terms(kind, element)
    if cause is None:
        cause = (
            Cause("result", {}) if fault.origin.carrier == "nothing" else _values(kind, element, tuple(given))
        )
    claims = _claims(fault, operator, element, cause, [entries.get(slot) for slot in given])
    claims += _weight_value(fault) if "overflow" in cause.reason else []
    return Explanation(cause.reason, index, (*claims, *_growth(dump, fault, claims)))


def _weight_value(fault: Fault) -> list[Claim]:
    """Return the claim that the largest input, followed back through the graph, begins in a weight with
    extreme values, [] if it begins elsewhere or the step has too many tensors to follow it."""
    entries = _listed(fault)
    operators = [operator for operator in fault.operators if operator.graph == fault.entry.graph]
    if len(entries) > _MOST_FOLLOWED:
        return []
    find = lru_cache(maxsize=None)(lambda entry: None if _is_large(entry) else examine(TensorTask(entry)))
    try:
        *_, end = ValueChain(operators, entries, graph_links(operators), find).back_from(fault.entry.recorded)
    except (UnreadableError, OSError):  # the way cannot be followed
        return []
    if end.carrier != "weight" or not _EXTREME <= end.magnitude < math.inf:
        return []
    values = {"weight": end.name, "value": number_text(end.magnitude)}
    return [Claim("claim.cause.weight_value", "found", values, ({"operator": end.name},))]


def _is_large(entry: TensorEntry) -> bool:
    return entry.ref is not None and describe_tensor(entry.ref).size > LARGEST_TENSOR


def _numbers(operator: Operator | None) -> dict[str, float]:
    """Return the numbers among the recorded arguments of an operator, by slot or name."""
    numbers = {}
    for name, text in operator.arguments if operator else ():
        side, _, slot = name.partition(".")
        try:
            value = json.loads(text) if side == "input" else None
        except ValueError:  # the recorder truncated a long argument
            continue
        if isinstance(value, int | float) and not isinstance(value, bool):
            numbers[slot] = float(value)
    return numbers


def _in_order(tensors: Mapping[str, Array], numbers: Mapping[str, float]) -> dict[str, Array]:
    """Return tensors and numbers in the order of the call, or only the tensors if the order is unknown."""
    if not numbers or not all(slot.isdecimal() for slot in (*tensors, *numbers)):
        return dict(tensors)
    together = {**tensors, **{slot: np.array(number) for slot, number in numbers.items()}}
    return {slot: together[slot] for slot in sorted(together, key=int)}


def _claims(
    fault: Fault,
    operator: Operator | None,
    element: Element,
    cause: Cause,
    received: Sequence[TensorEntry | None],
) -> list[Claim]:
    """Return the claim about the cause, and one about the source of the input responsible, if known.
    ``received`` are the records of the element's inputs, None for numbers."""
    inputs = len(element.inputs)
    at = str(list(element.index)) if element.index else Claim("claim.part.only_element", "note")
    values = {"operator": _type(fault, operator), "at": at, **cause.words}
    values.setdefault("result", number_text(element.result))
    evidence = {"operator": fault.origin.operator, "index": list(element.index)}
    known = cause.reason not in UNEXPLAINED
    recorded = operator is not None and bool(operator.arguments or operator.depends)
    recorded = recorded or fault.origin.carrier == "tensors"  # the claim about the fault says so
    missing = () if known or inputs != 1 or recorded else ("claim.missing.operand",)
    verdict: Verdict = "found" if known else "unknown"
    claims = [Claim(f"claim.cause.{cause.reason}", verdict, values, (evidence,), missing)]
    if operator is not None and cause.slot is not None and len(operator.sources) == inputs:
        source = operator.sources[cause.slot]  # one source for each input: the graph knows their order
        claims.append(_source_claim(fault, source, received[cause.slot], element.index))
    return claims


def _source_claim(fault: Fault, source: str, received: TensorEntry | None, index: tuple[int, ...]) -> Claim:
    """Return the claim that an input came from its source in the graph, by comparing recorded values. It
    is unknown if neither values nor statistics can be compared. A source's tensors recorded after the
    fault are left out, because an optimizer may have changed them."""
    evidence = ({"operator": source},)
    values: dict[str, object] = {"source": source, "operator": fault.origin.operator}
    outputs = [
        entry
        for entry in _listed(fault)
        if entry.operator == source and entry.direction != "input" and entry.sequence <= fault.entry.sequence
    ]
    states = [_is_passed_on(entry, received) for entry in outputs] if received is not None else []
    if True in states:
        return Claim(SOURCE, "note", {"source": source}, evidence)
    if set(states) != {False} or received is None or len({entry.slot for entry in outputs}) > 1:
        return Claim(f"{SOURCE}_unknown", "unknown", values, evidence)
    values["figures"] = _difference(outputs[-1], received, index)
    return Claim(f"{SOURCE}_changed", "found", values, evidence)


def _pair(output: TensorEntry, received: TensorEntry) -> tuple[Array, Array] | None:
    """Return the values of an output and of an input if both were recorded and can be compared, else None."""
    try:
        given, taken = _read(output), _read(received)
    except (UnreadableError, OSError, TypeError, ValueError):
        return None
    if given is None or taken is None or given.shape != taken.shape:
        return None
    return (given, taken) if _dtype(output) == _dtype(received) else None


def _is_passed_on(output: TensorEntry, received: TensorEntry) -> bool | None:
    """Return whether an input holds the values of an output, or None if unknown. Without values, statistics
    decide."""
    if output == received:
        return True
    pair = _pair(output, received)
    if pair is not None:
        return bool(np.array_equal(*pair, equal_nan=pair[0].dtype.kind == "f"))
    return passes_on(*(examine(TensorTask(entry)) for entry in (output, received)))


def _difference(output: TensorEntry, received: TensorEntry, index: tuple[int, ...]) -> Claim:
    """Return a clause on an element that differs, at ``index`` if possible, or that the statistics do."""
    pair = _pair(output, received)
    if pair is not None:
        differ = (pair[0] != pair[1]) & ~(np.isnan(pair[0]) & np.isnan(pair[1]))
        if len(index) != differ.ndim or not differ[index]:
            index = tuple(int(axis) for axis in np.unravel_index(int(np.argmax(differ)), differ.shape))
        given, taken = (float(values[index]) for values in pair)
        numbers = {"given": number_beside(given, taken), "received": number_beside(taken, given)}
        return Claim("claim.part.changed.element", "note", {**numbers, "at": str(list(index))})
    return Claim("claim.part.changed.statistics", "note")


def _growth(dump: Dump, fault: Fault, claims: Sequence[Claim]) -> list[Claim]:
    """Return a claim about a weight of the source, or of the operator, that grew since the last healthy
    step."""
    named = [str(claim.values["source"]) for claim in claims if claim.key in (SOURCE, f"{SOURCE}_unknown")]
    for name in (*named, fault.origin.operator):
        words = grown_weight(dump, fault.rank, fault.step, fault.entry.graph, name)
        if words is not None:
            return [Claim("claim.cause.grown", "note", words, ({"operator": name},))]
    return []


def _values(operator_type: str, element: Element, slots: Sequence[str]) -> Cause:
    """Return a cause that lists the operands, for use if no rule holds. Operands of a sum are not its
    terms."""
    if not slots:
        return Cause("no_inputs", {})
    if is_sum(operator_type) and len(slots) > 1:
        return Cause("result", {})
    pairs = zip(slots, element.operands, strict=True)
    shown = [
        Claim("claim.part.operand", "note", {"slot": slot, "value": number_text(value)})
        for slot, value in pairs
        if value is not None
    ]
    if not shown:
        return Cause("result", {})
    return Cause("unknown", {"values": shown[:_SHOWN]})


def _input_entries(fault: Fault, operator: Operator | None) -> dict[str, TensorEntry]:
    """Return the inputs of the operator at fault by slot. For a backward call, the forward inputs are
    included."""
    tensors = _operator_entries(fault, operator)
    own = {entry.slot: entry for entry in tensors if entry.direction != "output"}
    if operator is None or (own and len(operator.depends) != 1):
        return own
    listing = _listed(fault)
    if not own and not operator.depends:
        return _results_of_sources(operator, listing)
    forward = [entry for entry in listing if entry.recorded == operator.depends[0]]
    return own | {f"forward {entry.slot}": entry for entry in forward if entry.direction == "input"}


def _results_of_sources(operator: Operator, listing: Iterable[TensorEntry]) -> dict[str, TensorEntry]:
    """Return the recorded results of the sources of an operator by the number of the input. They replace
    inputs that were not recorded. Empty if a source has no result, or several."""
    results: dict[str, list[TensorEntry]] = {name: [] for name in operator.sources}
    for entry in listing:
        if entry.operator in results and entry.direction != "input":
            results[entry.operator].append(entry)
    if any(len(entries) != 1 for entries in results.values()):
        return {}
    return {str(number): results[name][0] for number, name in enumerate(operator.sources)}


def _listed(fault: Fault) -> list[TensorEntry]:
    """Return the tensors of the graph and step of a fault."""
    return [entry for entry in fault.entries if entry.graph == fault.entry.graph]


def _operator_entries(fault: Fault, operator: Operator | None) -> list[TensorEntry]:
    """Return the tensors of the operator at fault, of the run at fault if the operator ran several times."""
    entry, recorded = fault.entry, operator.recorded if operator else fault.entry.recorded
    own = [other for other in _listed(fault) if other.recorded == recorded]
    latest = {
        (other.direction, other.slot): other
        for other in own
        if other.direction == "output" or other.sequence <= entry.sequence
    }
    return sorted(latest.values(), key=lambda other: other.sequence)


def _read(entry: TensorEntry) -> Array | None:
    """Return the values of a tensor, or None if it is too large, has no data or no numbers."""
    if entry.ref is None or _is_large(entry):
        return None
    values = read_tensor(entry.ref)
    return values if values.dtype.kind in "biuf" else None


def _dtype(entry: TensorEntry) -> str:
    return entry.dtype or (describe_tensor(entry.ref).dtype if entry.ref else "")


def _type(fault: Fault, operator: Operator | None) -> str:
    """Return the operator type at fault, with `` backward`` for the gradient of a call."""
    name = (operator.type if operator else "") or fault.entry.type
    return f"{name} backward" if operator is not None and operator.depends else name
