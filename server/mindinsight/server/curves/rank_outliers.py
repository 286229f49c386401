"""Outlier detection among the curves of one job's ranks, by robust scales of their differences."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import NormalDist
from typing import Any, Final, Literal, TypeAlias

import numpy as np

from mindinsight.server.claims import Claim
from mindinsight.server.curves.bands import Cells, cells
from mindinsight.server.curves.overflow_safe import unit_of
from mindinsight.server.types import Doubles, Floats, Ints

CHANCE: Final = 0.002  # of a false alarm per job and kind, if differences were normal
_LOWER_MEAN: Final = 0.4375  # of the lower 80 % of squared standard normal values


def median(values: Doubles) -> Doubles:
    """[c] median over the curves that have a value; NaN where fewer than two have."""
    ordered = np.sort(values, axis=0)  # NaN comes last
    count = (~np.isnan(values)).sum(axis=0)
    columns = np.arange(values.shape[1])
    low = ordered[np.maximum(count - 1, 0) // 2, columns]
    high = ordered[np.minimum(count // 2, len(values) - 1), columns]
    return np.where(count >= 2, (low + high) / 2, np.nan)


def usual_change(raw: Doubles, size: Doubles) -> Doubles:
    """[r, c] robust standard deviation of the differences, by their changes from column to column.

    Level shifts cancel in changes. It is pooled over ranks and about 25 columns, larger for a rank that is
    noisier than the others, larger where the median is (a step with a checkpoint), and at least a thousandth
    of the step's own ``size`` and 1.48 thousandths of the median one, which is scaled as in ``_typical``.
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
    own = np.array([_typical(row) for row in changes / np.maximum(unit[1:], 1e-300)])
    noisier = np.maximum(own / max(float(np.median(own)), 1e-300), 1.0) if ranks > 2 else np.ones(ranks)
    step_spread = np.zeros(columns)
    if ranks >= 5:
        step_spread = np.nan_to_num(1.4826 * row_medians(np.abs(raw).T))
    return np.asarray(np.maximum(unit, step_spread) * noisier[:, None], np.float64)


def _typical(values: Doubles) -> float:
    """1.4826 times the median of what is finite; 0 where nothing is."""
    finite = values[~np.isnan(values)]
    return 1.4826 * float(np.median(finite)) if len(finite) else 0.0


def row_medians(values: Doubles) -> Doubles:
    """[r] median of each row; NaN where it holds nothing."""
    return np.asarray(_median_or_nan(values), np.float64)


