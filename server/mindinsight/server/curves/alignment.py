"""Precision alignment of two curves that should agree: how they differ, up to where they agree, since when
they drift.

Differences are shares of the baseline's size: the larger of its value at the step and its usual size there,
so that a curve that crosses zero is no fault. Where the baseline is 0, or nearly, a share says nothing and
differences are absolute. A drift begins before it is beyond the tolerance: the onset is
the change point of the difference (``change_point.py``), the step beyond the tolerance comes later.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Final, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from mindinsight.server.claims import Claim
from mindinsight.server.curves.change_point import FEWEST
from mindinsight.server.curves.departure import departure
from mindinsight.server.curves.overflow import subtract, unit_of
from mindinsight.server.types import Doubles, Floats, Ints

Verdict: TypeAlias = Literal[
    "not_finite",
    "drifts",
    "apart",
    "differs",
    "returns",
    "noise",
    "no_steps",
    "no_finite",
    "agrees",
    "identical",
]
ORDER: Final[tuple[Verdict, ...]] = get_args(Verdict)

_BLOCKS: Final = 64  # of the usual size of a baseline
_NOISE_SHARE: Final = 0.01  # of the tolerance: differences below are rounding
_ROUNDING: Final = 1e-12  # relative difference that is none, for a tolerance of 0
_MOST: Final = 1e6  # relative difference from which on the baseline counts as 0
_LASTS: Final = 5  # steps beyond the tolerance before a divergence is said to have begun
_AGREES_AGAIN: Final = 16  # steps within the tolerance after a difference, before it is said to be over
_APART: Final = 0.5  # share of the steps beyond the tolerance without a change point


@dataclass(frozen=True, slots=True)
class Alignment:
    """How a curve agrees with its baseline at the steps both have."""

    verdict: Verdict
    shared: int  # steps both have
    steps: int  # steps of either
    agrees_to: int | None = None  # last step before the first beyond the tolerance; None: not even the first
    beyond: int | None = None  # first step beyond the tolerance, or not finite and not the same in both
    broken: int | None = None  # first step that is not finite and not the same in both
    last_beyond: int | None = None  # last step beyond the tolerance, before a broken one
    over: int = 0  # steps beyond the tolerance, before a broken one
    onset: int | None = None  # step at which the drift begins
    score: float = 0.0  # size of the drift in noise levels
    largest: float | None = None  # difference; None if no step has two finite values
    noise: float | None = None  # usual difference before the onset, or of all steps; None likewise
    absolute: bool = False  # whether these two are in the unit of the values; else shares of the baseline


def align(steps: Ints, values: Floats, base_steps: Ints, base_values: Floats, tolerance: float) -> Alignment:
    """Judge a curve (steps ascending and unique) by its baseline; ``tolerance`` is relative."""
    shared, mine, theirs = np.intersect1d(steps, base_steps, assume_unique=True, return_indices=True)
    count, either = len(shared), len(steps) + len(base_steps) - len(shared)
    if not count:
        return Alignment("no_steps", 0, either)
    left, right = np.asarray(values, np.float64)[mine], np.asarray(base_values, np.float64)[theirs]
    same = (left == right) | (np.isnan(left) & np.isnan(right))
    finite = np.isfinite(left) & np.isfinite(right)
    if same.all():
        verdict: Verdict = "identical" if finite.any() else "no_finite"
        size = 0.0 if finite.any() else None
        return Alignment(verdict, count, either, agrees_to=int(shared[-1]), largest=size, noise=size)
    broken = np.flatnonzero(~same & ~finite)
    end = int(broken[0]) if len(broken) else count
    rows = np.flatnonzero(finite[:end])
    facts = Alignment("agrees", count, either, broken=int(shared[end]) if len(broken) else None)
    return _judged(facts, shared, rows, left[rows], right[rows], tolerance)


def _judged(
    facts: Alignment,
    shared: Ints,
    rows: npt.NDArray[np.intp],
    values: Doubles,
    base: Doubles,
    tolerance: float,
) -> Alignment:
    """Return ``facts`` with the verdict; the curves are finite at ``rows`` [n] of ``shared``."""
    relative = relative_difference(values, base)
    absolute = bool((np.abs(relative) >= _MOST).any())
    sizes = np.abs(subtract(values, base) if absolute else relative)
    over = np.flatnonzero(np.abs(relative) > tolerance)
    beyond = int(shared[rows[over[0]]]) if len(over) else facts.broken
    before = shared[shared < beyond] if beyond is not None else shared
    facts = replace(
        facts,
        agrees_to=int(before[-1]) if len(before) else None,
        beyond=beyond,
        last_beyond=int(shared[rows[over[-1]]]) if len(over) else None,
        over=len(over),
        largest=float(sizes.max()) if len(sizes) else None,
        noise=float(np.median(sizes)) if len(sizes) else None,
        absolute=absolute,
    )
    change = departure(relative, max(tolerance * _NOISE_SHARE, _ROUNDING)) if len(over) else None
    if change is not None and _lasts(over, change.onset, len(rows), facts.broken is not None):
        noise = float(np.median(sizes[: max(change.onset, 1)]))
        onset = int(shared[rows[change.onset]])
        verdict: Verdict = "drifts" if facts.broken is None else "not_finite"
        return replace(facts, verdict=verdict, onset=onset, score=change.score, noise=noise)
    if facts.broken is not None:
        return replace(facts, verdict="not_finite", onset=facts.broken)
    return replace(facts, verdict=_without_onset(over, len(rows), change is not None))


def _lasts(over: npt.NDArray[np.intp], onset: int, rows: int, broken: bool) -> bool:
    """Return whether a difference is large for several steps from ``onset`` on and does not end for good."""
    return not _ended(over, rows) and (broken or bool((over >= onset).sum() >= _LASTS))


def _ended(over: npt.NDArray[np.intp], rows: int) -> bool:
    """Return whether the curves agree behind the steps ``over``, for longer than between any two of them."""
    agreeing = rows - 1 - int(over[-1])
    return agreeing >= max(_AGREES_AGAIN, 2 * int(np.diff(over).max(initial=1)))


def _without_onset(over: npt.NDArray[np.intp], rows: int, changes: bool) -> Verdict:
    """Return the verdict of a difference that is beyond the tolerance at ``over`` and not for good."""
    if not len(over):
        return "agrees"
    if rows < FEWEST:
        return "differs"
    if changes and _ended(over, rows) and len(over) >= _LASTS:
        return "returns"
    if len(over) >= _APART * rows:
        return "apart"
    return "differs" if over[-1] == rows - 1 else "noise"  # at the end, a divergence may just have begun


def claim_of(aligned: Alignment, tolerance: float) -> Claim:
    """Return the claim about one scalar of two runs."""
    values: dict[str, Any] = {
        "n": aligned.shared,
        "steps": aligned.steps,
        "over": aligned.over,
        "step": aligned.onset,
        "agrees_to": aligned.agrees_to,
        "broken": aligned.broken,
        "first": aligned.beyond,
        "last": aligned.last_beyond,
        "tolerance": difference_claim(tolerance, absolute=False),
        "largest": difference_claim(aligned.largest, aligned.absolute),
        "usual": difference_claim(aligned.noise, aligned.absolute),
    }
    values = {name: value for name, value in values.items() if value is not None}
    evidence = () if aligned.beyond is None else ({"step": aligned.onset or aligned.beyond},)
    match aligned.verdict:
        case "no_steps":
            return Claim("claim.align.no_common_steps", "unknown", values)
        case "no_finite":
            return Claim("claim.align.no_finite", "unknown", values)
        case "identical" | "agrees" as verdict:
            key = "claim.align.equal" if verdict == "identical" else "claim.align.agrees"
            if aligned.shared == aligned.steps:
                return Claim(key, "clear", values)
            return Claim(f"{key}_common", "unknown", values)
        case "differs":
            missing = ("claim.missing.align_steps",)
            return Claim("claim.align.differs", "found", values, evidence, missing)
        case "drifts" if (aligned.onset or 0) > (aligned.beyond or 0) or aligned.agrees_to is None:
            return Claim("claim.align.diverges_beyond_noise", "found", values, evidence)
        case verdict:
            return Claim(f"claim.align.{_FOUND[verdict]}", "found", values, evidence)


_FOUND: Final[dict[Verdict, str]] = {
    "not_finite": "non_finite",
    "drifts": "diverges",
    "apart": "apart",
    "returns": "some_steps",
    "noise": "noise",
}


def difference_claim(size: float | None, absolute: bool) -> Claim | None:
    """Return a difference as part of a claim: in thousandths of the baseline, or absolute; None for none."""
    if size is None:
        return None
    if absolute:
        return Claim("claim.part.align_absolute", "note", {"size": size})
    return Claim("claim.part.align_relative", "note", {"size": float(f"{1000 * size:.3g}")})


def relative_difference(values: Doubles, base: Doubles) -> Doubles:
    """[n] ``values - base`` as shares of the larger of ``|base|`` and its usual size nearby; all finite."""
    if not len(base):
        return np.zeros(0)
    unit = max(unit_of(values), unit_of(base))
    apart = subtract(values / unit, base / unit)
    size = np.abs(base / unit)
    edges = np.linspace(0, len(base), min(_BLOCKS, len(base)) + 1).astype(np.int64)
    usual = [float(np.median(size[a:b])) for a, b in pairwise(edges)]
    nearby = np.interp(np.arange(len(base)), (edges[:-1] + edges[1:] - 1) / 2, usual)
    known = np.maximum(size, nearby)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        share = np.where(apart == 0, 0.0, apart / known)
    return np.asarray(np.clip(np.nan_to_num(share), -_MOST, _MOST), np.float64)
