"""Aggregation of many curves on one grid of steps: mean with its band, a table of ranks by steps, levels.

The curves are the ranks of one job or the runs of a group. They need not have the same steps.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from mindinsight.server.claims import Claim, few
from mindinsight.server.curves.overflow_safe import limited, unit_of
from mindinsight.server.types import Doubles, Floats, Ints

CELLS: Final = 2_000_000  # limit of curves x columns: half a second
FEWEST_STEPS: Final = 16  # steps below which curves of ranks are not compared
NOT_ZERO: Final = 0.1  # share of its mean size that a curve keeps where shares of its values count
_NAMED: Final = 3  # members that are named below a chart; the count tells how many there are
_WRAP: Final = 1 << 64  # uint64 counts modulo this number


@dataclass(frozen=True, slots=True)
class Cells:
    """Curves on a common grid with a limited number of columns of steps."""

    steps: Ints  # [c] first step of each column
    mean: Doubles  # [r, c] mean of the finite values of a curve in the column, NaN without one
    low: Doubles  # [r, c] smallest finite value, NaN without one
    high: Doubles  # [r, c] largest finite value, NaN without one
    bad: npt.NDArray[np.int64]  # [r, c] number of non-finite values in the column


@dataclass(frozen=True, slots=True)
class Band:
    """Summary of all curves per column of steps."""

    steps: Ints  # [c]
    mean: Doubles  # [c] mean of the curves' means
    median: Doubles  # [c] of the curves' means
    deviation: Doubles  # [c] standard deviation of the curves' means
    lower: Doubles  # [c] lower quartile of the curves' means
    upper: Doubles  # [c] upper quartile
    low: Doubles  # [c] smallest value of any curve
    high: Doubles  # [c] largest value of any curve
    curves: Ints  # [c] number of curves with a value


def cells(curves: Sequence[tuple[Ints, Floats]], columns: int) -> Cells:
    """Return ``curves`` (steps ascending, values) on a grid of at most ``columns`` columns of steps. The
    grid has a row for each curve, also for one without a finite value, whose row is NaN."""
    grid = _grid([steps for steps, _ in curves], columns)
    shape = (len(curves), len(grid))
    mean, low, high = (np.full(shape, np.nan) for _ in range(3))
    bad = np.zeros(shape, np.int64)
    for row, (steps, values) in enumerate(curves):
        column = np.searchsorted(grid, steps, side="right") - 1
        finite = np.isfinite(values)
        np.add.at(bad[row], column[~finite], 1)
        _fill((mean[row], low[row], high[row]), column[finite], np.asarray(values, np.float64)[finite])
    return Cells(grid, mean, low, high, bad)


def _grid(all_steps: Sequence[Ints], columns: int) -> Ints:
    """Return the first step of each column: every step if they fit, else columns of equal width."""
    known = [steps for steps in all_steps if len(steps)]
    if not known:
        return np.zeros(0, np.int64)
    first, last = min(int(steps[0]) for steps in known), max(int(steps[-1]) for steps in known)
    longest = max(len(steps) for steps in known)
    if longest <= columns:
        union = np.unique(np.concatenate(known))
        if len(union) <= columns:
            return union
    width = -(-(last - first + 1) // columns)  # the page draws equal cells in a tenth of the time
    count = -(-(last - first + 1) // width)
    turns = np.arange(count, dtype=np.uint64) * np.uint64(width % _WRAP) + np.uint64(first % _WRAP)
    return turns.view(np.int64)  # modulo 2**64, because the range of steps may exceed int64


def _fill(rows: tuple[Doubles, Doubles, Doubles], column: Ints, values: Doubles) -> None:
    """Write mean, minimum and maximum of one curve into ``rows``. ``values`` are finite."""
    mean, low, high = rows
    if not len(values):
        return
    starts = np.flatnonzero(np.diff(column, prepend=-1))
    here = column[starts]
    counts = np.diff(np.append(starts, len(values)))
    with np.errstate(over="ignore", invalid="ignore"):
        means = np.add.reduceat(values, starts) / counts
        if not np.isfinite(means).all():
            again = np.add.reduceat(values / np.repeat(counts, counts), starts)
            means = np.where(np.isfinite(means), means, limited(again))
    mean[here] = means
    low[here] = np.minimum.reduceat(values, starts)
    high[here] = np.maximum.reduceat(values, starts)


def median(grid: Cells) -> Doubles:
    """Return the median [c] over the curves of a grid, NaN in columns without a value."""
    return column_medians(grid.mean)


def column_medians(values: Doubles) -> Doubles:
    """Return the median [c] of each column of ``values`` [r, c] without its NaN. NaN if only NaN is left."""
    return column_quantiles(values, (0.5,))[0]


def column_quantiles(values: Doubles, shares: Sequence[float]) -> list[Doubles]:
    """Return the quantiles [c] of each column of ``values`` [r, c] without its NaN, one array for each
    share. They are interpolated between the two nearest values. NaN if only NaN is left."""
    count = (~np.isnan(values)).sum(axis=0)
    if not len(values):
        return [np.full(len(count), np.nan) for _ in shares]
    ordered = np.sort(values, axis=0)  # NaN last
    columns = np.arange(len(count))
    quantiles = []
    for share in shares:
        position = np.maximum(count - 1, 0) * share
        row = position.astype(np.int64)
        low, high = ordered[row, columns], ordered[np.minimum(row + 1, np.maximum(count - 1, 0)), columns]
        rest = position - row
        between = low * (1 - rest) + high * rest  # scaled first: a difference may overflow
        quantiles.append(np.where((count > 0) & (low != high), between, low))
    return quantiles


def band(grid: Cells) -> Band:
    """Return centre, spread and range over all curves of a grid. NaN in columns without a value."""
    there = ~np.isnan(grid.mean)
    curves = there.sum(axis=0)
    some = np.maximum(curves, 1)
    units = np.array([unit_of(column) for column in grid.mean.T])  # [c]
    scaled = np.where(there, grid.mean / units, 0.0)
    mean = scaled.sum(axis=0) / some
    spread = np.where(there, scaled - mean, 0.0)
    with np.errstate(over="ignore"):
        deviation = limited(np.sqrt((spread**2).sum(axis=0) / some) * units)
        mean = limited(mean * units)
    empty = curves == 0
    low = np.where(there, grid.low, np.inf).min(axis=0, initial=np.inf)
    high = np.where(there, grid.high, -np.inf).max(axis=0, initial=-np.inf)
    mean, deviation, low, high = (np.where(empty, np.nan, column) for column in (mean, deviation, low, high))
    lower, middle, upper = column_quantiles(grid.mean, (0.25, 0.5, 0.75))
    return Band(grid.steps, mean, middle, deviation, lower, upper, low, high, curves.astype(np.int64))


Ended: TypeAlias = Literal["hold", "drop", "common"]


def one_per_job(grid: Cells, jobs: Sequence[str]) -> Cells:
    """Return the grid with one row for each job, in the order of first appearance in ``jobs`` [r]. It has
    the mean of the job's rows, their lowest and highest value, and the sum of ``bad``."""
    rows = [[row for row, other in enumerate(jobs) if other == job] for job in dict.fromkeys(jobs)]
    parts = [Cells(grid.steps, grid.mean[of], grid.low[of], grid.high[of], grid.bad[of]) for of in rows]
    bands = [band(part) for part in parts]
    mean, low, high = (np.array([getattr(of, name) for of in bands]) for name in ("mean", "low", "high"))
    return Cells(grid.steps, mean, low, high, np.array([part.bad.sum(axis=0) for part in parts]))


