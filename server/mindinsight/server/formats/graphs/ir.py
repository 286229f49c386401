"""Parsers of MindSpore's ``.ir`` and ``.pb`` graphs next to a dump. Both return the same operators."""

from __future__ import annotations

import itertools
import json
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final

from mindinsight.server.formats.file_bytes import length_of, opened
from mindinsight.server.formats.graphs.call_stacks import Frame, stacks_of
from mindinsight.server.formats.read_limits import GRAPH, GRAPH_FIELD, IR, unreadable
from mindinsight.server.formats.sanitizer import show_text
from mindinsight.server.formats.text_files import read_lines
from mindinsight.server.formats.wire_format import UnparsableError, message_fields

if TYPE_CHECKING:
    from mindinsight.proto import graph_pb2

_SMALL: Final = 4 << 20  # bytes of a graph whose operators are held in memory
MAX_DIGITS: Final = 9  # of an element's index
_NUMBER_SLOT: Final = re.compile(r"input\.\d{1,9}", re.ASCII)
PASSING: Final = frozenset(("Load", "Depend", "UpdateState", "MakeTuple", "TupleGetItem"))


@dataclass(slots=True)
class Dataflow:
    """Names of the operators and parameters from which each value comes, by the key that arguments use.

    Operators must be added in the order of the graph.
    """

    sources_of: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def add(self, key: str, op: str, name: str, arguments: list[str]) -> tuple[str, ...]:
        """Add an operator under the key that arguments use, and return the names of its sources. These are
        at most ``IR.depth``. ``arguments`` are keys. The last argument of ``TupleGetItem`` is the index as
        text."""
        sources = self._sources(op, arguments)
        self.sources_of[key] = sources if op in PASSING else (name,) if name else ()
        return tuple(islice(dict.fromkeys(source for source in sources if source), IR.depth))

    def _sources(self, op: str, arguments: list[str]) -> tuple[str, ...]:
        """Return the names that feed an operator. Loads, dependencies and tuples are skipped."""
        feeding = [self.sources_of.get(argument, ()) for argument in arguments]
        if op == "UpdateState":
            return ()
        if op == "TupleGetItem" and len(arguments) == 2:
            index = int(arguments[1]) if arguments[1].isdecimal() and len(arguments[1]) < MAX_DIGITS else 0
            return feeding[0][index : index + 1] or feeding[0]
        if op == "MakeTuple":  # one name for each element, so that TupleGetItem can index them
            return tuple(names[0] if names else "" for names in feeding)
        if op in ("Load", "Depend"):
            return feeding[0] if feeding else ()
        return tuple(islice((name for names in feeding for name in names), IR.depth))


MAX_STATEMENT: Final = 1 << 20  # characters of a statement that are parsed; a literal tensor can be longer

_NODE: Final = re.compile(r"\s*%(?P<id>\d+)\((?P<alias>.*?)\) = (?P<op>[^\s(]+)\(")
_STARTS: Final = re.compile(r"\s*%\d+\(|  Return\(|      [:#]|%para|subgraph |\}|#")
_PARAMETER: Final = re.compile(r"%(para\d+_(\S+?)) ?: ")
_NAME: Final = re.compile(r"\s+[#:] ?[Ff]ull_?name_?[ _]?with_?[ _]?scope: \((.+)\)")
_SCOPE: Final = re.compile(r"\s+# Scope: \((.*)\)")
_ARGUMENT: Final = re.compile(r"%para\d+_[^\s,()]+|%\d+|[^\s,()%]+(?:\([^()]*\))?")


@dataclass(frozen=True, slots=True)
class IrNode:
    """Operator of an ``.ir`` text: type, name, scope, sources and call stacks."""

    op: str
    name: str  # full name with scope, "" in texts written before names are assigned
    scope: str
    sources: tuple[str, ...]  # names of operators and parameters that feed it, past loads and tuples
    stacks: tuple[tuple[Frame, ...], ...]  # each innermost first
    arguments: tuple[tuple[str, str], ...] = ()  # numbers that our recorders found: "input.<slot>", text


@dataclass(frozen=True, slots=True)
class IrText:
    """Names of parameters, and operators, of all subgraphs of an ``.ir`` text, in text order."""

    parameters: tuple[str, ...]
    nodes: tuple[IrNode, ...]


def read_ir(path: Path) -> IrText:
    """Read an ``.ir`` file. Raises UnreadableError if it cannot be opened or exceeds the limits ``IR``."""
    return parse_ir(line.rstrip("\r\n") for line in read_lines(path, IR, MAX_STATEMENT))


def parse_ir(lines: Iterable[str]) -> IrText:
    """Parse the lines of an ``.ir`` file. Never raises: the result of any other text is empty."""
    statements = list(_statements(lines))
    parameters = [match for match in map(_PARAMETER.match, statements) if match]
    dataflow = Dataflow({f"%{match[1]}": (match[2],) for match in parameters})
    nodes = [node for node in (_node(block, dataflow) for block in _blocks(statements)) if node]
    return IrText(tuple(dict.fromkeys(match[2] for match in parameters)), tuple(nodes))


def read_ir_parameters(path: Path) -> tuple[str, ...]:
    """Read the names of the parameters only. Raises UnreadableError. They precede the first operator, and
    the rest is not read."""
    lines = read_lines(path, IR, MAX_STATEMENT)
    head = itertools.takewhile(lambda line: not line.startswith("subgraph @"), lines)
    return tuple(dict.fromkeys(match[2] for match in map(_PARAMETER.match, head) if match))


