"""Search for the element at which a fault began, and its explanation in sentences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from mindinsight.server.claims import Claim, Verdict
from mindinsight.server.debug.explanation.grown_weight import grown_weight
from mindinsight.server.debug.explanation.rules import Array, Cause, Element, cause_of, number_text
from mindinsight.server.debug.fault import Fault, faulty_operator
from mindinsight.server.formats.dumps import describe_tensor, list_tensors, read_tensor
from mindinsight.server.formats.dumps.types import Dump, Operator, TensorEntry
from mindinsight.server.formats.unreadable import UnreadableError

LARGEST_TENSOR: Final = 64 << 20  # bytes; larger tensors are not read to explain a fault
_SHOWN: Final = 4  # inputs whose values a sentence lists
UNEXPLAINED: Final = ("unknown", "result")  # reasons that say that no rule holds
SOURCE: Final = "claim.cause.source"


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why an operator's output is non-finite.

    ``reason`` names the rule: ``log_negative``, ``overflow``, ..., ``unknown`` or ``result`` if none holds.
    """

    reason: str
    index: tuple[int, ...]  # of the first output element that is not finite
    claims: tuple[Claim, ...]  # the cause first


def explain(dump: Dump, fault: Fault) -> Explanation | None:
    """Explanation of a fault that an operator made; None where values were not recorded or are too large."""
    if fault.kind != "made" or fault.entry.ref is None:
        return None
    entries = [entry for entry in _operator_entries(dump, fault) if entry.direction != "output"]
    try:
        output = _read(fault.entry)
        inputs = [_read(entry) for entry in entries]
    except (UnreadableError, OSError, TypeError, ValueError):
        return None
    if output is None or output.dtype.kind != "f" or any(values is None for values in inputs):
        return None
    broken = ~np.isfinite(output)
    if not broken.any():
        return None
    index = tuple(int(axis) for axis in np.unravel_index(int(np.argmax(broken)), output.shape))
    element = Element([values for values in inputs if values is not None], output, index, _dtype(fault.entry))
    operator = faulty_operator(dump, fault)
    cause = cause_of(_type(fault, operator), element) or _values(element, entries)
    claims = _claims(fault, operator, element, cause, len(entries))
    return Explanation(cause.reason, index, (*claims, *_growth(dump, fault, claims)))


def _claims(
    fault: Fault, operator: Operator | None, element: Element, cause: Cause, inputs: int
) -> list[Claim]:
    values = {"operator": _type(fault, operator), "at": str(list(element.index)), **cause.words}
    values.setdefault("result", number_text(element.result))
    evidence = {"operator": fault.origin.operator, "index": list(element.index)}
    known = cause.reason not in UNEXPLAINED
    missing = () if known or inputs > 1 else ("claim.missing.operand",)
    verdict: Verdict = "found" if known else "unknown"
    claims = [Claim(f"claim.cause.{cause.reason}", verdict, values, (evidence,), missing)]
    if operator is not None and cause.slot is not None and len(operator.sources) == inputs:
        source = operator.sources[cause.slot]  # one source for each input: the graph knows their order
        claims.append(Claim(SOURCE, "note", {"source": source}, ({"operator": source},)))
    return claims


def _growth(dump: Dump, fault: Fault, claims: Sequence[Claim]) -> list[Claim]:
    """Return a claim about a weight of the source, or of the operator, that grew since all was finite."""
    named = [str(claim.values["source"]) for claim in claims if claim.key == SOURCE]
    for name in (*named, fault.origin.operator):
        words = grown_weight(dump, fault.rank, fault.step, fault.entry.graph, name)
        if words is not None:
            return [Claim("claim.cause.grown", "note", words, ({"operator": name},))]
    return []


def _values(element: Element, entries: Sequence[TensorEntry]) -> Cause:
    """The values side by side, where no rule fits."""
    pairs = zip(entries, element.operands, strict=True)
    shown = [f"{entry.slot}: {number_text(value)}" for entry, value in pairs if value is not None]
    if not shown:
        return Cause("result", {})
    return Cause("unknown", {"values": ", ".join(shown[:_SHOWN])})


def _operator_entries(dump: Dump, fault: Fault) -> list[TensorEntry]:
    """Tensors of the operator that made the fault, by slot; of one that ran several times, of that run."""
    entry = fault.entry
    listing = list_tensors(dump, fault.rank, fault.step, entry.graph)
    own = [other for other in listing if other.recorded == entry.recorded]
    latest = {
        (other.direction, other.slot): other
        for other in own
        if other.direction == "output" or other.sequence <= entry.sequence
    }
    return sorted(latest.values(), key=lambda other: other.sequence)


def _read(entry: TensorEntry) -> Array | None:
    if entry.ref is None or describe_tensor(entry.ref).size > LARGEST_TENSOR:
        return None
    values = read_tensor(entry.ref)
    return values if values.dtype.kind in "biuf" else None


def _dtype(entry: TensorEntry) -> str:
    return entry.dtype or (describe_tensor(entry.ref).dtype if entry.ref else "")


def _type(fault: Fault, operator: Operator | None) -> str:
    return (operator.type if operator else "") or fault.entry.type
