"""Rules on the change of a tensor from one dumped step to the next."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from mindinsight.server.compute.statistics import PIECE, Array
from mindinsight.server.debug.conditions import (
    NO_PREVIOUS,
    Limits,
    Name,
    Parameter,
    Sample,
    Verdict,
    compared,
    condition,
)

EPSILON: Final = Parameter("epsilon", 1e-9, low=0, checks=False)


@condition(
    Name("weight_change_too_large", "WCL", "weight"),
    Name("tensor_change_too_large", "TCL", "tensor"),
    parameters=(Parameter("abs_mean_update_ratio_gt", 0.1, low=0), EPSILON),
    needs_previous=True,
)
def change_too_large(sample: Sample, limits: Limits) -> Verdict:
    """mean|now - before| / (epsilon + mean|before|) above a limit."""
    return _update_ratio("abs_mean_update_ratio_gt", sample, limits)


@condition(
    Name("weight_change_too_small", "WCS", "weight"),
    Name("tensor_change_too_small", "TCS", "tensor"),
    parameters=(Parameter("abs_mean_update_ratio_lt", 1e-4, low=0), EPSILON),
    needs_previous=True,
)
def change_too_small(sample: Sample, limits: Limits) -> Verdict:
    """mean|now - before| / (epsilon + mean|before|) below a limit."""
    return _update_ratio("abs_mean_update_ratio_lt", sample, limits)


@condition(
    Name("weight_not_changed", "WNC", "weight"),
    Name("tensor_not_changed", "TNC", "tensor"),
    parameters=(
        Parameter("rtol", 1e-5, low=0),
        Parameter("atol", 1e-8, low=0, checks=False),
        Parameter("equal_nan", 0, low=0, high=1, checks=False),
    ),
    needs_previous=True,
)
def not_changed(sample: Sample, limits: Limits) -> Verdict:
    """Every |now - before| within atol + rtol * |before|.

    ``equal_nan`` has no effect: as in MindInsight, a tensor with NaN is not judged at all.
    """
    pairs = _pairs(sample)
    if pairs is None:
        return Verdict(False, error=NO_PREVIOUS)
    rtol, atol = limits["rtol"], limits["atol"]
    return Verdict(all(np.allclose(now, before, rtol=rtol, atol=atol) for now, before in pairs))


def _update_ratio(name: str, sample: Sample, limits: Limits) -> Verdict:
    pairs = _pairs(sample)
    if pairs is None:
        return Verdict(False, error=NO_PREVIOUS)
    change = magnitude = 0.0
    count = 0
    with np.errstate(all="ignore"):
        for now, before in pairs:
            change += float(np.abs(now - before).sum())
            magnitude += float(np.abs(before).sum())
            count += now.size
    return compared({name: change / count / (limits["epsilon"] + magnitude / count)}, limits)


def _pairs(sample: Sample) -> Iterator[tuple[Array, Array]] | None:
    """Pieces of the tensor at this and the previous step, in double precision; None when shapes differ."""
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
