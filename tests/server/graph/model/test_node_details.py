"""Details of nodes, decoded from their messages: outputs, attributes, tokens, source lines."""

import pytest

from mindinsight.proto.graph_pb2 import GraphProto
from mindinsight.server.formats.graphs.graph_proto import read_graph
from mindinsight.server.graph.model.graph import Graph
from mindinsight.server.graph.model.node_details import (
    attribute_summaries,
    attribute_texts,
    is_marked_dynamic,
    is_token,
    output_index,
    output_of,
    shapes_at,
    source_lines,
)

TENSOR, INT32, FLOAT32, STRING = 14, 5, 11, 13
OPERATOR, WEIGHT, SEVEN, TOKEN = range(4)


@pytest.fixture(scope="module")
def graph() -> Graph:
    """Return a graph of an operator with attributes, a parameter with a default, a number and a token."""
    proto = GraphProto(name="details")
    node = proto.node.add(name="1", full_name="a/Conv-op1", op_type="Conv", output_i=2)
    node.source_address.extend(["In file net.py:3\n  y = conv(x)\n", "In file cell.py:9"])
    node.output_type.data_type = TENSOR
    node.output_type.tensor_type.elem_type = FLOAT32
    for size in (2, -1):
        node.output_type.tensor_type.shape.dim.add(size=size)
    for name, text in (("pad_mode", "same"), ("long", "x" * 2000)):
        value = node.attribute.add(name=name).value
        value.dtype, value.str_val = STRING, text
    dynamic = node.attribute.add(name="output_is_dynamic_shape").value
    dynamic.bool_val = True
    weight = proto.parameters.add(name="w")
    weight.type.data_type = TENSOR
    weight.type.tensor_type.elem_type = FLOAT32
    weight.type.tensor_type.shape.dim.add(size=4)
    weight.default_val.dtype, weight.default_val.int_val = INT32, 3
    seven = proto.const_vals.add(key="seven").value
    seven.dtype, seven.int_val = INT32, 7
    proto.const_vals.add(key="U").value.str_val = "U"
    return read_graph(proto.SerializeToString())


def test_outputs_have_shapes_and_types(graph: Graph) -> None:
    output = output_of(graph, OPERATOR)
    assert output.shapes == [[2, -1]]
    assert output.type == "DT_TENSOR[DT_FLOAT32]"
    assert output.text.startswith("float32")
    assert output.dynamic
    parameter = output_of(graph, WEIGHT)
    assert (parameter.shapes, parameter.dynamic) == ([[4]], False)


def test_shapes_alone_are_those_of_the_outputs(graph: Graph) -> None:
    nodes = range(len(graph))
    assert [shapes_at(graph, node) for node in nodes] == [output_of(graph, node).shapes for node in nodes]


def test_the_output_of_a_constant_is_its_value(graph: Graph) -> None:
    output = output_of(graph, SEVEN)
    assert (output.type, output.text) == ("", "7")


def test_a_token_is_a_constant_without_type(graph: Graph) -> None:
    assert [is_token(graph, node) for node in range(4)] == [False, False, False, True]


def test_output_index_is_that_of_an_operator(graph: Graph) -> None:
    assert [output_index(graph, node) for node in range(4)] == [2, 0, 0, 0]


def test_long_attributes_are_left_out_of_texts_and_cut_in_summaries(graph: Graph) -> None:
    texts = attribute_texts(graph, OPERATOR)
    assert set(texts) == {"pad_mode", "output_is_dynamic_shape"}
    assert "same" in texts["pad_mode"]
    summaries = attribute_summaries(graph, OPERATOR)
    assert [name for name, _ in summaries] == ["long", "output_is_dynamic_shape", "pad_mode"]
    assert len(summaries[0][1]) < 2000


def test_attributes_of_parameters_and_constants(graph: Graph) -> None:
    assert attribute_texts(graph, WEIGHT) == {"type": "DT_TENSOR[DT_FLOAT32]", "shape": "[[4]]"}
    assert attribute_summaries(graph, WEIGHT) == [("default", "3")]
    assert attribute_summaries(graph, SEVEN) == [("seven", "7")]
    assert "int_val: 7" in attribute_texts(graph, SEVEN)["seven"]


def test_a_shape_marked_dynamic_is_one_of_an_operator(graph: Graph) -> None:
    assert [is_marked_dynamic(graph, node) for node in range(4)] == [True, False, False, False]


def test_source_lines_are_those_of_an_operator(graph: Graph) -> None:
    assert source_lines(graph, OPERATOR) == ["In file net.py:3", "  y = conv(x)", "In file cell.py:9"]
    assert source_lines(graph, WEIGHT) == []
