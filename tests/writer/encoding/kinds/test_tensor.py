"""A tensor reads back equal: every type and shape, NaN and infinity."""

import math
from typing import Any

import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mindinsight.proto import graph_pb2
from mindinsight.writer.buffer_pool import BufferPool
from mindinsight.writer.encoding.encoder import TooLarge
from mindinsight.writer.encoding.kinds.tensor import ENCODER, wire_size

TYPES = ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8"]
shapes = hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=5)
arrays = st.sampled_from(TYPES).flatmap(lambda code: hnp.arrays(np.dtype(code), shapes))


def written(array: Any, dtype: Any = None) -> Any:
    return graph_pb2.TensorProto.FromString(ENCODER.array_message(array, dtype or array.dtype.name))


def read_tensor(tensor: Any) -> Any:
    name = graph_pb2.DataType.Name(tensor.data_type).removeprefix("DT_").lower()
    if tensor.HasField("raw_data"):
        return np.frombuffer(tensor.raw_data, name).reshape(tensor.dims)
    stored = np.array(tensor.float_data, np.float32)
    return stored.astype("float32" if name == "bfloat16" else name).reshape(tensor.dims)


@given(arrays)
def test_a_tensor_reads_back_with_its_type_shape_and_values(array: Any) -> None:
    back = read_tensor(written(array))
    assert back.dtype == array.dtype
    np.testing.assert_array_equal(back, array)


@given(arrays)
def test_other_readers_find_every_tensor_as_float32(array: Any) -> None:
    stored = written(array).float_data
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
def test_exact_bytes_are_added_only_where_float32_changes_something(array: Any, exact: bool) -> None:
    assert written(array).HasField("raw_data") is exact


def test_a_bfloat16_tensor_says_so() -> None:
    tensor = written(np.array([1.5, 2.0], np.float32), "bfloat16")
    assert tensor.data_type == graph_pb2.DT_BFLOAT16
    assert list(tensor.float_data) == [1.5, 2.0]


def test_a_type_the_format_has_no_number_for_is_stored_as_the_type_that_holds_it() -> None:
    tensor = written(np.array([1.5], np.float32), "float8_e4m3fn")
    assert tensor.data_type == graph_pb2.DT_FLOAT32


@given(arrays)
def test_the_size_of_a_tensor_is_known_before(array: Any) -> None:
    assert len(ENCODER.array_message(array, array.dtype.name)) + 20 <= wire_size(array)


def test_what_is_larger_than_the_room_is_not_copied_and_refused() -> None:
    with pytest.raises(TooLarge, match="the most one can have"):
        ENCODER.item("t", np.ones(100, np.float32), 399, BufferPool())
    assert len(ENCODER.item("t", np.ones(100, np.float32), 1000, BufferPool()).payload) == 100


def test_facts_are_those_of_the_elements_that_are_finite() -> None:
    assert ENCODER.facts(written(np.array([[1.0, math.nan], [3.0, math.inf]]))) == {
        "shape": [2, 2],
        "count": 4,
        "not_finite": 2,
        "min": 1.0,
        "max": 3.0,
        "mean": 2.0,
        "values": [1.0, "nan", 3.0, "inf"],
    }
    assert "values" not in ENCODER.facts(written(np.zeros(1001)))
