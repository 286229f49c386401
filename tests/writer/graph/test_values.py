"""Types and attribute values become messages of graph.proto."""

from typing import Any

import numpy as np
import pytest

from mindinsight.proto import graph_pb2
from mindinsight.writer.graph.values import attribute_value, tensor_type


def sizes(proto: Any) -> list[Any]:
    return [dim.size for dim in proto.tensor_type.shape.dim]


def test_unknown_lengths_and_shapes_are_told_apart() -> None:
    assert sizes(tensor_type((None, 3), "float32")) == [-1, 3]
    assert tensor_type((), "float32").tensor_type.HasField("shape")
    assert not tensor_type(None, "float32").tensor_type.HasField("shape")
    assert tensor_type(None, "quaternion").tensor_type.elem_type == graph_pb2.DT_UNDEFINED


@pytest.mark.parametrize(
    ("value", "dtype", "field", "stored"),
    [
        (True, graph_pb2.DT_BOOL, "bool_val", True),
        (-(2**63), graph_pb2.DT_INT64, "int_val", -(2**63)),
        (2**63, graph_pb2.DT_STRING, "str_val", "9223372036854775808"),
        (0.1, graph_pb2.DT_FLOAT64, "double_val", 0.1),
        ("same", graph_pb2.DT_STRING, "str_val", "same"),
        (None, graph_pb2.DT_NONE, "str_val", "None"),
        (np.dtype("int8"), graph_pb2.DT_STRING, "str_val", "int8"),
    ],
)
def test_values_have_the_type_of_their_field(value: Any, dtype: Any, field: str, stored: Any) -> None:
    proto = attribute_value(value)
    assert proto.dtype == dtype
    assert getattr(proto, field) == stored


def test_values_nest() -> None:
    proto = attribute_value([1, ("a", {"k": 2.0})])
    assert proto.dtype == graph_pb2.DT_LIST
    inner = proto.values[1]
    assert inner.dtype == graph_pb2.DT_TUPLE
    assert inner.values[1].dtype == graph_pb2.DT_DICT
    assert inner.values[1].dict_val[0].key == "k"
    assert inner.values[1].dict_val[0].value.double_val == 2.0
