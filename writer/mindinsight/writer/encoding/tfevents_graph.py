"""Encoder of graphs: a GraphProto of MindSpore as TensorBoard's GraphDef."""

from __future__ import annotations

from typing import Final

from mindinsight.proto.graph_pb2 import GraphProto, NodeProto, TypeProto, ValueProto
from mindinsight.writer.encoding import tfevents, wire

_PRODUCER: Final = 22  # version of TensorFlow's graphs that all of TensorBoard's readers know


def definition(graph: GraphProto) -> bytes:
    """Return ``graph`` as a serialised GraphDef with scopes, shapes and attributes.

    A parameter ``layers.0.weight`` is in the scopes ``layers/0``.
    """
    names = {parameter.name: parameter.name.replace(".", "/") for parameter in graph.parameters}
    names |= {node.name: node.full_name or node.name for node in graph.node}
    nodes = [
        *(
            _node(names[parameter.name], "Parameter", [], _shape(parameter.type), "")
            for parameter in graph.parameters
        ),
        *(_node(constant.key, "Const", [], None, "") for constant in graph.const_vals),
        *(_operator(node, names) for node in graph.node),
    ]
    return b"".join([wire.block(1, node) for node in nodes]) + wire.block(4, wire.integer(1, _PRODUCER))


def _operator(node: NodeProto, names: dict[str, str]) -> bytes:
    inputs = [names.get(source.name, source.name) for source in node.input]
    attributes = ", ".join(f"{attribute.name}: {_text(attribute.value)}" for attribute in node.attribute)
    return _node(names[node.name], node.op_type, inputs, _shape(node.output_type), attributes)


def _node(name: str, kind: str, inputs: list[str], shape: list[int] | None, attributes: str) -> bytes:
    fields = [wire.block(1, name.encode()), wire.block(2, kind.encode())]
    fields += [wire.block(3, source.encode()) for source in inputs]
    if shape is not None:
        shapes = wire.block(1, wire.block(7, tfevents.tensor_shape(shape)))
        fields.append(_attribute("_output_shapes", shapes))
    if attributes:
        fields.append(_attribute("attr", wire.block(2, attributes.encode())))
    return b"".join(fields)


def _attribute(name: str, value: bytes) -> bytes:
    return wire.block(5, wire.block(1, name.encode()) + wire.block(2, value))


def _shape(kind: TypeProto) -> list[int] | None:
    return [dim.size for dim in kind.tensor_type.shape.dim] if kind.HasField("tensor_type") else None


def _text(value: ValueProto) -> str:
    """Return the set field of a value as text, a list as its elements."""
    texts: list[str] = []
    for field, content in value.ListFields():
        if field.name == "values":
            texts.append(f"[{', '.join(map(_text, content))}]")
        elif field.name == "dict_val":
            texts.append(", ".join(f"{entry.key}: {_text(entry.value)}" for entry in content))
        elif field.name.endswith("_vals"):
            texts.append(str(list(content)))
        elif field.name.endswith("_val") and field.name != "tensor_val":
            texts.append(str(content))
    return " ".join(texts)
