"""Rules about numbers that are none."""

from __future__ import annotations

from mindinsight.server.debug.conditions import Limits, Name, Sample, Verdict, condition


@condition(
    Name("tensor_overflow", "TO", "tensor"),
    Name("weight_overflow", "WO", "weight"),
    Name("gradient_exploding", "GE", "gradient"),
    finite_only=False,
)
def overflow(sample: Sample, limits: Limits) -> Verdict:
    """Any NaN, Inf or -Inf."""
    return Verdict(not sample.statistics.finite)


@condition(Name("operator_overflow", "OO", "tensor"), finite_only=False)
def operator_overflow(sample: Sample, limits: Limits) -> Verdict:
    """The device's own overflow record names the operator."""
    return Verdict(sample.overflowed)
