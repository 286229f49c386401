"""Alignment of the scalars of two runs, with the claims about them."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from mindinsight.server.claims import Claim
from mindinsight.server.curves.alignment import ORDER, Alignment, align, paired_tags
from mindinsight.server.curves.alignment_claims import claim_of, difference_claim, one_sided_claims
from mindinsight.server.store.run import Run


@dataclass(frozen=True, slots=True)
class TagAlignment:
    """Alignment of one scalar of two runs, with the claim about it."""

    tag: str
    other: str  # name in the compared run; usually the same
    alignment: Alignment
    claim: Claim


def alignments(run: Run, baseline: Run, tolerance: float) -> list[TagAlignment]:
    """Return the alignment of each scalar that both runs have: those that diverge first, by onset."""
    rows = []
    for tag, other in paired_tags(list(baseline.scalars), list(run.scalars)):
        base, line = baseline.scalars[tag].line(), run.scalars[other].line()
        aligned = align(line.steps, line.values, base.steps, base.values, tolerance)
        rows.append(TagAlignment(tag, other, aligned, claim_of(aligned, tolerance)))
    return sorted(rows, key=_rank)


def _rank(row: TagAlignment) -> tuple[int, float, float, str]:
    aligned = row.alignment
    order = ORDER.index(aligned.verdict)
    begins = aligned.onset is not None
    return (0 if begins else order), (aligned.onset or 0 if begins else 0), -(aligned.largest or 0.0), row.tag


def alignment_claims(
    rows: list[TagAlignment], tolerance: float, alone: tuple[Sequence[str], Sequence[str]] = ((), ())
) -> list[Claim]:
    """Return the claims about two runs: the main scalar, the first to diverge, all together, those ``alone``.

    The last are the scalars that only the run and only the baseline have.
    """
    if not rows:
        return [Claim("claim.align.no_common_scalar", "unknown")]
    return [*_compared_claims(rows, tolerance), *one_sided_claims(*alone)]


def _compared_claims(rows: list[TagAlignment], tolerance: float) -> list[Claim]:
    main = min(rows, key=lambda row: _interest(row.tag))
    claims = [
        Claim("claim.part.align_scalar", main.claim.verdict, {"tag": main.tag, "claim": main.claim}),
    ]
    first = next((row for row in rows if row.alignment.onset is not None), None)
    if first is not None:
        claims.append(_first_claim(first, rows, tolerance))
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


def _first_claim(first: TagAlignment, rows: list[TagAlignment], tolerance: float) -> Claim:
    """Return the claim on the first lasting divergence, with the first difference beyond the tolerance."""
    onset = {"tag": first.tag, "step": first.alignment.onset}
    beyond = {row.tag: row.alignment.beyond for row in rows if row.alignment.beyond is not None}
    other = min(beyond, key=lambda tag: beyond[tag], default=first.tag)
    if beyond.get(other, math.inf) >= (first.alignment.onset or 0):
        return Claim("claim.align.first", "found", onset, evidence=(onset,))
    size = difference_claim(tolerance, absolute=False)
    before = {"other": other, "beyond": beyond[other], "tolerance": size}
    evidence = (onset, {"tag": other, "step": beyond[other]})
    return Claim("claim.align.first_after", "found", {**onset, **before}, evidence=evidence)


def _interest(tag: str) -> tuple[bool, bool, int, str]:
    """Return a sort key that puts the loss first, and of several losses the shortest name."""
    return not re.search("loss", tag, re.IGNORECASE), bool(re.search("val|eval|test", tag)), len(tag), tag
