"""Findings of a check: hits grouped by tensor, operator and kind, and the claims about them."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from mindinsight.server.claims import Claim, few
from mindinsight.server.debug.conditions import Finding, Limits
from mindinsight.server.debug.conditions.expected_hits import ROUNDED
from mindinsight.server.debug.operator_links import canonical, module_of
from mindinsight.server.debug.tensor_targets import is_shift, tensor_in_words

if TYPE_CHECKING:
    from mindinsight.server.debug.watchpoints import Hit, Tally
    from mindinsight.server.formats.dumps.dump_types import TensorEntry

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
_LATER: Final = 2  # dumped steps that show that zeros of two steps have ended
SHOWN: Final = 8  # steps, or tensors, that a sentence lists
_UNTRAINED: Final[Mapping[str, str]] = {  # claims about weights without a gradient, by their standstill
    "frozen": "claim.check.untrained",
    "set": "claim.check.set_frozen",
    "unreached": "claim.check.unreached",
}
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


def condition_in_words(name: str) -> Claim | str:
    """Return the claim that names a condition, or its id if another distribution defines it (with a dot)."""
    return name if "." in name else Claim(f"dump.condition.{name}", "note")


_WITH_FIGURE: Final = ("exploding", "inactive", "saturated", "slow", "vanishing")  # kinds that state one


@dataclass(frozen=True, slots=True)
class CheckFinding:
    """Anomaly that a check reports of one tensor: its kind, its hits at all steps, and the ranks that share
    it."""

    kind: str  # one of _SEVERITY
    hits: tuple[Hit, ...]  # of the first rank, in order of steps
    ranks: tuple[int, ...]  # all of which the same is to be said
    names_ranks: bool = False

    @property
    def steps(self) -> list[int]:
        """Return the distinct steps of the hits, in ascending order."""
        return sorted({hit.entry.step for hit in self.hits})

    @property
    def name(self) -> str | Claim:
        """Return the name of the tensor, or the claim that describes it, to be put into a sentence."""
        return tensor_in_words(self.hits[0].entry)

    @property
    def tensor(self) -> str | Claim:
        """Return the tensor as part of a claim, with its ranks after it if `names_ranks` is set."""
        return self.of_ranks(self.name)

    def of_ranks(self, name: str | Claim) -> str | Claim:
        """Return a part of a claim with a name and the ranks after it, or the name without `names_ranks`."""
        if not self.names_ranks:
            return name
        ranks = few([str(rank) for rank in self.ranks], SHOWN)
        return Claim("claim.part.of_ranks", "note", {"tensor": name, "n": len(self.ranks), "ranks": ranks})

    @property
    def claim(self) -> Claim:
        """Return the claim about the anomaly, which names the first steps. Its evidence is all steps of
        each rank."""
        entry, steps = self.hits[0].entry, self.steps
        worst, finding = self._worst
        limits = self.hits[0].watchpoint.limits
        named: object = few([str(step) for step in steps], SHOWN)
        if worst is not None and self.kind in _WITH_FIGURE:
            named = Claim("claim.part.worst_step", "note", {"steps": named, "step": worst})
        values = {
            "tensor": self.tensor,
            "steps": named,
            "condition": condition_in_words(self.hits[0].watchpoint.condition),
            "actual": finding.actual if finding else 0,
            "limit": limits[finding.name if finding else "rtol"] if finding or "rtol" in limits else 0,
            "tolerance": limits.get("atol", 0),
            "why": self.why,
        }
        location = {"steps": steps, "graph": entry.graph, "operator": entry.operator}
        evidence = tuple({"rank": rank, **location} for rank in self.ranks)
        return Claim(f"claim.check.{self.kind}", "found", values, evidence)

    @property
    def why(self) -> Claim:
        """Return the clause on why a parameter may stand still, by the first hit."""
        standstill, dtype = self.hits[0].standstill, self.hits[0].entry.dtype
        share = f"{100 * ROUNDED[dtype]:.2g}" if dtype in ROUNDED else ""
        return Claim(f"claim.part.frozen.{standstill}", "note", {"dtype": dtype, "share": share})

    @property
    def worst_hit(self) -> Hit:
        """Return the hit whose figure the claim states, or the first hit if the claim states none."""
        step, _ = self._worst
        return next((hit for hit in self.hits if hit.entry.step == step), self.hits[0])

    @property
    def excess(self) -> float:
        """Return the factor, at least 1.0, by which the worst figure exceeds its limit, or 1.0 without a
        figure. It is infinite if only one of figure and limit is 0, and 1.0 if both are 0, as for "at
        least 0"."""
        _, finding = self._worst
        if finding is None:
            return 1.0
        pair = abs(finding.actual), abs(self.hits[0].watchpoint.limits[finding.name])
        if finding.name.endswith("_ge") and not pair[0]:
            return 1.0
        return max(pair) / min(pair) if all(pair) else math.inf if any(pair) else 1.0

    @property
    def _worst(self) -> tuple[int | None, Finding | None]:
        """Return the step and the figure farthest beyond its limit. The step is None if all have that
        figure."""
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
    """Return one finding for each tensor and kind of anomaly, [] without hits. Kinds that a stronger one
    of the same tensor implies are left out. Ranks with equal anomalies share a finding. Findings are
    sorted by severity, then by the ratio to the limit, the largest first, then by first step."""
    grouped: dict[tuple[int, str, str, str, str], dict[str, list[Hit]]] = {}
    for hit in _independent(hits):
        entry = hit.entry
        grouped.setdefault(_slot(entry), {}).setdefault(_kind(hit), []).append(hit)
    findings = [
        CheckFinding(
            kind, tuple(sorted(own, key=lambda hit: hit.entry.step)), (own[0].entry.rank,), names_ranks
        )
        for kinds in grouped.values()
        for kind, own in _explained(kinds).items()
        if not _is_implied(kind, own, kinds)
    ]
    merged = _of_ranks(findings)
    return sorted(merged, key=lambda finding: (_severity(finding), -finding.excess, finding.steps[0]))


