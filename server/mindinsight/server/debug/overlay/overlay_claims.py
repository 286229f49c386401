"""Claims about a dumped step that the boxes of a graph cannot show: what lies outside it, and weights."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from mindinsight.server.claims import Claim, few
from mindinsight.server.debug.compare.norm_changes import norm_claims
from mindinsight.server.debug.examine import OperatorKey, TensorResult, is_non_finite, operator_key
from mindinsight.server.debug.fault import Fault
from mindinsight.server.debug.overlay.graph_overlay import Overlay, Symptom, fault_key
from mindinsight.server.debug.tensor_targets import is_gradient, is_weight, parameter_names
from mindinsight.server.formats.dumps.dump_types import Dump, Operator
from mindinsight.server.formats.dumps.recorder_files import read_health
from mindinsight.server.graph.model.graph import BACKWARD

_NAMED: Final = 3  # weights in a sentence


class Outside(NamedTuple):
    """Claims about a step, and the nodes of the weights that are non-finite before or after it."""

    claims: list[Claim]
    weights: list[int]


def outside_of(overlay: Overlay, done: bool) -> Outside:
    """Return what the boxes of an overlay cannot show: a first fault and operators with non-finite outputs
    outside the graph, non-finite weights, and norms that changed before the step. ``done`` says that all
    tensors were measured when the symptoms were found. Operators outside the graph are counted only then."""
    results = list(overlay.listing.results)
    operators, nodes, fault = overlay.listing.operators, overlay.joined.nodes, overlay.fault
    dump, rank, step = overlay.listing.dump, overlay.listing.rank, overlay.listing.step
    recorded = parameter_names(overlay.listing.entries)
    before = [name for name in broken_before(tuple(operators.values()), results) if is_weight(name, recorded)]
    afterwards = [
        name for name in overlay.broken_afterwards() if name not in before and is_weight(name, recorded)
    ]
    claims = [*fault_claims(fault, nodes), *weight_claims(before, afterwards, fault)]
    if done:
        claims += growth_claims(dump, rank, step, located=fault is not None)
        made = Symptom.FAULT if fault is not None and fault.kind == "made" else Symptom.LOST
        lost = [key for key, symptom in overlay.symptoms.items() if symptom in (Symptom.LOST, made)]
        outside = [operators[key] for key in lost if key in operators and key not in nodes]
        backward = min((entry.sequence for entry in overlay.listing.entries if is_gradient(entry)), default=0)
        claims += outside_claims([own for own in outside if own.type != "Parameter"], backward)
    weights = {*before, *afterwards}
    broken = [node for key, node in nodes.items() if operators[key].name in weights]
    return Outside(claims, broken)


def fault_claims(fault: Fault | None, nodes: Mapping[OperatorKey, int]) -> Iterator[Claim]:
    """Yield the claim about the first fault of a step, if there is one. The claim says so if the operator
    of the fault is not among the ``nodes`` of a graph."""
    if fault is None:
        return
    if (key := fault_key(fault)) in nodes:
        yield fault.claim
    else:
        about = {"graph": key[0], "operator": fault.origin.operator, "recorded": key[1]}
        yield Claim("claim.graph.fault_outside", "found", {"fault": fault.claim}, (about,))


def outside_claims(operators: Sequence[Operator], backward: int = 0) -> Iterator[Claim]:
    """Yield a claim about ``operators`` with non-finite outputs that a graph lacks, if there are any. The
    backward pass begins at the position ``backward``, 0 if there is none."""
    later = [own for own in operators if _runs_later(own.name) or 0 < backward < own.sequence]
    parts = {"forward": len(operators) - len(later), "later": len(later)}
    if operators:
        named = [Claim(f"claim.part.graph.{part}", "note", {"n": n}) for part, n in parts.items() if n]
        yield Claim("claim.graph.lost_outside", "found", {"n": len(operators), "parts": named})


def growth_claims(dump: Dump, rank: int, step: int, located: bool) -> list[Claim]:
    """Return the claims about norms that changed up to the step at which a flight recorder wrote its dump.
    It is empty if no norm changed much, or if none were recorded. ``located`` is True if the first fault
    is known, and then the first output with NaN among those of modules says nothing more."""
    health = read_health(dump, rank, step)
    claims = norm_claims(health, step, rank, located) if health else []
    changed = [claim for claim in claims if claim.verdict == "found"]
    changed = [claim for claim in changed if not located or claim.key != "claim.growth.output_non_finite"]
    return [*changed, claims[0]] if changed else []


def broken_before(operators: Sequence[Operator], results: Sequence[TensorResult]) -> list[str]:
    """Return the names of the parameters (weights, data) that were non-finite when an operator before the
    optimizer received them."""
    broken = {
        (*operator_key(result.entry), result.entry.slot)
        for result in results
        if result.entry.direction == "input" and is_non_finite(result)
    }
    parameters = {operator.name for operator in operators if operator.type == "Parameter"}
    return list(
        dict.fromkeys(
            source
            for operator in operators
            if len(operator.inputs) == len(operator.sources) and "/optimizer-" not in operator.name
            for slot, source in zip(operator.inputs, operator.sources, strict=True)
            if source in parameters and (operator.graph, operator.recorded, slot) in broken
        )
    )


def weight_claims(before: Collection[str], afterwards: Sequence[str], fault: Fault | None) -> Iterator[Claim]:
    """Yield claims about the weights that were non-finite before the step, and those only after it. The
    weight that brought the first fault is named as such."""
    cause = fault.origin.source if fault is not None and fault.kind == "met" else ""
    if cause in before:
        yield Claim("claim.graph.weight_cause", "found", {"name": cause})
    for key, names in (
        ("weight_before", [name for name in before if name != cause]),
        ("weight_after", afterwards),
    ):
        if names:
            values = {"n": len(names), "names": few(names, _NAMED)}
            yield Claim(f"claim.graph.{key}", "found", values)


def _runs_later(name: str) -> bool:
    """Return True for an operator of the backward pass or the optimizer."""
    return name.startswith(BACKWARD) or "/optimizer-" in name
