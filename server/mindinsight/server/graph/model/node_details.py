"""Decoder of a node's details: attributes, outputs, source lines, element types and shapes."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from google.protobuf import text_format

from mindinsight.proto.graph_pb2 import DataType, NamedValueProto, NodeProto, ParameterProto
from mindinsight.server.graph.model.graph import CONSTANT, PARAMETER, Graph

Shape = list[int]

_TENSOR: Final = int(DataType.DT_TENSOR)
_UNDEFINED: Final = int(DataType.DT_UNDEFINED)
_SHAPELESS: Final = (_UNDEFINED, int(DataType.DT_SLICE))
_ROLE: Final = b"\xc8\x3e"  # key of ParameterProto.role
_DIGITS: Final = 7  # significant digits of a number: those of float32
_EXACT: Final = (9, 17)  # digits that tell any two float32, any two float64 apart
_CONSTANT: Final = 60  # characters of a constant's value
_SEQUENCES: Final = (int(DataType.DT_TUPLE), int(DataType.DT_LIST))
_NAMES: Final = {int(number): str(name) for name, number in DataType.items()}
_TYPE_LINE: Final = re.compile(r"^(\s*(?:dtype|data_type|elem_type): )(\d+)$", re.MULTILINE)


def type_name(number: int) -> str:
    """Return the name of a data type, ``DT_FLOAT32``, or the number if it is newer than our list."""
    return _NAMES.get(number) or str(number)


def type_text(proto: Any) -> str:
    """Return a TypeProto as MindInsight 2.3.1 writes it: ``DT_TENSOR[DT_FLOAT32]``,
    ``DT_TUPLE['DT_BOOL']``."""
    name = type_name(proto.data_type)
    if proto.data_type == _TENSOR:
        return f"{name}[{type_name(proto.tensor_type.elem_type)}]"
    if proto.data_type == _SEQUENCES[0]:
        return f"{name}{[type_text(element) for element in proto.sequence_type.elem_types]}"
    return name


def shapes_of(proto: Any) -> list[Shape]:
    """Return the shapes of a TypeProto: one for a tensor, one for each element of a tuple. A scalar has
    the shape []. An undefined type and a slice have no shape."""
    if proto.data_type == _TENSOR:
        return [[dimension.size for dimension in proto.tensor_type.shape.dim]]
    if proto.data_type == _SEQUENCES[0]:
        return [shape for element in proto.sequence_type.elem_types for shape in shapes_of(element)]
    return [] if proto.data_type in _SHAPELESS else [[]]


def constant_shapes(proto: Any) -> list[Shape]:
    """Return the shape of a constant's ValueProto, as a list with one element."""
    return [list(proto.tensor_val.dims)] if proto.dtype == _TENSOR else [[]]


def short_type(proto: Any) -> str:
    """Return a TypeProto in readable form: ``float32 [32, 6]``, ``(float32 [2], int64)``, "" if undefined."""
    if proto.data_type == _TENSOR:
        dims = [dimension.size for dimension in proto.tensor_type.shape.dim]
        return f"{_element(proto.tensor_type.elem_type)} {dims}".lstrip()
    if proto.data_type in _SEQUENCES:
        elements = [short_type(element) or "-" for element in proto.sequence_type.elem_types]
        return f"({', '.join(elements)})"
    return "" if proto.data_type == _UNDEFINED else _plain(proto.data_type)


def _element(number: int) -> str:
    """Return the element type of a tensor, or "" if only the shape was recorded, as torch does."""
    return "" if number == _UNDEFINED else _plain(number)


def _plain(number: int) -> str:
    return type_name(number).removeprefix("DT_").lower()


def value_text(proto: Any) -> str:
    """Return a ValueProto in protobuf text format, with types by name. All characters except ASCII are
    escaped in strings, so a line that begins with ``dtype:`` is not part of one."""
    text: str = text_format.MessageToString(proto, as_utf8=False)
    return _TYPE_LINE.sub(lambda line: line[1] + type_name(int(line[2])), text)


