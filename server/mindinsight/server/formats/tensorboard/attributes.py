"""Transcoder of AttrValue, an attribute of a TensorFlow node, to ValueProto.

AttrValue: list 1, s 2, i 3, f 4, b 5, type 6, shape 7, tensor 8, func 10; the list has the same numbers,
packed or not. Shapes, tensors and functions become text.
"""

from __future__ import annotations

import struct
from typing import Any, Final

from mindinsight.server.formats.tensorboard.tensors import TYPES, shape_of, tensor_fields
from mindinsight.server.formats.texts import show_text
from mindinsight.server.formats.wire_format import last_field, message_fields, read_varint, signed

_LIST, _TEXT, _INTEGER, _FLOAT, _FLAG, _TYPE, _SHAPE, _TENSOR, _FUNCTION = 1, 2, 3, 4, 5, 6, 7, 8, 10
_FUNCTION_NAME: Final = 1 << 3 | 2
_LONGEST_TEXT: Final = 4096  # bytes of a text that is shown
_MOST_ITEMS: Final = 1000  # of a list that are shown
_FLOAT32: Final = struct.Struct("<f")


def add_attribute(value: Any, data: bytes, at: int, end: int) -> None:
    """Fill the ValueProto ``value`` from the attribute in ``data[at:end]``. Raises UnparsableError."""
    for key, start, stop in message_fields(data, at, end):
        number = key >> 3
        if number == _LIST:
            texts: list[str] = []
            for inner, first, last in message_fields(data, start, stop):
                if len(texts) < _MOST_ITEMS:
                    texts += _texts(inner, data, first, last)
            value.str_vals.extend(texts)
        elif number == _INTEGER:
            value.int_val = signed(read_varint(data, start, stop)[0])
        elif number == _FLOAT and stop - start == _FLOAT32.size:
            value.float_val = _FLOAT32.unpack(data[start:stop])[0]
        elif number == _FLAG:
            value.bool_val = bool(read_varint(data, start, stop)[0])
        else:
            value.str_val = "".join(_texts(key, data, start, stop))


def list_shapes(data: bytes, at: int, end: int) -> list[tuple[int, ...]]:
    """The shapes in a list, as ``_output_shapes`` has them."""
    return [
        shape_of(data, first, last)
        for key, start, stop in message_fields(data, at, end)
        if key >> 3 == _LIST
        for inner, first, last in message_fields(data, start, stop)
        if inner == _SHAPE << 3 | 2
    ]


def read_type(data: bytes, at: int, end: int) -> str:
    """Name of the element type in an attribute, as MindSpore has it; empty where there is none."""
    span = last_field(data, at, end, _TYPE << 3)
    return TYPES.get(read_varint(data, *span)[0], ("", ""))[1] if span else ""


def _texts(key: int, data: bytes, start: int, stop: int) -> list[str]:
    """A field of an attribute or of a list as text; several where it is packed."""
    number, packed = key >> 3, key & 7 == 2
    if number == _TEXT:
        return [show_text(data[start : min(stop, start + _LONGEST_TEXT)])]
    if number == _SHAPE:
        return [str(list(shape_of(data, start, stop)))]
    if number == _TENSOR:
        tensor = tensor_fields(data, start, stop)
        name = TYPES.get(tensor.dtype, ("", f"DT_{tensor.dtype}"))[1]
        return [f"{name.removeprefix('DT_').lower()} {list(tensor.shape)}"]
    if number == _FUNCTION:
        name_span = last_field(data, start, stop, _FUNCTION_NAME)
        return [show_text(data[slice(*name_span)])] if name_span else []
    if number == _FLOAT:
        count = min((stop - start) // _FLOAT32.size, _MOST_ITEMS)
        return [f"{_FLOAT32.unpack_from(data, start + 4 * index)[0]:.9g}" for index in range(count)]
    if number in (_INTEGER, _FLAG, _TYPE):
        return [_integer_text(number, value) for value in _varints(data, start, stop, packed)]
    return []


def _varints(data: bytes, at: int, end: int, packed: bool) -> list[int]:
    values: list[int] = []
    while at < end and len(values) < _MOST_ITEMS:
        value, at = read_varint(data, at, end)
        values.append(signed(value))
        if not packed:
            break
    return values


def _integer_text(number: int, value: int) -> str:
    if number == _TYPE:
        return TYPES.get(value, ("", f"DT_{value}"))[1].removeprefix("DT_").lower()
    return str(bool(value)) if number == _FLAG else str(value)
