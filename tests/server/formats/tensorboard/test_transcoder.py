"""Histograms of TensorBoard as MindSpore's: both messages, outer buckets that end at the extremes."""

import math
import struct

import numpy as np
import pytest

from mindinsight.proto.summary_pb2 import Summary
from mindinsight.server.formats.read_limits import UnreadableError
from mindinsight.server.formats.tensorboard import transcode
from mindinsight.writer.encoding.wire import block as message
from mindinsight.writer.encoding.wire import double, integer


def doubles(*values: float) -> bytes:
    return struct.pack(f"<{len(values)}d", *values)


def legacy(
    low: float, high: float, limits: bytes, counts: bytes, number: float = 10, total: float = 12.5
) -> bytes:
    facts = double(1, low) + double(2, high) + double(3, number) + double(4, total)
    return facts + message(6, limits) + message(7, counts)


def tensor(shape: tuple[int, ...], values: bytes) -> bytes:
    sizes = b"".join(message(2, integer(1, size)) for size in shape)
    return integer(1, 2) + message(2, sizes) + message(4, values)


def read(data: bytes, is_legacy: bool) -> Summary.Histogram:
    return Summary.Histogram.FromString(transcode("histogram", message(5 if is_legacy else 8, data)))


def buckets(histogram: Summary.Histogram) -> list[tuple[float, float, int]]:
    return [(bucket.left, bucket.width, bucket.count) for bucket in histogram.buckets]


def test_outer_buckets_end_at_the_smallest_and_the_largest_value() -> None:
    limits, counts = doubles(-1e300, 0, 1, 2, 1.79e308), doubles(0, 3, 4, 0, 3)
    histogram = read(legacy(-0.5, 7.5, limits, counts), True)
    assert buckets(histogram) == [(-0.5, 0.5, 3), (0.0, 1.0, 4), (1.0, 1.0, 0), (2.0, 5.5, 3)]
    assert (histogram.min, histogram.max, histogram.sum, histogram.count) == (-0.5, 7.5, 12.5, 10)


def test_values_that_are_nan_are_in_no_bucket_and_counted() -> None:
    nan = math.nan
    limits, counts = doubles(-1, 0, 1, 2), doubles(0, 3, 4, 0)
    histogram = read(legacy(nan, nan, limits, counts, 10, nan), True)
    assert buckets(histogram) == [(-1.0, 1.0, 3), (0.0, 1.0, 4)]
    assert (histogram.nan_count, histogram.count, histogram.min, histogram.max) == (3, 10, -1, 1)
    nothing = read(legacy(nan, nan, doubles(1, 2), doubles(0, 0), 5, nan), True)
    assert (buckets(nothing), nothing.nan_count, nothing.count) == ([], 5, 5)


def test_an_empty_histogram_has_no_buckets() -> None:
    assert buckets(read(legacy(0, 0, doubles(1, 2), doubles(0, 0), 0), True)) == []
    histogram = read(tensor((0, 3), b""), False)
    assert (buckets(histogram), histogram.min, histogram.max, histogram.count) == ([], 0, 0, 0)


def test_rows_of_a_tensor_are_left_right_and_count() -> None:
    histogram = read(tensor((3, 3), doubles(0, 1, 0, 1, 3, 5, 3, 3, 2)), False)
    assert buckets(histogram) == [(0.0, 1.0, 0), (1.0, 2.0, 5), (3.0, 0.0, 2)]
    assert (histogram.min, histogram.max, histogram.count) == (1, 3, 7)
    assert math.isnan(histogram.sum)


def test_counts_that_are_no_numbers_are_none_and_huge_ones_are_cut() -> None:
    histogram = read(tensor((2, 3), doubles(0, 1, math.nan, 1, 2, 1e300)), False)
    assert [bucket.count for bucket in histogram.buckets] == [0, 1 << 62]
    assert np.isfinite(histogram.count)


@pytest.mark.parametrize(
    ("data", "is_legacy"),
    [
        (legacy(0, 1, doubles(1, 2), doubles(1)), True),
        (tensor((2, 2), doubles(0, 1, 2, 3)), False),
        (tensor((3,), doubles(0, 1, 2)), False),
    ],
)
def test_columns_that_do_not_fit_are_named(data: bytes, is_legacy: bool) -> None:
    with pytest.raises(UnreadableError) as raised:
        read(data, is_legacy)
    assert raised.value.reason == "payload.shape"
