"""Change-point detector for one noisy series: whether it leaves its course, and from which row on.

A generalised likelihood ratio test. The alternative is a course ``mean + size * (t - onset)+ ** power``: a
step (power 0), a root (a random walk's spread), a ramp, a bend. Every onset and every power is tried on means
of at most 128 blocks; the noise is that of the residual of the best fit, times the factor by which an AR(1)
series of its autocorrelation spreads more (Andrews, 1991). A change counts where it moves the series away
from its course by ``LIMIT`` times the noise of its estimate: false alarms in ``benchmarks/results/drift.md``.

The onset is then looked for at full resolution in the part up to which the change is plain: what a series
does later says nothing of where it left.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np

from mindinsight.server.types import Doubles

LIMIT: Final = 5.5  # noise levels of the estimated size
FEWEST: Final = 16  # rows below which nothing is said
_BLOCKS: Final = 128
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
    rows, blocks = _blocks(values, _BLOCKS)
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
