"""Statistics of a range of a curve, intervals in which a condition holds, and differences of two curves."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias, TypedDict

import numpy as np
import numpy.typing as npt

from mindinsight.server.claims import Claim
from mindinsight.server.curves.alignment_claims import difference_claim
from mindinsight.server.curves.overflow_safe import LARGEST, deviation, mean, relative_to, subtract, unit_of
from mindinsight.server.types import Doubles, Floats, Ints


class RangeStatistics(TypedDict):
    """Statistics of the values in a range: extremes, mean, deviation and slope of the finite ones.

    The counts and the first and last value include non-finite ones.

    Fields without a value are None. A non-finite first or last value is the text nan, inf or -inf.
    """

    count: int
    nan: int
    inf: int
    first_step: int | None
    last_step: int | None
    first: float | str | None
    last: float | str | None
    min: float | None
    min_step: int | None
    max: float | None
    max_step: int | None
    mean: float | None
    deviation: float | None
    slope: float | None  # of the least-squares line, per step


def range_statistics(steps: Ints, values: Floats) -> RangeStatistics:
    """Return the statistics of [n] points. Those that need a finite value are None if there is none."""
    wide = np.asarray(values, np.float64)
    finite = np.isfinite(wide)
    good, at = wide[finite], steps[finite]
    some = len(good) > 0
    low, high = (int(good.argmin()), int(good.argmax())) if some else (0, 0)
    return {
        "count": len(wide),
        "nan": int(np.isnan(wide).sum()),
        "inf": int(np.isinf(wide).sum()),
        "first_step": int(steps[0]) if len(steps) else None,
        "last_step": int(steps[-1]) if len(steps) else None,
        "first": _end(wide[0]) if len(wide) else None,
        "last": _end(wide[-1]) if len(wide) else None,
        "min": float(good[low]) if some else None,
        "min_step": int(at[low]) if some else None,
        "max": float(good[high]) if some else None,
        "max_step": int(at[high]) if some else None,
        "mean": mean(good) if some else None,
        "deviation": deviation(good) if some else None,
        "slope": _slope(at, good),
    }


def _end(value: np.float64) -> float | str:
    return float(value) if np.isfinite(value) else str(value)


def _slope(steps: Ints, values: Doubles) -> float | None:
    """Return the slope of the least-squares line, clipped to finite numbers, or None without two different
    steps."""
    if len(steps) < 2:
        return None
    unit = unit_of(values)
    values = values / unit
    x = steps - steps.mean()
    spread = float((x * x).sum())
    if spread <= 0:
        return None
    slope = float((x * (values - values.mean())).sum() / spread) * unit
    return max(-LARGEST, min(slope, LARGEST))


Condition: TypeAlias = Literal["not_finite", "above", "below"]
Mask: TypeAlias = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Intervals:
    """Intervals of a series in which a condition holds, among its first ``end`` rows."""

    rows: Ints  # [i] first row of each
    counts: Ints  # [i] number of rows of each
    end: int

    @property
    def ongoing(self) -> bool:
        """Return True if the last row is in an interval."""
        return bool(len(self.rows)) and int(self.rows[-1] + self.counts[-1]) == self.end


NO_INTERVALS: Final = Intervals(np.zeros(0, np.int64), np.zeros(0, np.int64), 0)


def holds(condition: Condition, limit: float, values: Floats) -> Mask:
    """Return [n] True for each value that meets ``condition``. NaN is neither above nor below a limit. A
    limit has the precision of the values: 0.1 recorded as float32 is not above 0.1."""
    if condition == "not_finite":
        return ~np.isfinite(values)
    narrow = abs(limit) <= float(np.finfo(values.dtype).max)
    bound = values.dtype.type(limit) if narrow else np.float64(limit)
    return values > bound if condition == "above" else values < bound


def extend(before: Intervals, held: Mask, starts: Ints) -> Intervals:
    """Return the intervals extended by further rows. ``held`` [n] says in which of these the condition
    holds. ``starts`` are the further rows at which a segment of the series begins. An interval does not
    continue from one segment to the next."""
    end = before.end + len(held)
    if not held.any():
        return Intervals(before.rows, before.counts, end)
    is_start = np.zeros(len(held), np.bool_)
    is_start[starts] = True
    begins = held & is_start
    begins[1:] |= held[1:] & ~held[:-1]
    begins[0] = held[0]
    firsts = np.flatnonzero(begins)
    breaks = np.append(np.flatnonzero(~held | is_start), len(held))
    counts = breaks[np.searchsorted(breaks, firsts, side="right")] - firsts
    counts_before = before.counts
    if before.ongoing and held[0] and not is_start[0]:
        counts_before = counts_before.copy()
        counts_before[-1] += counts[0]
        firsts, counts = firsts[1:], counts[1:]
    rows = np.concatenate([before.rows, firsts + before.end])
    return Intervals(rows, np.concatenate([counts_before, counts]), end)


# Loss scaling skips a batch or two whose loss is not finite, and the training recovers.
FEWEST_DIVERGED: Final = 3


def divergence_tags(tags: Iterable[str]) -> list[str]:
    """Return the tags by which a run is judged to have diverged: its losses, or all tags if it has no
    loss."""
    every = list(tags)
    return [tag for tag in every if "loss" in tag.lower()] or every


def divergence_claims(curves: Mapping[str, tuple[Ints, Floats]], others: int = 0) -> list[Claim]:
    """Return the claim that a run has diverged, if a scalar is non-finite from a step to its end.

    ``curves`` are steps and values by tag, of `divergence_tags` whose last value is non-finite. ``others`` is
    the number of tags whose last value is finite. A curve without a finite value was perhaps never defined.
    It is named only if it is a loss and the run has no other.
    """
    broken = []
    for tag, (steps, values) in curves.items():
        finite = np.flatnonzero(np.isfinite(values))
        if len(finite) and finite[-1] < len(values) - 1:
            broken.append((int(steps[finite[-1] + 1]), tag, len(values) - 1 - int(finite[-1])))
    lasting = [row for row in broken if row[2] >= FEWEST_DIVERGED]
    if not broken:
        never = [(tag, len(at)) for tag, (at, _) in curves.items() if "loss" in tag.lower()]
        tag, count = min(never, default=("", 0))
        known = others or count < FEWEST_DIVERGED
        facts = {"tag": tag, "n": count}
        return [] if known else [Claim("claim.run.never_finite", "unknown", facts, ({"tag": tag},))]
    step, tag, count = min(lasting or broken)
    facts, evidence = {"tag": tag, "step": step, "n": count}, ({"tag": tag, "step": step},)
    if lasting:
        return [Claim("claim.run.diverged", "found", facts, evidence)]
    return [Claim("claim.run.broken_end", "unknown", facts, evidence)]


@dataclass(frozen=True, slots=True)
class Difference:
    """Difference of a curve from its baseline at the common steps."""

    steps: Ints  # [m]
    difference: Doubles  # [m] value - baseline, finite where both are
    relative: Doubles  # [m] difference / |baseline|, inf where only the baseline is 0, 0 where both are
    diverged: int | None  # row of the first relative difference above the tolerance
    finite: int  # steps at which both are finite
    every: int  # steps that either has


def difference(
    steps: Ints, values: Floats, base_steps: Ints, base_values: Floats, tolerance: float
) -> Difference:
    """Return the difference of a curve from a base at their common steps, and where it exceeds a
    tolerance. The tolerance is relative. Steps are ascending and unique. Equal non-finite values count as
    equal."""
    shared, mine, theirs = np.intersect1d(steps, base_steps, assume_unique=True, return_indices=True)
    left = np.asarray(values, np.float64)[mine]
    right = np.asarray(base_values, np.float64)[theirs]
    same = (left == right) | (np.isnan(left) & np.isnan(right))
    apart = np.where(same, 0.0, subtract(left, right))
    relative = np.where(same, 0.0, relative_to(left, right))
    beyond = np.flatnonzero(~(np.abs(relative) <= tolerance))
    return Difference(
        shared.astype(np.int64),
        apart,
        relative,
        int(beyond[0]) if len(beyond) else None,
        int((np.isfinite(left) & np.isfinite(right)).sum()),
        len(steps) + len(base_steps) - len(shared),
    )


def compared_claims(compared: Difference, tolerance: float) -> list[Claim]:
    """Return the claims about a curve and its baseline: where they differ first, or that they do not. The
    verdict is unknown without common steps or finite values, and if they agree but some steps are in one
    curve only."""
    if not len(compared.steps):
        return [Claim("claim.compare.no_common_steps", "unknown")]
    finite = np.isfinite(compared.difference)
    claims = []
    if not finite.all():
        step = int(compared.steps[np.argmin(finite)])
        claims.append(Claim("claim.compare.non_finite", "found", {"step": step}, ({"step": step},)))
    facts: dict[str, Any] = {"n": len(compared.steps), "steps": compared.every, "largest": _largest(compared)}
    beyond = np.flatnonzero(finite & (np.abs(compared.relative) > tolerance))
    if len(beyond):
        step = int(compared.steps[beyond[0]])
        return [Claim("claim.compare.beyond", "found", {**facts, "step": step}, ({"step": step},)), *claims]
    if claims:
        return claims
    if not compared.finite:
        return [Claim("claim.compare.no_finite", "unknown")]
    name = "within" if compared.difference.any() else "equal"
    if compared.every == len(compared.steps):
        return [Claim(f"claim.compare.{name}", "clear", facts)]
    return [Claim(f"claim.compare.{name}_common", "unknown", facts)]


def _largest(compared: Difference) -> Claim | None:
    """Return a clause with the largest finite difference, as a share of the baseline, or absolute if that is
    0 somewhere."""
    finite = np.isfinite(compared.difference)
    shares = np.abs(compared.relative[finite])
    absolute = bool(np.isinf(shares).any())
    sizes = np.abs(compared.difference[finite]) if absolute else shares
    return difference_claim(float(sizes.max(initial=0.0)), absolute, "percent")


def at_steps(steps: Ints, values: Floats, wanted: Ints) -> tuple[Ints, Doubles]:
    """Return the positions in ``wanted`` of the steps that a curve has, and its values at those steps.
    ``steps`` are those of the curve, ascending."""
    rows = np.searchsorted(steps, wanted)
    matches = np.flatnonzero(np.searchsorted(steps, wanted, side="right") > rows)
    return matches, np.asarray(values, np.float64)[rows[matches]]
