"""Outlier detection among the curves of one job's ranks: which rank strays, since when, and how.

Each curve is compared with the median of all at each step. Differences are measured in units of their usual
change from one step to the next, pooled over ranks and neighbouring steps: one step of two or three ranks
tells nothing about what is usual, all their steps together do. Two ranks differ from each other: which of
them is wrong is unknown.

* lasting: over some stretch the mean difference is beyond chance. Every stretch of 24 blocks is tried
  (Bonferroni), and autocorrelation is taken out by the variance of block means.
* spikes: single steps beyond the largest difference that the tail of all ranks' differences lets expect.
* not finite where at least half of the ranks are finite; silent while the others went on.

False alarms and misses on simulated jobs: ``benchmarks/results/ranks.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from mindinsight.server.curves.bands import Cells, cells
from mindinsight.server.curves.overflow import unit_of
from mindinsight.server.curves.rank_differences import Differences, Stray
from mindinsight.server.types import Floats, Ints

_CELLS: Final = 2_000_000  # ranks x columns that are looked at: half a second
FEWEST_STEPS: Final = 16  # below which only NaN and silence are said
_FEW_RANKS: Final = 16  # below which one stray shifts the median: it is taken out and the rest looked at anew
_SILENT_POINTS: Final = 10
_SILENT_SHARE: Final = 0.05  # of a rank's points


def strays(curves: Sequence[tuple[Ints, Floats]]) -> list[Stray]:
    """All that is wrong with ``curves`` (ascending steps, values), by row; nothing for fewer than two."""
    alive = [row for row, (steps, _) in enumerate(curves) if len(steps)]
    if len(alive) < 2:
        return []
    longest = max(len(curves[row][0]) for row in alive)
    grid = cells(curves, max(FEWEST_STEPS, min(longest, _CELLS // len(curves))))
    grid = replace(grid, mean=grid.mean / unit_of(grid.mean))  # what follows is about shares
    all_strays = [*_not_finite(grid), *_silent(curves, alive)]
    if len(grid.steps) >= FEWEST_STEPS:
        all_strays += _different(grid)
    return sorted(all_strays, key=lambda stray: (stray.row, stray.step))


def _not_finite(grid: Cells) -> list[Stray]:
    bad = grid.bad > 0
    present = bad | ~np.isnan(grid.mean)
    alone = bad & (bad.sum(axis=0) * 2 <= present.sum(axis=0))
    rows = np.flatnonzero(alone.any(axis=1))
    return [
        Stray(int(row), "not_finite", int(grid.steps[np.argmax(alone[row])]), count=int(grid.bad[row].sum()))
        for row in rows
    ]


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
