"""Statistics inferred from values that a dump recorded. They replace computed ones if it has no data."""

import math
from dataclasses import dataclass
from typing import Final, TypeAlias

from mindinsight.server.compute.tensor_statistics import Statistics, as_dumped
from mindinsight.server.formats.dumps.dump_types import RecordedStatistics


@dataclass(frozen=True, slots=True)
class InferredStatistics:
    """Statistics inferred from recorded values, with the fields of ``Statistics``. Unknown fields are None.

    ``finite`` can be known without counts, from extremes or a norm.
    """

    count: int | None
    zeros: int | None
    negative: int | None
    positive: int | None
    nans: int | None
    positive_infs: int | None
    negative_infs: int | None
    finite: bool | None
    minimum: float | None = None
    maximum: float | None = None
    mean: float | None = None
    absolute_mean: float | None = None
    std: float | None = None
    norm: float | None = None

    @property
    def infinities(self) -> int | None:
        """Return the number of infinite elements, or None if unknown."""
        known = self.positive_infs is not None and self.negative_infs is not None
        return (self.positive_infs or 0) + (self.negative_infs or 0) if known else None


_UNKNOWN: Final = (None, None, None, None)

AnyStatistics: TypeAlias = Statistics | InferredStatistics


def infer_statistics(
    recorded: RecordedStatistics, shape: tuple[int, ...] | None
) -> InferredStatistics | None:
    """Return statistics inferred from recorded values, or None if no value was recorded. Those that cannot
    be inferred are None. ``shape`` gives the number of elements if it is not recorded."""
    values = (recorded.min, recorded.max, recorded.mean, recorded.l2norm)
    counts = (recorded.nan, recorded.positive_inf, recorded.negative_inf, recorded.zero)
    if values == _UNKNOWN == counts:
        return None
    count = recorded.count
    if count is None and shape is not None:
        count = math.prod(shape)
    finite = _all_finite(recorded, count)
    below, above = _signs(recorded, count)
    no_elements = 0 if finite else None
    return InferredStatistics(
        count=count,
        zeros=_first(recorded.zero, _zeros(recorded, count)),
        negative=_first(recorded.negative, below),
        positive=_first(recorded.positive, above),
        nans=_first(recorded.nan, no_elements),
        positive_infs=_first(recorded.positive_inf, no_elements),
        negative_infs=_first(recorded.negative_inf, no_elements),
        finite=finite,
        minimum=_finite(recorded.min),
        maximum=_finite(recorded.max),
        mean=_finite(recorded.mean),
        norm=_finite(recorded.l2norm),
    )


def _all_finite(recorded: RecordedStatistics, count: int | None) -> bool | None:
    """Return whether all elements are finite, or None if unknown. An infinite norm or mean decides
    nothing, because its sum may overflow."""
    non_finite_counts = (recorded.nan, recorded.positive_inf, recorded.negative_inf)
    extremes = [value for value in (recorded.min, recorded.max) if value is not None]
    sums = [value for value in (recorded.mean, recorded.l2norm) if value is not None]
    if any(non_finite_counts) or not all(map(math.isfinite, extremes)) or any(map(math.isnan, sums)):
        return False
    known = len(extremes) == 2 or any(map(math.isfinite, sums)) or None not in non_finite_counts
    return True if known or count == 0 else None


def _signs(recorded: RecordedStatistics, count: int | None) -> tuple[int | None, int | None]:
    """Return the numbers of negative and of positive elements, each None unless the extremes decide it."""
    low, high = recorded.min, recorded.max
    below = 0 if low is not None and low >= 0 else count if high is not None and high < 0 else None
    above = 0 if high is not None and high <= 0 else count if low is not None and low > 0 else None
    return below, above


def _zeros(recorded: RecordedStatistics, count: int | None) -> int | None:
    """Return the number of zeros, or None unless the extremes decide it."""
    if recorded.min == recorded.max == 0:
        return count
    excluded = (recorded.min is not None and recorded.min > 0) or (
        recorded.max is not None and recorded.max < 0
    )
    return 0 if excluded else None


def _first(recorded: int | None, inferred: int | None) -> int | None:
    return inferred if recorded is None else recorded


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def find_disagreements(computed: Statistics, recorded: RecordedStatistics) -> tuple[str, ...]:
    """Return the names of recorded values that the tensor contradicts. A contradiction means that the file
    was changed or the writer was wrong. Extremes must agree to the six printed digits. Sums must agree to
    one part in ten thousand, because writers compute them in the tensor's precision. Counts must be equal."""
    extremes = as_dumped(computed)
    values = (
        ("max", recorded.max, extremes.maximum, 1e-5),
        ("min", recorded.min, extremes.minimum, 1e-5),
        ("mean", recorded.mean, extremes.mean, 1e-4),
        ("l2norm", recorded.l2norm, extremes.norm, 1e-4),
        ("count", recorded.count, computed.count, 0.0),
        ("negative", recorded.negative, computed.negative, 0.0),
        ("positive", recorded.positive, computed.positive, 0.0),
        ("zero", recorded.zero, computed.zeros, 0.0),
        ("nan", recorded.nan, computed.nans, 0.0),
        ("negative_inf", recorded.negative_inf, computed.negative_infs, 0.0),
        ("positive_inf", recorded.positive_inf, computed.positive_infs, 0.0),
    )
    small = 1e-4 * (computed.absolute_mean or 0.0)  # a mean near zero is the remainder of large sums
    return tuple(
        name
        for name, recorded_value, value, tolerance in values
        if recorded_value is not None
        and not _same(recorded_value, value, tolerance, small if name == "mean" else 0.0)
    )


def _same(recorded: float, value: float, relative: float, absolute: float) -> bool:
    if math.isnan(recorded) or math.isnan(value):
        return math.isnan(recorded) == math.isnan(value)
    return recorded == value or abs(recorded - value) <= max(relative * abs(value), absolute)
