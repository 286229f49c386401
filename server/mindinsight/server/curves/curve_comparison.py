"""Differences of two curves or groups of curves: where they diverge."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Final, Literal, TypeAlias, get_args

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from mindinsight.server.curves.alignment import find_divergence, local_noise, size_nearby
from mindinsight.server.curves.bands import cells
from mindinsight.server.curves.overflow_safe import unit_of
from mindinsight.server.curves.rank_outliers import cumulated
from mindinsight.server.types import Doubles, Floats, Ints

DivergenceKind: TypeAlias = Literal[
    "not_finite", "parts", "interval", "apart", "unproven", "together", "too_few"
]
ORDER: Final[tuple[DivergenceKind, ...]] = get_args(DivergenceKind)

# Thresholds without a reason of their own hold the promise of benchmarks/drift.py: 2 % of groups named.
_COLUMNS: Final = 1024  # columns of the grid
FEWEST: Final = 16  # common columns of both groups below which nothing is claimed
_NOISE: Final = 1e-4  # share of a value below which a difference is rounding
_LEAST: Final = 0.02  # relative difference at the end below which groups are together
_SPREADS: Final = 2.0  # smallest difference of the means, in standard deviations within the groups
_SAME: Final = 0.6  # share of a difference present before a change from which it is not new
_GROWTH: Final = 2.0  # smallest growth of a curve from its lowest magnitude until it breaks
_WINDOWS: Final = 32  # moving means along a curve that grows
_CLEAR: Final = 4.0  # noise levels above the lowest mean at which an earlier section of a curve begins
_PROVEN: Final = 3.3  # standard deviations of a normal variable: 1 of 1,000 by chance, in one interval
_PROVEN_ANYWHERE: Final = 4.0  # the same in any of the intervals that are searched
_DECIDES: Final = 4  # degrees of freedom from which on a difference that is not proven counts as none
_FEWEST_GOOD: Final = 3  # good runs with which a single bad run can be compared
_INTERVALS: Final = 32  # blocks whose intervals are searched
_PLAINLY: Final = 4.0  # noise levels of a difference that is there
_OF_SHIFT: Final = 0.25  # share of the mean shift that a bad run has at least, to be one that differs
_RARE: Final = 0.001  # chance up to which bad runs on both sides of all good ones are no accident
_NEARBY: Final = 9  # columns of which the median is the course of a curve
_FARTHER: Final = 2.0  # times as far from the good mean as any good run, where a single bad run differs
_SPIKE: Final = 2.5  # noise levels from its course that a value counts at most
_NEAR: Final = 48  # columns before an onset that show how the groups differ before
_COUNTS: Final = 4.0  # noise levels that a column counts at most: a spike is no beginning
_MOST: Final = 1e9  # largest relative difference
_LAGS: Final = 64  # that are tried
_FOLLOWS: Final = 5.0  # times nearer to the good curve that a delayed one comes by its lag


@dataclass(frozen=True, slots=True)
class GroupDivergence:
    """Divergence of the means of two groups of curves."""

    kind: DivergenceKind
    onset: int | None = None  # step from which they diverge, else a bad run grows until it breaks, or breaks
    shift: float | None = None  # bad mean minus good mean after the onset, relative to the good one
    spreads: float | None = None  # the same in standard deviations within the groups, None for single runs
    score: float = 0.0  # size of the change in noise levels
    broken: int | None = None  # step of the first NaN or infinity in a bad run
    broken_runs: int = 0  # number of bad runs with a non-finite value
    grows: int | None = None  # step from which the run that breaks first grows, None if unknown
    diverges: int | None = None  # the onset if the means diverge from a step on, even if a run breaks later
    longer: bool = False  # whether good runs have non-finite values too, only shorter or earlier
    end: int | None = None  # interval: last step at which they differ
    from_start: bool = False  # interval: whether it begins with the first common step
    lag: int | None = None  # steps that the bad curve is behind the good one, or ahead if negative
    runs: int = 0  # bad runs that differ from the good ones
    above: int = 0  # of these, where some of them differ to either side
    below: int = 0
    rise: float | None = None  # of these on either side the median difference, relative to the good runs
    fall: float | None = None


@dataclass(frozen=True, slots=True)
class _Grid:
    """Curves of both groups on common columns of steps."""

    steps: Ints  # [c] first step of each column
    mean: Doubles  # [r, c] mean of the column without spikes, NaN without a finite value
    whole: Doubles  # [r, c] the same with spikes, which an onset must not be smoothed by

    def only(self, rows: list[int]) -> _Grid:
        """Return the grid of some of the curves."""
        return _Grid(self.steps, self.mean[rows], self.whole[rows])


def compare_groups(
    good: Sequence[tuple[Ints, Floats]], bad: Sequence[tuple[Ints, Floats]], scalars: int = 1
) -> GroupDivergence:
    """Return how the curves of bad runs diverge from those of good runs. Probabilities are corrected for a
    comparison of ``scalars`` scalars. Curves are ascending steps and values. Neither group is empty."""
    columns = cells([*good, *bad], _COLUMNS)
    whole = columns.mean / unit_of(columns.mean)  # only shares matter from here on
    split = len(good)
    limited = np.stack([_without_spikes(row) for row in whole])
    for rows in (slice(None, split), slice(split, None)):  # how most runs of a group begin is no spike
        changed = (limited[rows] != whole[rows])[:, : _NEARBY // 2] & ~np.isnan(limited[rows, : _NEARBY // 2])
        begins = np.flatnonzero(2 * changed.sum(axis=0) > len(changed))
        limited[rows, begins] = whole[rows, begins]
    grid = _Grid(columns.steps, limited, whole)
    breaks = _breaks(good, bad)
    at = len(grid.steps)
    if breaks:
        at = int(np.searchsorted(grid.steps, min(breaks.values()), side="right")) - 1
    judgement = _before(grid, split, at, scalars)
    if not breaks:
        return judgement
    row = min(breaks, key=lambda number: (breaks[number], number))
    longer = any(not np.isfinite(values).all() for _, values in good)
    grows = None if longer else _growth(*bad[row])
    onset = breaks[row] if grows is None else grows
    return replace(
        judgement,
        kind="not_finite",
        onset=judgement.onset if judgement.runs else onset,
        broken=breaks[row],
        broken_runs=len(breaks),
        grows=grows,
        longer=longer,
    )


def _without_spikes(means: Doubles) -> Doubles:
    """Return a curve with each value limited to a few noise levels from the local median. Otherwise a few
    spikes of one run, or heavy tails of its noise, would decide about an interval."""
    known = np.flatnonzero(~np.isnan(means))
    if len(known) < FEWEST:
        return means
    values = means[known]
    nearby = _course(values)
    noise = 1.4826 * float(np.median(np.abs(values - nearby)))
    most = _SPIKE * max(noise, _NOISE * float(np.median(np.abs(values))))
    limited = means.copy()
    limited[known] = np.clip(values, nearby - most, nearby + most)
    return limited


def _course(values: Doubles) -> Doubles:
    """Return [n] the moving median of values, of which there must be at least ``_NEARBY``."""
    return np.median(sliding_window_view(np.pad(values, _NEARBY // 2, mode="reflect"), _NEARBY), axis=1)


def _breaks(good: Sequence[tuple[Ints, Floats]], bad: Sequence[tuple[Ints, Floats]]) -> dict[int, int]:
    """Return, by row of a bad run, the step from which the run is non-finite in a way that no good run is.
    If good runs have non-finite values too, an interval of a bad run must be more than twice as long as
    the longest of any good run, or last to the end of the run while no good run ends so."""
    among_good = [_non_finite_intervals(values) for _, values in good]
    longest = max((int(counts.max(initial=0)) for _, counts in among_good), default=0)
    good_end = any(len(values) and not np.isfinite(values[-1]) for _, values in good)
    breaks = {}
    for row, (steps, values) in enumerate(bad):
        firsts, counts = _non_finite_intervals(values)
        counts_as = counts > 2 * longest
        if len(firsts) and not good_end:
            counts_as[-1] |= firsts[-1] + counts[-1] == len(values)
        if counts_as.any():
            breaks[row] = int(steps[firsts[np.argmax(counts_as)]])
    return breaks


def _non_finite_intervals(values: Floats) -> tuple[Ints, Ints]:
    """Return the first row and the number of rows of each interval of non-finite values."""
    edges = np.flatnonzero(np.diff(~np.isfinite(values), prepend=False, append=False))
    return edges[::2], edges[1::2] - edges[::2]


def _before(grid: _Grid, split: int, end: int, tests: int) -> GroupDivergence:
    """Return the divergence of the groups in the columns before ``end``, or of single bad runs if the means
    agree."""
    whole = _compared(grid, split, end, tests)
    bad = len(grid.mean) - split
    if whole.kind != "together" or bad < 2 or split < _FEWEST_GOOD:
        return whole
    alone = [
        result
        for row in _outside(grid.mean[:, :end], split)
        if (result := _compared(grid.only([*range(split), row]), split, end, tests * bad)).kind
        in ("parts", "interval", "apart")
    ]
    if not alone:
        return whole
    means = _means(grid.mean[:, :end])
    sides = _beyond(means[:split], means[split:])
    earliest = min(alone, key=lambda result: result.onset or 0)
    above = sum((result.shift or 0.0) > 0 for result in alone)
    above, below = sides or (above, len(alone) - above)
    result = replace(earliest, runs=above + below, diverges=None)
    return _sided(result, (above, below), means / max(abs(float(means[:split].mean())), 1e-300), split)


def _outside(means: Doubles, split: int) -> list[int]:
    """Return the rows of bad runs that are anywhere farther from the mean of good runs than good runs usually
    are."""
    good_mean, _ = _mean_and_spread(means[:split])
    deviations = means - good_mean
    there = ~np.isnan(deviations)
    edges = np.unique(np.linspace(0, means.shape[1], _INTERVALS + 1).astype(np.int64))
    sums = cumulated(np.where(there, deviations, 0.0), edges)
    counts = np.diff(cumulated(there.astype(np.float64), edges))
    blocks = np.where(counts > 0, np.diff(sums) / np.maximum(counts, 1), np.nan)
    spread = _mean_and_spread(blocks[:split])[1]
    usual = float(np.median(spread[~np.isnan(spread)])) if not np.isnan(spread).all() else 0.0
    far = np.abs(np.nan_to_num(blocks)).max(axis=1)
    good_far = float(far[:split].max()) * split / (split - 1)  # each of them is a part of the mean
    return (np.flatnonzero(far[split:] > max(_PROVEN_ANYWHERE * usual, _FARTHER * good_far)) + split).tolist()


def _compared(grid: _Grid, split: int, end: int, tests: int) -> GroupDivergence:
    """Return the divergence of the group means in the columns before ``end``, tested as one of ``tests``
    comparisons."""
    good_mean, good_spread = _mean_and_spread(grid.mean[:split])
    bad_mean, bad_spread = _mean_and_spread(grid.mean[split:])
    columns = np.flatnonzero(~np.isnan(good_mean[:end]) & ~np.isnan(bad_mean[:end]))
    if len(columns) < FEWEST:
        return GroupDivergence("too_few")
    plain = bad_mean[columns] - good_mean[columns]
    spread = _usual_spread(good_spread[columns], bad_spread[columns], good_mean[columns])
    steps = grid.steps[columns]
    centre = good_mean[columns]
    size = np.maximum(_course(size_nearby(centre)), 1e-300)
    relative = np.clip(plain / size, -_MOST, _MOST)
    judged = _judged(steps, relative, plain, spread)
    deviations = np.clip((grid.mean[:, columns] - centre) / size, -_MOST, _MOST)
    tested = _tested(judged, steps, (relative, plain), deviations, split, tests)
    whole = [_mean_and_spread(rows)[0][columns] for rows in (grid.whole[:split], grid.whole[split:])]
    tested = _begun(tested, steps, np.clip((whole[1] - whole[0]) / size, -_MOST, _MOST))
    early = tested.kind == "parts" and (tested.onset or 0) <= int(steps[_window(len(steps))])
    if early or tested.kind in ("apart", "interval"):
        lag = _find_lag(steps, good_mean[columns], bad_mean[columns])
        ends, begins = tested.end, tested.onset
        if lag is not None and ends is not None and begins is not None and abs(lag) > ends - begins:
            lag = None  # what is late differs for at least as long
        if early and lag is not None:
            tested = replace(tested, kind="apart", onset=int(steps[0]), diverges=None)
        return replace(tested, lag=lag)
    return tested


def _begun(divergence: GroupDivergence, steps: Ints, relative: Doubles) -> GroupDivergence:
    """Return ``divergence`` with its onset moved to where the difference begins to exceed its earlier
    level for good. ``relative`` [c] is the difference of the means. The onset is where the cumulative sum
    of the excess over half of the difference is lowest (Page, 1954)."""
    if divergence.onset is None or divergence.from_start or divergence.onset <= steps[0]:
        return divergence
    near = int(np.searchsorted(steps, divergence.onset))
    last = len(steps) - 1 if divergence.end is None else int(np.searchsorted(steps, divergence.end))
    before = relative[max(near - _NEAR, 0) : near]
    usual = float(np.median(before))
    spread = max(1.4826 * float(np.median(np.abs(before - usual))), _NOISE)
    since = (relative - usual)[near : last + 1] / np.maximum(local_noise(relative), spread)[near : last + 1]
    counted = np.clip(since * np.sign(np.median(since[len(since) // 2 :])), -_COUNTS, _COUNTS)
    level = float(np.quantile(counted, 0.75)) / 2
    onset = int(steps[near + int(np.argmin(np.cumsum(np.insert(counted[:-1] - level, 0, 0.0))))])
    return replace(divergence, onset=onset, diverges=None if divergence.diverges is None else onset)


def _tested(
    judged: GroupDivergence,
    steps: Ints,
    differences: tuple[Doubles, Doubles],
    deviations: Doubles,
    split: int,
    tests: int,
) -> GroupDivergence:
    """Return the judgement with the interval of the difference, after a test in which each run is one
    sample. ``differences`` are those of the means, relative and in a common unit. ``deviations`` [r, c]
    are those of all runs from the good mean, relative."""
    relative, _ = differences
    count, runs = len(steps), len(deviations)
    if judged.kind != "together":
        first = int(np.searchsorted(steps, judged.onset or 0)) if judged.kind == "parts" else 0
        extent = _extent(relative, first, count - 1)
        last = extent[1] if extent is not None else count - 1
        surely = _surprise(deviations, split, np.array([first, last + 1]))[0, 1] >= _limit(_PROVEN, tests)
        if surely:
            named = _named(judged, steps, differences, (first, last))
            return _with_runs(named, deviations, split, (first, last))
        if runs - 2 < _DECIDES:
            return replace(judged, kind="unproven", diverges=None)
        judged = GroupDivergence("together", shift=judged.shift, spreads=judged.spreads)
    edges = np.unique(np.linspace(0, count, min(_INTERVALS, count // 2) + 1).astype(np.int64))
    surprise = _surprise(deviations, split, edges)
    sizes = np.concatenate(([0.0], np.cumsum(relative)))[edges]
    widths = np.maximum(edges[None, :] - edges[:, None], 1)
    large = np.abs(sizes[None, :] - sizes[:, None]) / widths >= _LEAST
    surprise = np.where(large, surprise, 0.0)
    row, column = np.unravel_index(int(np.argmax(surprise)), surprise.shape)
    if surprise[row, column] < _limit(_PROVEN_ANYWHERE, tests):
        return judged
    near = int(edges[row]), int(edges[column]) - 1
    extent = _extent(relative, *near) or near
    inside = relative[extent[0] : extent[1] + 1]
    divergence = replace(judged, kind="apart", shift=float(np.median(inside)), onset=int(steps[0]))
    return _with_runs(_named(divergence, steps, differences, extent), deviations, split, extent)


def _limit(proven: float, tests: int) -> float:
    """Return the normal score ``proven``, raised to correct for the number of ``tests`` (Bonferroni)."""
    return -NormalDist().inv_cdf(NormalDist().cdf(-proven) / tests)


def _with_runs(
    divergence: GroupDivergence, deviations: Doubles, split: int, extent: tuple[int, int]
) -> GroupDivergence:
    """Return ``divergence`` with the numbers of bad runs above and below the good ones."""
    means = _means(deviations[:, extent[0] : extent[1] + 1])
    shift = float(means[split:].mean() - means[:split].mean())
    towards = (means - means[:split].mean()) * np.sign(shift)
    usual, good_most = float(np.median(towards[split:])), float(np.abs(towards[:split]).max())
    if usual > _FARTHER * good_most:  # one extreme run must not hide the others
        shift = math.copysign(min(abs(shift), usual), shift)
    same = int((towards[split:] > _OF_SHIFT * abs(shift)).sum())
    if sides := _beyond(means[:split], means[split:]):
        return _sided(replace(divergence, runs=sum(sides)), sides, means, split)
    far = max(_OF_SHIFT * abs(shift), _FARTHER * good_most)
    if not (others := int((towards[split:] < -far).sum())) or split < _FEWEST_GOOD:
        return replace(divergence, runs=same)
    sides = (same, others) if shift > 0 else (others, same)
    return _sided(replace(divergence, runs=same + others), sides, means, split)


def _sided(result: GroupDivergence, sides: tuple[int, int], means: Doubles, split: int) -> GroupDivergence:
    """Return ``result`` with the numbers and median shifts of bad runs above and below, if both ``sides``
    have some. ``means`` [r] are those of all runs, relative to the good ones."""
    above, below = sides
    if not above or not below:
        return result
    away = np.sort(means[split:] - means[:split].mean())
    rise, fall = float(np.median(away[-above:])), float(np.median(away[:below]))
    return replace(result, above=above, below=below, rise=rise, fall=fall)


def _means(values: Doubles) -> Doubles:
    """Return the mean [r] of the values of each row, 0 without any."""
    there = ~np.isnan(values)
    means: Doubles = np.where(there, values, 0.0).sum(axis=1) / np.maximum(there.sum(axis=1), 1)
    return means


def _beyond(good: Doubles, bad: Doubles) -> tuple[int, int] | None:
    """Return the numbers of bad runs above and below all good runs, or None if one lies among the good
    runs. Return None also if all bad runs are on one side, because their sides need not be counted, or if
    random groups would often be as far apart. ``good`` [g] and ``bad`` [b] are means of runs."""
    above, below = int((bad > good.max()).sum()), int((bad < good.min()).sum())
    by_chance = (len(bad) + 1) / math.comb(len(good) + len(bad), len(good))
    outside = above + below == len(bad) and by_chance <= _RARE
    return (above, below) if outside and above and below else None


def _named(
    divergence: GroupDivergence, steps: Ints, differences: Sequence[Doubles], extent: tuple[int, int]
) -> GroupDivergence:
    """Return ``divergence`` with its kind, onset and end, which follow from the columns ``extent`` of the
    difference."""
    first, last = extent
    margin = _window(len(steps))
    begins = first > margin or divergence.kind == "parts"
    begins |= first > 0 and all(_sets_in(size[: last + 1], first) for size in differences)
    ends = last < len(steps) - 1 - margin
    onset = int(steps[first])
    if not ends:
        if not begins:
            return replace(divergence, kind="apart", onset=int(steps[0]), diverges=None)
        return replace(divergence, kind="parts", onset=onset, diverges=onset)
    return replace(
        divergence, kind="interval", onset=onset, end=int(steps[last]), from_start=not begins, diverges=None
    )


def _sets_in(difference: Doubles, first: int) -> bool:
    """Return True if a difference begins abruptly at column ``first``: small before it, far above the noise
    after it."""
    near = difference[first : first + _NEARBY]
    level = abs(float(np.median(near)))
    noise = float(local_noise(difference)[first])
    return level > 2 * _PLAINLY * noise and float(np.abs(difference[:first]).max()) < level / 4


def _window(columns: int) -> int:
    return max(3, columns // 64)


def _extent(relative: Doubles, first: int, last: int) -> tuple[int, int] | None:
    """Return the first and last column of the difference around ``first`` to ``last``, or None if noise
    explains it. Short gaps, such as where curves cross, are part of the interval."""
    width = _window(len(relative))
    noise = np.maximum(local_noise(relative), _NOISE)
    padded = np.pad(relative, (width // 2, width - 1 - width // 2), mode="edge")
    level = np.abs(np.convolve(padded, np.full(width, 1 / width), "valid"))
    there = level > np.maximum(_PLAINLY * noise / np.sqrt(width), _LEAST / 2)
    edges = np.flatnonzero(np.diff(there, prepend=False, append=False))
    pieces = [(int(a), int(b) - 1) for a, b in zip(edges[::2], edges[1::2], strict=True)]
    merged: list[tuple[int, int]] = []
    for begin, end in pieces:
        gap = begin - merged[-1][1] if merged else 0
        if merged and gap <= max(2 * width, (merged[-1][1] - merged[-1][0]) // 4):
            merged[-1] = merged[-1][0], end
        else:
            merged.append((begin, end))
    touching = [piece for piece in merged if piece[0] <= last and piece[1] >= first]
    if not touching:
        return None
    begin, end = max(touching, key=lambda piece: piece[1] - piece[0])
    plain = np.abs(relative) > np.maximum(3 * noise, _LEAST / 4)
    inside = np.flatnonzero(plain[begin : end + 1]) + begin
    if len(inside):
        begin = int(inside[0]) if inside[0] - begin <= width else begin
        end = int(inside[-1]) if end - inside[-1] <= width else end
    return begin, end


def _surprise(deviations: Doubles, split: int, edges: Ints) -> Doubles:
    """Return [b + 1, b + 1] the significance of the groups' difference between any two edges, 0 if unknown.

    It is the t statistic of the means of runs with a pooled variance, converted to a normal score (Wallace,
    1959). A run is one observation, however its own noise is correlated. Means are at least as uncertain as
    the noise of their runs makes them.
    """
    there = ~np.isnan(deviations)
    sums = cumulated(np.where(there, deviations, 0.0), edges)
    counts = cumulated(there.astype(np.float64), edges)
    low, high = np.triu_indices(len(edges), 1)
    number = counts[:, high] - counts[:, low]
    means = np.where(number > 0, (sums[:, high] - sums[:, low]) / np.maximum(number, 1), np.nan)
    (good, good_sum, good_runs), (bad, bad_sum, bad_runs) = (
        _moments(group) for group in (means[:split], means[split:])
    )
    free = np.maximum(good_runs + bad_runs - 2, 0)
    variance = np.maximum((good_sum + bad_sum) / np.maximum(free, 1), _NOISE**2)
    error = variance * (1 / np.maximum(good_runs, 1) + 1 / np.maximum(bad_runs, 1))
    noise = np.array([_noise_of(row) for row in deviations])[:, None] ** 2 / np.maximum(number, 1)
    error = np.maximum(
        error,
        noise[:split].sum(axis=0) / np.maximum(good_runs, 1) ** 2
        + noise[split:].sum(axis=0) / np.maximum(bad_runs, 1) ** 2,
    )
    ratio = (bad - good) ** 2 / error / np.maximum(free, 1)
    normal = (8 * free + 1) / (8 * free + 3) * np.sqrt(free * np.log1p(ratio))
    result = np.zeros((len(edges), len(edges)))
    result[low, high] = np.where((good_runs > 0) & (bad_runs > 0), normal, 0.0)
    return result


def _noise_of(deviations: Doubles) -> float:
    """Return the standard deviation of a run's independent noise, by its changes from value to value."""
    changes = np.abs(np.diff(deviations[~np.isnan(deviations)]))
    return 1.4826 * float(np.median(changes)) / math.sqrt(2) if len(changes) else 0.0


