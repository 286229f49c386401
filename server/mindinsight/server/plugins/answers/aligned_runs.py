"""Alignment of the scalars of two runs, with the claims about them."""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mindinsight.server.api.run_answers import hyper_of
from mindinsight.server.claims import Claim, few
from mindinsight.server.curves.alignment import ORDER, Alignment, align
from mindinsight.server.curves.alignment_claims import (
    claim_of,
    difference_claim,
    one_sided_claims,
    paired_claims,
    uncompared_claims,
)
from mindinsight.server.curves.importance import better_end, is_seed
from mindinsight.server.curves.setting_separation import names_runs, same_value
from mindinsight.server.store.paired_names import paired_tags
from mindinsight.server.store.run import Run
from mindinsight.server.types import Doubles, Floats, Ints

_NAMED = 3  # scalars or settings in a claim
_END = 0.1  # share of the common steps that are the end
_BEYOND = 0.05  # share of the steps of a run after the last common one, from which its end is not compared
_BLOCKS = 10  # intervals of the end whose differences are compared with each other
_SHORT = 8  # last common steps that are compared if the end has fewer
_LEAST = 4  # common steps from which noise is measured
_CRITICAL = (0, 0, 0, 12.9, 8.61, 6.87, 5.96, 5.41, 5.04, 4.78)  # Student's t at 0.1 %, by degrees of freedom
_MOST_ALIKE = 0.9  # limit of the correlation of neighbours, which a trend overestimates
_MOST_KEPT = 0.98  # limit of the share that noise keeps from step to step: beyond, it is a trend
# Standard errors, and steps for which these are widened. Of pairs of curves that differ by noise alone and
# keep 0.9 of it, 1-2 % of 100 steps and 3 % of 50 are taken for different ones (without: 20-25 %), and half
# as many real differences of 3 deviations are proven.
_WAVES = 3.3
_FEW = 10
_FEWEST = 5  # steps of other numbers at which two curves agree: fewer may by chance


@dataclass(frozen=True, slots=True)
class TagAlignment:
    """Alignment of one scalar between a run and its baseline, with the claim about it."""

    tag: str
    other: str  # name in the compared run; usually the same
    alignment: Alignment
    claim: Claim
    change: float | None = None  # of the medians at the end, relative to the baseline
    proven: bool = True  # the change is larger than that of curves with the same noise by chance
    ends: tuple[int, int, int] | None = None  # last steps of run, baseline and both, if far from each other
    uncompared: tuple[Claim, ...] = ()  # on steps that only one of the two has
    recounted: Claim | None = None  # that the curves agree if steps are counted in another way


def alignments(run: Run, baseline: Run, tolerance: float) -> list[TagAlignment]:
    """Return the alignment of each scalar that both runs have, [] if there is none. Those with a lasting
    divergence come first, by the step at which it begins. `tolerance` is a share of the baseline's size."""
    rows = []
    for tag, other in paired_tags(list(baseline.scalars), list(run.scalars)):
        base, line = baseline.scalars[tag].line(), run.scalars[other].line()
        aligned = align(line.steps, line.values, base.steps, base.values, tolerance)
        claim, curves = claim_of(aligned, tolerance), ((line.steps, line.values), (base.steps, base.values))
        ends = _far_ends(*curves)
        change = None if ends else _change_at_end(*curves)
        uncompared = tuple(uncompared_claims(aligned, len(line.steps)))
        recounted = recounted_claim(*curves, tolerance) if claim.verdict != "clear" else None
        judged = change is not None and claim.verdict == "found" and better_end(tag) is not None
        proven = not judged or differs_at_end(*curves)
        rows.append(TagAlignment(tag, other, aligned, claim, change, proven, ends, uncompared, recounted))
    return sorted(rows, key=_rank)