def value_summary(proto: Any, longest: int = 400, digits: int = _DIGITS) -> str:
    """Return a ValueProto in readable form, truncated to ``longest`` characters. Examples are ``3``, ``(1,
    1)`` and ``float32 [3, 4]``."""
    text = _summary(proto, 0, digits)
    return text if len(text) <= longest else f"{text[:longest]}…"


def _summary(proto: Any, depth: int, digits: int) -> str:
    if proto.HasField("tensor_val"):
        tensor = proto.tensor_val
        return f"{_plain(tensor.data_type)} {list(tensor.dims)}"
    if proto.HasField("type_val"):
        return short_type(proto.type_val)
    if proto.values or proto.dtype in _SEQUENCES:
        inner = [_summary(value, depth + 1, digits) for value in proto.values] if depth < 8 else ["…"]
        return f"({', '.join(inner)})"
    if proto.dict_val:
        return (
            "{"
            + ", ".join(f"{item.key}: {_summary(item.value, depth + 1, digits)}" for item in proto.dict_val)
            + "}"
        )
    values = [value for field, value in proto.ListFields() if field.name != "dtype"]
    if not values:
        return "" if proto.dtype == _UNDEFINED else _plain(proto.dtype)
    return ", ".join(_scalar(value, digits) for value in values)


def _scalar(value: Any, digits: int) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f'"{value}"' if value else '""'
    if isinstance(value, float):
        return f"{value:.{digits}g}"
    return str(value) if isinstance(value, int) else str(list(value))


def distinct_values(left: Any, right: Any, longest: int = 400) -> tuple[str, str]:
    """Return two ValueProto in readable form, with digits and types where these alone tell them apart."""
    texts = "", ""
    for digits in (_DIGITS, *_EXACT):
        texts = value_summary(left, longest, digits), value_summary(right, longest, digits)
        if texts[0] != texts[1]:
            return texts
    types = _value_type(left), _value_type(right)
    return (f"{texts[0]} ({types[0]})", f"{texts[1]} ({types[1]})") if types[0] != types[1] else texts


def _value_type(value: Any) -> str:
    return ", ".join(map(_value_type, value.values)) or _plain(value.dtype)


def different_attributes(
    left: tuple[Graph, int], right: tuple[Graph, int]
) -> list[tuple[str, tuple[str, str]]]:
    """Return the attributes that differ between two operators, by name, as text on both sides. A missing one
    is ""."""
    values = dict(_attributes(*left)), dict(_attributes(*right))
    rows = []
    for name in sorted(values[0] | values[1]):
        if name in values[0] and name in values[1]:
            texts = distinct_values(values[0][name], values[1][name])
        else:
            before, after = (value_summary(of_side[name]) if name in of_side else "" for of_side in values)
            texts = before, after
        if texts[0] != texts[1]:
            rows.append((name, texts))
    return rows


def different_constants(left: tuple[Graph, int], right: tuple[Graph, int]) -> tuple[str, str]:
    """Return the values of two constants as texts, as `distinct_values` does, truncated to 60 characters."""
    values = [NamedValueProto.FromString(graph.message(node)).value for graph, node in (left, right)]
    return distinct_values(values[0], values[1], _CONSTANT)


def compact_type(proto: Any) -> str:
    """Return a TypeProto in short form: ``float32 32×6×28×28``, ``int64``, ``(3)`` for three values, or
    ""."""
    if proto.data_type == _TENSOR:
        dims = "×".join(_length(dimension.size) for dimension in proto.tensor_type.shape.dim)
        return f"{_element(proto.tensor_type.elem_type)} {dims}".strip()
    if proto.data_type in _SEQUENCES:
        return f"({len(proto.sequence_type.elem_types)})"
    return "" if proto.data_type == _UNDEFINED else _plain(proto.data_type)


def _length(size: int) -> str:
    """Return a length as text, or a question mark if it is unknown before the graph runs."""
    return str(size) if size >= 0 else "?"


_LONGEST: Final = 1024  # bytes, limit of an attribute in MindInsight 2.3.1's responses
_DYNAMIC: Final = ("input_is_dynamic_shape", "output_is_dynamic_shape")


