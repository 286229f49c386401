"""Check of dumped tensors: one without a positive value. Its id begins with the entry point's name."""

from __future__ import annotations

from mindinsight.extension import Limits, Name, Sample, Verdict, condition


@condition(Name("confusion.nothing_positive", "CNP", "tensor"))
def CHECKS(sample: Sample, limits: Limits) -> Verdict:
    """Judge whether no value is above zero."""
    largest = sample.statistics.maximum
    return Verdict(largest is not None and largest <= 0)
