"""Statistics a dump recorded itself, brought into the form of those we compute.

Where a dump kept only statistics these are all there is, and rules and searches have to live with them.
"""

from __future__ import annotations

import math

from mindinsight.server.compute.statistics import Statistics, as_dumped
from mindinsight.server.formats.dumps.types import RecordedStatistics


def presumed(recorded: RecordedStatistics, shape: tuple[int, ...] | None) -> Statistics | None:
    """What can be concluded from recorded statistics; None when they hold no value at all.

    Where elements were not counted, a NaN or an infinity seen in an extreme counts as one element:
    enough to know that the tensor is not finite, a lower bound and no more.
    """
    said = (recorded.min, recorded.max, recorded.mean, recorded.l2norm)
    seen = [value for value in said if value is not None]
    if not seen:
        return None
    count = recorded.count if recorded.count is not None else math.prod(shape or ())
    all_zero = recorded.min == recorded.max == 0
    return Statistics(
        count=count,
        zeros=_known(recorded.zero, count if all_zero else 0),
        negative=_known(recorded.negative, int((recorded.min or 0) < 0)),
        positive=_known(recorded.positive, int((recorded.max or 0) > 0)),
        nans=_known(recorded.nan, int(any(math.isnan(value) for value in seen))),
        positive_infs=_known(recorded.positive_inf, int(math.inf in said[:2])),
        negative_infs=_known(recorded.negative_inf, int(-math.inf in said[:2])),
        minimum=_finite(recorded.min),
        maximum=_finite(recorded.max),
        mean=_finite(recorded.mean),
        norm=_finite(recorded.l2norm),
    )


def _known(counted: int | None, otherwise: int) -> int:
    return otherwise if counted is None else counted


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def disagreeing(found: Statistics, recorded: RecordedStatistics) -> tuple[str, ...]:
    """Names of recorded values that are not those of the tensor: the file was changed, or the writer erred.

    Extremes must agree to the six digits that are printed, sums to a part in ten thousand: writers add
    them up in the tensor's own precision. Counts must be the same.
    """
    extremes = as_dumped(found)
    values = (
        ("max", recorded.max, extremes.maximum, 1e-5),
        ("min", recorded.min, extremes.minimum, 1e-5),
        ("mean", recorded.mean, extremes.mean, 1e-4),
        ("l2norm", recorded.l2norm, extremes.norm, 1e-4),
        ("count", recorded.count, found.count, 0.0),
        ("negative", recorded.negative, found.negative, 0.0),
        ("positive", recorded.positive, found.positive, 0.0),
        ("zero", recorded.zero, found.zeros, 0.0),
        ("nan", recorded.nan, found.nans, 0.0),
        ("negative_inf", recorded.negative_inf, found.negative_infs, 0.0),
        ("positive_inf", recorded.positive_inf, found.positive_infs, 0.0),
    )
    small = 1e-4 * (found.absolute_mean or 0.0)  # a mean near zero is what is left of large sums
    return tuple(
        name
        for name, said, value, tolerance in values
        if said is not None and not _same(said, value, tolerance, small if name == "mean" else 0.0)
    )


def _same(said: float, value: float, relative: float, absolute: float) -> bool:
    if math.isnan(said) or math.isnan(value):
        return math.isnan(said) == math.isnan(value)
    return said == value or abs(said - value) <= max(relative * abs(value), absolute)
