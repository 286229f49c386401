"""Precision alignment of two curves that should agree, and detection of the step at which they diverge."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from typing import Final, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from mindinsight.server.curves.overflow_safe import relative_to, subtract, unit_of
from mindinsight.server.types import Doubles, Floats, Ints

# Thresholds without a reason of their own hold the promise of benchmarks/drift.py: 1 % of false alarms.
LIMIT: Final = 5.5  # noise levels of a change. 4.5: 2.5 % of false alarms in spiky noise; 6.5: 14 % of misses
POOR: Final = 15.0  # rows at which the limit is twice as high
_POOR_GROWTH: Final = 60.0  # the same for growth in units of the noise nearby, which few rows estimate badly
FEWEST: Final = 16  # rows below which nothing is claimed
_TEST_BLOCKS: Final = 128  # blocks in which a change is searched: a fit costs their square
_FINE: Final = 256  # blocks in which the onset is searched
_POWERS: Final = (0.0, 0.5, 1.0, 2.0)  # courses after an onset: a level, a root, a line, a parabola
_WIDTHS: Final = (1 / 16, 1 / 8, 1 / 4)  # lengths of a temporary change, as share of the curve
_CLIP: Final = 8.0  # noise levels that one row counts at most
_PASSES: Final = 4  # refinements of an onset
_PLAIN: Final = 5.0  # noise levels from which a change is plain


@dataclass(frozen=True, slots=True)
class Change:
    """Most significant change of a series."""

    onset: int  # row from which the series follows another course
    score: float  # size of the change in noise levels of its estimate
    shift: float  # mean after the onset minus mean before


def find_change(values: Doubles, floor: float, poor: float = POOR) -> Change | None:
    """Return the most significant change in ``values`` [n], or None if noise explains all of them.

    The values are finite. Return None also for fewer than ``FEWEST`` of them. ``floor`` is the smallest noise
    to assume, in their unit: with a noise of 0, rounding would be a change. ``poor`` is the number of rows at
    which the limit is twice as high, because few rows give a poor estimate of noise and autocorrelation.
    """
    if len(values) < FEWEST:
        return None
    rows, blocks = _blocks(values, _TEST_BLOCKS)
    clipped = _clipped(blocks, floor)
    onset, score = _best_fit(clipped, floor)
    if score < LIMIT * (1 + poor / len(values)):
        return None
    row = int(rows[onset])
    for _ in range(_PASSES):  # a late first guess lies within the change and mistakes it for noise
        before, row = row, _onset(values, row, floor)
        if row > 0.9 * before:
            break
    shift = float(values[row:].mean() - values[: max(row, 1)].mean())
    return Change(row, score, shift)


def _blocks(values: Doubles, most: int) -> tuple[Doubles, Doubles]:
    """Return first rows [b] and means [b] of at most ``most`` blocks of nearly equal length."""
    edges = np.linspace(0, len(values), min(most, len(values)) + 1).astype(np.int64)
    return edges[:-1].astype(np.float64), np.add.reduceat(values, edges[:-1]) / np.diff(edges)


def _clipped(blocks: Doubles, floor: float) -> Doubles:
    """Return blocks minus their median, clipped to a multiple of their noise, which is at least ``floor``."""
    limit = 4 * _CLIP * max(_usual_change(blocks), floor)
    return np.asarray(np.clip(blocks - np.median(blocks), -limit, limit), np.float64)


def _usual_change(values: Doubles) -> float:
    """Return a robust standard deviation of the noise, estimated from changes between consecutive values."""
    return 1.4826 * float(np.median(np.abs(np.diff(values)))) / float(np.sqrt(2)) if len(values) > 1 else 0.0


@lru_cache(maxsize=32)
def _shapes(length: int, power: float, width: int) -> Doubles:
    """Return [onsets, length] templates of a change: from its onset on it grows by ``power`` for ``width``
    rows. Each template is centred and has norm 1."""
    rows = np.arange(length, dtype=np.float64)
    onsets = np.arange(1, length - 1)
    since = rows[None, :] - onsets[:, None] + 1
    courses = np.where((since > 0) & (since <= width), np.maximum(since, 0.0) ** power, 0.0)
    courses -= courses.mean(axis=1, keepdims=True)
    return np.asarray(courses / np.sqrt((courses**2).sum(axis=1, keepdims=True)), np.float64)


def _courses(length: int) -> Iterator[Doubles]:
    """Yield the templates of `_shapes`: lasting changes with each of ``_POWERS``, temporary ones with each
    width."""
    for power in _POWERS:
        yield _shapes(length, power, length)
    for share in _WIDTHS:
        yield _shapes(length, 0.0, max(int(share * length), 2))


def _best_fit(values: Doubles, floor: float) -> tuple[int, float]:
    """Return the onset of the best-fitting template of a change, and the size of the change in units of
    noise."""
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
    """Return the factor on the spread of a mean due to autocorrelation, assuming AR(1). At least 1."""
    power = float((residual**2).sum())
    if power <= 0 or len(residual) < FEWEST:
        return 1.0
    first = float((residual[1:] * residual[:-1]).sum()) / power
    first = min(max(first + 8 / len(residual), 0.0), 0.95)  # the fit removed some autocorrelation
    return float(np.sqrt((1 + first) / (1 - first)))


def _onset(values: Doubles, near: int, floor: float) -> int:
    """Return the row at which the change begins, given an approximate row."""
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
    """Find the first window of rows that ends after ``near`` and has a clearly changed mean, and return
    the end of the window after it. Return the number of rows if there is no such window."""
    width = max(len(scaled) // 64, 4)
    below = np.concatenate(([0.0], np.cumsum(scaled)))
    means = (below[width:] - below[:-width]) / width
    plain = np.flatnonzero(np.abs(means) >= _PLAIN)
    plain = plain[plain + width > near]
    return len(scaled) if not len(plain) else min(int(plain[0]) + 2 * width, len(scaled))


_GROWS: Final = 1.5  # factor on the usual size before from which a difference is larger
_LOG_FLOOR: Final = 0.05  # least noise assumed for the logarithm of sizes
_LEAST: Final = 0.3  # smallest lasting shift, in noise levels of a single row


def find_divergence(relative: Doubles, floor: float, poor: float = POOR) -> Change | None:
    """Return the change with which the differences ``relative`` [n] become larger, or None.

    Differences below ``floor`` are ignored. First the signed difference is searched for a shift or trend to
    one side. Then the logarithm of its size, which would hide a slow beginning, is searched for growth to
    both sides. A change towards zero is not a divergence. ``poor`` is passed to ``find_change`` for the
    growth.
    """
    signed = find_change(relative, floor)
    if signed is not None and _is_larger(relative, signed.onset, floor):
        return signed
    grown = find_change(np.log(np.maximum(np.abs(relative), floor)), _LOG_FLOOR, poor)
    if grown is not None and grown.shift > 0 and _is_larger(relative, grown.onset, floor):
        return grown
    return None


_NOISE_ROWS: Final = 24  # from which the noise nearby is estimated, at least
_NOISE_BLOCKS: Final = 32  # parts of a curve with a noise of their own, at most


def local_noise(values: Doubles) -> Doubles:
    """Return [n] the standard deviation of a curve's noise around each value, without the curve's trend.
    It is the largest of three neighbouring blocks, so that a beginning of noise is not taken for a
    difference. It is 0 for fewer than four values."""
    if len(values) < 4:
        return np.zeros(len(values))
    turns = np.abs(np.diff(values, 2)) / np.sqrt(6)  # of independent noise
    edges = np.linspace(0, len(turns), min(_NOISE_BLOCKS, max(len(turns) // _NOISE_ROWS, 1)) + 1)
    edges = edges.astype(np.int64)
    blocks = np.array([1.4826 * float(np.median(turns[a:b])) for a, b in pairwise(edges)])
    padded = np.pad(blocks, 1, mode="edge")
    largest = np.maximum(np.maximum(padded[:-2], padded[2:]), blocks)
    centres = (edges[:-1] + edges[1:] + 1) / 2
    return np.asarray(np.interp(np.arange(len(values)), centres, largest), np.float64)


def _divergence(values: Doubles, base: Doubles, floor: float) -> Change | None:
    """Return the change with which two curves begin to differ more, or None if their noise explains it.

    The noise of a falling curve is a growing share of the curve. Therefore a difference that only grows with
    the noise of both curves is no divergence: it must also grow in units of the local noise of the calmer
    curve.
    """
    relative = relative_to_nearby(values, base)
    change = find_divergence(relative, floor)
    if change is None:
        return None
    share = np.minimum(*_noise_shares(values, base, floor))
    weighted = np.clip(relative * (float(np.median(share)) / share), -_MOST, _MOST)
    judged = find_divergence(np.asarray(weighted, np.float64), floor, _POOR_GROWTH)
    return change if judged is not None else None


def _noise_shares(values: Doubles, base: Doubles, floor: float) -> tuple[Doubles, Doubles]:
    """Return [n] the noise of both curves nearby as shares of their size there. At least ``floor``."""
    unit = max(unit_of(values), unit_of(base))
    size = np.maximum(_size_of_both(values / unit, base / unit), 1e-300)
    mine, theirs = (np.maximum(local_noise(curve / unit) / size, floor) for curve in (values, base))
    return mine, theirs


def _is_larger(relative: Doubles, onset: int, floor: float) -> bool:
    """Return True if a difference is larger after an onset than before, in size or in its median."""
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
    "grows",
    "apart",
    "scaled",
    "differs",
    "returns",
    "noise",
    "no_steps",
    "no_finite",
    "agrees",
    "identical",
]
ORDER: Final[tuple[Verdict, ...]] = get_args(Verdict)

_BLOCKS: Final = 64  # blocks in which the usual size of a baseline is estimated
_NOISE_SHARE: Final = 0.01  # share of the tolerance below which a difference is rounding
_ROUNDING: Final = 1e-12  # relative difference that counts as none for a tolerance of 0
_MOST: Final = 1e6  # relative difference from which the baseline counts as 0
_PLAIN_CHANCE: Final = 1e-4  # probability from which a beginning is plain
_SELDOM: Final = 0.1  # share of equal steps after the first that differs up to which curves only cross
_LASTS: Final = 5  # steps beyond the tolerance before a divergence is claimed
_AGREES_AGAIN: Final = 16  # steps within the tolerance before a difference counts as over
_APART: Final = 0.5  # share of steps beyond the tolerance from which curves without an onset are apart
_CONSTANT: Final = 0.1  # share of the difference by which a constant factor varies at most
_FEWEST_FACTORS: Final = 3  # two steps have a common factor by chance more easily
_GROWTH_BLOCKS: Final = 8  # parts of a curve whose medians show growth
_ORDERED: Final = 0.9  # rank correlation of these with time: 1 in 400 random orders reaches it
_BEYOND: Final = 3.0  # noise levels from which a difference is none of the noise


@dataclass(frozen=True, slots=True)
class Growth:
    """Median differences of the first and of the last eighth of the common steps of growing curves."""

    first: int  # first and last step of the first eighth
    first_end: int
    early: float
    last_start: int  # first and last step of the last eighth
    last: int
    late: float


@dataclass(frozen=True, slots=True)
class Alignment:
    """Agreement of a curve with its baseline at the common steps."""

    verdict: Verdict
    shared: int  # number of common steps
    steps: int  # number of steps of either curve
    agrees_to: int | None = None  # last step before the first beyond the tolerance, None without one
    beyond: int | None = None  # first step beyond the tolerance, or broken
    broken: int | None = None  # first step with a non-finite value that is not the same in both
    broken_last: int | None = None  # last step with such a value
    broken_count: int = 0  # number of these steps
    broken_in: Literal["run", "baseline", "both"] | None = None  # which of them has such values
    last_beyond: int | None = None  # last step beyond the tolerance before a broken one
    over: int = 0  # number of steps beyond the tolerance before a broken one
    onset: int | None = None  # step at which the divergence begins
    score: float = 0.0  # size of the divergence in noise levels
    largest: float | None = None  # largest difference, None if no step has two finite values
    noise: float | None = None  # usual difference before the onset, or of all steps, None likewise
    typical: float | None = None  # median difference of all common steps, None likewise
    later: int | None = None  # step after a broken one from which the finite values diverge
    absolute: bool = False  # sizes are in the unit of the values, otherwise relative to the baseline
    factor: float | None = None  # of the values to those of the baseline, if it is the same at all steps
    growth: Growth | None = None


def align(steps: Ints, values: Floats, base_steps: Ints, base_values: Floats, tolerance: float) -> Alignment:
    """Compare a curve with its baseline at their common steps, and return where and how far they differ.
    Steps are ascending and unique. ``tolerance`` is relative to the baseline. The verdict is "no_steps"
    without a common step."""
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
        last = int(shared[-1])
        return Alignment(verdict, count, either, agrees_to=last, largest=size, noise=size, typical=size)
    broken = np.flatnonzero(~same & ~finite)
    end = int(broken[0]) if len(broken) else count
    rows = np.flatnonzero(finite[:end])
    facts = _broken(Alignment("agrees", count, either), shared, broken, left, right)
    judged = _judged(facts, shared, rows, left[rows], right[rows], tolerance)
    if not len(broken):
        return judged
    if judged.largest == 0:  # the curves are equal before the broken step, where no difference has a size
        judged = replace(judged, largest=None, noise=None, typical=None)
    rest = np.flatnonzero(finite)
    if len(rest) == len(rows):
        return judged
    whole = _judged(Alignment("agrees", count, either), shared, rest, left[rest], right[rest], tolerance)
    later = whole.onset if whole.verdict == "drifts" and (whole.onset or 0) > int(shared[end]) else None
    if later is None and judged.onset == judged.broken and broken[-1] < count - 1:
        judged = replace(judged, onset=None)  # what passes is no divergence
    return replace(judged, later=later, largest=whole.largest, typical=whole.typical, absolute=whole.absolute)


def _broken(
    facts: Alignment, shared: Ints, broken: npt.NDArray[np.intp], left: Doubles, right: Doubles
) -> Alignment:
    """Return ``facts`` with the steps, number and side of the non-finite values that the curves do
    not share."""
    if not len(broken):
        return facts
    mine, theirs = ((~np.isfinite(values[broken])).any() for values in (left, right))
    where: Literal["run", "baseline", "both"] = "both" if mine and theirs else "run" if mine else "baseline"
    first, last = int(shared[broken[0]]), int(shared[broken[-1]])
    return replace(facts, broken=first, broken_last=last, broken_count=len(broken), broken_in=where)


def _near(onset: int, beyond: int, count: int) -> int:
    """Return the row at which a divergence begins: the first beyond the tolerance, unless the onset is before
    it by more than a hundredth of all rows, as an onset is known no nearer."""
    return beyond if 0 <= beyond - onset <= max(2, count // 100) else onset


def _judged(
    facts: Alignment,
    shared: Ints,
    rows: npt.NDArray[np.intp],
    values: Doubles,
    base: Doubles,
    tolerance: float,
) -> Alignment:
    """Return ``facts`` with the verdict and the measures of the difference filled in. The curves are finite
    at ``rows`` [n] of ``shared``."""
    shares = np.abs(relative_to(values, base))
    absolute = bool(np.isinf(shares).any())
    sizes = np.abs(subtract(values, base)) if absolute else shares
    unit = unit_of(sizes)
    over = np.flatnonzero(shares > tolerance)
    beyond = int(shared[rows[over[0]]]) if len(over) else facts.broken
    before = shared[shared < beyond] if beyond is not None else shared
    typical = float(np.median(sizes / unit)) * unit if len(sizes) else None
    facts = replace(
        facts,
        agrees_to=int(before[-1]) if len(before) else None,
        beyond=beyond,
        last_beyond=int(shared[rows[over[-1]]]) if len(over) else None,
        over=len(over),
        largest=float(sizes.max()) if len(sizes) else None,
        noise=typical,
        typical=typical,
        absolute=absolute,
    )
    if facts.broken is None and (factor := _constant_factor(values, base, tolerance)) is not None:
        return replace(facts, verdict="scaled", factor=factor)
    floor = max(tolerance * _NOISE_SHARE, _ROUNDING)
    change = _divergence(values, base, floor) if len(over) else None
    start = _equal_start(shares, over, floor)
    if change is not None:
        onset = _first_differing(shares, change.onset, floor)
        change = replace(change, onset=onset if start is None else start)
    if change is not None and over[0] < max(change.onset, 1) <= _LASTS:
        change = None  # too few steps before it to say that it differs more than before
    if change is not None and _lasts(over, change.onset, len(rows), facts.broken is not None):
        noise = float(np.median(sizes[: max(change.onset, 1)]))
        step = int(shared[rows[_near(change.onset, int(over[0]), len(rows))]])
        verdict: Verdict = "drifts" if facts.broken is None else "not_finite"
        return replace(facts, verdict=verdict, onset=step, score=change.score, noise=noise)
    plain = start if start is not None else _plain_onset(shares, over, floor)
    if facts.broken is None and plain is not None and not _ended(over, len(rows)):
        noise = float(np.median(sizes[: max(plain, 1)]))
        step = int(shared[rows[_near(plain, int(over[0]), len(rows))]])
        return replace(facts, verdict="drifts", onset=step, noise=noise)
    if len(over) >= _APART * len(rows) and (row := _growth_start(values, base, floor)) is not None:
        growth, onset = _growth(shared[rows], sizes), int(shared[rows[row]])
        if facts.broken is not None:
            return replace(facts, verdict="not_finite", onset=onset)
        if growth.late > growth.early:  # not only as a share of the curves nearby
            return replace(facts, verdict="grows", onset=onset, growth=growth)
    if facts.broken is not None:
        return replace(facts, verdict="not_finite", onset=facts.broken)
    return replace(facts, verdict=_without_onset(over, len(rows), change is not None))


def _constant_factor(values: Doubles, base: Doubles, tolerance: float) -> float | None:
    """Return the factor of a curve to its baseline if it is constant and not just rounding, or None."""
    rows = (values != 0) | (base != 0)  # any factor of 0 is 0
    if rows.sum() < _FEWEST_FACTORS or not (base[rows] != 0).all():
        return None
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        factors = values[rows] / base[rows]
        factor = float(np.median(factors))
        if not np.isfinite(factors).all() or factor == 0 or not (np.abs(factors - 1) > tolerance).all():
            return None
        varies = float(np.abs(factors / factor - 1).max())
    apart = min(abs(factor - 1), abs(1 / factor - 1))  # the same from either side
    return factor if varies <= min(tolerance, _CONSTANT * apart) else None


def _growth_start(values: Doubles, base: Doubles, floor: float) -> int | None:
    """Return the row in the first half from which a growing difference exceeds the noise, or None. The
    difference must grow both as a share of the baseline and in units of the calmer curve's noise, because
    the noise of a falling curve is a growing share of the curve."""
    if len(values) < FEWEST:
        return None
    sizes = np.abs(relative_to_nearby(values, base))
    noises = _noise_shares(values, base, floor)
    medians, weighted = _block_medians(sizes), _block_medians(sizes / np.minimum(*noises))
    order = np.corrcoef(np.argsort(np.argsort(medians)), np.arange(len(medians)))[0, 1]
    if order < _ORDERED or any(course[-1] < _GROWS * course[0] for course in (medians, weighted)):
        return None
    beyond = sizes > _BEYOND * np.hypot(*noises)
    after = np.cumsum(beyond[::-1])[::-1] / np.arange(len(beyond), 0, -1)
    starts = np.flatnonzero((beyond & (after >= 1 - _SELDOM))[: len(beyond) // 2])
    return int(starts[0]) if len(starts) else None


def _block_medians(values: Doubles) -> Doubles:
    """Return the medians of blocks of nearly equal length."""
    edges = np.linspace(0, len(values), _GROWTH_BLOCKS + 1).astype(np.int64)
    return np.array([np.median(values[a:b]) for a, b in pairwise(edges)])


def _growth(steps: Ints, sizes: Doubles) -> Growth:
    """Return the median ``sizes`` [n] of differences in the first and in the last eighth of ``steps`` [n]."""
    edges = np.linspace(0, len(sizes), _GROWTH_BLOCKS + 1).astype(np.int64)
    first, last = slice(0, int(edges[1])), slice(int(edges[-2]), len(sizes))
    early, late = (float(np.median(sizes[rows])) for rows in (first, last))
    return Growth(int(steps[0]), int(steps[first][-1]), early, int(steps[last][0]), int(steps[-1]), late)


def _first_differing(shares: Doubles, onset: int, floor: float) -> int:
    """Return ``onset``, moved to the first row that differs if the curves are equal around it. ``shares``
    [n] are the sizes of the differences. If the curves are still equal at the onset, it moves forwards. If
    most rows before it are equal, it moves back to the first of the adjacent rows that differ."""
    differs = shares > floor
    if not differs[onset]:
        return onset + int(np.argmax(differs[onset:]))
    equal = np.flatnonzero(~differs[:onset])
    return int(equal[-1]) + 1 if 2 * len(equal) > onset else onset


def _plain_onset(sizes: Doubles, over: npt.NDArray[np.intp], floor: float) -> int | None:
    """Return the row from which curves that were equal keep differing, or None if that is unclear.

    ``sizes`` [n] are the sizes of the differences, and ``over`` are the rows where they exceed the tolerance.
    No template has to fit, because there is no noise: it suffices that so many rows before the onset are
    equal, or so few after it, that chance does not explain it.
    """
    count, equal = len(sizes), len(sizes) - len(over)
    if len(over) < _LASTS or count < FEWEST or not 0 < equal <= int((sizes <= floor).sum()):
        return None
    first = int(over[0])
    last = int(over[-1]) - int(np.argmax(np.diff(over, prepend=-2)[::-1] > 1))
    among = (len(over) - (count - last) + 1) / (last + 2)  # share of differing rows before the last ones
    if over[-1] == count - 1 and count - last >= _LASTS and among ** (count - last) < _PLAIN_CHANCE:
        return last
    return first if _begins_equal(count - first, equal - first, first) else None


def _equal_start(sizes: Doubles, over: npt.NDArray[np.intp], floor: float) -> int | None:
    """Return the first row that differs if all rows before it are equal, and hardly any after it, or None."""
    differs = np.flatnonzero(sizes > floor)
    if len(over) < _LASTS or len(sizes) < FEWEST:
        return None
    first = int(differs[0])
    rest, equal = len(sizes) - first, len(sizes) - first - len(differs)
    return first if equal <= _SELDOM * rest and _begins_equal(rest, equal, first) else None


def _begins_equal(rest: int, equal: int, first: int) -> bool:
    """Return True if it is no chance that the ``first`` rows are all equal, given ``equal`` rows among the
    ``rest``."""
    return bool(((equal + 1) / (rest + 2)) ** first < _PLAIN_CHANCE)


def _lasts(over: npt.NDArray[np.intp], onset: int, rows: int, broken: bool) -> bool:
    """Return True if a difference has not ended and is large at several steps (any if ``broken``) from
    ``onset``."""
    return not _ended(over, rows) and (broken or bool((over >= onset).sum() >= _LASTS))


def _ended(over: npt.NDArray[np.intp], rows: int) -> bool:
    """Return True if the curves agree after the last row of ``over``, for at least twice the longest gap
    between its rows."""
    agreeing = rows - 1 - int(over[-1])
    return agreeing >= max(_AGREES_AGAIN, 2 * int(np.diff(over).max(initial=1)))


def _without_onset(over: npt.NDArray[np.intp], rows: int, changes: bool) -> Verdict:
    """Return the verdict on a curve without a lasting divergence that exceeds the tolerance at the rows
    ``over``."""
    if not len(over):
        return "agrees"
    if rows < FEWEST:
        return "differs"
    if changes and _ended(over, rows) and len(over) >= _LASTS:
        return "returns"
    if len(over) >= _APART * rows:
        return "apart"
    return "differs" if over[-1] == rows - 1 else "noise"  # at the end, a divergence may just have begun


def relative_to_nearby(values: Doubles, base: Doubles) -> Doubles:
    """Return [n] ``values - base`` relative to the usual size of both curves nearby, always finite.
    `find_change` searches in this instead of in shares of ``|base|``, which are large near 0 even without
    a change, and which would make the verdict depend on which of two curves is the baseline."""
    if not len(base):
        return np.zeros(0)
    unit = max(unit_of(values), unit_of(base))
    apart = subtract(values / unit, base / unit)
    known = _size_of_both(values / unit, base / unit)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        share = np.where(apart == 0, 0.0, apart / known)
    return np.asarray(np.clip(np.nan_to_num(share), -_MOST, _MOST), np.float64)


def _size_of_both(values: Doubles, base: Doubles) -> Doubles:
    """Return [n] the geometric mean of the sizes of two curves nearby, which either of them may be."""
    ours, theirs = size_nearby(values), size_nearby(base)
    least = np.maximum(ours, theirs) / _MOST**2
    return np.asarray(np.sqrt(np.maximum(ours, least)) * np.sqrt(np.maximum(theirs, least)), np.float64)


def size_nearby(base: Doubles) -> Doubles:
    """Return [n] the larger of the magnitude of each value and the usual magnitude nearby. ``base`` is not
    empty."""
    size = np.abs(base)
    edges = np.linspace(0, len(base), min(_BLOCKS, len(base)) + 1).astype(np.int64)
    usual = [float(np.median(size[a:b])) for a, b in pairwise(edges)]
    nearby = np.interp(np.arange(len(base)), (edges[:-1] + edges[1:] - 1) / 2, usual)
    return np.maximum(size, nearby)
