"""Alignment of the scalars of two runs, with the claims about them."""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mindinsight.server.api.run_answers import hyper_of
from mindinsight.server.claims import Claim, few
from mindinsight.server.curves.alignment import ORDER, Alignment, align, paired_tags
from mindinsight.server.curves.alignment_claims import claim_of, difference_claim, one_sided_claims
from mindinsight.server.curves.importance import better_end, is_seed
from mindinsight.server.curves.setting_separation import identity, names_runs
from mindinsight.server.store.run import Run
from mindinsight.server.types import Floats, Ints

_NAMED = 3  # scalars or settings in a claim
_END = 0.1  # share of the common steps that are the end


@dataclass(frozen=True, slots=True)
class TagAlignment:
    """Alignment of one scalar between a run and its baseline, with the claim about it."""

    tag: str
    other: str  # name in the compared run; usually the same
    alignment: Alignment
    claim: Claim
    change: float | None = None  # of the medians at the end, relative to the baseline


def alignments(run: Run, baseline: Run, tolerance: float) -> list[TagAlignment]:
    """Return the alignment of each scalar that both runs have: those that diverge first, by onset."""
    rows = []
    for tag, other in paired_tags(list(baseline.scalars), list(run.scalars)):
        base, line = baseline.scalars[tag].line(), run.scalars[other].line()
        aligned = align(line.steps, line.values, base.steps, base.values, tolerance)
        change = _change_at_end((line.steps, line.values), (base.steps, base.values))
        rows.append(TagAlignment(tag, other, aligned, claim_of(aligned, tolerance), change))
    return sorted(rows, key=_rank)


def _change_at_end(line: tuple[Ints, Floats], base: tuple[Ints, Floats]) -> float | None:
    """Return the relative difference of two curves' medians over the last common steps, or None if
    unknown."""
    _, at, base_at = np.intersect1d(line[0], base[0], return_indices=True)
    count = max(1, round(_END * len(at)))
    ends = np.array([line[1][at[-count:]], base[1][base_at[-count:]]], np.float64)
    if not ends.size or not np.isfinite(ends).all():
        return None
    ours, theirs = np.median(ends, axis=1)
    return float((ours - theirs) / abs(theirs)) if theirs else None


def end_claims(rows: Sequence[TagAlignment], tolerance: float) -> Iterator[Claim]:
    """Yield claims about the scalars in which the run ends better, or worse, than the baseline.

    Only scalars whose names tell whether low or high values are better are considered.
    """
    sides: dict[str, list[tuple[float, str]]] = {"better": [], "worse": []}
    for row in rows:
        end = better_end(row.tag)
        if end is None or row.change is None or row.claim.verdict != "found" or abs(row.change) <= tolerance:
            continue
        sides["better" if (row.change < 0) == (end == "lowest") else "worse"].append((row.change, row.tag))
    for side, changes in sides.items():
        if changes:
            parts = [
                Claim(
                    f"claim.part.align_{'lower' if change < 0 else 'higher'}",
                    "note",
                    {"tag": tag, "size": difference_claim(abs(change), absolute=False)},
                )
                for change, tag in sorted(changes, key=lambda change: -abs(change[0]))
            ]
            facts = {"n": len(parts), "scalars": few(parts, _NAMED)}
            yield Claim(f"claim.align.ends_{side}", "found", facts, tuple({"tag": tag} for _, tag in changes))


def seed_claims(run: Run, baseline: Run) -> Iterator[Claim]:
    """Yield a note if two runs have equal settings except the random seed, so that they differ by chance."""
    ours, theirs = hyper_of(run.lineage), hyper_of(baseline.lineage)
    names = sorted(ours.keys() | theirs.keys())
    differing = [name for name in names if identity(ours.get(name)) != identity(theirs.get(name))]
    settings = [name for name in differing if not names_runs(name, (ours.get(name), theirs.get(name)))]
    if settings and all(is_seed(name, (ours.get(name), theirs.get(name))) for name in settings):
        facts = {"n": len(settings), "settings": few(settings, _NAMED)}
        yield Claim("claim.align.other_seed", "note", facts)


def _rank(row: TagAlignment) -> tuple[int, float, float, str]:
    aligned = row.alignment
    order = ORDER.index(aligned.verdict)
    begins = aligned.onset is not None
    return (0 if begins else order), (aligned.onset or 0 if begins else 0), -(aligned.largest or 0.0), row.tag


def alignment_claims(
    rows: list[TagAlignment], tolerance: float, alone: tuple[Sequence[str], Sequence[str]] = ((), ())
) -> list[Claim]:
    """Return the claims about two runs, in this order: main scalar, first divergence, all scalars, and the
    end.

    The last claims are about the scalars in ``alone``, which only the run or only the baseline has.
    """
    if not rows:
        return [Claim("claim.align.no_common_scalar", "unknown")]
    return [*_compared_claims(rows, tolerance), *end_claims(rows, tolerance), *one_sided_claims(*alone)]


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
    """Return the claim on the first lasting divergence, and on an earlier difference beyond the tolerance, if
    any."""
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
