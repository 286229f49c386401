"""Transcoder of GraphDef and its attributes, as TensorFlow and torch.utils.tensorboard write them."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any, Final

from google.protobuf.message import DecodeError

from mindinsight.proto.graph_pb2 import DataType, GraphProto, InputProto, NodeProto, TypeProto, ValueProto
from mindinsight.proto.tensorboard_pb2 import AttrValue, NodeDef, TensorShapeProto
from mindinsight.server.formats import wire_format
from mindinsight.server.formats.read_limits import GRAPH, GRAPH_FIELD, UnreadableError
from mindinsight.server.formats.sanitizer import show_text
from mindinsight.server.formats.tensorboard.tensor_proto import TYPES

# Keys (number and wire type) of fields of GraphDef, FunctionDefLibrary and FunctionDef.
_NODE, _LIBRARY = 1 << 3 | 2, 2 << 3 | 2
_FUNCTION, _SIGNATURE, _FUNCTION_NODE = 1 << 3 | 2, 1 << 3 | 2, 3 << 3 | 2
_NAME: Final = 1 << 3 | 2
_SHAPES: Final = "_output_shapes"
_TYPES: Final = ("dtype", "T", "DstT", "out_type")  # attributes that name the type of the output
_MAX_TEXT: Final = 4096  # bytes that are shown of a text
_MAX_ITEMS: Final = 1000  # items that are shown of a list
_FIELDS: Final = {"i": "int_val", "f": "float_val", "b": "bool_val"}  # of AttrValue and of ValueProto


def graph_message(data: bytes) -> bytes:
    """Return the GraphProto of a GraphDef, without the nodes that cannot be read. Raises UnreadableError if
    it has no readable node."""
    GRAPH.check_size(len(data))
    nodes = []
    for number, (start, stop, scope) in enumerate(_node_spans(data), 1):
        GRAPH.check_items(number)
        with suppress(DecodeError, UnreadableError, ValueError):
            GRAPH_FIELD.check_size(stop - start)
            node = _node(NodeDef.FromString(data[start:stop]), scope)
            nodes.append(GraphProto(node=[node]).SerializeToString())
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


def _node(definition: NodeDef, scope: str) -> NodeProto:
    """Return the NodeProto of a node. A leading ``^`` of an input marks a control edge."""
    name = scope + show_text(definition.name)
    node = NodeProto(name=name, full_name=name, op_type=show_text(definition.op))
    for source in map(show_text, definition.input):
        edge = InputProto.CONTROL_EDGE if source.startswith("^") else InputProto.DATA_EDGE
        node.input.add(name=scope + source.removeprefix("^").partition(":")[0], type=edge)
    if definition.device:
        node.attribute.add(name="device").value.str_val = show_text(definition.device)
    for attribute in definition.attr:
        name, value = show_text(attribute.key), attribute.value
        if name == _SHAPES:
            _set_shapes(node.output_type, value.list.shape)
            continue
        if name in _TYPES and value.type in TYPES:
            _set_type(node.output_type, TYPES[value.type][1])
        set_value(node.attribute.add(name=name).value, value)
    return node


def _set_shapes(output: TypeProto, shapes: Sequence[TensorShapeProto]) -> None:
    """Set the shape of the single output, or the shapes of several outputs."""
    tensors = [output] if len(shapes) == 1 else [output.sequence_type.elem_types.add() for _ in shapes]
    for tensor, shape in zip(tensors, shapes, strict=True):
        tensor.data_type = DataType.DT_TENSOR
        for dim in shape.dim:
            tensor.tensor_type.shape.dim.add(size=dim.size)
    if len(shapes) > 1:
        output.data_type = DataType.DT_TUPLE


def _set_type(output: TypeProto, name: str) -> None:
    """Set the element type of a single output."""
    if output.WhichOneof("value") != "sequence_type":
        output.data_type = DataType.DT_TENSOR
        output.tensor_type.elem_type = DataType.Value(name)


def set_value(value: ValueProto, attribute: AttrValue) -> None:
    """Store an attribute in ``value``. Numbers and flags keep their type, others become text."""
    kind = attribute.WhichOneof("value")
    content: Any = getattr(attribute, kind) if kind else None
    if kind == "list":
        texts = [
            _text(field.name, item) for field, items in content.ListFields() for item in items[:_MAX_ITEMS]
        ]
        value.str_vals.extend(texts[:_MAX_ITEMS])
    elif kind in _FIELDS:
        setattr(value, _FIELDS[kind], content)
    elif kind:
        value.str_val = _text(kind, content)


def _text(kind: str, content: Any) -> str:
    """Return one value of an attribute as text. ``kind`` is its field in AttrValue."""
    if kind == "s":
        return show_text(content[:_MAX_TEXT])
    if kind == "shape":
        return str([dim.size for dim in content.dim])
    if kind == "tensor":
        return f"{_text('type', content.dtype)} {_text('shape', content.tensor_shape)}"
    if kind == "func":
        return show_text(content.name)
    if kind == "type":
        return TYPES.get(content, ("", f"DT_{content}"))[1].removeprefix("DT_").lower()
    return f"{content:.9g}" if kind == "f" else str(content)