def _far_ends(line: tuple[Ints, Floats], base: tuple[Ints, Floats]) -> tuple[int, int, int] | None:
    """Return the last steps of both curves and of their common steps, if a curve goes on beyond those, else
    None."""
    common = np.intersect1d(line[0], base[0])
    if not len(common):
        return None
    last = int(common[-1])
    far = [int(steps[-1]) - last > _BEYOND * int(steps[-1] - steps[0]) for steps, _ in (line, base)]
    return (int(line[0][-1]), int(base[0][-1]), last) if any(far) else None


def recounted_claim(line: tuple[Ints, Floats], base: tuple[Ints, Floats], tolerance: float) -> Claim | None:
    """Return the claim that two curves agree if one of them counts its steps in another way. None if there is
    no such way, or if the values are too few or too much alike to show it.

    Both are pairs of steps and values. The other way is a factor, such as the steps of an epoch, or another
    first step. The curve with fewer steps has to agree at nearly all of its steps.
    """
    for (steps, values), (others, theirs), turned in ((line, base, False), (base, line, True)):
        if len(steps) < _FEWEST or len(others) < len(steps) or len(np.unique(values)) < _FEWEST:
            continue
        ratio = round(len(others) / len(steps))
        for factor in {1, ratio} - {0}:
            ends = (int(others[0] - factor * steps[0]), int(others[-1] - factor * steps[-1]), -1, 0, 1)
            for shift in {*ends, factor, factor - 1} - ({0} if factor == 1 else set()):
                if _agrees(factor * steps + shift, values, others, theirs, tolerance):
                    sides = [(steps[0], steps[-1]), (factor * steps[0] + shift, factor * steps[-1] + shift)]
                    (first, last), (base_first, base_last) = reversed(sides) if turned else sides
                    facts = {"n": len(steps), "first": int(first), "last": int(last)}
                    facts |= {"base_first": int(base_first), "base_last": int(base_last)}
                    size = difference_claim(tolerance, absolute=False)
                    return Claim("claim.align.recounted", "found", {**facts, "tolerance": size})
    return None


def _agrees(steps: Ints, values: Floats, others: Ints, theirs: Floats, tolerance: float) -> bool:
    """Return True if a curve has all ``steps``, but for a tenth beyond its ends, and agrees there."""
    _, at, other_at = np.intersect1d(steps, others, return_indices=True)
    if len(at) < max(_FEWEST, 0.9 * len(steps)):
        return False
    ours, base = np.asarray(values, np.float64)[at], np.asarray(theirs, np.float64)[other_at]
    varies = np.abs(np.diff(ours)) > 2 * tolerance * np.abs(ours[1:])
    return bool((np.abs(ours - base) <= tolerance * np.abs(base)).all()) and 2 * varies.sum() > len(varies)


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


def differs_at_end(line: tuple[Ints, Floats], base: tuple[Ints, Floats]) -> bool:
    """Return True if two curves differ at their last common steps by more than noise does, or have too few
    common steps to measure the noise.

    The medians of their differences over intervals are compared with 0 by a t test. Noise that lasts for more
    than a step makes neighbours alike, and widens what chance explains: by the end alone, and by all common
    steps, without which long waves look like differences.
    """
    _, at, base_at = np.intersect1d(line[0], base[0], return_indices=True)
    count = max(round(_END * len(at)), min(len(at), _SHORT))
    ours, theirs = np.asarray(line[1][at], np.float64), np.asarray(base[1][base_at], np.float64)
    every = ours / 2 - theirs / 2  # halves do not overflow
    every /= max(float(np.abs(every[np.isfinite(every)]).max(initial=0.0)), 1e-300)
    differences = every[-count:][np.isfinite(every[-count:])]
    if len(differences) < _LEAST:
        return True
    blocks = np.array_split(differences, min(len(differences), _BLOCKS))
    medians = np.array([np.median(block) for block in blocks])
    error = max(_error(medians), _error(differences) if len(differences) > _BLOCKS else 0.0)
    beyond = abs(medians.mean())
    every = every[np.isfinite(every)]
    waves = _WAVES * (1 + _FEW / len(every)) * _error_of_waves(every, len(differences))
    return bool(beyond > max(_CRITICAL[len(medians) - 1] * error, waves))


