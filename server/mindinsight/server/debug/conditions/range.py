"""Rules on the range of the values of a tensor."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from mindinsight.server.compute.statistics import PIECE
from mindinsight.server.debug.conditions import Limits, Name, Parameter, Sample, Verdict, compared, condition

_ENDS: Final = ("range_start_inclusive", "range_end_inclusive")


@condition(
    Name("activation_range", "AR", "activation"),
    Name("tensor_range", "TR", "tensor"),
    parameters=(
        Parameter(_ENDS[0], checks=False),
        Parameter(_ENDS[1], checks=False),
        Parameter("range_percentage_lt", low=0, high=100, requires=_ENDS),
        Parameter("range_percentage_gt", low=0, high=100, requires=_ENDS),
        Parameter("max_min_lt", low=0, above_low=True),
        Parameter("max_min_gt", low=0),
    ),
)
def value_range(sample: Sample, limits: Limits) -> Verdict:
    """The percentage of elements inside [start, end], or maximum - minimum, beyond a limit."""
    actual: dict[str, float | None] = {}
    if "range_percentage_lt" in limits or "range_percentage_gt" in limits:
        inside = _percentage_inside(sample, limits[_ENDS[0]], limits[_ENDS[1]])
        actual |= {"range_percentage_lt": inside, "range_percentage_gt": inside}
    low, high = sample.statistics.minimum, sample.statistics.maximum
    width = None if low is None or high is None else high - low
    actual |= {"max_min_lt": width, "max_min_gt": width}
    return compared(actual, limits)


def _percentage_inside(sample: Sample, start: float, end: float) -> float:
    low, high = sample.statistics.minimum, sample.statistics.maximum
    if low is not None and high is not None and start <= low and high <= end:
        return 100.0
    values, inside = sample.read(), 0
    for flat in values.pieces():
        for start_of_piece in range(0, flat.size, PIECE):
            piece = flat[start_of_piece : start_of_piece + PIECE]
            numbers = np.abs(piece) if piece.dtype.kind == "c" else piece.astype(np.float64)
            inside += int(np.count_nonzero((numbers >= start) & (numbers <= end)))
    return 100.0 * inside / math.prod(values.shape)
