"""Transcoder of histograms: HistogramProto, and tensors of k x (left, right, count).

Buckets of HistogramProto are named by their right edges, of which the outer ones may be as far away as
float64 goes: they end where the smallest and the largest value are, as TensorBoard draws them.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from mindinsight.server.formats.tensorboard.tensors import numbers, tensor_fields
from mindinsight.server.formats.tensorboard.wire_writer import double, integer, message
from mindinsight.server.formats.unreadable import UnreadableError
from mindinsight.server.formats.wire_format import message_fields
from mindinsight.server.types import Doubles

_MIN, _MAX, _NUM, _SUM = (number << 3 | 1 for number in (1, 2, 3, 4))
_LIMITS, _COUNTS = 6, 7  # numbers of the fields
_MOST_COUNT: Final = float(1 << 62)


def histogram_message(data: bytes, at: int, end: int, legacy: bool) -> bytes:
    """Summary.Histogram of the message in ``data[at:end]``. Raises UnparsableError, UnreadableError."""
    return _from_proto(data, at, end) if legacy else _from_tensor(data, at, end)


def _from_proto(data: bytes, at: int, end: int) -> bytes:
    facts = dict.fromkeys((_MIN, _MAX, _NUM, _SUM), 0.0)
    columns: dict[int, list[bytes]] = {_LIMITS: [], _COUNTS: []}
    for key, start, stop in message_fields(data, at, end):
        if key in facts:
            facts[key] = float(np.frombuffer(data, "<f8", 1, start)[0])
        elif key >> 3 in columns and (stop - start) % 8 == 0:
            columns[key >> 3].append(data[start:stop])
    limits, counts = (np.frombuffer(b"".join(columns[number]), "<f8") for number in (_LIMITS, _COUNTS))
    if len(limits) != len(counts):
        raise UnreadableError("payload.shape", f"histogram of {len(counts)} counts and {len(limits)} edges")
    low, high = facts[_MIN], facts[_MAX]
    filled = np.flatnonzero(counts > 0)
    first, last = (int(filled[0]), int(filled[-1]) + 1) if len(filled) else (0, 0)
    inner = limits[first : max(last - 1, first)]
    left = np.concatenate([[low], inner])[: last - first]
    right = np.concatenate([inner, [high]])[: last - first]
    return _message(left, right, counts[first:last], (low, high, facts[_SUM]), facts[_NUM])


def _from_tensor(data: bytes, at: int, end: int) -> bytes:
    tensor = tensor_fields(data, at, end)
    if len(tensor.shape) != 2 or tensor.shape[1] != 3:
        raise UnreadableError("payload.shape", f"histogram of shape {tensor.shape}")
    left, right, counts = numbers(data, tensor).astype(np.float64).reshape(-1, 3).T
    filled = np.flatnonzero(counts > 0)
    low = float(left[filled[0]]) if len(filled) else 0.0
    high = float(right[filled[-1]]) if len(filled) else 0.0
    return _message(left, right, counts, (low, high, float("nan")), float(counts.sum()))


def _message(
    left: Doubles, right: Doubles, counts: Doubles, extremes: tuple[float, float, float], number: float
) -> bytes:
    """``extremes`` are the smallest value, the largest and the sum; NaN for a sum that is not known."""
    whole = np.rint(np.clip(np.nan_to_num(counts), -_MOST_COUNT, _MOST_COUNT)).astype(np.int64)
    with np.errstate(over="ignore", invalid="ignore"):
        widths = right - left
    buckets = b"".join(
        message(1, double(1, begin) + double(2, width) + integer(3, count))
        for begin, width, count in zip(left.tolist(), widths.tolist(), whole.tolist(), strict=True)
    )
    low, high, total = extremes
    count = int(np.rint(np.clip(np.nan_to_num(number), 0, _MOST_COUNT)))
    return buckets + double(5, high) + double(6, low) + double(7, total) + integer(8, count)
