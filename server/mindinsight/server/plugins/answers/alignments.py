"""Alignment of all scalars of two runs, ranked."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from typing import Any, Final

from mindinsight.server.claims import Claim
from mindinsight.server.curves.alignment import ORDER, Alignment, align, claim_of, difference_claim
from mindinsight.server.store.run import Run

_DECORATION: Final = frozenset({"train", "training", "auto", "scalar", "scalars"})


@dataclass(frozen=True, slots=True)
class TagAlignment:
    """The alignment of one scalar."""

    tag: str
    other: str  # its name in the run that is measured; mostly the same
    alignment: Alignment
    claim: Claim


def alignments(run: Run, baseline: Run, tolerance: float) -> list[TagAlignment]:
    """Each scalar that both runs have: drifts first, the earliest of them first."""
    rows = []
    for tag, other in _pairs(list(baseline.scalars), list(run.scalars)):
        base, line = baseline.scalars[tag].line(), run.scalars[other].line()
        aligned = align(line.steps, line.values, base.steps, base.values, tolerance)
        rows.append(TagAlignment(tag, other, aligned, claim_of(aligned, tolerance)))
    return sorted(rows, key=_rank)


def _rank(row: TagAlignment) -> tuple[int, float, float, str]:
    aligned = row.alignment
    order = ORDER.index(aligned.verdict)
    begins = aligned.onset is not None
    return (0 if begins else order), (aligned.onset or 0 if begins else 0), -(aligned.largest or 0.0), row.tag


def alignment_claims(rows: list[TagAlignment], tolerance: float) -> list[Claim]:
    """Return the claims about two runs: of the main scalar, of the first to diverge, and of all together."""
    if not rows:
        return [Claim("claim.align.no_common_scalar", "unknown")]
    main = min(rows, key=lambda row: _interest(row.tag))
    claims = [
        Claim("claim.part.align_scalar", main.claim.verdict, {"tag": main.tag, "claim": main.claim}),
    ]
    first = next((row for row in rows if row.alignment.onset is not None), None)
    if first is not None:
        onset = {"tag": first.tag, "step": first.alignment.onset}
        claims.append(Claim("claim.align.first", "found", onset, evidence=(onset,)))
    if len(rows) == 1:
        return claims
    verdicts = [row.claim.verdict for row in rows]
    facts: dict[str, Any] = {"count": len(rows), "tolerance": difference_claim(tolerance, absolute=False)}
    if differing := verdicts.count("found"):
        claims.append(Claim("claim.align.some_differ", "found", {**facts, "n": differing}))
    if undecided := verdicts.count("unknown"):
        claims.append(Claim("claim.align.undecided", "unknown", {**facts, "n": undecided}))
    if not differing and not undecided:
        claims.append(Claim("claim.align.all_agree", "clear", {**facts, "n": len(rows)}))
    return claims


def _interest(tag: str) -> tuple[bool, bool, int, str]:
    """The loss first: of several the one with the plainest name."""
    return not re.search("loss", tag, re.IGNORECASE), bool(re.search("val|eval|test", tag)), len(tag), tag


def _pairs(base_tags: list[str], tags: list[str]) -> list[tuple[str, str]]:
    """Tags of the baseline with those of the other run: of one name, or alike where that is plain."""
    pairs = [(tag, tag) for tag in base_tags if tag in set(tags)]
    base_alike, alike = _by_likeness(base_tags, tags), _by_likeness(tags, base_tags)
    for name, rest in base_alike.items():
        if len(rest) == 1 and len(alike.get(name, ())) == 1:
            pairs.append((rest[0], alike[name][0]))
    return pairs


def _by_likeness(tags: list[str], without: list[str]) -> dict[str, list[str]]:
    """Tags that are not in ``without``, by their name less what recorders put around it."""
    groups: dict[str, list[str]] = defaultdict(list)
    common = set(without)
    for tag in tags:
        if tag not in common:
            groups[plain_name(tag)].append(tag)
    return groups


def plain_name(tag: str) -> str:
    """``train/loss``, ``loss/auto`` and ``Loss`` -> ``loss``."""
    parts = [part for part in tag.lower().split("/") if part not in _DECORATION]
    return "/".join(parts) or tag.lower()
