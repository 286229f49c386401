"""Curves of scalars around a step, as coordinates of an inline SVG."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from mindinsight.server.curves.sampling import sample_rows
from mindinsight.server.store.line import Line
from mindinsight.server.types import Doubles

WIDTH: Final = 320
HEIGHT: Final = 120
BEFORE: Final = 100  # points before the step
AFTER: Final = 20


@dataclass(frozen=True)
class Curve:
    """One curve: line segments between points that are not finite, and where those are."""

    tag: str
    first: int  # step
    last: int
    low: str  # labels of the vertical axis
    high: str
    segments: list[str]  # "x,y x,y ..."
    broken: list[float]  # x of points that are not finite
    mark: float | None  # x of the step of the fault
    newest: str
    points: int


def curve_of(tag: str, line: Line, step: int | None) -> Curve | None:
    """The curve of a tag around ``step``, or the whole of it; None without points."""
    if step is not None:
        position = int(np.searchsorted(line.steps, step))
        line = line.rows(slice(max(position - BEFORE, 0), position + AFTER))
    if not len(line.steps):
        return None
    count = len(line.steps)
    values = line.values.astype(np.float64)
    steps = line.steps.astype(np.float64)
    rows = sample_rows(steps, values, WIDTH // 2)
    steps, values = steps[rows], values[rows]
    finite = np.isfinite(values)
    low, high = (float(values[finite].min()), float(values[finite].max())) if finite.any() else (0.0, 0.0)
    x = _scaled(steps, steps[0], steps[-1], WIDTH)
    y = HEIGHT - _scaled(np.where(finite, values, low), low, high, HEIGHT)
    mark = None
    if step is not None and steps[0] <= step <= steps[-1]:
        mark = round(float(_scaled(np.array([float(step)]), steps[0], steps[-1], WIDTH)[0]), 1)
    return Curve(
        tag,
        int(line.steps[0]),
        int(line.steps[-1]),
        f"{low:.4g}",
        f"{high:.4g}",
        _segments(x, y, finite),
        [round(position, 1) for position in x[~finite].tolist()],
        mark,
        f"{float(line.values[-1]):.6g}",
        count,
    )


def _scaled(values: Doubles, low: float, high: float, size: int) -> Doubles:
    """Values from low to high as 0 to ``size``; the middle where there is no extent."""
    with np.errstate(over="ignore", invalid="ignore"):
        share = (values - low) / (high - low) if high > low else np.full(len(values), 0.5)
    scaled: Doubles = np.clip(np.nan_to_num(share, nan=0.5), 0.0, 1.0) * size
    return scaled


def _segments(x: Doubles, y: Doubles, finite: np.ndarray) -> list[str]:
    """Polylines of neighbouring finite points."""
    ends = np.flatnonzero(np.diff(finite.astype(np.int8))) + 1
    parts = np.split(np.arange(len(x)), ends)
    return [" ".join(f"{x[row]:.1f},{y[row]:.1f}" for row in part) for part in parts if finite[part[0]]]
