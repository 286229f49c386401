"""Encoder of histograms: the distribution of an array (Summary.Histogram)."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from mindinsight.writer.buffer_pool import BufferPool
from mindinsight.writer.encoding import wire
from mindinsight.writer.encoding.encoder import ArrayEncoder, Item
from mindinsight.writer.encoding.histograms import Histogram, histogram
from mindinsight.writer.encoding.wire import json_number

_FACTS: Final = ("count", "nan_count", "pos_inf_count", "neg_inf_count", "min", "max", "sum")


class HistogramEncoder(ArrayEncoder):
    """Encoder of bool, integer or float arrays of one dimension or more, and of counted histograms."""

    def item(self, tag: str, value: Any, room: int, buffers: BufferPool) -> Item:
        """Return the array in ``value``, or the message of a Histogram."""
        if isinstance(value, Histogram):
            return Item(self.kind, tag, _message(value))
        return super().item(tag, value, room, buffers)

    def message(self, item: Item) -> bytes:
        """Return the message of the array in ``item``, or the message in it."""
        return item.payload if isinstance(item.payload, bytes) else super().message(item)

    def array_message(self, values: npt.NDArray[Any], dtype: str) -> bytes:
        """Return buckets, counts of non-finite elements, and minimum, maximum and sum of the finite ones."""
        return _message(histogram(values))

    def facts(self, message: Any) -> dict[str, Any]:
        """Return counts, minimum, maximum and sum."""
        return {name: json_number(getattr(message, name)) for name in _FACTS}


def _message(counted: Histogram) -> bytes:
    left, width = counted.edges[:-1], np.diff(counted.edges)
    parts = [
        wire.block(1, wire.double(1, start) + wire.double(2, size) + wire.integer(3, count))
        for start, size, count in zip(left.tolist(), width.tolist(), counted.counts.tolist(), strict=True)
    ]
    parts += (
        wire.integer(2, counted.nan),
        wire.integer(3, counted.positive_infinity),
        wire.integer(4, counted.negative_infinity),
    )
    if counted.low is not None and counted.high is not None and counted.total is not None:
        parts += (
            wire.double(5, counted.high),
            wire.double(6, counted.low),
            wire.double(7, counted.total),
        )
    parts.append(wire.integer(8, counted.count))
    return b"".join(parts)


ENCODER: Final = HistogramEncoder("histogram")