def _node(block: list[str], dataflow: Dataflow) -> IrNode | None:
    """Return the operator that a block of statements describes, or None for the text before the first
    operator."""
    head = _NODE.match(block[0])
    if head is None:
        return None
    op = head["op"].removeprefix("PrimFunc_")
    arguments = [text.removeprefix("I64(").rstrip(")") for text in _arguments(block[0], head.end())]
    name = _first(_NAME, block)
    sources = dataflow.add(f"%{head['id']}", op, name, arguments)
    stacks = tuple(stack[::-1] for stack in stacks_of(block))  # the text has the outermost frame first
    return IrNode(op, name, _first(_SCOPE, block) or name.rpartition("/")[0], sources, stacks)


def _statements(lines: Iterable[str]) -> Iterator[str]:
    """Yield statements with continuation lines joined (literals, code over two lines). A statement is
    truncated at MAX_STATEMENT."""
    statement: list[str] = []
    length = 0
    for line in lines:
        if _STARTS.match(line) and statement:
            yield "\n".join(statement)[:MAX_STATEMENT]
            statement, length = [], 0
        if length < MAX_STATEMENT:
            statement.append(line)
            length += len(line) + 1
    yield "\n".join(statement)[:MAX_STATEMENT]


def _blocks(statements: Iterable[str]) -> Iterator[list[str]]:
    """Group statements by node: the statement of the node and the indented ones after it."""
    block: list[str] = []
    for statement in statements:
        if not statement.startswith("      ") and block:
            yield block
            block = []
        block.append(statement)
    if block:
        yield block


def _arguments(text: str, start: int) -> list[str]:
    """Return the names and literals up to the closing parenthesis. ``start`` follows the opening one."""
    depth = 1
    for parenthesis in re.finditer(r"[()]", text[start:]):
        depth += 1 if parenthesis[0] == "(" else -1
        if depth == 0:
            return _ARGUMENT.findall(text[start : start + parenthesis.start()])
    return _ARGUMENT.findall(text[start:])


def _first(pattern: re.Pattern[str], block: list[str]) -> str:
    """Return the first group of the first match in a block, or an empty text."""
    match = next(filter(None, map(pattern.match, block)), None)
    return match[1] if match else ""


def read_pb(path: Path) -> IrText:
    """Return the parameters and operators of a file with a ModelProto. Raises UnreadableError. Nodes are
    decoded one at a time, because protobuf may take a hundred bytes of memory for two bytes of a message."""
    with opened(path) as file:
        length = length_of(file)
        modified = os.fstat(file.fileno()).st_mtime_ns
    if length > _SMALL:
        return _read_pb(path)
    return _read_small_pb(path, length, modified)


@lru_cache(maxsize=4)  # each step of a dump names its operators from the same file
def _read_small_pb(path: Path, length: int, modified: int) -> IrText:
    return _read_pb(path)


def _read_pb(path: Path) -> IrText:
    from google.protobuf.message import DecodeError  # few dumps have such a file

    with opened(path) as file:
        length = length_of(file)
        GRAPH.check_size(length)
        data = file.read(length)
    with unreadable("dump.bad_graph", "graph", DecodeError, UnparsableError, UnicodeDecodeError):
        return _graph(data)


def _graph(data: bytes) -> IrText:
    """Parse the bytes of a model. Raises DecodeError, UnparsableError or UnicodeDecodeError."""
    from mindinsight.proto import graph_pb2
    from mindinsight.server.formats.graphs import graph_proto

    names, constants, nodes = [], {}, []
    for key, start, end in _graph_fields(data, graph_proto.GRAPH_FIELD_OF_MODEL):
        if key == graph_proto.PARAMETER_FIELD:
            names.append(show_text(graph_pb2.ParameterProto.FromString(data[start:end]).name))
        elif key == graph_proto.CONSTANT_FIELD:
            constant = graph_pb2.NamedValueProto.FromString(data[start:end])
            constants[show_text(constant.key)] = str(constant.value.int_val)
        elif key == graph_proto.NODE_FIELD:
            nodes.append((start, end))
    dataflow = Dataflow({name: (name,) for name in names})
    parsed = (graph_pb2.NodeProto.FromString(data[start:end]) for start, end in nodes)
    return IrText(tuple(names), tuple(_pb_node(node, dataflow, constants) for node in parsed))


def _graph_fields(data: bytes, graph: int) -> Iterator[tuple[int, int, int]]:
    """Yield key, start and end of each field in a field `graph`. Raises UnreadableError beyond the limits."""
    count = 0
    for key, begin, end in message_fields(data, 0, len(data)):
        for span in message_fields(data, begin, end) if key == graph else ():
            count += 1
            GRAPH.check_items(count)
            GRAPH_FIELD.check_size(span[2] - span[1])
            yield span


def _pb_node(node: graph_pb2.NodeProto, dataflow: Dataflow, numbers: dict[str, str]) -> IrNode:
    """Return the operator of a node. ``numbers`` are the values of integer constants by name."""
    op, name = show_text(node.op_type), show_text(node.full_name)
    arguments = [show_text(source.name) for source in node.input]
    if op == "TupleGetItem":
        arguments[1:] = [numbers.get(argument, argument) for argument in arguments[1:]]
    sources = dataflow.add(show_text(node.name), op, name, arguments)
    lines = "\n".join(map(show_text, node.source_address)).split("\n")
    recorded = tuple(
        (slot, json.dumps(attribute.value.double_val))
        for attribute in node.attribute
        if attribute.value.HasField("double_val")
        and _NUMBER_SLOT.fullmatch(slot := show_text(attribute.name))
    )
    return IrNode(op, name, show_text(node.scope), sources, stacks_of(lines), recorded)
