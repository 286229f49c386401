"""Transcoder of GraphDef and its attributes, as TensorFlow and torch.utils.tensorboard write them."""

import struct
from collections.abc import Iterator
from typing import Any, Final

from mindinsight.proto.graph_pb2 import DataType, NodeProto, TypeProto
from mindinsight.server.formats import wire_format
from mindinsight.server.formats.read_limits import GRAPH, GRAPH_FIELD, UnreadableError
from mindinsight.server.formats.sanitizer import show_text
from mindinsight.server.formats.tensorboard.tensor_proto import TYPES, shape_of, tensor_fields
from mindinsight.server.formats.tensorboard.transcoder import message

_LIST, _TEXT, _INTEGER, _FLOAT, _FLAG, _TYPE, _SHAPE, _TENSOR, _FUNCTION_NAME = 1, 2, 3, 4, 5, 6, 7, 8, 10
_ATTRIBUTES_FUNCTION_NAME: Final = 1 << 3 | 2
_MAX_TEXT: Final = 4096  # bytes that are shown of a text
_MAX_ITEMS: Final = 1000  # items that are shown of a list
_FLOAT32: Final = struct.Struct("<f")


def add_attribute(value: Any, data: bytes, at: int, end: int) -> None:
    """Fill the ValueProto ``value`` from the attribute in ``data[at:end]``. Raises UnparsableError."""
    for key, start, stop in wire_format.message_fields(data, at, end):
        number = key >> 3
        if number == _LIST:
            texts: list[str] = []
            for inner, first, last in wire_format.message_fields(data, start, stop):
                if len(texts) < _MAX_ITEMS:
                    texts += _texts(inner, data, first, last)
            value.str_vals.extend(texts)
        elif number == _INTEGER:
            value.int_val = wire_format.signed(wire_format.read_varint(data, start, stop)[0])
        elif number == _FLOAT and stop - start == _FLOAT32.size:
            value.float_val = _FLOAT32.unpack(data[start:stop])[0]
        elif number == _FLAG:
            value.bool_val = bool(wire_format.read_varint(data, start, stop)[0])
        else:
            value.str_val = "".join(_texts(key, data, start, stop))


def list_shapes(data: bytes, at: int, end: int) -> list[tuple[int, ...]]:
    """Return the shapes in a list, as in the attribute ``_output_shapes``. Raises UnparsableError."""
    return [
        shape_of(data, first, last)
        for key, start, stop in wire_format.message_fields(data, at, end)
        if key >> 3 == _LIST
        for inner, first, last in wire_format.message_fields(data, start, stop)
        if inner == _SHAPE << 3 | 2
    ]


def read_type(data: bytes, at: int, end: int) -> str:
    """Return MindSpore's name of the element type in an attribute, empty if there is none."""
    span = wire_format.last_field(data, at, end, _TYPE << 3)
    return TYPES.get(wire_format.read_varint(data, *span)[0], ("", ""))[1] if span else ""


