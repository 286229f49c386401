"""Signatures of operators: equal for equal content and inputs, whatever their names and numbers."""

from typing import Any

from mindinsight.proto.graph_pb2 import GraphProto
from mindinsight.server.formats.graphs.graph_proto import read_graph
from mindinsight.server.graph.comparison.signatures import Signatures


def signatures(*nodes: dict[str, Any]) -> Signatures:
    """Operators ``type``, ``inputs`` by name, ``attributes`` and element type ``of``, and a parameter w."""
    proto = GraphProto(name="hand")
    for number, node in enumerate(nodes):
        name = node.get("name", f"{node['type']}-op{number}")
        added = proto.node.add(name=str(number), full_name=name, op_type=node["type"])
        added.output_type.data_type = 14
        added.output_type.tensor_type.elem_type = node.get("of", 11)
        for source in node.get("inputs", ()):
            added.input.add(name=source)
        for key, text in node.get("attributes", {}).items():
            value = added.attribute.add(name=key).value
            value.dtype, value.str_val = 13, text
    proto.parameters.add(name="w").type.data_type = 14
    return Signatures(read_graph(proto.SerializeToString()))


def test_content_is_the_type_and_the_attributes_in_any_order() -> None:
    first = signatures({"type": "Conv", "attributes": {"pad": "same", "mode": "1"}}, {"type": "Conv"})
    other = signatures({"type": "Conv", "name": "else/Conv-op9", "attributes": {"mode": "1", "pad": "same"}})
    assert first.content(0) == other.content(0)
    assert first.content(1) != other.content(0)


def test_content_differs_with_the_element_type_and_with_a_value() -> None:
    found = signatures(
        {"type": "Conv", "attributes": {"pad": "same"}},
        {"type": "Conv", "attributes": {"pad": "valid"}},
        {"type": "Conv", "attributes": {"pad": "same"}, "of": 10},
    )
    assert len({found.content(node) for node in range(3)}) == 3


def test_inputs_are_types_of_operators_and_names_of_parameters_in_order() -> None:
    found = signatures(
        {"type": "Relu"}, {"type": "Add", "inputs": ["0", "w"]}, {"type": "Sub", "inputs": ["w", "0"]}
    )
    assert found.inputs(0) == ()
    assert found.inputs(1) == ("Relu", "w")
    assert found.inputs(2) == ("w", "Relu")