def continued(grid: Cells, ended: Ended) -> tuple[Cells, Ints]:
    """Return the grid with curves interpolated between their values, and [c] the number of curves in each
    column.

    A curve counts from its first to its last value. After that it keeps its last value (``hold``) or has none
    (``drop``). With ``common``, only columns that all curves reach have values. A curve that ends with
    non-finite values keeps none.
    """
    reached = np.zeros(grid.mean.shape, bool)
    filled = [np.full_like(grid.mean, np.nan) for _ in range(3)]
    for row, there in enumerate(~np.isnan(grid.mean)):
        known = np.flatnonzero(there)
        if not len(known):
            continue
        reached[row, known[0] : known[-1] + 1] = True
        diverged = grid.bad[row, known[-1] + 1 :].any()
        for values, source in zip(filled, (grid.mean, grid.low, grid.high), strict=True):
            right = source[row, known[-1]] if ended == "hold" and not diverged else np.nan
            values[row] = np.interp(grid.steps, grid.steps[known], source[row, known], np.nan, right)
    if ended == "common":
        for values in filled:
            values[:, ~reached[reached.any(axis=1)].all(axis=0)] = np.nan
    mean, low, high = map(limited, filled)
    return Cells(grid.steps, mean, low, high, grid.bad), reached.sum(axis=0).astype(np.int64)


