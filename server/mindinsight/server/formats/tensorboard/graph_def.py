"""Transcoder of GraphDef, as TensorFlow and torch.utils.tensorboard write it, to GraphProto.

GraphDef: node 1, library 2 (function 1: signature 1, node_def 3). NodeDef: name 1, op 2, input 3, device 4,
attr 5. An input is ``node``, ``node:2`` (its third output) or ``^node`` (an order). The nodes of a function
lie in a scope of its name. A node that cannot be read is left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from mindinsight.proto.graph_pb2 import DataType, NodeProto, TypeProto
from mindinsight.server.formats.budgets import GRAPH, GRAPH_FIELD
from mindinsight.server.formats.tensorboard.attributes import add_attribute, list_shapes, read_type
from mindinsight.server.formats.tensorboard.wire_writer import message
from mindinsight.server.formats.texts import show_text
from mindinsight.server.formats.unreadable import UnreadableError
from mindinsight.server.formats.wire_format import UnparsableError, last_field, message_fields

_NODE, _LIBRARY = 1 << 3 | 2, 2 << 3 | 2
_FUNCTION, _SIGNATURE, _FUNCTION_NODE = 1 << 3 | 2, 1 << 3 | 2, 3 << 3 | 2
_NAME, _OP, _INPUT, _DEVICE, _ATTRIBUTE = (number << 3 | 2 for number in (1, 2, 3, 4, 5))
_KEY, _VALUE = 1 << 3 | 2, 2 << 3 | 2
_SHAPES: Final = "_output_shapes"
_TYPES: Final = ("dtype", "T", "DstT", "out_type")  # attributes that name the type of the output


def graph_message(data: bytes) -> bytes:
    """GraphProto of a GraphDef. Raises UnreadableError where there is no node in it."""
    GRAPH.check_size(len(data))
    nodes = []
    for number, (start, stop, scope) in enumerate(_node_spans(data), 1):
        GRAPH.check_items(number)
        node = _node(data, start, stop, scope)
        if node is not None:
            nodes.append(message(1, node))
    if not nodes:
        raise UnreadableError("graph.unreadable", "no node in it")
    return b"".join(nodes)


def _node_spans(data: bytes) -> Iterator[tuple[int, int, str]]:
    """First byte and end of each node, and the scope it lies in."""
    for key, start, stop in message_fields(data, 0, len(data)):
        if key == _NODE:
            yield start, stop, ""
        elif key == _LIBRARY:
            for part, first, last in message_fields(data, start, stop):
                if part == _FUNCTION:
                    yield from _function_spans(data, first, last)


def _function_spans(data: bytes, at: int, end: int) -> Iterator[tuple[int, int, str]]:
    fields = list(message_fields(data, at, end))
    name = b""
    for key, start, stop in fields:
        if key == _SIGNATURE:
            span = last_field(data, start, stop, _NAME)
            name = data[slice(*span)] if span else b""
    for key, start, stop in fields:
        if key == _FUNCTION_NODE:
            yield start, stop, show_text(name) + "/"


def _node(data: bytes, at: int, end: int, scope: str) -> bytes | None:
    """NodeProto of the node in ``data[at:end]``; None for one that cannot be read."""
    node = NodeProto()
    try:
        GRAPH_FIELD.check_size(end - at)
        for key, start, stop in message_fields(data, at, end):
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
    except (UnparsableError, UnreadableError, ValueError):
        return None
    return bytes(node.SerializeToString())


def _add_input(node: NodeProto, name: str, scope: str) -> None:
    control = name.startswith("^")
    target = scope + name.removeprefix("^").partition(":")[0]
    node.input.add(name=target, type=1 if control else 0)


def _add_attribute(node: NodeProto, data: bytes, at: int, end: int) -> None:
    entry = {key: (start, stop) for key, start, stop in message_fields(data, at, end)}
    name = show_text(data[slice(*entry[_KEY])]) if _KEY in entry else ""
    value = entry.get(_VALUE, (end, end))
    if name == _SHAPES:
        _set_shapes(node.output_type, list_shapes(data, *value))
        return
    if name in _TYPES and (known := read_type(data, *value)):
        _set_type(node.output_type, known)
    add_attribute(node.attribute.add(name=name).value, data, *value)


def _set_shapes(output: TypeProto, shapes: list[tuple[int, ...]]) -> None:
    """The shape of a single output, or those of several."""
    tensors = [output] if len(shapes) == 1 else [output.sequence_type.elem_types.add() for _ in shapes]
    for tensor, shape in zip(tensors, shapes, strict=True):
        tensor.data_type = DataType.DT_TENSOR
        for size in shape:
            tensor.tensor_type.shape.dim.add(size=size)
    if len(shapes) > 1:
        output.data_type = DataType.DT_TUPLE


def _set_type(output: TypeProto, name: str) -> None:
    if output.WhichOneof("value") != "sequence_type":
        output.data_type = DataType.DT_TENSOR
        output.tensor_type.elem_type = DataType.Value(name)
