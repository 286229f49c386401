"""Element types and shapes of values as text and lists, from TypeProto and ValueProto (graph.proto)."""

from __future__ import annotations

import re
from typing import Any, Final

from google.protobuf import text_format

from mindinsight.proto.graph_pb2 import DataType

Shape = list[int]

_TENSOR: Final = int(DataType.DT_TENSOR)
_UNDEFINED: Final = int(DataType.DT_UNDEFINED)
_SHAPELESS: Final = (_UNDEFINED, int(DataType.DT_SLICE))
_SEQUENCES: Final = (int(DataType.DT_TUPLE), int(DataType.DT_LIST))
_NAMES: Final = {int(number): str(name) for name, number in DataType.items()}
_TYPE_LINE: Final = re.compile(r"^(\s*(?:dtype|data_type|elem_type): )(\d+)$", re.MULTILINE)


def type_name(number: int) -> str:
    """Name of a data type, ``DT_FLOAT32``; the number itself if it is newer than our list."""
    return _NAMES.get(number) or str(number)


def type_text(proto: Any) -> str:
    """A TypeProto as MindInsight 2.3.1 writes it: ``DT_TENSOR[DT_FLOAT32]``, ``DT_TUPLE['DT_BOOL']``."""
    name = type_name(proto.data_type)
    if proto.data_type == _TENSOR:
        return f"{name}[{type_name(proto.tensor_type.elem_type)}]"
    if proto.data_type == _SEQUENCES[0]:
        return f"{name}{[type_text(element) for element in proto.sequence_type.elem_types]}"
    return name


def shapes_of(proto: Any) -> list[Shape]:
    """Shapes of the values of a TypeProto: one for a tensor, one for each element of a tuple.

    A scalar has the shape []; nothing at all (DT_UNDEFINED) and a slice have no shape.
    """
    if proto.data_type == _TENSOR:
        return [[dimension.size for dimension in proto.tensor_type.shape.dim]]
    if proto.data_type == _SEQUENCES[0]:
        return [shape for element in proto.sequence_type.elem_types for shape in shapes_of(element)]
    return [] if proto.data_type in _SHAPELESS else [[]]


def constant_shapes(proto: Any) -> list[Shape]:
    """Shape of a constant's ValueProto, as a list with one element."""
    return [list(proto.tensor_val.dims)] if proto.dtype == _TENSOR else [[]]


def short_type(proto: Any) -> str:
    """A TypeProto in readable form: ``float32 [32, 6]``, ``(float32 [2], int64)``, "" if undefined."""
    if proto.data_type == _TENSOR:
        dims = [dimension.size for dimension in proto.tensor_type.shape.dim]
        return f"{_element(proto.tensor_type.elem_type)} {dims}".lstrip()
    if proto.data_type in _SEQUENCES:
        elements = [short_type(element) or "-" for element in proto.sequence_type.elem_types]
        return f"({', '.join(elements)})"
    return "" if proto.data_type == _UNDEFINED else _plain(proto.data_type)


def _element(number: int) -> str:
    """Element type of a tensor; "" where only the shape was recorded, as torch does."""
    return "" if number == _UNDEFINED else _plain(number)


def _plain(number: int) -> str:
    return type_name(number).removeprefix("DT_").lower()


def value_text(proto: Any) -> str:
    """A ValueProto in protobuf's text format, with types by name.

    Everything but ASCII is escaped inside strings, so a line that begins with ``dtype:`` is not part of one.
    """
    text: str = text_format.MessageToString(proto, as_utf8=False)
    return _TYPE_LINE.sub(lambda line: line[1] + type_name(int(line[2])), text)


def value_summary(proto: Any, longest: int = 400) -> str:
    """A ValueProto in readable form, cut at ``longest`` characters: ``3``, ``(1, 1)``, ``float32 [3, 4]``."""
    text = _summary(proto, 0)
    return text if len(text) <= longest else f"{text[:longest]}…"


def _summary(proto: Any, depth: int) -> str:
    if proto.HasField("tensor_val"):
        tensor = proto.tensor_val
        return f"{_plain(tensor.data_type)} {list(tensor.dims)}"
    if proto.HasField("type_val"):
        return short_type(proto.type_val)
    if proto.values or proto.dtype in _SEQUENCES:
        inner = [_summary(value, depth + 1) for value in proto.values] if depth < 8 else ["…"]
        return f"({', '.join(inner)})"
    if proto.dict_val:
        return (
            "{" + ", ".join(f"{item.key}: {_summary(item.value, depth + 1)}" for item in proto.dict_val) + "}"
        )
    values = [value for field, value in proto.ListFields() if field.name != "dtype"]
    if not values:
        return "" if proto.dtype == _UNDEFINED else _plain(proto.dtype)
    return ", ".join(_scalar(value) for value in values)


def _scalar(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f'"{value}"' if value else '""'
    if isinstance(value, float):
        return f"{value:.7g}"
    return str(value) if isinstance(value, int) else str(list(value))


def compact_type(proto: Any) -> str:
    """A TypeProto in short form: ``float32 32×6×28×28``, ``int64``, ``(3)`` for three values, ""."""
    if proto.data_type == _TENSOR:
        dims = "×".join(_length(dimension.size) for dimension in proto.tensor_type.shape.dim)
        return f"{_element(proto.tensor_type.elem_type)} {dims}".strip()
    if proto.data_type in _SEQUENCES:
        return f"({len(proto.sequence_type.elem_types)})"
    return "" if proto.data_type == _UNDEFINED else _plain(proto.data_type)


def _length(size: int) -> str:
    """A length as text; a question mark if it is unknown before the graph runs."""
    return str(size) if size >= 0 else "?"