def _slot(entry: TensorEntry) -> tuple[int, str, str, str, str]:
    return entry.rank, entry.graph, entry.recorded, entry.direction, entry.slot


def without_meant_zeros(
    findings: Iterable[CheckFinding], tally: Tally
) -> tuple[list[CheckFinding], list[Claim]]:
    """Return the findings but those of zeros that are no sign of a fault, and the notes about these."""
    zeros: dict[str, list[CheckFinding]] = {"": [], "begins_zero": [], "begins_small": [], "idle": []}
    for finding in findings:
        begins = finding.kind == "vanishing" and finding.steps[-1] < min(tally.steps, default=-1)
        small = begins and len(tally.steps) >= _LATER
        name = "begins_small" if small else "idle" if _is_idle(finding, tally) else ""
        zeros["begins_zero" if _begins_with_zeros(finding, tally) else name].append(finding)
    return zeros.pop(""), [claim for name, own in zeros.items() for claim in _zeros_claim(name, own)]


def _zeros_claim(name: str, findings: Sequence[CheckFinding]) -> Iterator[Claim]:
    """Yield the note about tensors whose zeros are no sign of a fault, if there are any."""
    if findings:
        steps = sorted({step for finding in findings for step in finding.steps})
        names = few([finding.name for finding in findings], SHOWN)
        values = {"n": len(findings), "tensors": names, "steps": few([*map(str, steps)], SHOWN)}
        yield Claim(f"claim.check.{name}", "note", values)


def _is_idle(finding: CheckFinding, tally: Tally) -> bool:
    """Return True if the zeros of a tensor are those of flags, and it holds other values at another step."""
    entry = finding.hits[0].entry
    by_flags = finding.kind == "dead" and all(hit.selected for hit in finding.hits)
    return by_flags and _slot(entry) in tally.filled


def _begins_with_zeros(finding: CheckFinding, tally: Tally) -> bool:
    """Return True if a tensor has only zeros at the first dumped step, and others later, or if zeros at the
    first two steps end, as where the last layer begins with zeros as well."""
    second, later = next(iter(tally.steps), -1), tally.steps[1:]
    entry = finding.hits[0].entry
    if not set(finding.steps).isdisjoint(later) or (second in finding.steps and len(later) < _LATER):
        return False
    if finding.kind == "frozen":
        return finding.hits[0].standstill == "zero" and finding.steps == [second]
    return finding.kind == "dead" and _slot(entry) in tally.late


def _severity(finding: CheckFinding) -> float:
    """Return the place of a finding among others. A weight of zeros comes before what it makes zero."""
    if finding.kind == "initial" and not _is_shift(finding.hits[0].entry):
        return _SEVERITY.index("dead") - 0.5
    return _SEVERITY.index(finding.kind)


def operator_findings(findings: Iterable[CheckFinding]) -> list[list[CheckFinding]]:
    """Group findings that differ only in direction and slot, in the order of the first finding of each
    group."""
    grouped: dict[tuple[object, ...], list[CheckFinding]] = {}
    for finding in findings:
        entry, watchpoint = finding.hits[0].entry, finding.hits[0].watchpoint
        key = (finding.kind, watchpoint.condition, entry.graph, entry.recorded, finding.ranks)
        grouped.setdefault((*key, tuple(finding.steps)), []).append(finding)
    return list(grouped.values())


