"""Detection of outlier ranks among the curves of one job, by robust scales of their differences."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import NormalDist
from typing import Final

import numpy as np
import numpy.typing as npt

from mindinsight.server.claims import Claim
from mindinsight.server.curves.bands import (
    CELLS,
    FEWEST_STEPS,
    Cells,
    cells,
    column_medians,
    row_medians,
    rows_without_common_steps,
    spread_of,
)
from mindinsight.server.curves.equal_ranks import diverged_from_equal
from mindinsight.server.curves.missing_ranks import missing_ranks
from mindinsight.server.curves.overflow_safe import unit_of
from mindinsight.server.curves.rank_anomaly import (
    FEWEST_LASTING,
    CommonJump,
    RankOutlier,
    amount_claim,
    common_jump,
    growth,
    noisier_rows,
    outlier_claim,
    period_of,
    row_evidence,
    share_of,
)
from mindinsight.server.types import Doubles, Floats, Ints

# Thresholds without a reason of their own hold the promise of benchmarks/ranks.py: 1 % of false alarms.
CHANCE: Final = 0.002  # probability of a false alarm per job and kind, if differences were normal
_LEAST_NOISE: Final = 0.1  # units of the usual change: beside nearly equal ranks, any rank would be noisier
_LOWER_MEAN: Final = 0.4375  # mean of the lower 80 % of squared standard normal values


def median(values: Doubles) -> Doubles:
    """Return the median [c] over the curves with a value, NaN where fewer than two have one."""
    return np.where((~np.isnan(values)).sum(axis=0) >= 2, column_medians(values), np.nan)


def usual_change(raw: Doubles, size: Doubles) -> Doubles:
    """Return [r, c] the robust standard deviation of the differences ``raw`` [r, c], from their changes
    between columns. ``size`` [c] is the magnitude of the median curve.

    Level shifts cancel in changes. The estimate is pooled over ranks and about 25 columns. It is larger for a
    rank that is noisier than the others and where the median is larger (a step with a checkpoint). It is at
    least a thousandth of the step's ``size`` and 1.48 thousandths of the median size, which is scaled as in
    ``_typical``.
    """
    ranks, columns = raw.shape
    changes = np.abs(np.diff(raw, axis=1)) / np.sqrt(2)
    blocks = max(min(columns // 25, (ranks * columns) // 200), 1)
    edges = np.linspace(0, columns - 1, blocks + 1).astype(np.int64)
    pooled = np.array([_typical(changes[:, a:b].ravel()) for a, b in pairwise(edges)])
    centres = (edges[:-1] + edges[1:]) / 2
    unit = np.interp(np.arange(columns), centres, pooled)
    local = np.array([_typical(size[a : b + 1]) for a, b in pairwise(edges)])
    usual_size = np.maximum(np.interp(np.arange(columns), centres, local), 1e-300)
    known_size = np.where(np.isnan(size), usual_size, size)
    unit = unit * np.maximum(known_size / usual_size, 1.0)
    unit = np.maximum(unit, 1e-3 * np.maximum(known_size, usual_size))
    own = np.array([min(_typical(row), 1e9) for row in changes / np.maximum(unit[1:], 1e-300)])
    noisier = np.maximum(own / max(float(np.median(own)), _LEAST_NOISE), 1.0) if ranks > 2 else np.ones(ranks)
    step_spread = np.zeros(columns)
    if ranks >= 5:
        step_spread = np.nan_to_num(1.4826 * row_medians(np.abs(raw).T))
    return np.asarray(np.maximum(unit, step_spread) * noisier[:, None], np.float64)


def _typical(values: Doubles) -> float:
    """Return 1.4826 times the median of the values that are not NaN, or 0 without one."""
    finite = values[~np.isnan(values)]
    return 1.4826 * float(np.median(finite)) if len(finite) else 0.0


def cumulated(values: Doubles, edges: Ints) -> Doubles:
    """Return [r, b + 1] the sums of the columns of ``values`` [r, c] before each of ``edges`` [b + 1]."""
    below = np.zeros((len(values), len(edges)))
    below[:, 1:] = np.cumsum(np.add.reduceat(values, edges[:-1], axis=1), axis=1)
    return below


def inflation(sums: Doubles, counts: Doubles) -> float:
    """Return the variance of block means ``sums / counts`` as a multiple of that of independent steps. It
    is at least 1.0. Both are [ranks, blocks]. The values are in units of the usual change."""
    full = counts > 0
    means = np.where(full, sums / np.maximum(counts, 1.0), np.nan)
    changes = np.diff(means, axis=1) ** 2 / 2 * np.minimum(counts[:, 1:], counts[:, :-1])
    known = changes[~np.isnan(changes)]
    if not len(known):
        return 1.0
    independent = len(known) / (2 if len(sums) == 2 else 1)  # two ranks mirror each other
    lower = np.sort(known)[: max(round(0.8 * len(known)), 1)]  # the rest may contain a level shift
    variance = float(lower.mean()) / _LOWER_MEAN
    return max(variance * (1 + 1 / math.sqrt(independent)), 1.0)


def expected_largest(scaled: Doubles) -> tuple[float, float]:
    """Return two thresholds above which a difference is a spike, in the units of ``scaled`` [ranks, columns]:
    for a rank with one spike, and a lower one for a rank with several.

    Both are estimated from the tail of all differences. The tail is a power law through the 95th and 99th
    percentile of the median rank (Hill). Two ranks have one series of differences, which includes the spikes,
    so their limits are fixed.
    """
    ranks, columns = scaled.shape
    if ranks == 2:
        return 25.0, 10.0
    tails = np.sort(np.quantile(scaled, (0.95, 0.99), axis=1), axis=1)
    low, high = np.median(tails, axis=1)
    low, high = max(float(low), 2.0), max(float(high), 2.7)
    power = float(np.log(high / low) / np.log(5.0))
    number = 0.01 * ranks * columns
    with np.errstate(over="ignore"):  # the power of values that are 0 at nearly all steps is large
        once, often = (float(high * np.float64(number / chance) ** power) for chance in (CHANCE, 0.5))
    return max(1.5 * once, 8.0), max(min(1.5 * once, often), 8.0)


_BLOCKS: Final = 24  # blocks between which a lasting difference begins and ends
_MARGIN: Final = 1.3  # on the threshold: 1.0 gives false alarms, 1.6 misses drifts (benchmarks/ranks.py)
_LEAST_LASTING: Final = 0.02  # smallest lasting difference, as share of the median's size
_LEAST_SPIKE: Final = 0.2  # smallest spike, as share of the median's size
_NEAR: Final = 10  # columns on each side from which the usual value is estimated
_CLIP: Final = 6.0  # usual differences that one step counts at most in a lasting one
_FEW_RANKS: Final = 16  # limit up to which a rank is excluded from the median, which it would shift
_GOES_ON: Final = 0.5  # of a lasting difference, which is no longer one that has ended
_SPREAD: Final = 5.0  # smallest lasting difference, in usual lasting differences of all ranks


class Differences:
    """Differences [r, c] of curves from their median, in units of the usual change. NaN without a value."""

    def __init__(self, steps: Ints, values: Doubles) -> None:
        """Compute the differences of ``values`` [r, c] at ``steps`` [c]."""
        self.steps = steps
        self.values = values
        self.ranks, self.columns = values.shape
        self.median = median(values)
        self.size = np.abs(self.median)  # [c]
        self.raw = values - self.median
        self.unit = usual_change(self.raw, self.size)  # [r, c]
        self.scaled = self.raw / self.unit
        # [c] of two values, beside curves that have ended, neither can be called the odd one
        self.decided = (~np.isnan(values)).sum(axis=0) >= min(self.ranks, 3)

    def lasting(self) -> list[tuple[float, RankOutlier]]:
        """Return (score, anomaly) of each curve that differs in an interval, for the most significant one.
        Of two curves at most one is listed, because their difference belongs to both."""
        edges = np.unique(np.linspace(0, self.columns, min(_BLOCKS, self.columns // 2) + 1).astype(np.int64))
        there = ~np.isnan(self.scaled)
        clipped = np.clip(np.where(there, self.scaled, 0.0), -_CLIP, _CLIP)
        sums = cumulated(clipped, edges)
        counts = cumulated(there.astype(np.float64), edges)
        correlation = max(inflation(np.diff(sums[:, ::n]), np.diff(counts[:, ::n])) for n in (1, 2))
        best = np.zeros(self.ranks)
        interval = np.zeros((self.ranks, 2), np.int64)
        blocks = len(edges) - 1
        limit = -NormalDist().inv_cdf(CHANCE / (self.ranks * blocks * blocks)) * _MARGIN
        for first in range(blocks - 1):
            number = counts[:, first + 2 :] - counts[:, [first]]
            total = sums[:, first + 2 :] - sums[:, [first]]
            level = total / np.maximum(number, 1.0)
            if self.ranks > 2:  # the mean of skewed noise is not 0, but equal on all ranks
                level = level - np.median(level, axis=0)
            level = np.abs(level)
            usual = np.sort(level, axis=0)[(self.ranks - 1) // 2] if self.ranks > 2 else 0.0
            spread = _SPREAD * 1.4826 * usual
            score = level * np.sqrt(number / correlation) / limit
            score = np.where((level > spread) & (number > 1), score, 0.0)
            last = np.argmax(score, axis=1)
            top = score[np.arange(self.ranks), last]
            better = top > best
            best[better] = top[better]
            interval[better] = np.stack((np.full(self.ranks, first), last + first + 2), axis=1)[better]
        rows = np.flatnonzero(best > 1.0)
        if self.ranks == 2 and len(rows):
            rows = rows[:1]  # the difference of two curves belongs to both
        strays = []
        for row in rows.tolist():
            begin, end = (int(edges[number]) for number in interval[row])
            begin = self._onset(row, begin, end, int(edges[1]))
            if end < self.columns:
                tail = np.abs(sums[row, -1] - sums[row]) / np.sqrt(
                    np.maximum(counts[row, -1] - counts[row], 1)
                )
                again = bool(
                    (tail[(edges >= end) & (edges < edges[-2])] > limit * np.sqrt(correlation)).any()
                )
                end = self._end(row, begin, end, int(edges[1]))
                end = self.columns if self._goes_on(row, begin, end) else end
                begin = self._onset(row, begin, end, int(edges[1]))
            else:
                again = False
            if (stray := self._lasting(row, begin, end)) is not None:
                if again and self.ranks == 2:  # curves that cross do not agree
                    stray = replace(stray, last_step=None)
                strays.append((float(best[row]), stray))
        return strays

    def _goes_on(self, row: int, begin: int, end: int) -> bool:
        """Return True if a curve differs after ``end`` by more than half of what it did before, so that noise
        alone makes the difference clearest up to there."""
        parts = (slice(begin, end), slice(end, None))
        if any(np.isnan(self.raw[row, part]).all() for part in parts):
            return False
        before, after = (share_of(self.raw[row, part], self.median[part]) for part in parts)
        return before is not None and after is not None and after * np.sign(before) > _GOES_ON * abs(before)

    def _lasting(self, row: int, begin: int, end: int) -> RankOutlier | None:
        """Return the lasting difference of a rank between two columns, or None if it is too small. Columns
        at the ends with too few ranks to decide which rank is wrong are left out."""
        decided = np.flatnonzero(self.decided[begin:end])
        if not len(decided):
            return None
        begin, end = begin + int(decided[0]), begin + int(decided[-1]) + 1
        inside = slice(begin, end)
        others = np.delete(self.values[:, inside], row, axis=0) if self.ranks <= _FEW_RANKS else None
        centre = self.median[inside] if others is None else row_medians(others.T)
        difference = self.values[row, inside] - centre
        relative = share_of(difference, centre)
        if relative is not None and abs(relative) < _LEAST_LASTING:
            return None
        last = None if end == self.columns else int(self.steps[end - 1])
        grown = None
        if last is None and relative is not None:
            grown = growth(difference / np.maximum(np.abs(centre), 1e-300))
        other = 1 - row if self.ranks == 2 else None
        return RankOutlier(row, "lasting", int(self.steps[begin]), last, relative, end=grown, other=other)

    def _onset(self, row: int, begin: int, end: int, near: int) -> int:
        """Return the column near ``begin`` from which the difference is clearest."""
        clipped = np.clip(np.nan_to_num(self.scaled[row]), -_CLIP, _CLIP)
        candidates = np.arange(max(begin - near, 0), min(begin + 2 * near, end - 2))
        if not len(candidates):
            return begin
        below = np.concatenate(([0.0], np.cumsum(clipped)))
        return int(candidates[np.argmax(np.abs(below[end] - below[candidates]) / np.sqrt(end - candidates))])

    def _end(self, row: int, begin: int, end: int, near: int) -> int:
        """Return the column up to which the difference is clearest, near ``end``."""
        clipped = np.clip(np.nan_to_num(self.scaled[row]), -_CLIP, _CLIP)
        candidates = np.arange(max(end - near, begin + 2), min(end + near, self.columns - 1) + 1)
        if not len(candidates):
            return end
        below = np.concatenate(([0.0], np.cumsum(clipped)))
        sums = np.abs(below[candidates] - below[begin])
        return int(candidates[np.argmax(sums / np.sqrt(candidates - begin))])

    def spikes(self, lasting: list[RankOutlier]) -> list[tuple[float, RankOutlier]]:
        """Return (score, outlier) of each rank with spikes: steps at which its curve exceeds the expected.
        ``lasting`` differences are removed first."""
        raw = self.raw.copy()
        noise = np.ones((self.ranks, 1))
        for stray in lasting:
            begin, last = np.searchsorted(self.steps, (stray.step, stray.last_step or self.steps[-1]))
            for row in (stray.row,) if stray.other is None else (stray.row, stray.other):
                inside = (row, slice(int(begin), int(last) + 1))
                raw[inside] = _without_course(raw[inside], self.median[inside[1]])
                usual = float(np.nanmedian(np.abs(raw[inside] / self.unit[inside])))
                noise[row] = max(1.4826 * usual, 1.0)
        scaled = np.abs(np.nan_to_num(raw / self.unit / noise))
        limit, repeated = expected_largest(scaled)
        size = np.maximum(self.size, np.nanmedian(self.size))
        share = np.abs(np.nan_to_num(raw)) * (2 if self.ranks == 2 else 1) / np.maximum(size, 1e-300)
        high = (scaled > repeated) & (share > _LEAST_SPIKE) & self.decided
        begins = high & ~np.roll(high, 1, axis=1)
        begins[:, 0] = high[:, 0]
        strays = []
        for stray in self._short(high, {row for known in lasting for row in (known.row, known.other)}):
            there = (self.steps >= stray.step) & (self.steps <= (stray.last_step or self.steps[-1]))
            strays.append((float(scaled[stray.row, there].max()) / limit, stray))
            begins[stray.row] &= ~there
            high[stray.row] &= ~there
        for row in self._spikier(begins.sum(axis=1)):
            columns = np.flatnonzero(begins[row])
            worst = float(scaled[row].max(where=high[row], initial=0.0))
            if (worst > limit or len(columns) >= 3) and not self._mirrored(row, int(columns[0])):
                strays.append((worst / limit, self._spikes(row, columns)))
        return strays

    def _short(self, high: npt.NDArray[np.bool_], lasting: Collection[int | None]) -> Iterator[RankOutlier]:
        """Yield lasting differences that are too short for the search by blocks, of rows that are not in
        ``lasting``."""
        for row in np.flatnonzero(high.any(axis=1)).tolist():
            begin, end = self._longest(row, high[row])
            if row in lasting or end - begin < FEWEST_LASTING or self._mirrored(row, begin):
                continue
            if self._is_apart(row, begin, end) and (stray := self._lasting(row, begin, end)) is not None:
                yield stray

    def _is_apart(self, row: int, begin: int, end: int) -> bool:
        """Return True if a curve is `_SPREAD` times farther from the median than curves usually are."""
        levels = np.abs(row_medians(self.raw[:, begin:end]))
        known = np.sort(levels[~np.isnan(levels)])
        usual = known[(len(known) - 1) // 2] if self.ranks > 2 else 0.0
        return bool(levels[row] > _SPREAD * 1.4826 * usual)

    def _longest(self, row: int, high: npt.NDArray[np.bool_]) -> tuple[int, int]:
        """Return the longest interval of columns in which a curve is high on one side of the median."""
        side = np.where(high, np.sign(self.raw[row]), 0)
        edges = np.append(np.flatnonzero(np.diff(side, prepend=0)), len(side))
        lengths = [(int(b) - int(a) if side[a] else 0) for a, b in pairwise(edges)]
        if not lengths:
            return 0, 0
        longest = int(np.argmax(lengths))
        return int(edges[longest]), int(edges[longest]) + lengths[longest]

    def _spikier(self, counts: Ints) -> list[int]:
        """Return the rows with spikes. If most have some, only rows with significantly more than the
        median."""
        rows: list[int] = np.flatnonzero(counts).tolist()
        if self.ranks == 2 or 2 * len(rows) <= self.ranks:
            return rows
        usual = float(np.median(counts))
        return [row for row in rows if _chance_of_count(int(counts[row]), usual) < CHANCE / self.ranks]

    def _mirrored(self, row: int, column: int) -> bool:
        """Return True if there are two curves and the other one has the spike at ``column``."""
        if self.ranks > 2:
            return False
        near = self.values[:, max(column - _NEAR, 0) : column + _NEAR + 1]
        away = np.abs(self.values[:, column] - row_medians(near))
        return bool(away[1 - row] > away[row])

    def _spikes(self, row: int, columns: Ints) -> RankOutlier:
        """Return the spikes of one rank at the given columns, with their period if they are regular."""
        centre = self.values[1 - row, columns] if self.ranks == 2 else self.median[columns]
        with np.errstate(divide="ignore", over="ignore"):
            share = (self.values[row, columns] - centre) / np.abs(centre)
        period = period_of(self.steps[columns], float(np.median(np.diff(self.steps))))
        worst = float(share[np.argmax(np.abs(share))])
        largest = worst if math.isfinite(worst) else None
        return RankOutlier(
            row, "spikes", int(self.steps[columns[0]]), relative=largest, count=len(columns), period=period
        )


def _chance_of_count(count: int, usual: float) -> float:
    """Return the probability of at least ``count`` events where ``usual`` are expected (Poisson)."""
    terms = (usual**k / math.factorial(k) for k in range(min(count, 100)))
    return 1.0 - math.exp(-usual) * sum(terms)


def _without_course(raw: Doubles, median: Doubles) -> Doubles:
    """Return ``raw`` [n] minus its lasting difference: a constant, a share of the median, or its moving
    median. A value far from the constant but near the moving median is part of a ramp, not a spike. The
    reverse is a long plateau. At each step the smaller of both remainders is used."""
    constant = raw - np.nanmedian(raw)
    large = np.abs(median) > 1e-290  # of smaller ones a share may overflow
    share = raw - np.nanmedian(raw / np.where(large, median, np.nan)) * median if large.any() else constant
    fixed = share if np.nansum(np.abs(share)) < np.nansum(np.abs(constant)) else constant
    moving = raw - _moving_median(raw)
    return np.where(np.abs(moving) < np.abs(fixed), moving, fixed)


def _moving_median(values: Doubles) -> Doubles:
    """Return the centered moving median [n]. The window is smaller at both ends."""
    padded = np.pad(values, _NEAR, constant_values=np.nan)
    windows = np.lib.stride_tricks.sliding_window_view(padded, 2 * _NEAR + 1).copy()
    room = np.minimum(np.arange(len(values)), np.arange(len(values))[::-1])
    distance = np.abs(np.arange(-_NEAR, _NEAR + 1))
    windows[distance[None, :] > room[:, None]] = np.nan
    return row_medians(windows)


_SILENT_POINTS: Final = 10  # points that a silent rank misses at least
_SILENT_SHARE: Final = 0.05  # and as share of its points


@dataclass(frozen=True, slots=True)
class Judgement:
    """Outliers among curves, by row, and the rows that were compared with others."""

    strays: tuple[RankOutlier, ...] = ()
    compared: frozenset[int] = frozenset()  # rows with at least FEWEST_STEPS finite steps that others have
    spread: float = 0.0  # share by which the highest level is above the lowest; 0 for noise or an outlier
    noisier: frozenset[int] = frozenset()  # compared rows without an anomaly that fluctuate more than most
    elsewhere: frozenset[int] = frozenset()  # compared rows that have few steps in common with others

    def claims(
        self, ranks: Sequence[int | None], job: Sequence[int | None], left_out: int = 0
    ) -> list[Claim]:
        """Return the claims about the curves of ``ranks`` [r], and about the ranks of ``job`` without one.
        ``left_out`` is the number of runs that the server does not show."""
        claims = [outlier_claim(stray, ranks) for stray in self.strays]
        faulty = {row for stray in self.strays if not stray.shared for row in (stray.row, stray.other)}
        short = [row for row in range(len(ranks)) if row not in self.compared and row not in faulty]
        unknown = missing_ranks([rank for rank in job if rank is not None], 0, left_out)
        if short:
            facts = {"n": len(short), "fewest": FEWEST_STEPS}
            unknown.append(Claim("claim.rank.too_few", "unknown", facts, row_evidence(ranks, short)))
        if self.noisier:
            rows = sorted(self.noisier)
            facts = {"n": len(rows)}
            unknown.append(Claim("claim.rank.noisier", "unknown", facts, row_evidence(ranks, rows)))
        if len(job) > len(ranks):
            facts = {"n": len(job) - len(ranks), "total": len(job)}
            unknown.append(Claim("claim.rank.not_recorded", "unknown", facts))
        if not claims and self.spread:
            unknown.append(Claim("claim.rank.spread", "unknown", {"by": amount_claim(self.spread)}))
        if not claims and not unknown:
            claims = [Claim("claim.rank.alike", "clear", {"n": len(ranks)})]
        if self.elsewhere:
            rows = sorted(self.elsewhere)
            unknown.append(
                Claim("claim.rank.near_steps", "note", {"n": len(rows)}, row_evidence(ranks, rows))
            )
        return claims + unknown


def judge(curves: Sequence[tuple[Ints, Floats]]) -> Judgement:
    """Return the anomalies of ``curves`` (steps ascending, values), and the rows that could be compared.
    Empty for fewer than two curves."""
    alive = [row for row, (steps, _) in enumerate(curves) if len(steps)]
    if len(alive) < 2:
        return Judgement()
    longest = max(len(curves[row][0]) for row in alive)
    grid = cells(curves, max(FEWEST_STEPS, min(longest, CELLS // len(curves))))
    grid = replace(grid, mean=grid.mean / unit_of(grid.mean))  # only shares matter from here on
    all_strays = [*_non_finite(grid, curves), *_silent(curves, alive)]
    if len(grid.steps) >= FEWEST_STEPS:
        jump = common_jump(grid.mean)
        calm = grid if jump is None else _until(grid, jump.column)
        noisy = _different(calm) if len(calm.steps) >= FEWEST_STEPS // 2 else []
        all_strays += _merged(noisy, diverged_from_equal(curves, grid.mean))
        all_strays += _leaders(grid, jump, curves) if jump else []
    there = ~np.isnan(grid.mean)
    common = (there & (there.sum(axis=0) > 1)).sum(axis=1)
    compared = frozenset(np.flatnonzero(common >= FEWEST_STEPS).tolist())
    ordered = tuple(sorted(all_strays, key=lambda stray: (stray.row, stray.step)))
    odd = {row for stray in ordered if not stray.shared for row in (stray.row, stray.other)}
    noisier = (noisier_rows(grid.mean) & compared) - odd
    spread = None if odd else spread_of([curves[row] for row in sorted(compared)])
    elsewhere = compared & rows_without_common_steps([steps for steps, _ in curves])
    return Judgement(ordered, compared, spread.share if spread else 0.0, noisier, elsewhere)


def _until(grid: Cells, column: int) -> Cells:
    """Return a grid with the steps and means of the columns before one of them."""
    return replace(grid, steps=grid.steps[:column], mean=grid.mean[:, :column])


def _leaders(grid: Cells, jump: CommonJump, curves: Sequence[tuple[Ints, Floats]]) -> Iterator[RankOutlier]:
    """Yield the curves that jump before the others, at the step of their largest value in that column."""
    others = np.delete(grid.mean[:, jump.column], jump.leaders)
    centre = float(np.nanmedian(others)) if not np.isnan(others).all() else math.nan
    for row in jump.leaders:
        (steps, values), begin = curves[row], int(grid.steps[jump.column])
        inside = np.flatnonzero((steps >= begin) & np.isfinite(values))
        last = grid.steps[jump.column + 1] if jump.column + 1 < len(grid.steps) else math.inf
        inside = inside[steps[inside] < last]
        step = int(steps[inside[np.argmax(np.abs(values[inside]))]]) if len(inside) else begin
        share = float(grid.mean[row, jump.column]) / centre - 1 if centre else math.nan
        relative = share if math.isfinite(share) else None
        followers, followed = len(curves) - len(jump.leaders), int(grid.steps[jump.followed])
        yield RankOutlier(row, "spikes", step, relative=relative, followers=followers, followed=followed)


def _merged(noisy: list[RankOutlier], equal: list[RankOutlier]) -> list[RankOutlier]:
    """Return the anomalies of both searches, one per row, where lasting ones of equal curves take
    precedence."""
    lasting = {row for outlier in equal if outlier.kind == "lasting" for row in (outlier.row, outlier.other)}
    noisy = [outlier for outlier in noisy if outlier.row not in lasting]
    rows = {outlier.row for outlier in noisy}
    return noisy + [outlier for outlier in equal if outlier.row not in rows]


def find_outliers(curves: Sequence[tuple[Ints, Floats]]) -> list[RankOutlier]:
    """Return the outlier ranks among ``curves`` (steps ascending, values), by row, [] for fewer than two.
    An anomaly that most of the curves have makes no rank an outlier."""
    return [stray for stray in judge(curves).strays if not stray.shared]


def _non_finite(grid: Cells, curves: Sequence[tuple[Ints, Floats]]) -> list[RankOutlier]:
    """Return the ranks with non-finite values. Columns that at most half of the ranks share take
    precedence. A rank that is followed by others counts with all its values, because one cause may be
    behind all of them."""
    bad = grid.bad > 0
    present = bad | ~np.isnan(grid.mean)
    alone = bad & (bad.sum(axis=0) * 2 <= present.sum(axis=0))
    broken = []
    rows = np.flatnonzero(bad.any(axis=1)).tolist()
    firsts = np.array([int(curves[row][0][np.argmin(np.isfinite(curves[row][1]))]) for row in rows])
    for row in rows:
        shared = not alone[row].any()
        columns = (bad if shared else alone)[row]
        steps, values = curves[row]
        inside = np.flatnonzero((steps >= grid.steps[np.argmax(columns)]) & ~np.isfinite(values))
        step = int(steps[inside[0]]) if len(inside) else int(grid.steps[np.argmax(columns)])
        count = int(grid.bad[row][columns].sum())
        outlier = RankOutlier(row, "not_finite", step, count=count, shared=shared)
        later = firsts[firsts > step]
        if not shared and len(later) and (bad & ~alone)[row].any() and step == firsts[rows.index(row)]:
            count = int(grid.bad[row].sum())
            outlier = replace(outlier, count=count, followers=len(later), followed=int(later.max()))
        broken.append(outlier)
    return broken


def _silent(curves: Sequence[tuple[Ints, Floats]], alive: list[int]) -> list[RankOutlier]:
    """Return the ranks that stopped while at least half of the ranks, or the other one of two, continued."""
    ends = np.array([int(curves[row][0][-1]) for row in alive])
    front = int(np.sort(ends)[len(ends) // 2])
    return [
        RankOutlier(row, "silent", end)
        for row, end in zip(alive, ends.tolist(), strict=True)
        if _is_far(front - end, curves[row][0])
    ]


def _is_far(steps: int, of_rank: Ints) -> bool:
    """Return True if a lag in steps exceeds the usual one: both a number of points and a share of the rank's
    points."""
    usual = float(np.median(np.diff(of_rank.astype(np.float64)))) if len(of_rank) > 1 else 1.0
    return steps / max(usual, 1.0) > max(_SILENT_POINTS, _SILENT_SHARE * len(of_rank))


def rows_of_other_steps(curves: Sequence[Ints]) -> list[int]:
    """Return the rows of curves that begin much later or end much later than most. The list is empty for
    fewer than three curves with steps."""
    alive = [row for row, steps in enumerate(curves) if len(steps)]
    if len(alive) < 3:
        return []
    begin = int(np.sort([int(curves[row][0]) for row in alive])[(len(alive) - 1) // 2])
    end = int(np.sort([int(curves[row][-1]) for row in alive])[len(alive) // 2])
    return [
        row
        for row in alive
        if _is_far(max(int(curves[row][0]) - begin, int(curves[row][-1]) - end), curves[row])
    ]


def _different(grid: Cells) -> list[RankOutlier]:
    """Return the ranks with lasting differences or spikes.

    An outlier among few ranks shifts their median. Therefore the clearest outlier is removed until none is
    left, and each removed rank is then compared with the rest. If the rest is less than half of the ranks, a
    rank is an outlier only if all others agree.
    """
    rows = np.flatnonzero((~np.isnan(grid.mean)).sum(axis=1) >= FEWEST_STEPS // 2)
    if len(rows) > _FEW_RANKS:
        return _of_rows(grid, rows)
    first: dict[int, list[RankOutlier]] = {}
    every = rows
    while len(rows) >= 2 and (remaining := _of_rows(grid, rows)):
        row = remaining[0].row
        first[row] = [stray for stray in remaining if stray.row == row]
        rows = rows[rows != row]
    if len(first) < 2:
        return [stray for some in first.values() for stray in some]
    if len(rows) > 1 and 2 * len(rows) >= len(every):
        return [stray for row in first for stray in _of_rows(grid, np.append(rows, row)) if stray.row == row]
    return [stray for stray in _of_rows(grid, every) if _agree(grid, every[every != stray.row], stray)]


def _agree(grid: Cells, rows: Ints, outlier: RankOutlier) -> bool:
    """Return True if the curves of ``rows`` agree with each other during an outlier."""
    there = grid.steps >= outlier.step
    if outlier.kind == "lasting":
        there &= grid.steps <= (grid.steps[-1] if outlier.last_step is None else outlier.last_step)
    else:  # spikes lie apart from each other
        there = np.ones(len(grid.steps), np.bool_)
    some = Differences(grid.steps[there], grid.mean[rows][:, there])
    return int(there.sum()) >= FEWEST_STEPS and not some.lasting() and not some.spikes([])


def _of_rows(grid: Cells, rows: Ints) -> list[RankOutlier]:
    """Return the anomalies among some of the curves, the clearest first."""
    differences = Differences(grid.steps, grid.mean[rows])
    lasting = differences.lasting()
    spikes = differences.spikes([stray for _, stray in lasting])
    ordered = sorted([*lasting, *spikes], key=lambda scored: -scored[0])
    others = (None if stray.other is None else int(rows[stray.other]) for _, stray in ordered)
    return [
        replace(stray, row=int(rows[stray.row]), other=other)
        for (_, stray), other in zip(ordered, others, strict=True)
    ]
