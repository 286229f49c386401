"""Precision alignment of two curves that should agree: how they differ, up to where they agree, since when
they drift.

Differences are shares of the baseline's size: the larger of its value at the step and its usual size there,
so that a curve that crosses zero is no fault. A drift begins before it is beyond the tolerance: the onset is
the change point of the difference (``change_point.py``), the step beyond the tolerance comes later.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from mindinsight.server.curves.departure import departure
from mindinsight.server.curves.overflow import subtract, unit_of
from mindinsight.server.types import Doubles, Floats, Ints

Verdict: TypeAlias = Literal["not_finite", "drifts", "apart", "noise", "agrees", "identical", "no_steps"]
ORDER: Final[tuple[Verdict, ...]] = (
    "not_finite",
    "drifts",
    "apart",
    "noise",
    "agrees",
    "identical",
    "no_steps",
)

_BLOCKS: Final = 64  # of the usual size of a baseline
_NOISE_SHARE: Final = 0.01  # of the tolerance: differences below are rounding
_MOST: Final = 1e6  # relative difference that is told from larger ones
_APART: Final = 0.5  # share of the steps beyond the tolerance without a change point


@dataclass(frozen=True, slots=True)
class Alignment:
    """How a curve agrees with its baseline at the steps both have."""

    verdict: Verdict
    shared: int  # steps both have
    agrees_to: int | None = None  # last step before the first beyond the tolerance; None: not even the first
    beyond: int | None = None  # first step beyond the tolerance, or finite in one curve only
    onset: int | None = None  # step at which the drift begins
    score: float = 0.0  # size of the drift in noise levels
    largest: float = 0.0  # relative difference
    noise: float = 0.0  # usual relative difference before the onset, or of all steps


def align(steps: Ints, values: Floats, base_steps: Ints, base_values: Floats, tolerance: float) -> Alignment:
    """Judge a curve (steps ascending and unique) by its baseline; ``tolerance`` is relative, above 0."""
    shared, mine, theirs = np.intersect1d(steps, base_steps, assume_unique=True, return_indices=True)
    if not len(shared):
        return Alignment("no_steps", 0)
    left, right = np.asarray(values, np.float64)[mine], np.asarray(base_values, np.float64)[theirs]
    same = (left == right) | (np.isnan(left) & np.isnan(right))
    if same.all():
        return Alignment("identical", len(shared), agrees_to=int(shared[-1]))
    broken = np.flatnonzero(~same & ~(np.isfinite(left) & np.isfinite(right)))
    end = int(broken[0]) if len(broken) else len(shared)
    finite = np.isfinite(left[:end]) & np.isfinite(right[:end])
    rows = np.flatnonzero(finite)
    relative = relative_difference(left[rows], right[rows])
    return _judged(shared, rows, relative, int(broken[0]) if len(broken) else None, tolerance)


def _judged(
    shared: Ints, rows: npt.NDArray[np.intp], relative: Doubles, broken: int | None, tolerance: float
) -> Alignment:
    """The verdict; ``rows`` of ``shared`` have a ``relative`` difference, at ``broken`` it is not finite."""
    over = np.flatnonzero(np.abs(relative) > tolerance)
    beyond = int(rows[over[0]]) if len(over) else broken
    usual = float(np.median(np.abs(relative))) if len(relative) else 0.0
    facts = Alignment(
        "agrees",
        len(shared),
        agrees_to=int(shared[-1]) if beyond is None else int(shared[beyond - 1]) if beyond else None,
        beyond=None if beyond is None else int(shared[beyond]),
        largest=float(np.abs(relative).max(initial=0.0)),
        noise=usual,
    )
    if beyond is None:
        return facts
    change = departure(relative, tolerance * _NOISE_SHARE) if len(over) else None
    if change is not None:
        noise = float(np.median(np.abs(relative[: max(change.onset, 1)])))
        onset = int(shared[rows[change.onset]])
        verdict: Verdict = "drifts" if broken is None else "not_finite"
        return replace(facts, verdict=verdict, onset=onset, score=change.score, noise=noise)
    if broken is not None:
        return replace(facts, verdict="not_finite", onset=int(shared[broken]))
    return replace(facts, verdict="apart" if len(over) >= _APART * len(relative) else "noise")


def relative_difference(values: Doubles, base: Doubles) -> Doubles:
    """[n] ``values - base`` as shares of the larger of ``|base|`` and its usual size nearby; all finite."""
    if not len(base):
        return np.zeros(0)
    unit = max(unit_of(values), unit_of(base))
    apart = subtract(values / unit, base / unit)
    size = np.abs(base / unit)
    edges = np.linspace(0, len(base), min(_BLOCKS, len(base)) + 1).astype(np.int64)
    usual = [float(np.median(size[a:b])) for a, b in pairwise(edges)]
    nearby = np.interp(np.arange(len(base)), (edges[:-1] + edges[1:] - 1) / 2, usual)
    known = np.maximum(size, nearby)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        share = np.where(apart == 0, 0.0, apart / known)
    return np.asarray(np.clip(np.nan_to_num(share), -_MOST, _MOST), np.float64)
