"""GraphDef of torch and of TensorFlow on our graph page: scopes, edges, attributes, shapes, functions."""

import struct
from pathlib import Path
from typing import Any

import pytest

import mindinsight
from mindinsight.proto.graph_pb2 import DataType, GraphProto, ValueProto
from mindinsight.proto.tensorboard_pb2 import AttrValue
from mindinsight.server.formats.graphs.graph_proto import read_graph
from mindinsight.server.formats.read_limits import UnreadableError
from mindinsight.server.formats.tensorboard.graph_def import graph_message, set_value
from mindinsight.server.graph.model.node_details import attribute_summaries, output_of
from mindinsight.writer.encoding.wire import block as message
from mindinsight.writer.encoding.wire import integer, varint

RUNS = Path(__file__).parents[3] / "data" / "tfevents" / "runs"


def node(tf: Any, name: Any, op: Any, *inputs: Any, attributes: bytes = b"", device: bytes = b"") -> Any:
    fields = [tf.field(1, name), tf.field(2, op), *(tf.field(3, source) for source in inputs)]
    return tf.field(1, b"".join([*fields, tf.field(4, device), attributes]))


def attribute(tf: Any, name: Any, value: Any) -> Any:
    return tf.field(5, tf.field(1, name) + tf.field(2, value))


def test_a_graph_of_torch_has_scopes_edges_and_shapes() -> None:
    (series,) = mindinsight.open(RUNS).run("./graph").references["graph"].values()
    graph = read_graph(series.read(0))
    assert "aten::relu" in graph.types
    assert any(name.startswith("Sequential/Linear[0]/") for name in graph.names)
    first = graph.types.index("IO Node")
    assert output_of(graph, first).text == "[1, 3]"
    assert len(graph.edges) > 0


def test_inputs_attributes_types_and_devices_of_tensorflow(tf: Any) -> None:
    shape = tf.field(7, tf.field(2, tf.field(1, 2)) + tf.field(2, tf.field(1, -1)))
    shapes = tf.field(1, tf.field(7, tf.field(2, tf.field(1, 2)) + tf.field(2, tf.field(1, -1))))
    attributes = b"".join([
        attribute(tf, b"T", tf.field(6, 1)),
        attribute(tf, b"_output_shapes", shapes),
        attribute(tf, b"shape", shape),
        attribute(tf, b"strides", tf.field(1, tf.field(3, b"\x01\x02"))),
        attribute(tf, b"transpose", tf.field(5, 1)),
        attribute(tf, b"padding", tf.field(2, b"SAME")),
    ])  # fmt: skip
    data = (
        node(tf, b"a/x", b"Placeholder")
        + node(tf, b"a/init", b"NoOp")
        + node(tf, b"a/y", b"MatMul", b"a/x:1", b"^a/init", attributes=attributes, device=b"/CPU:0")
    )
    graph = read_graph(graph_message(data))
    assert graph.names == ("a/x", "a/init", "a/y")
    assert graph.edges.sources.tolist() == [0, 1]
    assert graph.edges.controls.tolist() == [False, True]
    assert output_of(graph, 2).text == "float32 [2, -1]"
    texts = dict(attribute_summaries(graph, 2))
    assert {"T", "shape", "strides", "transpose", "padding", "device"} == texts.keys()
    assert "float32" in texts["T"]
    assert "SAME" in texts["padding"]


def test_nodes_of_a_function_lie_in_its_scope(tf: Any) -> None:
    inner = tf.field(1, tf.field(1, b"f")) + b"".join(
        tf.field(3, node(tf, name, b"Relu", *inputs)[2:]) for name, inputs in ((b"y", []), (b"x", [b"y:z:0"]))
    )
    graph = read_graph(graph_message(node(tf, b"call", b"f") + tf.field(2, tf.field(1, inner))))
    assert graph.names == ("call", "f/y", "f/x")
    assert len(graph.edges) == 1


def test_a_node_that_is_damaged_is_left_out_and_nothing_is_no_graph(tf: Any) -> None:
    graph = read_graph(graph_message(node(tf, b"a", b"Relu") + tf.field(1, b"\x0a\xff")))
    assert graph.names == ("a",)
    for data in (b"", b"\xff\xff", tf.field(4, b"")):
        with pytest.raises((UnreadableError, ValueError)):
            graph_message(data)


SHAPE = message(2, integer(1, 2)) + message(2, integer(1, -1))


def single(number: float) -> bytes:
    return varint(4 << 3 | 5) + struct.pack("<f", number)


def read(data: bytes) -> ValueProto:
    value = ValueProto()
    set_value(value, AttrValue.FromString(data))
    return value


def test_numbers_and_flags_keep_their_type() -> None:
    assert read(integer(3, -7)).int_val == -7
    assert read(single(0.5)).float_val == 0.5
    assert read(integer(5, 1)).bool_val is True


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (message(2, b"SAME"), "SAME"),
        (message(2, b"\xff"), "\\xff"),
        (integer(6, 1), "float32"),
        (integer(6, 99), "99"),
        (message(7, SHAPE), "[2, -1]"),
        (message(8, integer(1, 1) + message(2, SHAPE)), "float32 [2, -1]"),
        (message(10, message(1, b"cond_true")), "cond_true"),
        (message(10, b""), ""),
    ],
)
def test_the_others_become_text(data: bytes, expected: str) -> None:
    assert read(data).str_val == expected


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (message(2, b"a") + message(2, b"b"), ["a", "b"]),
        (message(3, varint(1) + varint(-2)), ["1", "-2"]),  # packed
        (integer(3, 1) + integer(3, -2), ["1", "-2"]),
        (message(4, struct.pack("<2f", 0.1, 2)), ["0.100000001", "2"]),
        (message(5, varint(1) + varint(0)), ["True", "False"]),
        (message(6, varint(3)), ["int32"]),
        (message(7, SHAPE) + message(7, b""), ["[2, -1]", "[]"]),
    ],
)
def test_lists_are_texts_packed_or_not(data: bytes, expected: list[str]) -> None:
    assert list(read(message(1, data)).str_vals) == expected


def test_a_list_without_end_is_cut() -> None:
    assert len(read(message(1, message(3, b"\x01" * 5000))).str_vals) == 1000


def test_shapes_and_types_of_outputs(tf: Any) -> None:
    shapes = attribute(tf, b"_output_shapes", message(1, message(7, SHAPE) + message(7, b"")))
    types = attribute(tf, b"T", integer(6, 19))
    graph = GraphProto.FromString(graph_message(node(tf, b"a", b"Split", attributes=shapes)))
    first, second = graph.node[0].output_type.sequence_type.elem_types
    assert [dim.size for dim in first.tensor_type.shape.dim] == [2, -1]
    assert not second.tensor_type.shape.dim
    graph = GraphProto.FromString(graph_message(node(tf, b"a", b"Relu", attributes=types)))
    assert graph.node[0].output_type.tensor_type.elem_type == DataType.DT_FLOAT16
