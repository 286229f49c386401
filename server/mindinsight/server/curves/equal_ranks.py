"""Detection of ranks that diverge from others that are equal but for rounding, as after an all-reduce.

Among equal curves there is no noise to measure a difference by. Values of the same step are compared.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from mindinsight.server.curves.bands import FEWEST_STEPS, column_medians
from mindinsight.server.curves.overflow_safe import LARGEST, unit_of
from mindinsight.server.curves.rank_anomaly import FEWEST_LASTING, RankOutlier, growth, period_of, share_of
from mindinsight.server.types import Doubles, Floats, Ints

# Thresholds without a reason of their own hold the promise of benchmarks/ranks.py: 1 % of false alarms.
_ROUNDING: Final = 1e-6  # relative difference of equal values: some roundings of float32 of 1.2e-7 each
_BEYOND: Final = 1e-5  # relative difference that rounding makes on no rank if most stay within `_ROUNDING`
_FEW: Final = 4  # one rank of so many may diverge from the others
_EQUAL_COLUMNS: Final = 0.5  # share of columns in which ranks are equal before their steps are compared
_HUGE: Final = 1e300  # magnitude from which values are scaled, because sums of larger ones may overflow
_PAIR: Final = 0.9  # share of steps, after the first difference of two curves, at which they differ
_LEAST_SPIKE: Final = 0.02  # smallest spike: rounding to bfloat16, 0.008, may differ at single steps
_CHANGING: Final = 0.5  # share of steps with a new value, below which values are counts and differ by chance
_INTERVALS: Final = 3  # intervals of a rank that are reported
_ONE_SIDE: Final = 0.5  # share of the usual difference that its median keeps if it lies on one side


@dataclass(frozen=True, slots=True)
class _Compared:
    """Finite values of one curve at the steps that it shares with the reference."""

    row: int
    steps: Ints  # [n]
    values: Doubles  # [n] in the unit of `base`
    base: Doubles  # [n] values of the reference
    shares: Doubles  # [n] size of the difference as share of the reference

    @property
    def largest(self) -> float:
        return float(self.shares.max(initial=0.0))


def diverged_from_equal(curves: Sequence[tuple[Ints, Floats]], on_grid: Doubles) -> list[RankOutlier]:
    """Return the anomalies of curves that diverge from a majority equal up to rounding, [] without such a
    majority.

    At most a quarter of the curves may diverge, or one of three. Of two curves, both diverge if they were
    equal before. ``curves`` have ascending steps. ``on_grid`` [r, c] has every curve on a common grid, in a
    unit in which sums do not overflow.
    """
    rows = np.flatnonzero((~np.isnan(on_grid)).sum(axis=1) >= FEWEST_STEPS)
    if len(rows) < 2:
        return []
    if len(rows) == 2:
        return _diverged_pair(int(rows[0]), int(rows[1]), curves)
    centre = column_medians(on_grid[rows])
    size = np.maximum(np.abs(centre), np.nanmedian(np.abs(centre)))
    equal = (np.abs(on_grid[rows] - centre) <= _ROUNDING * size).sum(axis=1)
    if float(np.median(equal)) < _EQUAL_COLUMNS * on_grid.shape[1]:
        return []
    reference = curves[int(rows[np.argmax(equal)])]
    compared = [_compared(row, curves[row], reference) for row in rows.tolist()]
    judged = [curve for curve in compared if len(curve.steps) >= FEWEST_STEPS]
    followers = sum(curve.largest <= _ROUNDING for curve in judged)
    if followers < max(2, len(judged) - max(1, len(judged) // _FEW)):
        return []
    return [anomaly for curve in judged if curve.largest > _BEYOND for anomaly in _anomalies(curve)]


def _compared(row: int, curve: tuple[Ints, Floats], reference: tuple[Ints, Floats]) -> _Compared:
    """Return the finite differences of a curve from a reference at their common steps, as shares."""
    (steps, values), (base_steps, base) = curve, reference
    if not np.array_equal(steps, base_steps):
        steps, mine, theirs = np.intersect1d(steps, base_steps, return_indices=True)
        values, base = values[mine], base[theirs]
    finite = np.isfinite(values) & np.isfinite(base)
    left, right = (np.asarray(some[finite], np.float64) for some in (values, base))
    unit = max(unit_of(left), unit_of(right))
    if unit > _HUGE:
        left, right = left / unit, right / unit
    sizes = np.abs(right)
    usual = float(np.median(sizes)) if len(sizes) else 0.0
    least = float(np.finfo(np.float64).smallest_subnormal)
    with np.errstate(over="ignore"):
        shares = np.abs(left - right) / np.maximum(np.maximum(sizes, usual), least)
    return _Compared(row, steps[finite], left, right, np.minimum(shares, LARGEST))


def _diverged_pair(row: int, other: int, curves: Sequence[tuple[Ints, Floats]]) -> list[RankOutlier]:
    """Return the lasting difference of two curves that were equal at first, or an empty list. Curves that
    do not change before it, such as counts, may be equal by chance."""
    curve = _compared(row, curves[row], curves[other])
    beyond = curve.shares > _BEYOND
    onset = int(np.argmax(beyond))
    if int(beyond.sum()) < FEWEST_LASTING or onset < FEWEST_STEPS or np.mean(beyond[onset:]) < _PAIR:
        return []
    constant = any(bool((values == values[0]).all()) for values in (curve.values, curve.base))
    if not constant and not _is_changing(curve.base[:onset]):
        return []
    return [_lasting(curve, onset, len(beyond) - 1, other)]


def _is_changing(values: Doubles) -> bool:
    return float(np.mean(np.diff(values) != 0)) > _CHANGING


def _anomalies(curve: _Compared) -> list[RankOutlier]:
    """Return the intervals in which a curve differs from the reference, or else its spikes."""
    beyond = np.flatnonzero(curve.shares > _BEYOND)
    groups = np.split(beyond, np.flatnonzero(np.diff(beyond) > FEWEST_LASTING) + 1)
    lasting = [group for group in groups if len(group) >= FEWEST_LASTING]
    if not lasting:
        beyond = beyond[curve.shares[beyond] > _LEAST_SPIKE]
        return [_spikes(curve, beyond)] if len(beyond) and _is_changing(curve.base) else []
    first, last = int(lasting[0][0]), int(lasting[-1][-1])
    if len(lasting) > _INTERVALS or 2 * sum(map(len, lasting)) >= last - first + 1:
        return [_lasting(curve, first, last)]
    return [_lasting(curve, int(group[0]), int(group[-1])) for group in lasting]


def _lasting(curve: _Compared, first: int, last: int, other: int | None = None) -> RankOutlier:
    """Return the lasting difference of a curve from the first to the last index, or to the curve's end if
    that is near."""
    continues = len(curve.steps) - 1 - last < FEWEST_LASTING
    inside = slice(first, len(curve.steps) if continues else last + 1)
    centre = curve.base[inside]
    difference = curve.values[inside] - centre
    usual = float(np.median(np.abs(difference)))
    both_sides = abs(float(np.median(difference))) < _ONE_SIDE * usual
    relative = share_of(np.abs(difference) if both_sides else difference, centre)
    grown = None
    if continues and not both_sides and relative is not None:
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            grown = growth(np.clip(difference / np.abs(centre), -LARGEST, LARGEST))
    return RankOutlier(
        curve.row,
        "lasting",
        int(curve.steps[first]),
        None if continues else int(curve.steps[last]),
        relative,
        end=grown,
        other=other,
        both_sides=both_sides,
    )


def _spikes(curve: _Compared, beyond: npt.NDArray[np.intp]) -> RankOutlier:
    """Return the steps at which a curve differs as spikes, with their period if they are regular."""
    worst = int(beyond[np.argmax(curve.shares[beyond])])
    relative = share_of(curve.values[[worst]] - curve.base[[worst]], curve.base[[worst]])
    period = period_of(curve.steps[beyond], float(np.median(np.diff(curve.steps))))
    step = int(curve.steps[beyond[0]])
    return RankOutlier(curve.row, "spikes", step, relative=relative, count=len(beyond), period=period)
