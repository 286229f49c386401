"""Rules on NaN, infinities and reported overflows."""

from __future__ import annotations

from mindinsight.server.debug.conditions import NO_VALUES, Limits, Name, Sample, Verdict, condition


@condition(
    Name("tensor_overflow", "TO", "tensor"),
    Name("weight_overflow", "WO", "weight"),
    Name("gradient_exploding", "GE", "gradient"),
    finite_only=False,
)
def overflow(sample: Sample, limits: Limits) -> Verdict:
    """Any NaN, Inf or -Inf."""
    finite = sample.statistics.finite
    return Verdict(finite is False, error=NO_VALUES if finite is None else 0)


@condition(Name("operator_overflow", "OO", "tensor"), finite_only=False)
def operator_overflow(sample: Sample, limits: Limits) -> Verdict:
    """The device reported an overflow of the operator."""
    return Verdict(sample.overflowed)
