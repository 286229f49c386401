"""Decoder of MindSpore's ``.pb`` graphs beside a dump, to the same operators as from the ``.ir`` text."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from google.protobuf.message import DecodeError

from mindinsight.proto import graph_pb2
from mindinsight.server.formats.budgets import GRAPH, GRAPH_FIELD
from mindinsight.server.formats.file_bytes import length_of, opened
from mindinsight.server.formats.graphs.call_stacks import stacks_of
from mindinsight.server.formats.graphs.dataflow import Dataflow
from mindinsight.server.formats.graphs.ir import IrNode, IrText
from mindinsight.server.formats.texts import show_text
from mindinsight.server.formats.unreadable import UnreadableError
from mindinsight.server.formats.wire_format import UnparsableError, message_fields

_BYTES: Final = 2  # wire type of texts and messages, in the lowest three bits of a key
_MODEL_GRAPH: Final = 4 << 3 | _BYTES
_NODE: Final = 1 << 3 | _BYTES
_PARAMETER: Final = 3 << 3 | _BYTES
_CONSTANT: Final = 5 << 3 | _BYTES


def read_pb(path: Path) -> IrText:
    """Read a ModelProto file. Raises UnreadableError.

    Nodes are decoded one at a time: protobuf may take a hundred bytes of memory for two bytes of a message.
    """
    with opened(path) as file:
        length = length_of(file)
        GRAPH.check_size(length)
        data = file.read(length)
    try:
        return _graph(data)
    except (DecodeError, UnparsableError, UnicodeDecodeError) as error:
        raise UnreadableError("dump.bad_graph", str(error)[:200]) from error


def _graph(data: bytes) -> IrText:
    names, constants, nodes = [], {}, []
    for key, start, end in _graph_fields(data):
        if key == _PARAMETER:
            names.append(_text(graph_pb2.ParameterProto.FromString(data[start:end]).name))
        elif key == _CONSTANT:
            constant = graph_pb2.NamedValueProto.FromString(data[start:end])
            constants[_text(constant.key)] = str(constant.value.int_val)
        elif key == _NODE:
            nodes.append((start, end))
    dataflow = Dataflow({name: (name,) for name in names})
    parsed = (graph_pb2.NodeProto.FromString(data[start:end]) for start, end in nodes)
    return IrText(tuple(names), tuple(_node(node, dataflow, constants) for node in parsed))


def _graph_fields(data: bytes) -> Iterator[tuple[int, int, int]]:
    """Yield key, begin and end of each field of a model's graph."""
    count = 0
    for key, begin, end in message_fields(data, 0, len(data)):
        for field in message_fields(data, begin, end) if key == _MODEL_GRAPH else ():
            count += 1
            GRAPH.check_items(count)
            GRAPH_FIELD.check_size(field[2] - field[1])
            yield field


def _node(node: graph_pb2.NodeProto, dataflow: Dataflow, numbers: dict[str, str]) -> IrNode:
    op, name = _text(node.op_type), _text(node.full_name)
    arguments = [_text(source.name) for source in node.input]
    if op == "TupleGetItem":
        arguments[1:] = [numbers.get(argument, argument) for argument in arguments[1:]]
    sources = dataflow.add(_text(node.name), op, name, arguments)
    lines = "\n".join(map(_text, node.source_address)).split("\n")
    return IrNode(op, name, _text(node.scope), sources, stacks_of(lines))


def _text(value: str | bytes) -> str:
    """A string field as text: protobuf returns bytes for one that is not UTF-8."""
    return show_text(value)