@dataclass(frozen=True, slots=True)
class Output:
    """Output of a node: its shapes, and its type and value as texts."""

    shapes: list[Shape]
    type: str  # DT_TENSOR[DT_FLOAT32], "" for a constant
    text: str  # float32 [2, 3], or the value of a constant
    compact: str = ""  # float32 2×3

    @property
    def dynamic(self) -> bool:
        """Return True if a length or the rank (-2) is unknown before the graph runs."""
        return any(-2 <= length < 0 for shape in self.shapes for length in shape)


def output_of(graph: Graph, node: int) -> Output:
    """Decode the output of a node, or the value of a constant."""
    if graph.kinds[node] == CONSTANT:
        value = NamedValueProto.FromString(graph.message(node)).value
        return Output(constant_shapes(value), "", value_summary(value, _CONSTANT))
    proto = _output_type(graph, node)
    return Output(shapes_of(proto), type_text(proto), short_type(proto), compact_type(proto))


def _output_type(graph: Graph, node: int) -> Any:
    message = graph.message(node)
    if graph.kinds[node] == PARAMETER:
        return ParameterProto.FromString(message).type
    return NodeProto.FromString(message).output_type


def shapes_at(graph: Graph, node: int) -> list[Shape]:
    """Return the shapes of a node's output, or of a constant. Takes a third of the time of ``output_of``."""
    if graph.kinds[node] == CONSTANT:
        return constant_shapes(NamedValueProto.FromString(graph.message(node)).value)
    return shapes_of(_output_type(graph, node))


def recorded_role(graph: Graph, node: int) -> int:
    """Return the recorded ``ParameterProto.Role`` of a parameter, UNKNOWN if the file has none."""
    message = graph.message(node)
    if _ROLE not in message:
        return int(ParameterProto.UNKNOWN)
    role = int(ParameterProto.FromString(message).role)
    return role if role in ParameterProto.Role.values() else int(ParameterProto.UNKNOWN)


def is_token(graph: Graph, node: int) -> bool:
    """Return True if a node is an untyped constant ``U`` or ``IO``, a token that orders side effects."""
    if graph.kinds[node] != CONSTANT:
        return False
    value = NamedValueProto.FromString(graph.message(node)).value
    return not value.dtype and value.str_val in {"U", "IO"}


def output_index(graph: Graph, node: int) -> int:
    """Return the recorded ``output_i`` of an operator, or 0 for parameters and constants."""
    return int(NodeProto.FromString(graph.message(node)).output_i) if not graph.kinds[node] else 0


def attribute_texts(graph: Graph, node: int) -> dict[str, str]:
    """Return the attributes of a node in protobuf text format, or type and shape of a parameter.
    Attributes above 1024 bytes are omitted. For a constant the dtype replaces them."""
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
    """Return the attributes in readable form, sorted by name. Long ones are truncated, none is omitted. A
    parameter has only its default value, or none."""
    if graph.kinds[node] == PARAMETER:
        proto = ParameterProto.FromString(graph.message(node))
        return [("default", value_summary(proto.default_val))] if proto.HasField("default_val") else []
    return sorted((name, value_summary(value)) for name, value in _attributes(graph, node))


def is_marked_dynamic(graph: Graph, node: int) -> bool:
    """Return True if an attribute marks a shape of an operator as unknown before it runs."""
    if graph.kinds[node]:
        return False
    return any(name in _DYNAMIC and value.bool_val for name, value in _attributes(graph, node))


def source_lines(graph: Graph, node: int) -> list[str]:
    """Return the recorded lines of source code that lead to an operator. Parameters and constants have
    none."""
    if graph.kinds[node]:
        return []
    texts = NodeProto.FromString(graph.message(node)).source_address
    return [line for text in texts for line in text.splitlines() if line.strip()]


def _attributes(graph: Graph, node: int) -> Iterator[tuple[str, Any]]:
    """Yield names and values of an operator's attributes, or the value of a constant."""
    message = graph.message(node)
    if graph.kinds[node] == CONSTANT:
        constant = NamedValueProto.FromString(message)
        yield constant.key, constant.value
    elif graph.kinds[node] != PARAMETER:
        for attribute in NodeProto.FromString(message).attribute:
            yield attribute.name, attribute.value
