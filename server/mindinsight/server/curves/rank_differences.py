"""Differences of curves from their median, and the tests that find lasting ones and spikes among them."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist
from typing import Final, Literal, TypeAlias

import numpy as np

from mindinsight.server.curves.robust import (
    CHANCE,
    cumulated,
    expected_largest,
    inflation,
    median,
    row_medians,
    usual_change,
)
from mindinsight.server.types import Doubles, Ints

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
