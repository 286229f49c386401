"""A graph put together by hand has the form of MindSpore's."""

from typing import Any

import numpy as np
import pytest

from mindinsight.proto import graph_pb2
from mindinsight.writer.graph import GraphBuilder, attribute_value, tensor_type


def sizes(proto: Any) -> list[Any]:
    return [dim.size for dim in proto.tensor_type.shape.dim]


@pytest.fixture
def mlp() -> Any:
    """relu(x @ w1 + b1) @ w2, the layers in scopes."""
    graph = GraphBuilder("MLP_construct")
    hidden = graph.parameter("x", (32, 4))
    for number, width in (1, 8), (2, 3):
        with graph.scope(f"network-MLP/fc{number}-Dense"):
            weight = graph.parameter(f"fc{number}.weight", (4, 8), "float16")
            hidden = graph.node("MatMul", [hidden, weight], (32, width), attributes={"transpose_b": False})
            hidden = graph.node("ReLU", [hidden], (32, width))
    graph.output(hidden)
    return graph_pb2.ModelProto.FromString(graph.serialised()).graph


def test_nodes_are_numbered_scoped_and_named(mlp: Any) -> None:
    assert [node.name for node in mlp.node] == ["1", "2", "3", "4"]
    assert [node.scope for node in mlp.node][1:3] == [
        "Default/network-MLP/fc1-Dense",
        "Default/network-MLP/fc2-Dense",
    ]
    assert [node.full_name.rpartition("/")[2] for node in mlp.node] == [
        "MatMul-op0",
        "ReLU-op0",
        "MatMul-op1",
        "ReLU-op1",
    ]


def test_inputs_name_nodes_and_parameters(mlp: Any) -> None:
    assert [[source.name for source in node.input] for node in mlp.node] == [
        ["x", "fc1.weight"],
        ["1"],
        ["2", "fc2.weight"],
        ["3"],
    ]
    assert [parameter.name for parameter in mlp.parameters] == ["x", "fc1.weight", "fc2.weight"]
    assert [output.name for output in mlp.outputs] == ["4"]


def test_types_tell_shape_and_element_type(mlp: Any) -> None:
    assert sizes(mlp.node[0].output_type) == [32, 8]
    assert mlp.node[0].output_type.tensor_type.elem_type == graph_pb2.DT_FLOAT32
    assert mlp.parameters[1].type.tensor_type.elem_type == graph_pb2.DT_FLOAT16
    assert sizes(mlp.outputs[0].type) == [32, 3]


def test_attributes_are_kept(mlp: Any) -> None:
    attribute = mlp.node[0].attribute[0]
    assert (attribute.name, attribute.value.dtype) == ("transpose_b", graph_pb2.DT_BOOL)
    assert not attribute.value.bool_val


def test_constants_have_keys_that_nodes_take() -> None:
    graph = GraphBuilder()
    axis, table = graph.constant((0, 1)), graph.constant_tensor((5, 2), "int32")
    graph.node("Gather", [table, axis])
    proto = graph.model().graph
    assert [value.key for value in proto.const_vals] == ["cst1", "cst2"]
    assert proto.const_vals[1].value.tensor_val.dims == [5, 2]
    assert [source.name for source in proto.node[0].input] == ["cst2", "cst1"]
    assert axis in graph
    assert "cst3" not in graph


def test_an_operator_may_have_several_outputs() -> None:
    graph = GraphBuilder()
    graph.node("TopK", [], several=[((2, 3), "float32"), ((2, 3), "int32")])
    output = graph.model().graph.node[0].output_type
    assert output.data_type == graph_pb2.DT_TUPLE
    assert [element.tensor_type.elem_type for element in output.sequence_type.elem_types] == [
        graph_pb2.DT_FLOAT32,
        graph_pb2.DT_INT32,
    ]


def test_a_name_that_is_not_there_or_taken_is_refused() -> None:
    graph = GraphBuilder()
    graph.parameter("x")
    with pytest.raises(ValueError, match="'x' already"):
        graph.parameter("x")
    with pytest.raises(ValueError, match="inputs of ReLU that are not in the graph: y, z"):
        graph.node("ReLU", ["x", "y", "z"])
    with pytest.raises(ValueError, match="no 'y'"):
        graph.output("y")


def test_a_scope_ends_when_its_block_raises() -> None:
    graph = GraphBuilder()
    with pytest.raises(ZeroDivisionError), graph.scope("a/b"):
        _ = 1 / 0
    graph.node("ReLU")
    assert graph.model().graph.node[0].scope == "Default"


def test_a_scope_may_stand_beside_default() -> None:
    graph = GraphBuilder()
    with graph.scope("fc1-Dense"):
        with graph.scope("/Gradients/Default"):
            graph.node("ReluGrad")
        graph.node("ReLU")
    names = [node.full_name for node in graph.model().graph.node]
    assert names == ["Gradients/Default/ReluGrad-op0", "Default/fc1-Dense/ReLU-op0"]


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
