"""Decoder of a node's details (attributes, output, source lines) from its serialized message."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from mindinsight.proto.graph_pb2 import NamedValueProto, NodeProto, ParameterProto
from mindinsight.server.graph.model.graph import CONSTANT, PARAMETER, Graph
from mindinsight.server.graph.model.value_types import (
    Shape,
    compact_type,
    constant_shapes,
    shapes_of,
    short_type,
    type_name,
    type_text,
    value_summary,
    value_text,
)

_LONGEST: Final = 1024  # bytes; longer attributes are not in MindInsight 2.3.1's responses
_DYNAMIC: Final = ("input_is_dynamic_shape", "output_is_dynamic_shape")


@dataclass(frozen=True, slots=True)
class Output:
    """Output of a node."""

    shapes: list[Shape]
    type: str  # DT_TENSOR[DT_FLOAT32]; "" for a constant
    text: str  # float32 [2, 3]; the value of a constant
    compact: str = ""  # float32 2×3

    @property
    def dynamic(self) -> bool:
        """Whether a length or the rank (-2) is not known before the graph runs."""
        return any(-2 <= length < 0 for shape in self.shapes for length in shape)


def output_of(graph: Graph, node: int) -> Output:
    """Decode the output of a node; for a constant its value."""
    message = graph.message(node)
    if graph.kinds[node] == CONSTANT:
        value = NamedValueProto.FromString(message).value
        return Output(constant_shapes(value), "", value_summary(value, 60))
    if graph.kinds[node] == PARAMETER:
        proto: Any = ParameterProto.FromString(message).type
    else:
        proto = NodeProto.FromString(message).output_type
    return Output(shapes_of(proto), type_text(proto), short_type(proto), compact_type(proto))


def shapes_at(graph: Graph, node: int) -> list[Shape]:
    """Shapes of ``output_of``, in a third of its time."""
    message = graph.message(node)
    if graph.kinds[node] == CONSTANT:
        return constant_shapes(NamedValueProto.FromString(message).value)
    if graph.kinds[node] == PARAMETER:
        return shapes_of(ParameterProto.FromString(message).type)
    return shapes_of(NodeProto.FromString(message).output_type)


def is_token(graph: Graph, node: int) -> bool:
    """Whether a constant is a token for the order of side effects (``U``, ``IO``), without a type."""
    if graph.kinds[node] != CONSTANT:
        return False
    value = NamedValueProto.FromString(graph.message(node)).value
    return not value.dtype and value.str_val in {"U", "IO"}


def output_index(graph: Graph, node: int) -> int:
    """Recorded ``output_i`` of an operator; 0 for parameters and constants."""
    return int(NodeProto.FromString(graph.message(node)).output_i) if not graph.kinds[node] else 0


def attribute_texts(graph: Graph, node: int) -> dict[str, str]:
    """Attributes in protobuf's text format; those above 1024 bytes are left out, as in MindInsight."""
    if graph.kinds[node] == PARAMETER:
        output = output_of(graph, node)
        return {"type": output.type, "shape": str(output.shapes)}
    texts = {}
    for name, value in _attributes(graph, node):
        if value.ByteSize() <= _LONGEST:
            texts[name] = value_text(value)
        elif graph.kinds[node] == CONSTANT:
            texts[name] = f"dtype: {type_name(value.dtype)}"
    return texts


def attribute_summaries(graph: Graph, node: int) -> list[tuple[str, str]]:
    """Attributes in readable form, sorted by name; long ones are truncated, none is left out."""
    if graph.kinds[node] == PARAMETER:
        proto = ParameterProto.FromString(graph.message(node))
        return [("default", value_summary(proto.default_val))] if proto.HasField("default_val") else []
    return sorted((name, value_summary(value)) for name, value in _attributes(graph, node))


def is_marked_dynamic(graph: Graph, node: int) -> bool:
    """Whether an attribute marks a shape of an operator as unknown before it runs."""
    if graph.kinds[node]:
        return False
    return any(name in _DYNAMIC and value.bool_val for name, value in _attributes(graph, node))


def source_lines(graph: Graph, node: int) -> list[str]:
    """Recorded lines of source code that lead to an operator; none for parameters and constants."""
    if graph.kinds[node]:
        return []
    texts = NodeProto.FromString(graph.message(node)).source_address
    return [line for text in texts for line in text.splitlines() if line.strip()]


def _attributes(graph: Graph, node: int) -> Iterator[tuple[str, Any]]:
    message = graph.message(node)
    if graph.kinds[node] == CONSTANT:
        constant = NamedValueProto.FromString(message)
        yield constant.key, constant.value
    elif graph.kinds[node] != PARAMETER:
        for attribute in NodeProto.FromString(message).attribute:
            yield attribute.name, attribute.value