def _moments(means: Doubles) -> tuple[Doubles, Doubles, Doubles]:
    """Return [k] mean, sum of squared deviations and number of the rows of each column that have a value."""
    there = ~np.isnan(means)
    number = there.sum(axis=0).astype(np.float64)
    mean = np.where(there, means, 0.0).sum(axis=0) / np.maximum(number, 1)
    return mean, (np.where(there, means - mean, 0.0) ** 2).sum(axis=0), number


def _growth(steps: Ints, values: Floats) -> int | None:
    """Return the step from which a curve grows until it is non-finite, or None if it does not grow."""
    end = int(np.argmax(~np.isfinite(values)))
    if end < FEWEST:
        return None
    sizes = np.log(np.maximum(np.abs(np.asarray(values[:end], np.float64)), 1e-300))
    width = max(4, end // _WINDOWS)
    padded = np.pad(sizes, (width // 2, width - 1 - width // 2), mode="edge")
    means = np.convolve(padded, np.full(width, 1 / width), "valid")
    changes = np.diff(sizes)
    noise = 1.4826 * float(np.median(np.abs(changes - np.median(changes)))) / np.sqrt(2)
    if sizes[-3:].max() - means.min() < max(np.log(_GROWTH), 2 * _CLEAR * noise):
        return None
    reversed_means = means[::-1]
    lowest = np.minimum.accumulate(reversed_means)
    earlier = np.flatnonzero(reversed_means > lowest + max(_CLEAR * noise / np.sqrt(width), _LEAST))
    low = end - 1 - int(np.argmin(reversed_means[: earlier[0] if len(earlier) else end]))
    still_low = np.flatnonzero(sizes[low:] <= means[low] + 2 * noise)
    return int(steps[min(low + int(still_low[-1]) + 1, end - 1)]) if len(still_low) else int(steps[low])


def _from_the_start(difference: Doubles, onset: int) -> bool:
    """Return True if a difference is about as large before ``onset`` as after it, and has the same sign. A
    constant offset is a growing share of a falling curve, and the other way around."""
    before, after = float(np.median(difference[:onset])), float(np.median(difference[onset:]))
    noise = 1.4826 * float(np.median(np.abs(np.diff(difference)))) / np.sqrt(2)
    return before * after > 0 and abs(before) > max(_SAME * abs(after), _SPREADS * noise)


def _judged(steps: Ints, relative: Doubles, plain: Doubles, spread: float | None) -> GroupDivergence:
    """Return the verdict on two groups, from the differences of their means at each step. ``relative`` are
    the differences as shares, ``plain`` those in the unit of the values."""
    change = find_divergence(relative, _NOISE)
    at_once = change is not None and any(_from_the_start(size, change.onset) for size in (relative, plain))
    onset = change.onset if change is not None else 0
    shift = float(np.median(relative[onset:]))
    size = max(abs(shift), float(np.median(np.abs(relative[onset:]))))
    spreads = None if spread is None else size / max(spread, _NOISE)
    if size < _LEAST or (spreads is not None and spreads < _SPREADS):
        return GroupDivergence("together", shift=shift, spreads=spreads)
    if at_once:
        return GroupDivergence("apart", int(steps[0]), shift, spreads)
    if change is None:
        noise = 1.4826 * float(np.median(np.abs(relative - shift)))
        clear = abs(shift) > _SPREADS * max(noise, _NOISE)
        return GroupDivergence(
            "apart" if clear else "together", int(steps[0]) if clear else None, shift, spreads
        )
    step = int(steps[onset])
    return GroupDivergence("parts", step, shift, spreads, change.score, diverges=step)


def _mean_and_spread(means: Doubles) -> tuple[Doubles, Doubles]:
    """Return mean and standard deviation [c] of the rows. NaN without values, or with one for deviation."""
    known = ~np.isnan(means)
    count = known.sum(axis=0)
    mean = np.where(known, means, 0.0).sum(axis=0) / np.maximum(count, 1)
    distance = np.where(known, means - mean, 0.0)
    spread = np.sqrt((distance**2).sum(axis=0) / np.maximum(count - 1, 1))
    return np.where(count > 0, mean, np.nan), np.where(count > 1, spread, np.nan)


def _usual_spread(good: Doubles, bad: Doubles, centre: Doubles) -> float | None:
    """Return the median spread within the groups, relative to the good mean, or None if each has one run."""
    known = np.where(np.isnan(good), bad, np.where(np.isnan(bad), good, (good + bad) / 2))
    size = max(float(np.median(np.abs(centre))), 1e-300)
    known = known[~np.isnan(known)]
    return float(np.median(known)) / size if len(known) else None


def _find_lag(steps: Ints, good: Doubles, bad: Doubles) -> int | None:
    """Return by how many steps the bad curve lags the good one (negative: leads), or None if it is no shifted
    copy."""
    count = len(steps)
    x = (steps - steps[0]).astype(np.float64)
    lags = np.unique(np.linspace(1, count // 2, min(_LAGS, count // 2)).astype(np.int64))
    best: tuple[float, float] | None = None
    for lag in (*lags.tolist(), *(-lags).tolist()):
        late, early = (bad, good) if lag > 0 else (good, bad)
        begin = min(2 * abs(lag), count - count // 4)
        rows = slice(begin, count)
        rest = late[rows] - np.interp(x[rows] - x[abs(lag)], x, early)
        size = float(np.sqrt(np.mean(rest**2)))
        before = float(np.sqrt(np.mean((late[rows] - early[rows]) ** 2)))
        noise = float(np.median(np.hypot(local_noise(late[rows]), local_noise(early[rows]))))
        if before > _FOLLOWS * max(size, 1e-300) and size <= 2 * noise and (best is None or size < best[0]):
            best = size, float(np.sign(lag) * x[abs(lag)])
    return None if best is None else round(best[1])
