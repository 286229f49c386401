"""Rules on one tensor: its change between steps, overflow, range and magnitude."""

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

import numpy as np

from mindinsight.server.compute.tensor_statistics import PIECE, Array
from mindinsight.server.debug import conditions

EPSILON: Final = conditions.Parameter("epsilon", 1e-9, low=0, checks=False)


@conditions.condition(
    conditions.Name("weight_change_too_large", "WCL", "weight"),
    conditions.Name("tensor_change_too_large", "TCL", "tensor"),
    parameters=(conditions.Parameter("abs_mean_update_ratio_gt", 0.1, low=0), EPSILON),
    needs_previous=True,
)
def change_too_large(sample: conditions.Sample, limits: conditions.Limits) -> conditions.Verdict:
    """Return the verdict, a hit if mean|now - before| / (epsilon + mean|before|) is above a limit."""
    return _update_ratio("abs_mean_update_ratio_gt", sample, limits)


@conditions.condition(
    conditions.Name("weight_change_too_small", "WCS", "weight"),
    conditions.Name("tensor_change_too_small", "TCS", "tensor"),
    parameters=(conditions.Parameter("abs_mean_update_ratio_lt", 1e-4, low=0), EPSILON),
    needs_previous=True,
)
def change_too_small(sample: conditions.Sample, limits: conditions.Limits) -> conditions.Verdict:
    """Return the verdict, a hit if mean|now - before| / (epsilon + mean|before|) is below a limit."""
    return _update_ratio("abs_mean_update_ratio_lt", sample, limits)


@conditions.condition(
    conditions.Name("weight_not_changed", "WNC", "weight"),
    conditions.Name("tensor_not_changed", "TNC", "tensor"),
    parameters=(
        conditions.Parameter("rtol", 1e-5, low=0),
        conditions.Parameter("atol", 1e-8, low=0, checks=False),
        conditions.Parameter("equal_nan", 0, low=0, high=1, checks=False),
    ),
    needs_previous=True,
)
def not_changed(sample: conditions.Sample, limits: conditions.Limits) -> conditions.Verdict:
    """Return the verdict, a hit if every |now - before| is within atol + rtol * |before|. ``equal_nan``
    has no effect: MindInsight does not judge a tensor with NaN either."""
    pairs = _pairs(sample)
    if pairs is None:
        return conditions.Verdict(False, error=conditions.NO_PREVIOUS)
    rtol, atol = limits["rtol"], limits["atol"]
    return conditions.Verdict(all(np.allclose(now, before, rtol=rtol, atol=atol) for now, before in pairs))


def _update_ratio(name: str, sample: conditions.Sample, limits: conditions.Limits) -> conditions.Verdict:
    """Return the verdict on mean|now - before| / (epsilon + mean|before|) against the limit ``name``."""
    pairs = _pairs(sample)
    if pairs is None:
        return conditions.Verdict(False, error=conditions.NO_PREVIOUS)
    change = magnitude = 0.0
    count = changed = 0
    with np.errstate(all="ignore"):
        for now, before in pairs:
            change += float(np.abs(now - before).sum())
            magnitude += float(np.abs(before).sum())
            count += now.size
            changed += int(np.count_nonzero(now != before))
    verdict = conditions.compared({name: change / count / (limits["epsilon"] + magnitude / count)}, limits)
    return replace(verdict, share=changed / count)


def _pairs(sample: conditions.Sample) -> Iterator[tuple[Array, Array]] | None:
    """Return the pieces of the tensor at this and the previous step as float64, or None if shapes differ."""
    if sample.read_previous is None:
        return None
    now, before = sample.read(), sample.read_previous()
    if now.shape != before.shape:
        return None
    wide = np.complex128 if now.dtype.kind == "c" else np.float64
    return (
        (flat[start : start + PIECE].astype(wide), flat_before[start : start + PIECE].astype(wide))
        for flat, flat_before in zip(now.pieces(), before.pieces(), strict=True)
        for start in range(0, flat.size, PIECE)
    )


@conditions.condition(
    conditions.Name("tensor_overflow", "TO", "tensor"),
    conditions.Name("weight_overflow", "WO", "weight"),
    conditions.Name("gradient_exploding", "GE", "gradient"),
    finite_only=False,
)
def overflow(sample: conditions.Sample, limits: conditions.Limits) -> conditions.Verdict:
    """Return the verdict, a hit if a tensor holds NaN, Inf or -Inf. If that is unknown, the verdict is no
    hit, with the error ``NO_VALUES``."""
    finite = sample.statistics.finite
    return conditions.Verdict(finite is False, error=conditions.NO_VALUES if finite is None else 0)


@conditions.condition(conditions.Name("operator_overflow", "OO", "tensor"), finite_only=False)
def operator_overflow(sample: conditions.Sample, limits: conditions.Limits) -> conditions.Verdict:
    """Return the verdict, a hit if the device reported an overflow of the operator."""
    return conditions.Verdict(sample.overflowed)