def row_medians(values: Doubles) -> Doubles:
    """Return the median [r] of each row without its NaN. NaN if only NaN is left."""
    return column_medians(values.T)


_LEVEL_BLOCKS: Final = FEWEST_STEPS  # parts of a curve, of which none is empty then
_LEAST_SPREAD: Final = 0.05  # share of the level by which alike curves differ at most
_SURE: Final = 8.0  # standard errors of a level that the levels of 64 alike curves never lie apart
_GAP: Final = 3.0  # times the width of either group that two groups lie apart


@dataclass(frozen=True, slots=True)
class Spread:
    """Order and spread of the levels of three or more curves, if no majority has the same level."""

    order: tuple[int, ...]  # rows, the lowest level first
    low: int  # how many of them form the lower of two groups; 0 if there are no two groups
    share: float  # of the lowest level by which the highest, or the upper group, is above it


def spread_of(curves: Sequence[tuple[Ints, Floats]]) -> Spread | None:
    """Return how the levels of three or more curves differ, or None without a significant difference.
    Return None also for fewer curves or fewer than ``FEWEST_STEPS`` steps. The levels over all steps are
    compared first, then those of the second half, then of the first half."""
    longest = max((len(steps) for steps, _ in curves), default=0)
    if len(curves) < 3 or longest < FEWEST_STEPS:
        return None
    grid = cells(curves, max(FEWEST_STEPS, min(longest, CELLS // len(curves))))
    values = grid.mean / unit_of(grid.mean)
    centre = np.where((~np.isnan(values)).sum(axis=0) >= 2, column_medians(values), np.nan)
    known = ~np.isnan(centre)
    if int(known.sum()) < FEWEST_STEPS:
        return None
    values, centre = values[:, known], centre[known]
    edges = np.linspace(0, len(centre), _LEVEL_BLOCKS + 1).astype(np.int64)
    size = np.array([float(np.mean(np.abs(centre[a:b]))) for a, b in pairwise(edges)])
    blocks = [row_medians((values - centre)[:, a:b]) for a, b in pairwise(edges)]
    levels = np.stack(blocks, axis=1) / np.maximum(size, 1e-100)  # [r, blocks]; squares must not overflow
    half = _LEVEL_BLOCKS // 2
    for part in (levels, levels[:, half:], levels[:, :half]):
        spread = _spread(row_medians(part), _level_errors(part))
        if spread is not None:
            return spread
    return None


def _level_errors(levels: Doubles) -> Doubles:
    """Return [r] the standard errors of the means of ``levels`` [r, b], which are autocorrelated (AR(1)).
    They follow from the noise of the median curve, or from the curve's own noise if that is larger."""
    rest = levels - row_medians(levels)[:, None]
    there = ~np.isnan(rest)
    spread = np.sqrt((np.where(there, rest, 0.0) ** 2).sum(axis=1) / np.maximum(there.sum(axis=1), 1))
    power = np.nansum(rest**2)
    if not power > 0:
        return np.zeros(len(levels))
    correlation = float(np.nansum(rest[:, 1:] * rest[:, :-1]) / power) + 2 / levels.shape[1]
    correlation = min(max(correlation, 0.0), 0.9)
    factor = math.sqrt((1 + correlation) / (1 - correlation) / levels.shape[1])
    usual = float(np.median(spread[there.any(axis=1)]))
    return np.asarray(np.maximum(spread, usual) * factor)


def _spread(levels: Doubles, errors: Doubles) -> Spread | None:
    """Return how ``levels`` [r] with standard ``errors`` [r] differ, as two groups or in general, or None."""
    known = np.flatnonzero(~np.isnan(levels))
    order = known[np.argsort(levels[known], kind="stable")]
    ordered = levels[order]
    if len(order) < 3:
        return None
    error = math.hypot(float(errors[order[0]]), float(errors[order[-1]])) / math.sqrt(2)
    if ordered[-1] - ordered[0] <= max(_LEAST_SPREAD, _SURE * error):
        return None
    gaps = np.diff(ordered)
    low = int(np.argmax(gaps)) + 1
    width = max(float(ordered[low - 1] - ordered[0]), float(ordered[-1] - ordered[low]))
    groups = float(gaps[low - 1]) > _GAP * width and 2 <= low <= len(order) - 2
    first, last = (
        (float(np.median(ordered[:low])), float(np.median(ordered[low:])))
        if groups
        else (float(ordered[0]), float(ordered[-1]))
    )
    share = (last - first) / (1 + first) if 1 + first > NOT_ZERO else last - first
    return Spread(tuple(order.tolist()), low if groups else 0, share)


def non_finite_members(names: Sequence[str], curves: Sequence[tuple[Ints, Floats]]) -> list[Claim]:
    """Return a claim about the curves that are non-finite up to their end, and one about curves with gaps.
    A claim without curves is left out. Each claim has the first step. The mean leaves out the former from
    that step on, and interpolates the gaps."""
    lasting: list[tuple[int, str]] = []
    between: list[tuple[int, str]] = []
    for name, (steps, values) in zip(names, curves, strict=True):
        bad = np.flatnonzero(~np.isfinite(values))
        finite = np.flatnonzero(np.isfinite(values))
        end = int(finite[-1]) + 1 if len(finite) else 0
        if end < len(values):
            lasting.append((int(steps[end]), name))
        if len(bad) and bad[0] < end:
            between.append((int(steps[bad[0]]), name))
    claims = []
    for key, members in (("claim.group.non_finite", lasting), ("claim.group.gaps", between)):
        if members:
            members.sort()
            facts = {"n": len(members), "step": members[0][0], "names": few([m for _, m in members], _NAMED)}
            claims.append(Claim(key, "found", facts))
    return claims


def rows_without_common_steps(curves: Sequence[Ints]) -> frozenset[int]:
    """Return the rows of one or more curves that share less than half of their steps with any other."""
    longest = max(range(len(curves)), key=lambda row: len(curves[row]))

    def are_common(steps: Ints, others: Ints) -> bool:
        if len(steps) <= len(others) and np.array_equal(steps, others[: len(steps)]):  # as usual
            return True
        return bool(2 * int(np.isin(steps, others, assume_unique=True).sum()) >= len(steps))

    rest = [
        row
        for row, steps in enumerate(curves)
        if len(steps) and row != longest and not are_common(steps, curves[longest])
    ]
    if rest and len(rest) == sum(len(steps) > 0 for steps in curves) - 1:
        rest.append(longest)
    if not rest:
        return frozenset()
    steps, counts = np.unique(np.concatenate([curves[row] for row in rest]), return_counts=True)
    return frozenset(row for row in rest if not are_common(curves[row], steps[counts > 1]))