def _texts(key: int, data: bytes, start: int, stop: int) -> list[str]:
    """Return a field of an attribute or of a list as text. A packed field gives several texts."""
    number, packed = key >> 3, key & 7 == 2
    if number == _TEXT:
        return [show_text(data[start : min(stop, start + _MAX_TEXT)])]
    if number == _SHAPE:
        return [str(list(shape_of(data, start, stop)))]
    if number == _TENSOR:
        tensor = tensor_fields(data, start, stop)
        name = TYPES.get(tensor.dtype, ("", f"DT_{tensor.dtype}"))[1]
        return [f"{name.removeprefix('DT_').lower()} {list(tensor.shape)}"]
    if number == _FUNCTION_NAME:
        name_span = wire_format.last_field(data, start, stop, _ATTRIBUTES_FUNCTION_NAME)
        return [show_text(data[slice(*name_span)])] if name_span else []
    if number == _FLOAT:
        count = min((stop - start) // _FLOAT32.size, _MAX_ITEMS)
        return [f"{_FLOAT32.unpack_from(data, start + 4 * index)[0]:.9g}" for index in range(count)]
    if number in (_INTEGER, _FLAG, _TYPE):
        return [_integer_text(number, value) for value in _varints(data, start, stop, packed)]
    return []


def _varints(data: bytes, at: int, end: int, packed: bool) -> list[int]:
    """Return the integers of a field, at most ``_MAX_ITEMS``."""
    values: list[int] = []
    while at < end and len(values) < _MAX_ITEMS:
        value, at = wire_format.read_varint(data, at, end)
        values.append(wire_format.signed(value))
        if not packed:
            break
    return values


def _integer_text(number: int, value: int) -> str:
    """Return an integer, a flag or an element type as text."""
    if number == _TYPE:
        return TYPES.get(value, ("", f"DT_{value}"))[1].removeprefix("DT_").lower()
    return str(bool(value)) if number == _FLAG else str(value)


_NODE, _LIBRARY = 1 << 3 | 2, 2 << 3 | 2
_FUNCTION, _SIGNATURE, _FUNCTION_NODE = 1 << 3 | 2, 1 << 3 | 2, 3 << 3 | 2
_NAME, _OP, _INPUT, _DEVICE, _ATTRIBUTE = (number << 3 | 2 for number in (1, 2, 3, 4, 5))
_KEY, _VALUE = 1 << 3 | 2, 2 << 3 | 2
_SHAPES: Final = "_output_shapes"
_TYPES: Final = ("dtype", "T", "DstT", "out_type")  # attributes that name the type of the output


def graph_message(data: bytes) -> bytes:
    """Return the GraphProto of a GraphDef. Raises UnreadableError if it has no readable node."""
    GRAPH.check_size(len(data))
    nodes = []
    for number, (start, stop, scope) in enumerate(_node_spans(data), 1):
        GRAPH.check_items(number)
        node = _node(data, start, stop, scope)
        if node is not None:
            nodes.append(message(1, node))
    if not nodes:
        raise UnreadableError("graph.unreadable", "it contains no nodes")
    return b"".join(nodes)


def _node_spans(data: bytes) -> Iterator[tuple[int, int, str]]:
    """Yield start and end of each node, and its scope."""
    for key, start, stop in wire_format.message_fields(data, 0, len(data)):
        if key == _NODE:
            yield start, stop, ""
        elif key == _LIBRARY:
            for part, first, last in wire_format.message_fields(data, start, stop):
                if part == _FUNCTION:
                    yield from _function_spans(data, first, last)


def _function_spans(data: bytes, at: int, end: int) -> Iterator[tuple[int, int, str]]:
    """Yield start, end and scope of the nodes of a function."""
    fields = list(wire_format.message_fields(data, at, end))
    name = b""
    for key, start, stop in fields:
        if key == _SIGNATURE:
            span = wire_format.last_field(data, start, stop, _NAME)
            name = data[slice(*span)] if span else b""
    for key, start, stop in fields:
        if key == _FUNCTION_NODE:
            yield start, stop, show_text(name) + "/"


def _node(data: bytes, at: int, end: int, scope: str) -> bytes | None:
    """Return the NodeProto of the node in ``data[at:end]``, or None if it cannot be read."""
    node = NodeProto()
    try:
        GRAPH_FIELD.check_size(end - at)
        for key, start, stop in wire_format.message_fields(data, at, end):
            if key == _NAME:
                node.name = node.full_name = scope + show_text(data[start:stop])
            elif key == _OP:
                node.op_type = show_text(data[start:stop])
            elif key == _INPUT:
                _add_input(node, show_text(data[start:stop]), scope)
            elif key == _DEVICE and stop > start:
                attribute = node.attribute.add(name="device")
                attribute.value.str_val = show_text(data[start:stop])
            elif key == _ATTRIBUTE:
                _add_attribute(node, data, start, stop)
    except (wire_format.UnparsableError, UnreadableError, ValueError):
        return None
    return bytes(node.SerializeToString())


def _add_input(node: NodeProto, name: str, scope: str) -> None:
    """Add an input to a node. A leading ``^`` marks a control edge."""
    control = name.startswith("^")
    target = scope + name.removeprefix("^").partition(":")[0]
    node.input.add(name=target, type=1 if control else 0)


def _add_attribute(node: NodeProto, data: bytes, at: int, end: int) -> None:
    """Add the attribute in ``data[at:end]`` to a node. Shapes and types go to the output type."""
    entry = {key: (start, stop) for key, start, stop in wire_format.message_fields(data, at, end)}
    name = show_text(data[slice(*entry[_KEY])]) if _KEY in entry else ""
    value = entry.get(_VALUE, (end, end))
    if name == _SHAPES:
        _set_shapes(node.output_type, list_shapes(data, *value))
        return
    if name in _TYPES and (known := read_type(data, *value)):
        _set_type(node.output_type, known)
    add_attribute(node.attribute.add(name=name).value, data, *value)


def _set_shapes(output: TypeProto, shapes: list[tuple[int, ...]]) -> None:
    """Set the shape of the single output, or the shapes of several outputs."""
    tensors = [output] if len(shapes) == 1 else [output.sequence_type.elem_types.add() for _ in shapes]
    for tensor, shape in zip(tensors, shapes, strict=True):
        tensor.data_type = DataType.DT_TENSOR
        for size in shape:
            tensor.tensor_type.shape.dim.add(size=size)
    if len(shapes) > 1:
        output.data_type = DataType.DT_TUPLE


def _set_type(output: TypeProto, name: str) -> None:
    """Set the element type of a single output."""
    if output.WhichOneof("value") != "sequence_type":
        output.data_type = DataType.DT_TENSOR
        output.tensor_type.elem_type = DataType.Value(name)