def _independent(hits: Iterable[Hit]) -> list[Hit]:
    """Return the hits, without hits on views of a tensor that has a hit of the same kind."""
    kinds = [(hit, (hit.entry.rank, hit.entry.step, hit.entry.graph, _kind(hit))) for hit in hits]
    named = {(*key, name) for hit, key in kinds for name in (hit.entry.operator, hit.entry.recorded)}
    return [hit for hit, key in kinds if not hit.viewed or (*key, hit.viewed) not in named]


def _of_ranks(anomalies: Iterable[CheckFinding]) -> list[CheckFinding]:
    """Merge findings that differ only in their rank."""
    merged: dict[tuple[object, ...], CheckFinding] = {}
    for finding in anomalies:
        entry, hit = finding.hits[0].entry, finding.hits[0]
        position = (finding.kind, entry.graph, entry.recorded, entry.direction, entry.slot)
        findings = tuple(own.verdict.findings for own in finding.hits)
        key = (*position, tuple(finding.steps), hit.watchpoint.id, findings)
        known = merged.get(key)
        merged[key] = replace(known, ranks=(*known.ranks, entry.rank)) if known else finding
    return list(merged.values())


def grouped_claims(
    findings: Iterable[CheckFinding], weights: Collection[str] = (), steps: Sequence[int] = ()
) -> list[Claim]:
    """Return the claims about findings, at most two for each combination of kind, ranks and steps.

    The first claim is about the first tensor, the second names the others. Modules whose weights all stand
    still are named in one claim before these. ``weights`` are the names of all weights, and ``steps`` those
    that have one before them: a network that stands still at fewer steps than that only waits for an update,
    and so does a module that changes in between, as the networks of a GAN do in turns.
    """
    groups: dict[tuple[object, ...], list[CheckFinding]] = {}
    for finding in findings:
        key = (finding.kind, finding.ranks, tuple(finding.steps), finding.hits[0].standstill)
        groups.setdefault(key, []).append(finding)
    claims = []
    for group in sorted(groups.values(), key=_may_be_meant):
        if group[0].kind == "frozen" and group[0].hits[0].standstill in _UNTRAINED:
            claims.append(_untrained_claim(group, len(steps)))
            continue
        remaining = group
        if modules := dict(_whole_modules(group, weights)) if group[0].kind == "frozen" else {}:
            claims.append(_modules_claim(modules, group[0].steps, steps))
            covered = [finding for members in modules.values() for finding in members]
            remaining = [finding for finding in remaining if finding not in covered]
        claims += [finding.claim for finding in remaining[:1]]
        if others := remaining[1:]:
            names = few([other.name for other in others], SHOWN)
            claims.append(Claim("claim.check.more", "note", {"n": len(others), "tensors": names}))
    return claims


def _whole_modules(
    findings: Sequence[CheckFinding], weights: Collection[str]
) -> Iterator[tuple[str, list[CheckFinding]]]:
    """Yield the outermost modules ("" is the network) whose weights all have a finding, with these
    findings."""
    named = {finding.hits[0].entry.operator: finding for finding in findings}
    covered: set[str] = set()
    paths = {"", *(name[:end] for name in named for end, letter in enumerate(name) if letter == ".")}
    for module in sorted(paths, key=lambda path: (path.count(".") if path else -1, path)):
        members = {name for name in weights if not module or name.startswith(f"{module}.")}
        if len(members) > 1 and members <= named.keys() - covered:
            covered |= members
            yield module, [finding for name, finding in named.items() if name in members]


def _untrained_claim(group: Sequence[CheckFinding], steps: int) -> Claim:
    """Return the claim that weights stand still of which no gradient was computed. It is unknown whether that
    is meant of weights that are to have one, if they have none at all of the ``steps``."""
    names = few([finding.name for finding in group], SHOWN)
    evidence = tuple(entry for finding in group for entry in finding.claim.evidence)
    values = {"n": len(group), "names": names, "steps": group[0].claim.values["steps"]}
    key = _UNTRAINED[group[0].hits[0].standstill]
    lasting = key.endswith("unreached") and len(group[0].steps) >= steps
    return Claim(key, "unknown" if lasting else "note", values, evidence)


def _may_be_meant(group: Sequence[CheckFinding]) -> bool:
    """Return True for weights that stand still and may be frozen on purpose: other findings come first."""
    return group[0].kind == "frozen" and group[0].hits[0].standstill == "purpose"


