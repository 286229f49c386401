"""GraphDef of torch and of TensorFlow on our graph page: scopes, edges, attributes, shapes, functions."""

from pathlib import Path
from typing import Any

import pytest

import mindinsight
from mindinsight.server.formats.graphs.graph_proto import read_graph
from mindinsight.server.formats.tensorboard.graph_def import graph_message
from mindinsight.server.formats.unreadable import UnreadableError
from mindinsight.server.graph.model.node_details import attribute_summaries, output_of

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
