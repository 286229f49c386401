"""Graphs of MindSpore as TensorBoard's: names with scopes, inputs, shapes, attributes."""

from typing import Any

from mindinsight.proto.graph_pb2 import GraphProto, TypeProto, ValueProto
from mindinsight.writer.encoding.tfevents_graph import definition
from tests.writer.tensorboard_messages import parse


def shape(*sizes: int) -> TypeProto:
    return TypeProto(tensor_type={"shape": {"dim": [{"size": size} for size in sizes]}})


def nodes_of(graph: GraphProto) -> dict[str, Any]:
    parsed = parse("GraphDef", definition(graph))
    assert parsed.versions.producer == 22
    return {node.name: node for node in parsed.node}


def test_nodes_have_scopes_inputs_and_shapes() -> None:
    graph = GraphProto()
    graph.parameters.add(name="fc.1.weight", type=shape(3, 4))
    graph.const_vals.add(key="cst1")
    operator = graph.node.add(name="1", full_name="Default/fc/MatMul-op0", op_type="MatMul")
    operator.output_type.CopyFrom(shape(2, 4))
    for name in ("fc.1.weight", "cst1", "unknown"):
        operator.input.add(name=name)
    graph.node.add(name="2", op_type="Return").input.add(name="1")
    nodes = nodes_of(graph)
    kinds = {name: node.op for name, node in nodes.items()}
    assert kinds == {
        "fc/1/weight": "Parameter", "cst1": "Const", "Default/fc/MatMul-op0": "MatMul", "2": "Return",
    }  # fmt: skip
    assert list(nodes["Default/fc/MatMul-op0"].input) == ["fc/1/weight", "cst1", "unknown"]
    assert list(nodes["2"].input) == ["Default/fc/MatMul-op0"]
    (attribute,) = nodes["Default/fc/MatMul-op0"].attr
    (dims,) = attribute.value.list.shape
    assert (attribute.key, [dim.size for dim in dims.dim]) == ("_output_shapes", [2, 4])


def test_attributes_are_one_text() -> None:
    graph = GraphProto()
    operator = graph.node.add(name="op", op_type="Op")
    for name, value in (
        ("axis", ValueProto(int_val=1)),
        ("pads", ValueProto(int_vals=[0, 2])),
        ("list", ValueProto(values=[ValueProto(str_val="a"), ValueProto(bool_val=True)])),
    ):
        operator.attribute.add(name=name).value.CopyFrom(value)
    attributes = {attribute.key: attribute.value.s for attribute in nodes_of(graph)["op"].attr}
    assert attributes == {"attr": b"axis: 1, pads: [0, 2], list: [a, True]"}