def _median_or_nan(values: Doubles) -> Doubles:
    ordered = np.sort(values, axis=1)
    count = (~np.isnan(values)).sum(axis=1)
    rows = np.arange(len(values))
    low = ordered[rows, np.maximum(count - 1, 0) // 2]
    high = ordered[rows, np.minimum(count // 2, max(values.shape[1] - 1, 0))]
    return np.where(count > 0, (low + high) / 2, np.nan)


def cumulated(values: Doubles, edges: Ints) -> Doubles:
    """[r, b + 1] sums of the columns below each edge."""
    below = np.zeros((len(values), len(edges)))
    below[:, 1:] = np.cumsum(np.add.reduceat(values, edges[:-1], axis=1), axis=1)
    return below


def inflation(sums: Doubles, counts: Doubles) -> float:
    """How many times larger the variance of block means is than that of independent steps; at least 1."""
    full = counts > 0
    means = np.where(full, sums / np.maximum(counts, 1.0), np.nan)
    changes = np.diff(means, axis=1) ** 2 / 2 * np.minimum(counts[:, 1:], counts[:, :-1])
    known = changes[~np.isnan(changes)]
    if not len(known):
        return 1.0
    independent = len(known) / (2 if len(sums) == 2 else 1)  # of two ranks one mirrors the other
    lower = np.sort(known)[: max(round(0.8 * len(known)), 1)]  # a level shift is in the rest
    variance = float(lower.mean()) / _LOWER_MEAN
    return max(variance * (1 + 1 / math.sqrt(independent)), 1.0)


def expected_largest(scaled: Doubles) -> tuple[float, float]:
    """Limits for one spike, and for each of several of one rank, from the tail of all differences.

    A power law through the 95th and 99th percentile of the ranks' median (Hill), extended to one in so many
    differences. Two ranks have one series of differences, spikes among them: its limits are fixed.
    """
    ranks, columns = scaled.shape
    if ranks == 2:
        return 25.0, 10.0
    tails = np.sort(np.quantile(scaled, (0.95, 0.99), axis=1), axis=1)
    low, high = np.median(tails, axis=1)
    low, high = max(float(low), 2.0), max(float(high), 2.7)
    power = float(np.log(high / low) / np.log(5.0))
    number = 0.01 * ranks * columns
    limit = 1.5 * high * (number / CHANCE) ** power
    return max(limit, 8.0), max(min(limit, high * (number / 0.5) ** power), 8.0)


StrayKind: TypeAlias = Literal["not_finite", "silent", "lasting", "spikes"]

_BLOCKS: Final = 24
_MARGIN: Final = 1.3  # on the threshold: scales are estimates
_LEAST_LASTING: Final = 0.02  # share of the median's size
_LEAST_SPIKE: Final = 0.2  # share of the median's size
_NEAR: Final = 10  # columns to each side that say what is usual there
_CLIP: Final = 6.0  # usual differences that one step counts at most in a lasting one
_FEW_RANKS: Final = 16  # up to which a rank is compared with the others' median: its own value would shift it
_SPREAD: Final = 5.0  # times the usual lasting difference of all ranks


@dataclass(frozen=True, slots=True)
class Stray:
    """What is wrong with one curve."""

    row: int  # number of the curve
    kind: StrayKind
    step: int  # at which it begins
    last_step: int | None = None  # lasting: at which it ended; None while it goes on
    relative: float | None = (
        None  # lasting and spikes: mean or largest difference, as share of the median's size
    )
    count: int = 1  # spikes, or steps that are not finite
    period: int | None = None  # spikes: steps from one to the next, where they come regularly
    other: int | None = None  # lasting, of two curves: the other one; which of the two is wrong is unknown


class Differences:
    """Differences [r, c] of curves from their median, in units of the usual change; NaN where none is."""

    def __init__(self, steps: Ints, values: Doubles) -> None:
        self.steps = steps
        self.values = values
        self.ranks, self.columns = values.shape
        self.median = median(values)
        self.size = np.abs(self.median)  # [c]
        self.raw = values - self.median
        self.unit = usual_change(self.raw, self.size)  # [r, c]
        self.scaled = self.raw / self.unit

    def lasting(self) -> list[tuple[float, Stray]]:
        """Stretches over which a curve differs, one for each curve at most, with how surely."""
        edges = np.unique(np.linspace(0, self.columns, min(_BLOCKS, self.columns // 2) + 1).astype(np.int64))
        there = ~np.isnan(self.scaled)
        clipped = np.clip(np.where(there, self.scaled, 0.0), -_CLIP, _CLIP)
        sums = cumulated(clipped, edges)
        counts = cumulated(there.astype(np.float64), edges)
        correlation = max(inflation(np.diff(sums[:, ::n]), np.diff(counts[:, ::n])) for n in (1, 2))
        best = np.zeros(self.ranks)
        stretch = np.zeros((self.ranks, 2), np.int64)
        blocks = len(edges) - 1
        limit = -NormalDist().inv_cdf(CHANCE / (self.ranks * blocks * blocks)) * _MARGIN
        for first in range(blocks - 1):
            number = counts[:, first + 2 :] - counts[:, [first]]
            total = sums[:, first + 2 :] - sums[:, [first]]
            level = total / np.maximum(number, 1.0)
            if self.ranks > 2:  # skewed noise has a mean of its own, alike on all ranks
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
            stretch[better] = np.stack((np.full(self.ranks, first), last + first + 2), axis=1)[better]
        rows = np.flatnonzero(best > 1.0)
        if self.ranks == 2 and len(rows):
            rows = rows[:1]  # a difference of two has no side
        strays = []
        for row in rows.tolist():
            begin, end = (int(edges[number]) for number in stretch[row])
            begin = self._onset(row, begin, end, int(edges[1]))
            end = self._end(row, begin, end, int(edges[1]))
            if (stray := self._lasting(row, begin, end)) is not None:
                strays.append((float(best[row]), stray))
        return strays

    def _lasting(self, row: int, begin: int, end: int) -> Stray | None:
        inside = slice(begin, end)
        others = np.delete(self.values[:, inside], row, axis=0) if self.ranks <= _FEW_RANKS else None
        centre = self.median[inside] if others is None else row_medians(others.T)
        size = max(float(np.nanmean(np.abs(centre))), 1e-300)
        relative = float(np.nanmedian(self.values[row, inside] - centre)) / size
        if abs(relative) < _LEAST_LASTING:
            return None
        last = None if end == self.columns else int(self.steps[end - 1])
        other = 1 - row if self.ranks == 2 else None
        return Stray(row, "lasting", int(self.steps[begin]), last, relative, other=other)

    def _onset(self, row: int, begin: int, end: int, near: int) -> int:
        """The column from which on the difference is clearest, near ``begin``."""
        clipped = np.clip(np.nan_to_num(self.scaled[row]), -_CLIP, _CLIP)
        candidates = np.arange(max(begin - near, 0), min(begin + near + 1, end - 2))
        if not len(candidates):
            return begin
        below = np.concatenate(([0.0], np.cumsum(clipped)))
        return int(candidates[np.argmax(np.abs(below[end] - below[candidates]) / np.sqrt(end - candidates))])

    def _end(self, row: int, begin: int, end: int, near: int) -> int:
        """Return the column before which the difference is clearest, near ``end``."""
        candidates = np.arange(max(end - near, begin + 2), min(end + near, self.columns) + 1)
        if end == self.columns or not len(candidates):
            return end
        clipped = np.clip(np.nan_to_num(self.scaled[row]), -_CLIP, _CLIP)
        sums = np.concatenate(([0.0], np.cumsum(clipped)))
        sizes = np.abs(sums[candidates] - sums[begin]) / np.sqrt(candidates - begin)
        return int(candidates[np.argmax(sizes)])

    def spikes(self, lasting: list[Stray]) -> list[tuple[float, Stray]]:
        """Single steps, or few in a row, at which a curve is beyond what may be expected of the others."""
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
        high = (scaled > repeated) & (share > _LEAST_SPIKE)
        strays = []
        for row in np.flatnonzero(high.any(axis=1)).tolist():
            columns = np.flatnonzero(high[row])
            columns = columns[np.diff(columns, prepend=-2) > 1]
            worst = float(scaled[row].max(where=high[row], initial=0.0))
            if (worst > limit or len(columns) >= 3) and not self._mirrored(row, int(columns[0])):
                strays.append((worst / limit, self._spikes(row, columns)))
        return strays

    def _mirrored(self, row: int, column: int) -> bool:
        """Of two curves: whether it is the other one that left its course."""
        if self.ranks > 2:
            return False
        near = self.values[:, max(column - _NEAR, 0) : column + _NEAR + 1]
        away = np.abs(self.values[:, column] - row_medians(near))
        return bool(away[1 - row] > away[row])

    def _spikes(self, row: int, columns: Ints) -> Stray:
        centre = self.values[1 - row, columns] if self.ranks == 2 else self.median[columns]
        share = (self.values[row, columns] - centre) / np.maximum(np.abs(centre), 1e-300)
        period = None
        if len(columns) >= 3:
            gaps = np.diff(self.steps[columns].astype(np.float64))
            usual = float(np.median(gaps))
            multiples = np.maximum(np.round(gaps / usual), 1)
            if bool(np.all(np.abs(gaps / multiples - usual) <= max(0.1 * usual, 1.0))):
                period = round(usual)
        largest = float(share[np.argmax(np.abs(share))])
        return Stray(
            row, "spikes", int(self.steps[columns[0]]), relative=largest, count=len(columns), period=period
        )


def _without_course(raw: Doubles, median: Doubles) -> Doubles:
    """``raw`` [n] less a lasting difference: a constant or a share of the median, or its moving median.

    What is far from the constant and near the moving median is part of a ramp, and no spike; the other way
    around it is a long plateau. Of both rests the smaller one counts at each step.
    """
    constant = raw - np.nanmedian(raw)
    share = (
        raw - np.nanmedian(raw / np.where(median == 0, np.nan, median)) * median if median.any() else constant
    )
    fixed = share if np.nansum(np.abs(share)) < np.nansum(np.abs(constant)) else constant
    moving = raw - _moving_median(raw)
    return np.where(np.abs(moving) < np.abs(fixed), moving, fixed)


def _moving_median(values: Doubles) -> Doubles:
    """[n] median of the columns around each, as many before as behind it: at the ends fewer."""
    padded = np.pad(values, _NEAR, constant_values=np.nan)
    windows = np.lib.stride_tricks.sliding_window_view(padded, 2 * _NEAR + 1).copy()
    room = np.minimum(np.arange(len(values)), np.arange(len(values))[::-1])
    distance = np.abs(np.arange(-_NEAR, _NEAR + 1))
    windows[distance[None, :] > room[:, None]] = np.nan
    return row_medians(windows)


_CELLS: Final = 2_000_000  # ranks x columns that are looked at: half a second
FEWEST_STEPS: Final = 16  # below which only NaN and silence are said
_SILENT_POINTS: Final = 10
_SILENT_SHARE: Final = 0.05  # of a rank's points
_SPREAD_NOISE: Final = 20.0  # standard errors of a median: steps are not independent
_NO_SHARE: Final = 1e9  # times the median, from which on it counts as 0
_PLENTY: Final = 10  # times the median, from which on percent are hard to read
_GAPS: Final = 8  # of missing ranks that are named; the count tells how many there are


@dataclass(frozen=True, slots=True)
class Judgement:
    """What is wrong with curves, by row, and which of them were compared with others."""

    strays: tuple[Stray, ...] = ()
    compared: frozenset[int] = frozenset()  # rows with at least FEWEST_STEPS finite steps that others have
    spread: float = (
        0.0  # lasting difference of the lowest and the highest, as share of the median; 0 for noise
    )

    def claims(self, ranks: Sequence[int | None], job: Sequence[int | None]) -> list[Claim]:
        """Return what is known of ``ranks`` [r], whose curves these are, of the ranks of ``job``."""
        claims = [stray_claim(stray, ranks) for stray in self.strays]
        faulty = {row for stray in self.strays for row in (stray.row, stray.other)}
        short = [row for row in range(len(ranks)) if row not in self.compared and row not in faulty]
        unknown = missing_ranks([rank for rank in job if rank is not None])
        if short:
            facts = {"n": len(short), "fewest": FEWEST_STEPS}
            unknown.append(Claim("claim.rank.too_few", "unknown", facts, _evidence(ranks, short)))
        if len(job) > len(ranks):
            facts = {"n": len(job) - len(ranks), "total": len(job)}
            unknown.append(Claim("claim.rank.not_recorded", "unknown", facts))
        if not claims and self.spread:
            unknown.append(Claim("claim.rank.spread", "unknown", {"by": _amount(self.spread)}))
        if not claims and not unknown:
            return [Claim("claim.rank.alike", "clear", {"n": len(ranks)})]
        return claims + unknown


def _evidence(ranks: Sequence[int | None], rows: Sequence[int]) -> tuple[dict[str, Any], ...]:
    return tuple({"row": row, "rank": ranks[row]} for row in rows)


def stray_claim(stray: Stray, ranks: Sequence[int | None] = ()) -> Claim:
    """Return the claim about one curve, or about two that differ from each other."""
    rows = [stray.row] if stray.other is None else [stray.row, stray.other]
    evidence = _evidence(ranks, rows) if ranks else ()
    facts: dict[str, Any] = {"step": stray.step}
    if stray.relative is not None:
        facts["by"] = _amount(stray.relative)
    if stray.kind == "lasting":
        ended = stray.last_step is not None
        facts |= {"last": stray.last_step} if ended else {}
        name = "pair" if stray.other is not None else "differs"
        return Claim(f"claim.rank.{name}_until" if ended else f"claim.rank.{name}", "found", facts, evidence)
    if stray.kind == "silent":
        return Claim("claim.rank.silent", "found", facts, evidence)
    facts["n"] = stray.count
    if stray.kind == "not_finite":
        return Claim("claim.rank.non_finite", "found", facts, evidence)
    if stray.period is not None:
        return Claim("claim.rank.spikes_every", "found", {**facts, "period": stray.period}, evidence)
    return Claim("claim.rank.spikes", "found", facts, evidence)


def _amount(relative: float) -> Claim:
    """Return a share of the median as part of a claim: in percent, or how many times the median it is."""
    if abs(relative) >= _NO_SHARE:
        return Claim("claim.part.rank_from_zero", "note")
    if relative >= _PLENTY:
        return Claim("claim.part.rank_times", "note", {"times": float(f"{1 + relative:.2g}")})
    name = "claim.part.rank_less" if relative < 0 else "claim.part.rank_more"
    return Claim(name, "note", {"percent": float(f"{100 * abs(relative):.2g}")})


def missing_ranks(ranks: Collection[int], recorded: int = 0) -> list[Claim]:
    """Return the claim that ranks have no data, up to the highest or to the number that was ``recorded``."""
    total = max([recorded, *(rank + 1 for rank in ranks)], default=0)
    count = total - len(set(ranks))
    if not ranks or not count:
        return []
    facts = {"n": count, "total": total, "ranks": _gaps(sorted(set(ranks)), total)}
    return [Claim("claim.health.missing_ranks", "unknown", facts)]


def _gaps(numbers: Sequence[int], total: int) -> list[str]:
    """Return the first gaps below ``total`` between ascending numbers: "3" or "5–7", with "…" for more."""
    gaps = [(a + 1, b - 1) for a, b in pairwise([-1, *numbers, total]) if b - a > 1]
    names = [str(first) if first == last else f"{first}–{last}" for first, last in gaps]
    return names if len(names) <= _GAPS else [*names[:_GAPS], "…"]


def judge(curves: Sequence[tuple[Ints, Floats]]) -> Judgement:
    """Return what is wrong with ``curves`` (ascending steps, values); nothing is known of fewer than two."""
    alive = [row for row, (steps, _) in enumerate(curves) if len(steps)]
    if len(alive) < 2:
        return Judgement()
    longest = max(len(curves[row][0]) for row in alive)
    grid = cells(curves, max(FEWEST_STEPS, min(longest, _CELLS // len(curves))))
    grid = replace(grid, mean=grid.mean / unit_of(grid.mean))  # what follows is about shares
    all_strays = [*_not_finite(grid, curves), *_silent(curves, alive)]
    if len(grid.steps) >= FEWEST_STEPS:
        all_strays += _different(grid)
    there = ~np.isnan(grid.mean)
    common = (there & (there.sum(axis=0) > 1)).sum(axis=1)
    compared = frozenset(np.flatnonzero(common >= FEWEST_STEPS).tolist())
    ordered = tuple(sorted(all_strays, key=lambda stray: (stray.row, stray.step)))
    return Judgement(ordered, compared, 0.0 if ordered else _spread(grid.mean[sorted(compared)]))


def _spread(values: Doubles) -> float:
    """Lasting difference of the highest and the lowest of curves [r, c], as share of the median; 0 for noise.

    Of two groups of equal size none is an outlier, although they differ from each other.
    """
    if len(values) < 3:
        return 0.0
    middle = median(values)
    apart = values - middle
    offsets = row_medians(apart)
    noise = 1.4826 * float(np.nanmedian(np.abs(apart - offsets[:, None]))) / math.sqrt(values.shape[1])
    spread = float(np.nanmax(offsets) - np.nanmin(offsets))
    size = max(float(np.nanmedian(np.abs(middle))), 1e-300)
    return spread / size if spread > max(_LEAST_LASTING * size, _SPREAD_NOISE * noise) else 0.0


def strays(curves: Sequence[tuple[Ints, Floats]]) -> list[Stray]:
    """Return all that is wrong with ``curves`` (ascending steps, values), by row."""
    return list(judge(curves).strays)


def _not_finite(grid: Cells, curves: Sequence[tuple[Ints, Floats]]) -> list[Stray]:
    """Curves that are not finite where most others are; values that are so in most of them do not count."""
    bad = grid.bad > 0
    present = bad | ~np.isnan(grid.mean)
    alone = bad & (bad.sum(axis=0) * 2 <= present.sum(axis=0))
    broken = []
    for row in np.flatnonzero(alone.any(axis=1)).tolist():
        steps, values = curves[row]
        inside = np.flatnonzero((steps >= grid.steps[np.argmax(alone[row])]) & ~np.isfinite(values))
        step = int(steps[inside[0]]) if len(inside) else int(grid.steps[np.argmax(alone[row])])
        broken.append(Stray(row, "not_finite", step, count=int(grid.bad[row][alone[row]].sum())))
    return broken


def _silent(curves: Sequence[tuple[Ints, Floats]], alive: list[int]) -> list[Stray]:
    """Ranks that stopped while at least one half of them, or the other of two, went on."""
    ends = np.array([int(curves[row][0][-1]) for row in alive])
    front = int(np.sort(ends)[len(ends) // 2])
    silent = []
    for row, end in zip(alive, ends.tolist(), strict=True):
        steps = curves[row][0]
        usual = float(np.median(np.diff(steps.astype(np.float64)))) if len(steps) > 1 else 1.0
        missed = (front - end) / max(usual, 1.0)
        if missed > max(_SILENT_POINTS, _SILENT_SHARE * len(steps)):
            silent.append(Stray(row, "silent", end))
    return silent


def _different(grid: Cells) -> list[Stray]:
    """Lasting differences and spikes.

    One stray of few ranks shifts their median: the worst is taken out until nobody else strays, and each of
    those taken out is then compared with the rest.
    """
    rows = np.flatnonzero((~np.isnan(grid.mean)).sum(axis=1) >= FEWEST_STEPS // 2)
    if len(rows) > _FEW_RANKS:
        return _of_rows(grid, rows)
    first: dict[int, list[Stray]] = {}
    while len(rows) >= 2 and (remaining := _of_rows(grid, rows)):
        row = remaining[0].row
        first[row] = [stray for stray in remaining if stray.row == row]
        rows = rows[rows != row]
    if len(rows) < 2 or len(first) < 2:
        return [stray for some in first.values() for stray in some]
    return [stray for row in first for stray in _of_rows(grid, np.append(rows, row)) if stray.row == row]


def _of_rows(grid: Cells, rows: Ints) -> list[Stray]:
    """Findings among some of the curves, the clearest first."""
    differences = Differences(grid.steps, grid.mean[rows])
    lasting = differences.lasting()
    spikes = differences.spikes([stray for _, stray in lasting])
    ordered = sorted([*lasting, *spikes], key=lambda scored: -scored[0])
    others = (None if stray.other is None else int(rows[stray.other]) for _, stray in ordered)
    return [
        replace(stray, row=int(rows[stray.row]), other=other)
        for (_, stray), other in zip(ordered, others, strict=True)
    ]