_ENDS: Final = ("range_start_inclusive", "range_end_inclusive")


@conditions.condition(
    conditions.Name("activation_range", "AR", "activation"),
    conditions.Name("tensor_range", "TR", "tensor"),
    parameters=(
        conditions.Parameter(_ENDS[0], checks=False),
        conditions.Parameter(_ENDS[1], checks=False),
        conditions.Parameter("range_percentage_lt", low=0, high=100, requires=_ENDS),
        conditions.Parameter("range_percentage_gt", low=0, high=100, requires=_ENDS),
        conditions.Parameter("max_min_lt", low=0, above_low=True),
        conditions.Parameter("max_min_gt", low=0),
    ),
)
def value_range(sample: conditions.Sample, limits: conditions.Limits) -> conditions.Verdict:
    """Return the verdict, a hit if the percentage of elements in [start, end], or maximum - minimum, is
    beyond a limit."""
    actual: dict[str, float | None] = {}
    if "range_percentage_lt" in limits or "range_percentage_gt" in limits:
        inside = _percentage_inside(sample, limits[_ENDS[0]], limits[_ENDS[1]])
        actual |= {"range_percentage_lt": inside, "range_percentage_gt": inside}
    low, high = sample.statistics.minimum, sample.statistics.maximum
    width = None if low is None or high is None else high - low
    actual |= {"max_min_lt": width, "max_min_gt": width}
    return conditions.compared(actual, limits)


def _percentage_inside(sample: conditions.Sample, start: float, end: float) -> float:
    """Return the percentage of elements in [start, end]. Values are read unless the extremes decide."""
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


def _size_limits(suffix: str) -> tuple[conditions.Parameter, ...]:
    """Return one parameter for each of ``_sizes``, all off by default."""
    others = (conditions.Parameter(f"{name}_{suffix}") for name in ("max", "min", "mean"))
    return (conditions.Parameter(f"abs_mean_{suffix}", low=0), *others)


@conditions.condition(
    conditions.Name("tensor_too_large", "TL", "tensor"),
    conditions.Name("weight_too_large", "WL", "weight"),
    conditions.Name("gradient_too_large", "GL", "gradient"),
    parameters=_size_limits("gt"),
)
def too_large(sample: conditions.Sample, limits: conditions.Limits) -> conditions.Verdict:
    """Return the verdict, a hit if the mean magnitude, maximum, minimum or mean is above a limit."""
    return conditions.compared({f"{name}_gt": value for name, value in _sizes(sample).items()}, limits)


@conditions.condition(
    conditions.Name("tensor_too_small", "TS", "tensor"),
    conditions.Name("weight_too_small", "WS", "weight"),
    conditions.Name("gradient_vanishing", "GV", "gradient"),
    parameters=_size_limits("lt"),
)
def too_small(sample: conditions.Sample, limits: conditions.Limits) -> conditions.Verdict:
    """Return the verdict, a hit if the mean magnitude, maximum, minimum or mean is below a limit."""
    return conditions.compared({f"{name}_lt": value for name, value in _sizes(sample).items()}, limits)


@conditions.condition(
    conditions.Name("tensor_all_zero", "TZ", "tensor"),
    parameters=(conditions.Parameter("zero_percentage_ge", 100, low=0, high=100),),
)
def all_zero(sample: conditions.Sample, limits: conditions.Limits) -> conditions.Verdict:
    """Return the verdict, a hit if the percentage of zeros reaches a limit."""
    return conditions.compared({"zero_percentage_ge": _zero_percentage(sample)}, limits)


@conditions.condition(
    conditions.Name("weight_initialization", "WI", "weight"),
    parameters=(
        conditions.Parameter("zero_percentage_ge", 100, low=0, high=100),
        conditions.Parameter("max_gt"),
        conditions.Parameter("min_lt"),
    ),
    first_step_only=True,
)
def initialization(sample: conditions.Sample, limits: conditions.Limits) -> conditions.Verdict:
    """Return the verdict, a hit if a weight was initialized with zeros, or with values beyond the limits."""
    sizes = _sizes(sample)
    actual = {"zero_percentage_ge": _zero_percentage(sample), "max_gt": sizes["max"], "min_lt": sizes["min"]}
    return conditions.compared(actual, limits)


def _sizes(sample: conditions.Sample) -> dict[str, float | None]:
    statistics = sample.statistics
    return {
        "abs_mean": statistics.absolute_mean,
        "max": statistics.maximum,
        "min": statistics.minimum,
        "mean": statistics.mean,
    }


def _zero_percentage(sample: conditions.Sample) -> float | None:
    zeros, count = sample.statistics.zeros, sample.statistics.count
    return None if zeros is None or not count else 100.0 * zeros / count