def _error_of_waves(every: Doubles, count: int) -> float:
    """Return the standard error of the mean of ``count`` values of noise in which each value keeps a share
    of the one before, which is measured in [n] values without their trend."""
    at = np.linspace(-1.0, 1.0, len(every))
    rest = every - np.polyval(np.polyfit(at, every, 1), at)
    before, after = rest[:-1], rest[1:]
    share = float(after @ before) / spread if (spread := float(before @ before)) else 0.0
    share += (1 + 3 * share) / len(every)  # by so much, few values show too little of it
    share = min(max(share, 0.0), _MOST_KEPT)
    deviation = 1.4826 * float(np.median(np.abs(after - share * before)))
    lags = np.arange(1, count)
    alike = 1 + 2 * float(((1 - lags / count) * share**lags).sum())
    return deviation * math.sqrt(alike / count / (1 - share * share))


def _error(values: Doubles) -> float:
    """Return the standard error of a mean, wider if neighbouring values are alike."""
    rest = values - values.mean()
    spread = float(rest @ rest)
    alike = min(max(float(rest[1:] @ rest[:-1]) / spread, 0.0), _MOST_ALIKE) if spread else 0.0
    return math.sqrt(spread / (len(values) - 1) / len(values) * (1 + alike) / (1 - alike))


def end_claims(rows: Sequence[TagAlignment], tolerance: float) -> Iterator[Claim]:
    """Yield claims about the scalars in which the run ends better, or worse, than the baseline, and about
    those for which this is unknown. Only scalars whose names tell whether low or high values are better
    are considered."""
    sides: dict[str, list[tuple[float, str]]] = {"better": [], "worse": []}
    unproven = []
    for row in rows:
        end = better_end(row.tag)
        if end is None or row.change is None or row.claim.verdict != "found" or abs(row.change) <= tolerance:
            continue
        if not row.proven:
            unproven.append(row.tag)
            continue
        sides["better" if (row.change < 0) == (end == "lowest") else "worse"].append((row.change, row.tag))
    unknown = [
        (row.tag, row.ends)
        for row in rows
        if row.ends and better_end(row.tag) is not None and row.claim.verdict == "found"
    ]
    if unknown:
        run, base, last = unknown[0][1]
        facts = {"n": len(unknown), "tags": few([tag for tag, _ in unknown], _NAMED)}
        facts |= {"step": last, "run": run, "baseline": base}
        yield Claim("claim.align.ends_unknown", "unknown", facts)
    if unproven:
        facts = {"n": len(unproven), "tags": few(unproven, _NAMED)}
        yield Claim("claim.align.ends_within_noise", "unknown", facts)
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
    differing = [name for name in names if not same_value(ours.get(name), theirs.get(name))]
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
    end. Without `rows` the only claim is that the runs have no scalar in common.

    If the main scalar agrees, the first divergence comes before it. The last claims are about the scalars in
    ``alone``, which only the run or only the baseline has.
    """
    if not rows:
        return [Claim("claim.align.no_common_scalar", "unknown")]
    pairs = [(row.other, row.tag) for row in rows]
    return [
        *_compared_claims(rows, tolerance),
        *end_claims(rows, tolerance),
        *paired_claims(pairs),
        *one_sided_claims(*alone),
    ]


def _compared_claims(rows: list[TagAlignment], tolerance: float) -> list[Claim]:
    main = min(rows, key=lambda row: _interest(row.tag))
    claims = [
        Claim("claim.part.align_scalar", claim.verdict, {"tag": main.tag, "claim": claim})
        for claim in (main.recounted, main.claim, *main.uncompared)
        if claim is not None
    ]
    first = next((row for row in rows if row.alignment.onset is not None), None)
    if first is not None:
        # What diverges is the answer, even if the main scalar agrees.
        claims.insert(
            0 if main.claim.verdict == "clear" else len(claims), _first_claim(first, rows, tolerance)
        )
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
