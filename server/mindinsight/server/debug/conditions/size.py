"""Rules on the magnitude of the values of a tensor."""

from __future__ import annotations

from mindinsight.server.debug.conditions import Limits, Name, Parameter, Sample, Verdict, compared, condition


@condition(
    Name("tensor_too_large", "TL", "tensor"),
    Name("weight_too_large", "WL", "weight"),
    Name("gradient_too_large", "GL", "gradient"),
    parameters=(
        Parameter("abs_mean_gt", low=0),
        Parameter("max_gt"),
        Parameter("min_gt"),
        Parameter("mean_gt"),
    ),
)
def too_large(sample: Sample, limits: Limits) -> Verdict:
    """Mean magnitude, maximum, minimum or mean above a limit."""
    return compared({f"{name}_gt": value for name, value in _sizes(sample).items()}, limits)


@condition(
    Name("tensor_too_small", "TS", "tensor"),
    Name("weight_too_small", "WS", "weight"),
    Name("gradient_vanishing", "GV", "gradient"),
    parameters=(
        Parameter("abs_mean_lt", low=0),
        Parameter("max_lt"),
        Parameter("min_lt"),
        Parameter("mean_lt"),
    ),
)
def too_small(sample: Sample, limits: Limits) -> Verdict:
    """Mean magnitude, maximum, minimum or mean below a limit."""
    return compared({f"{name}_lt": value for name, value in _sizes(sample).items()}, limits)


@condition(
    Name("tensor_all_zero", "TZ", "tensor"),
    parameters=(Parameter("zero_percentage_ge", 100, low=0, high=100),),
)
def all_zero(sample: Sample, limits: Limits) -> Verdict:
    """The share of zeros, in percent, reaches a limit."""
    return compared({"zero_percentage_ge": _zero_percentage(sample)}, limits)


@condition(
    Name("weight_initialization", "WI", "weight"),
    parameters=(
        Parameter("zero_percentage_ge", 100, low=0, high=100),
        Parameter("max_gt"),
        Parameter("min_lt"),
    ),
    first_step_only=True,
)
def initialization(sample: Sample, limits: Limits) -> Verdict:
    """A weight that is initialized with zeros, or with values beyond the limits."""
    sizes = _sizes(sample)
    actual = {"zero_percentage_ge": _zero_percentage(sample), "max_gt": sizes["max"], "min_lt": sizes["min"]}
    return compared(actual, limits)


def _sizes(sample: Sample) -> dict[str, float | None]:
    statistics = sample.statistics
    return {
        "abs_mean": statistics.absolute_mean,
        "max": statistics.maximum,
        "min": statistics.minimum,
        "mean": statistics.mean,
    }


def _zero_percentage(sample: Sample) -> float | None:
    zeros, count = sample.statistics.zeros, sample.statistics.count
    return None if zeros is None or not count else 100.0 * zeros / count
