"""Precision alignment of two curves that should agree, and the detector of the step at which they diverge."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from typing import Any, Final, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from mindinsight.server.claims import Claim
from mindinsight.server.curves.overflow_safe import subtract, unit_of
from mindinsight.server.types import Doubles, Floats, Ints

LIMIT: Final = 5.5  # noise levels of the estimated size
FEWEST: Final = 16  # rows below which nothing is said
_TEST_BLOCKS: Final = 128
_FINE: Final = 256  # rows between which an onset is looked for
_POWERS: Final = (0.0, 0.5, 1.0, 2.0)
_WIDTHS: Final = (1 / 16, 1 / 8, 1 / 4)  # of an episode, as a share of the length
_CLIP: Final = 8.0  # noise levels that a row counts at most
_PASSES: Final = 4
_PLAIN: Final = 5.0  # noise levels at which a change is plain


@dataclass(frozen=True, slots=True)
class Change:
    """The clearest change of a series."""

    onset: int  # row from which on the series is on another course
    score: float  # size of the change in noise levels of its estimate
    shift: float  # of the second part's mean against the first part's


def change_of(values: Doubles, floor: float) -> Change | None:
    """The change of finite ``values`` [n]; None where there is none beyond chance.

    ``floor`` is the least noise that is believed, in the unit of the values: with a noise of 0, rounding
    would be a change.
    """
    if len(values) < FEWEST:
        return None
    rows, blocks = _blocks(values, _TEST_BLOCKS)
    clipped = _clipped(blocks, floor)
    onset, score = _best_fit(clipped, floor)
    if score < LIMIT * (1 + 15 / len(values)):  # of few rows neither noise nor memory is well known
        return None
    row = int(rows[onset])
    for _ in range(_PASSES):  # a first guess that is late lies within the change and takes it for noise
        before, row = row, _onset(values, row, floor)
        if row > 0.9 * before:
            break
    shift = float(values[row:].mean() - values[: max(row, 1)].mean())
    return Change(row, score, shift)


def _blocks(values: Doubles, most: int) -> tuple[Doubles, Doubles]:
    """First rows [b] and means [b] of at most so many blocks of nearly equal length."""
    edges = np.linspace(0, len(values), min(most, len(values)) + 1).astype(np.int64)
    return edges[:-1].astype(np.float64), np.add.reduceat(values, edges[:-1]) / np.diff(edges)


def _clipped(blocks: Doubles, floor: float) -> Doubles:
    """Blocks less their median, those far out of the usual change between neighbours brought nearer."""
    unit = max(_usual_change(blocks), floor)
    return np.asarray(np.clip((blocks - np.median(blocks)) / unit, -4 * _CLIP, 4 * _CLIP) * unit, np.float64)


def _usual_change(values: Doubles) -> float:
    """Robust standard deviation of independent noise, by the changes from row to row."""
    return 1.4826 * float(np.median(np.abs(np.diff(values)))) / float(np.sqrt(2)) if len(values) > 1 else 0.0


@lru_cache(maxsize=32)
def _shapes(length: int, power: float, width: int) -> Doubles:
    """[t, length] centred courses of norm 1, one for each onset; back to the old course after ``width``."""
    rows = np.arange(length, dtype=np.float64)
    onsets = np.arange(1, length - 1)
    behind = rows[None, :] - onsets[:, None] + 1
    courses = np.where((behind > 0) & (behind <= width), np.maximum(behind, 0.0) ** power, 0.0)
    courses -= courses.mean(axis=1, keepdims=True)
    return np.asarray(courses / np.sqrt((courses**2).sum(axis=1, keepdims=True)), np.float64)


def _courses(length: int) -> Iterator[Doubles]:
    """The courses of every sort: lasting changes of every power, and episodes."""
    for power in _POWERS:
        yield _shapes(length, power, length)
    for share in _WIDTHS:
        yield _shapes(length, 0.0, max(int(share * length), 2))


def _best_fit(values: Doubles, floor: float) -> tuple[int, float]:
    """Row of the onset whose course fits best, and its size in noise levels."""
    length = len(values)
    centred = values - values.mean()
    best, at, residual = -1.0, 1, centred
    for shapes in _courses(length):
        sizes = shapes @ centred
        row = int(np.argmax(np.abs(sizes)))
        if abs(sizes[row]) > best:
            best, at = float(abs(sizes[row])), row + 1
            residual = centred - sizes[row] * shapes[row]
    spread = max(float(np.sqrt((residual**2).sum() / max(length - 4, 1))), _usual_change(values), floor)
    return at, best / (spread * _inflation(residual))


def _inflation(residual: Doubles) -> float:
    """Factor on the spread of a mean of autocorrelated rows, AR(1); at least 1."""
    power = float((residual**2).sum())
    if power <= 0 or len(residual) < FEWEST:
        return 1.0
    first = float((residual[1:] * residual[:-1]).sum()) / power
    first = min(max(first + 8 / len(residual), 0.0), 0.95)  # a fit takes some of it away
    return float(np.sqrt((1 + first) / (1 - first)))


def _onset(values: Doubles, near: int, floor: float) -> int:
    """Row at which the change begins, of which the blocks say where it is about."""
    head = values[: max(near, FEWEST // 2)]
    centre = float(np.median(head))
    noise = max(1.4826 * float(np.median(np.abs(head - centre))), floor)
    scaled = np.clip((values - centre) / noise, -_CLIP, _CLIP)
    end = _plain_end(scaled, near)
    rows, means = _blocks(scaled[:end], _FINE)
    fits = []
    for power in _POWERS:
        shapes = _shapes(len(means), power, len(means))
        sizes = np.abs(shapes @ (means - means.mean()))
        row = int(np.argmax(sizes))
        fits.append((float(sizes[row]), row + 1))
    return int(rows[max(fits)[1]])


def _plain_end(scaled: Doubles, near: int) -> int:
    """Row behind the first stretch in which the change is plain, with the stretch's own length again."""
    width = max(len(scaled) // 64, 4)
    below = np.concatenate(([0.0], np.cumsum(scaled)))
    means = (below[width:] - below[:-width]) / width
    plain = np.flatnonzero(np.abs(means) >= _PLAIN)
    plain = plain[plain + width > near]
    return len(scaled) if not len(plain) else min(int(plain[0]) + 2 * width, len(scaled))


_GROWS: Final = 1.5  # times the usual size before, from which a difference is a larger one
_LOG_FLOOR: Final = 0.05  # noise of a logarithm of sizes that is believed
_LEAST: Final = 0.3  # noise levels of a single row that a lasting shift comes to


def departure(relative: Doubles, floor: float) -> Change | None:
    """The change by which the finite difference ``relative`` [n] becomes larger; None where there is none.

    Two courses are looked at: the difference itself, for a shift or a trend to one side, then the logarithm
    of its size, for one that grows to both sides; its slow beginning is lost in a logarithm. A change towards
    zero is no departure. Sizes below ``floor`` count as none.
    """
    signed = change_of(relative, floor)
    if signed is not None and _is_larger(relative, signed.onset, floor):
        return signed
    grown = change_of(np.log(np.maximum(np.abs(relative), floor)), _LOG_FLOOR)
    if grown is not None and grown.shift > 0 and _is_larger(relative, grown.onset, floor):
        return grown
    return None


def _is_larger(relative: Doubles, onset: int, floor: float) -> bool:
    before, after = relative[:onset], relative[onset:]
    usual = float(np.sqrt(np.mean(before**2))) if len(before) else 0.0
    later = float(np.sqrt(np.mean(after**2)))
    if later > _GROWS * max(usual, floor):
        return True
    middle = abs(float(np.median(after))) - (abs(float(np.median(before))) if len(before) else 0.0)
    return middle > max(_LEAST * usual, floor)


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
