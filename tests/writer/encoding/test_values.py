"""Whatever is written reads back equal: every kind, type, shape, NaN and infinity."""

import math

import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mindinsight.proto import graph_pb2
from mindinsight.proto.summary_pb2 import LossLandscape, Summary
from mindinsight.writer.encoding import values

TYPES = ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8"]
tags = st.text(min_size=1, max_size=20)
shapes = hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=5)
arrays = st.sampled_from(TYPES).flatmap(lambda code: hnp.arrays(np.dtype(code), shapes))


def read(data):
    return Summary.Value.FromString(data)


@given(tags, st.floats())
def test_a_scalar_is_its_float32_or_exactly_itself(tag, number):
    value = read(values.scalar(tag, number))
    assert value.tag == tag
    with np.errstate(over="ignore"):
        np.testing.assert_equal(np.float32(value.scalar_value), np.float32(number))
    if value.HasField("exact_scalar"):
        assert value.exact_scalar == number


@pytest.mark.parametrize("number", [2.0**24 + 1, 1e300, -1e300, 1e-300, 5e-324, 1.7e9 + 0.123, 2.0**53 - 1])
def test_a_scalar_float32_would_visibly_change_is_kept_exactly(number):
    assert read(values.scalar("t", number)).exact_scalar == number


@pytest.mark.parametrize("number", [0.1, 0.0, 2.0**24, 2.0**30, math.inf, -math.inf, math.nan, 2.0**-126])
def test_other_scalars_take_no_more_than_a_float32(number):
    assert not read(values.scalar("t", number)).HasField("exact_scalar")


def read_tensor(tensor):
    name = graph_pb2.DataType.Name(tensor.data_type).removeprefix("DT_").lower()
    if tensor.HasField("raw_data"):
        return np.frombuffer(tensor.raw_data, name).reshape(tensor.dims)
    stored = np.array(tensor.float_data, np.float32)
    return stored.astype("float32" if name == "bfloat16" else name).reshape(tensor.dims)


@given(tags, arrays)
def test_a_tensor_reads_back_with_its_type_shape_and_values(tag, array):
    value = read(values.tensor(tag, array, array.dtype.name))
    back = read_tensor(value.tensor)
    assert value.tag == tag
    assert back.dtype == array.dtype
    np.testing.assert_array_equal(back, array)


@given(arrays)
def test_other_readers_find_every_tensor_as_float32(array):
    stored = read(values.tensor("t", array, array.dtype.name)).tensor.float_data
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(np.array(stored, np.float32), array.reshape(-1).astype(np.float32))


@pytest.mark.parametrize(
    ("array", "exact"),
    [
        (np.array([0.5, math.nan, math.inf]), False),
        (np.array([0.1]), True),
        (np.array([1 << 24]), False),
        (np.array([(1 << 24) + 1]), True),
        (np.array([(1 << 63) - 1]), True),
        (np.array([(1 << 64) - 1], np.uint64), True),
    ],
)
def test_exact_bytes_are_added_only_where_float32_changes_something(array, exact):
    assert read(values.tensor("t", array, array.dtype.name)).tensor.HasField("raw_data") is exact


def test_a_bfloat16_tensor_says_so():
    tensor = read(values.tensor("t", np.array([1.5, 2.0], np.float32), "bfloat16")).tensor
    assert tensor.data_type == graph_pb2.DT_BFLOAT16
    assert list(tensor.float_data) == [1.5, 2.0]


def test_a_type_the_format_has_no_number_for_is_stored_as_the_type_that_holds_it():
    tensor = read(values.tensor("t", np.array([1.5], np.float32), "float8_e4m3fn")).tensor
    assert tensor.data_type == graph_pb2.DT_FLOAT32


@given(arrays)
def test_the_size_of_a_tensor_is_known_before(array):
    assert len(values.tensor("", array, array.dtype.name)) <= values.wire_size(array)


@given(tags, arrays)
def test_a_histogram_counts_every_element(tag, array):
    value = read(values.histogram(tag, array))
    assert value.tag == tag
    histogram = value.histogram
    finite = array[np.isfinite(array)].astype(np.float64)
    assert histogram.count == array.size
    assert histogram.nan_count == np.isnan(array).sum()
    assert histogram.pos_inf_count == np.isposinf(array.astype(np.float64)).sum()
    assert histogram.neg_inf_count == np.isneginf(array.astype(np.float64)).sum()
    assert sum(bucket.count for bucket in histogram.buckets) == finite.size
    if finite.size:
        assert (histogram.min, histogram.max) == (finite.min(), finite.max())
    else:
        assert not histogram.buckets


def test_an_image_says_its_size_and_colours():
    value = read(values.image("i", np.zeros((3, 1, 4, 5), np.uint8)))
    assert (value.image.height, value.image.width, value.image.colorspace) == (4, 15, 1)
    assert value.image.encoded_image.startswith(b"\x89PNG")


def test_a_landscape_is_kept_as_it_is():
    message = LossLandscape(metadata=LossLandscape.Metadata(unit="step"))
    assert read(values.landscape("l", message.SerializeToString())).loss_landscape == message