def _modules_claim(
    modules: Mapping[str, Sequence[CheckFinding]], still: Sequence[int], steps: Sequence[int]
) -> Claim:
    """Return the claim that no parameter of some modules changed, with the evidence of all parameters. It is
    a note if the whole network waits for an update at some of ``steps``, or one module between those at which
    it stands ``still``."""
    (module, *others), members = modules, [member for own in modules.values() for member in own]
    claim = members[0].claim
    values = {name: claim.values[name] for name in ("steps", "limit", "why")} | {"n": len(members)}
    evidence = tuple(entry for member in members for entry in member.claim.evidence)
    if not module and len(still) < len(steps):
        return Claim("claim.check.no_update", "note", values, evidence)
    if not module:
        return Claim("claim.check.frozen_network", "found", values, evidence)
    if others:
        names = few([members[0].of_ranks(name) for name in modules], SHOWN)
        values |= {"n": len(modules), "names": names, "parameters": len(members)}
        return Claim("claim.check.frozen_modules", "found", values, evidence)
    values["module"] = members[0].of_ranks(module)
    if any(still[0] < step < still[-1] and step not in still for step in steps):
        return Claim("claim.check.no_update_in_turns", "note", values, evidence)
    return Claim("claim.check.frozen_module", "found", values, evidence)


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
    """Return the kind of a hit on the percentage of values in a range, by the activation function and the
    limit."""
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
    # What changes from zero trains: only zeros in all layers make the gradients zero.
    if _is_shift(kinds["initial"][0].entry) or "exploding" in kinds:
        del remaining["initial"]
    return {kind: hits for kind, hits in remaining.items() if hits}


def _is_shift(entry: TensorEntry) -> bool:
    """Return True for a bias, by its own name or that of its slot, as msprobe has it."""
    return is_shift(entry.operator) or is_shift(entry.slot)


def _is_implied(kind: str, hits: Sequence[Hit], kinds: dict[str, list[Hit]]) -> bool:
    """Return True if stronger hits on the tensor cover every step of the hits of this kind."""
    implying = _IMPLIED.get(kind, ())
    stronger = {hit.entry.step for name in implying for hit in kinds.get(name, ())}
    return {hit.entry.step for hit in hits} <= stronger


EXPECTED: Final = ("claim.check.cancelled", "claim.check.small")  # notes about a healthy training


def expected_claims(hits: Iterable[Hit]) -> Iterator[Claim]:
    """Yield a claim for each reason of expected hits but "growing" and "masked". Hits that are not
    expected are left out."""
    by_reason: dict[str, dict[str, list[Hit]]] = {}
    for hit in hits:
        by_reason.setdefault(hit.expected, {}).setdefault(hit.entry.operator, []).append(hit)
    if cancelled := by_reason.get("cancelled"):
        named = {re.sub(r"[./]", "_", name): name for name in map(_module, cancelled)}
        values: dict[str, object] = {"n": len(named), "modules": few(sorted(named.values()), SHOWN)}
        yield Claim("claim.check.cancelled", "note", values)
    if finished := by_reason.get("finished"):
        steps = sorted({hit.entry.step for own in finished.values() for hit in own})
        values = {"n": len(finished), "tensors": few(list(finished), SHOWN)}
        values |= {"steps": few([*map(str, steps)], SHOWN)}
        yield Claim("claim.check.finished", "unknown", values)
    if equal := by_reason.get("equal"):
        names = [tensor_in_words(own[0].entry) for own in equal.values()]
        yield Claim("claim.check.equal", "note", {"n": len(names), "tensors": few(names, SHOWN)})
    for name in ("small", "few"):
        if hits_of := by_reason.get(name):
            least = min((hit for own in hits_of.values() for hit in own), key=_change)
            values = {"n": len(hits_of), "tensor": tensor_in_words(least.entry), "actual": _change(least)}
            values |= {"limit": least.watchpoint.limits[_STATED["slow"]], "step": least.entry.step}
            yield Claim(f"claim.check.{name}", "note", values | {"share": 100 * least.verdict.share})


def _change(hit: Hit) -> float:
    """Return the change of a weight relative to its magnitude, infinity if it was not judged."""
    findings = hit.verdict.findings
    return next((finding.actual for finding in findings if finding.name == _STATED["slow"]), math.inf)


def _module(name: str) -> str:
    """Return the module of a bias or of the operator that makes its gradient."""
    scope, _, operator = name.rpartition("/")
    return module_of(scope.split("/")) if "-op" in operator else re.sub(r"[._/][^._/]+$", "", name)
