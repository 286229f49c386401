"""Encoder of histograms: the distribution of an array (Summary.Histogram)."""

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from mindinsight.writer.buffer_pool import BufferPool
from mindinsight.writer.encoding.encoder import ArrayEncoder, Item
from mindinsight.writer.encoding.histograms import Histogram, histogram
from mindinsight.writer.encoding.wire import json_number

_FACTS: Final = ("count", "nan_count", "pos_inf_count", "neg_inf_count", "min", "max", "sum")


class HistogramEncoder(ArrayEncoder):
    """Encoder of bool, integer or float arrays of one dimension or more, and of counted histograms."""

    def item(self, tag: str, value: Any, room: int, buffers: BufferPool) -> Item:
        """Return an Item with the array in ``value``, or with the message of a Histogram. Raises for an array
        like ``ArrayEncoder.item``."""
        if isinstance(value, Histogram):
            return Item(self.kind, tag, _message(value))
        return super().item(tag, value, room, buffers)

    def message(self, item: Item) -> bytes:
        """Return the serialised histogram of the array in ``item``, or the message in it."""
        return item.payload if isinstance(item.payload, bytes) else super().message(item)

    def array_message(self, values: npt.NDArray[Any], dtype: str) -> bytes:
        """Return the serialised histogram of an array. It has buckets, counts of non-finite elements, and
        minimum, maximum and sum of the finite ones."""
        return _message(histogram(values))

    def facts(self, message: Any) -> dict[str, Any]:
        """Return ``count``, ``nan_count``, ``pos_inf_count`` and ``neg_inf_count`` of the elements, and
        ``min``, ``max`` and ``sum`` of the finite ones."""
        return {name: json_number(getattr(message, name)) for name in _FACTS}


def _message(counted: Histogram) -> bytes:
    from mindinsight.proto.summary_pb2 import Summary  # loads protobuf, which scalars do without

    message = Summary.Histogram(
        count=counted.count,
        nan_count=counted.nan,
        pos_inf_count=counted.positive_infinity,
        neg_inf_count=counted.negative_infinity,
        max=counted.high,
        min=counted.low,
        sum=counted.total,
    )
    columns = counted.edges[:-1], np.diff(counted.edges), counted.counts
    for left, width, count in zip(*(column.tolist() for column in columns), strict=True):
        message.buckets.add(left=left, width=width, count=count)
    return bytes(message.SerializeToString())


ENCODER: Final = HistogramEncoder("histogram")
