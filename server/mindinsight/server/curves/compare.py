"""Difference of two curves: where they diverge, and by how much."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mindinsight.server.curves.overflow import limited, subtract
from mindinsight.server.types import Doubles, Floats, Ints


@dataclass(frozen=True, slots=True)
class Difference:
    """A curve minus its baseline at the steps both have."""

    steps: Ints  # [m]
    difference: Doubles  # [m] value - baseline; finite where both are
    relative: Doubles  # [m] difference / |baseline|; inf where only the baseline is 0, 0 where both are
    parted: int | None  # row of the first relative difference above the tolerance


def difference(
    steps: Ints, values: Floats, base_steps: Ints, base_values: Floats, tolerance: float
) -> Difference:
    """Compare two curves with ascending, unique steps. Equal non-finite values count as equal."""
    shared, mine, theirs = np.intersect1d(steps, base_steps, assume_unique=True, return_indices=True)
    left = np.asarray(values, np.float64)[mine]
    right = np.asarray(base_values, np.float64)[theirs]
    same = (left == right) | (np.isnan(left) & np.isnan(right))
    apart = np.where(same, 0.0, subtract(left, right))
    relative = np.where(same, 0.0, _relative(left, right))
    beyond = np.flatnonzero(~(np.abs(relative) <= tolerance))
    return Difference(shared.astype(np.int64), apart, relative, int(beyond[0]) if len(beyond) else None)


def _relative(left: Doubles, right: Doubles) -> Doubles:
    """``(left - right) / |right|``; infinite only where a value is, or the right one is 0."""
    size = np.abs(right)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        relative = (left - right) / size
        overflowed = ~np.isfinite(relative) & np.isfinite(left) & np.isfinite(right) & (size > 0)
        again = limited(left / size - np.sign(right))
    return np.where(overflowed, again, relative)


def at_steps(steps: Ints, values: Floats, wanted: Ints) -> tuple[Ints, Doubles]:
    """Rows of ``wanted`` that ``steps`` (ascending) has, and the value there: another scalar as x axis."""
    rows = np.searchsorted(steps, wanted)
    inside = np.minimum(rows, max(len(steps) - 1, 0))
    matches = (
        np.flatnonzero((rows < len(steps)) & (steps[inside] == wanted))
        if len(steps)
        else np.zeros(0, np.int64)
    )
    return matches, np.asarray(values, np.float64)[inside[matches]]
