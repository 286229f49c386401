"""MindSpore's ``.pb`` graphs beside a dump: the same operators, sources and stacks as in the ``.ir`` text."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from google.protobuf.message import DecodeError

from mindinsight.proto import graph_pb2
from mindinsight.server.formats.call_stacks import stacks_of
from mindinsight.server.formats.dataflow import Feeds
from mindinsight.server.formats.file_bytes import length_of, opened
from mindinsight.server.formats.ir import IrNode, IrText
from mindinsight.server.formats.unreadable import UnreadableError

MAX_SIZE: Final = 1 << 29  # bytes


def read_pb(path: Path) -> IrText:
    """Read a ``ModelProto`` file; raises ``UnreadableError``."""
    with opened(path) as file:
        if length_of(file) > MAX_SIZE:
            raise UnreadableError("dump.too_large", f"graph of over {MAX_SIZE} bytes")
        model = graph_pb2.ModelProto()
        try:
            model.ParseFromString(file.read())
        except DecodeError as error:
            raise UnreadableError("dump.bad_graph", str(error)[:200]) from error
    names = tuple(_text(parameter.name) for parameter in model.graph.parameters)
    numbers = {_text(constant.key): str(constant.value.int_val) for constant in model.graph.const_vals}
    feeds = Feeds({name: (name,) for name in names})
    return IrText(names, tuple(_node(node, feeds, numbers) for node in model.graph.node))


def _node(node: graph_pb2.NodeProto, feeds: Feeds, numbers: dict[str, str]) -> IrNode:
    op, name = _text(node.op_type), _text(node.full_name)
    arguments = [_text(each.name) for each in node.input]
    if op == "TupleGetItem":
        arguments[1:] = [numbers.get(argument, argument) for argument in arguments[1:]]
    sources = feeds.add(_text(node.name), op, name, arguments)
    lines = "\n".join(map(_text, node.source_address)).split("\n")
    return IrNode(op, name, _text(node.scope), sources, stacks_of(lines))


def _text(value: str | bytes) -> str:
    """A string field: protobuf gives bytes for one that is no UTF-8."""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value
