"""Finiteness of tensors: finite, not finite or unknown, from their data, recorded statistics or types."""

from __future__ import annotations

from typing import Literal, TypeAlias

from mindinsight.server.debug.examine import TensorResult
from mindinsight.server.debug.recorded_statistics import infer_statistics
from mindinsight.server.formats.dumps.types import TensorEntry

OperatorKey: TypeAlias = tuple[str, str]  # graph, operator as recorded
Finiteness: TypeAlias = Literal["finite", "not_finite", "unknown"]


def operator_key(entry: TensorEntry) -> OperatorKey:
    return entry.graph, entry.recorded


def finiteness(result: TensorResult) -> Finiteness:
    """Finiteness of a measured tensor; texts, which cannot be measured, hold no NaN."""
    if result.measurement is None:
        texts = result.damage is not None and result.damage.reason == "dump.no_numbers"
        return "finite" if texts or surely_finite(result.entry) else "unknown"
    finite = result.measurement.statistics.finite
    return "unknown" if finite is None else "finite" if finite else "not_finite"


def surely_finite(entry: TensorEntry) -> bool:
    """Whether a tensor is finite by its type or its recorded extremes, so that it need not be read."""
    if entry.dtype.startswith(("int", "uint", "bool")):
        return True
    recorded = entry.statistics
    if recorded is None or recorded.min is None or recorded.max is None:
        return False
    statistics = infer_statistics(recorded, entry.shape)
    return statistics is not None and statistics.finite is True


def not_finite(result: TensorResult) -> bool:
    """Whether a tensor is known to hold NaN or infinities."""
    return finiteness(result) == "not_finite"
