"""Columnar decoder of computational graphs: GraphProto from event files, ModelProto from files."""

import itertools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
from google.protobuf.message import DecodeError

from mindinsight.proto.graph_pb2 import GraphProto, NamedValueProto, NodeProto, OutputProto, ParameterProto
from mindinsight.server.formats.read_limits import GRAPH, GRAPH_FIELD, UnreadableError, unreadable
from mindinsight.server.formats.wire_format import FAR, MAX_SIZE, UnparsableError, message_fields, varints
from mindinsight.server.graph.model import graph
from mindinsight.server.types import Ints

_LENGTH: Final = 2  # wire type of texts and messages
_MIN_MESSAGES: Final = 16  # messages from which a step in numpy costs less than protobuf's own decoding
_SECTION: Final = 1 << 20  # bytes that are validated at once
_INPUT: Final = 1 << 3 | 2
_TEXTS: Final = (2 << 3 | 2, 3 << 3 | 2, 4 << 3 | 2, 8 << 3 | 2)  # name, op_type, scope, full_name
_CONTENTS: Final = (5 << 3 | 2, 6 << 3 | 2)  # attribute, output_type
_INPUT_NAME: Final = 1 << 3 | 2
_INPUT_TYPE: Final = 2 << 3
_CONTROL: Final = 1  # InputProto.EdgeType.CONTROL_EDGE

_Octets = npt.NDArray[np.uint8]
_Read = Callable[[Ints, graph.Flags], list[str]]


@dataclass(frozen=True, slots=True)
class Nodes:
    """Columns of the nodes that can be decoded, as recorded: n nodes, i inputs."""

    rows: Ints  # [n] indices among all nodes of the file
    names: list[str]  # [n] by which inputs refer to nodes
    types: list[str]  # [n]
    scopes: list[str]  # [n]
    full_names: list[str]  # [n]
    owners: Ints  # [i] the node that each input belongs to, as index into the columns [n]; ascending
    inputs: list[str]  # [i] names of the nodes that are inputs
    controls: graph.Flags  # [i] whether it is a control edge
    contents: Ints  # [2, n] begin and end of the bytes that hold all attributes and the output's type


class _Inputs(NamedTuple):
    """Columns of the inputs of several nodes."""

    owners: Ints
    names: list[str]
    controls: graph.Flags


class _Fields(NamedTuple):
    """Columns of one field from each of several messages."""

    rows: Ints  # indices of the messages
    keys: _Octets  # number and wire type
    begins: Ints  # of the content
    ends: Ints


def read_nodes(data: bytes, begins: Ints, ends: Ints) -> Nodes:
    """Decode the nodes with messages between ``begins`` and ``ends`` in the bytes of a GraphProto. Nodes
    that cannot be decoded are omitted."""
    plain = np.full(len(begins), _is_valid(data, ends))
    texts, columnar, contents = _read_columns(data, begins, ends, plain)
    readable = plain.copy()
    sequential = _read_sequentially(data, begins, ends, texts, readable, np.flatnonzero(~plain).tolist())
    for row in np.flatnonzero(~plain & readable).tolist():
        contents[:, row] = _content_span(data, int(begins[row]), int(ends[row]))
    rows = np.flatnonzero(readable)
    owners = np.concatenate([columnar.owners, sequential.owners])
    order = np.argsort(owners, kind="stable")
    inputs = columnar.names + sequential.names
    if len(rows) < len(readable):
        texts = [[column[row] for row in rows.tolist()] for column in texts]
    names, types, scopes, full_names = texts
    return Nodes(
        rows=rows,
        names=names,
        types=types,
        scopes=scopes,
        full_names=full_names,
        owners=np.searchsorted(rows, owners[order]),
        inputs=[inputs[index] for index in order.tolist()] if sequential.names else inputs,
        controls=np.concatenate([columnar.controls, sequential.controls])[order],
        contents=contents[:, rows],
    )


def _is_valid(data: bytes, ends: Ints) -> bool:
    """Return True if protobuf can decode the whole graph, including fields that are not read here.

    The graph is checked section by section, because protobuf may take a hundred bytes of memory for two bytes
    of a message. A section beyond the limit of one node counts as damaged, so that nodes are decoded one by
    one.
    """
    try:
        return all(
            end - begin <= GRAPH_FIELD.size and GraphProto.FromString(data[begin:end]) is not None
            for begin, end in itertools.pairwise(_split_offsets(len(data), ends))
        )
    except DecodeError:
        return False


def _split_offsets(size: int, ends: Ints) -> list[int]:
    """Return offsets between nodes that split ``size`` bytes into sections of about ``_SECTION``."""
    steps = np.searchsorted(ends, np.arange(_SECTION, size, _SECTION))
    return [0, *np.unique(ends[steps[steps < len(ends)]]).tolist(), size]


def _read_columns(
    data: bytes, begins: Ints, ends: Ints, plain: graph.Flags
) -> tuple[list[list[str]], _Inputs, Ints]:
    """Decode texts, inputs and content spans of the nodes in ``plain``. Clears the flags of nodes with an
    unusual encoding."""
    octets = np.frombuffer(data, np.uint8)
    spans = np.zeros((len(_TEXTS), 2, len(begins)), np.int64)
    contents = np.array([np.full(len(begins), FAR), np.zeros(len(begins), np.int64)])
    input_rows = [np.zeros((3, 0), np.int64)]
    for fields in _fields(octets, begins, ends, plain):
        for key, span in zip(_TEXTS, spans, strict=True):
            chosen = np.flatnonzero(fields.keys == key)
            span[:, fields.rows[chosen]] = fields.begins[chosen], fields.ends[chosen]
        chosen = np.flatnonzero((fields.keys == _CONTENTS[0]) | (fields.keys == _CONTENTS[1]))
        rows = fields.rows[chosen]
        contents[0, rows] = np.minimum(contents[0, rows], fields.begins[chosen])
        contents[1, rows] = fields.ends[chosen]  # fields come in order
        chosen = np.flatnonzero(fields.keys == _INPUT)
        input_rows.append(np.array([fields.rows[chosen], fields.begins[chosen], fields.ends[chosen]]))
    owners, first, last = np.concatenate(input_rows, axis=1)
    order = np.argsort(owners, kind="stable")
    owners = owners[order]
    readable = np.ones(len(owners), dtype=np.bool_)
    name_spans, controls = _inputs(octets, first[order], last[order], readable)
    read = _reader(data)
    texts = [read(span, plain) for span in spans]
    names = read(name_spans, readable)
    plain[owners[~readable]] = False
    retained = plain[owners]
    if not retained.all():
        names = [names[index] for index in np.flatnonzero(retained).tolist()]
    contents[0] = np.minimum(contents[0], contents[1])  # neither attributes nor an output
    return texts, _Inputs(owners[retained], names, controls[retained]), contents


def _inputs(octets: _Octets, begins: Ints, ends: Ints, plain: graph.Flags) -> tuple[Ints, graph.Flags]:
    """Return the spans of the names of inputs, [2, i], and the flags of control edges, [i]."""
    name_spans = np.zeros((2, len(begins)), np.int64)
    controls = np.zeros(len(begins), dtype=np.bool_)
    for fields in _fields(octets, begins, ends, plain):
        chosen = np.flatnonzero(fields.keys == _INPUT_NAME)
        name_spans[:, fields.rows[chosen]] = fields.begins[chosen], fields.ends[chosen]
        typed = np.flatnonzero(fields.keys == _INPUT_TYPE)
        values, _ = varints(octets, fields.begins[typed])
        controls[fields.rows[typed]] = values.astype(np.int32) == _CONTROL
    return name_spans, controls


def _fields(octets: _Octets, begins: Ints, ends: Ints, plain: graph.Flags) -> Iterator[_Fields]:
    """Yield the first field of every plain message, then the second of each message that has one, and so
    on. Clears ``plain`` for messages with field numbers above 15 or lengths past their end, and for the
    few messages with more fields than all others."""
    rows = np.flatnonzero(plain & (begins < ends))
    positions = begins[rows]
    last = len(octets) - 1
    while len(rows) >= _MIN_MESSAGES:
        keys = octets[positions]
        contents, stops = _contents(octets, keys, np.minimum(positions + 1, last))
        valid = (keys >= 8) & (keys < 0x80) & (stops <= ends[rows])
        plain[rows[~valid]] = False
        chosen = np.flatnonzero(valid)
        yield _Fields(rows[chosen], keys[chosen], contents[chosen], stops[chosen])
        unfinished = np.flatnonzero(valid & (stops < ends[rows]))
        rows, positions = rows[unfinished], stops[unfinished]
    plain[rows] = False


def _contents(octets: _Octets, keys: _Octets, positions: Ints) -> tuple[Ints, Ints]:
    """Return the start and end offset of each field's content. The end is `FAR` for wire types that graph
    messages do not use."""
    values, after = varints(octets, positions)
    wires = keys & 7
    begins = np.where(wires == _LENGTH, after, positions)
    ends = np.full(len(positions), FAR)
    ends[wires == 0] = after[wires == 0]
    ends[wires == 1] = positions[wires == 1] + 8
    ends[wires == 5] = positions[wires == 5] + 4
    sized = (wires == _LENGTH) & (values >= 0) & (values < FAR) & (after - positions <= MAX_SIZE)
    ends[sized] = after[sized] + values[sized]
    return begins, ends


def _reader(data: bytes) -> _Read:
    """Return a function ``read(spans, plain)`` that decodes the texts at the spans [2, n]. The function
    clears ``plain`` for texts that are not UTF-8."""
    decoded = data.decode("latin-1")  # its slices are the texts, as long as these are ASCII

    def read(spans: Ints, plain: graph.Flags) -> list[str]:
        texts = [decoded[begin:end] for begin, end in zip(*spans.tolist(), strict=True)]
        if "".join(texts).isascii():
            return texts
        for row, value in enumerate(texts):
            try:
                texts[row] = value.encode("latin-1").decode()
            except UnicodeDecodeError:
                plain[row] = False
        return texts

    return read


def _content_span(data: bytes, begin: int, end: int) -> tuple[int, int]:
    """Return the span of the attributes and output type in a message, or of an invalid message."""
    try:
        spans = [(first, last) for key, first, last in message_fields(data, begin, end) if key in _CONTENTS]
    except UnparsableError:
        return begin, end
    return (min(first for first, _ in spans), max(last for _, last in spans)) if spans else (begin, begin)


def _read_sequentially(
    data: bytes, begins: Ints, ends: Ints, texts: list[list[str]], readable: graph.Flags, rows: Iterable[int]
) -> _Inputs:
    """Decode the nodes ``rows`` with protobuf and return their inputs. Fills in ``texts`` and
    ``readable``."""
    owners: list[int] = []
    names: list[str] = []
    types: list[int] = []
    for row in rows:
        try:
            GRAPH_FIELD.check_size(int(ends[row] - begins[row]))
            node = NodeProto.FromString(data[begins[row] : ends[row]])
            inputs = [(text(source.name), source.type) for source in node.input]
            values = [text(value) for value in (node.name, node.op_type, node.scope, node.full_name)]
        except (DecodeError, UnicodeDecodeError, UnreadableError):
            continue
        readable[row] = True
        for column, value in zip(texts, values, strict=True):
            column[row] = value
        owners += [row] * len(inputs)
        names += [name for name, _ in inputs]
        types += [kind for _, kind in inputs]
    return _Inputs(np.array(owners, np.int64), names, np.array(types, np.int64) == _CONTROL)


def text(value: str | bytes) -> str:
    """Return a string field as text. Some versions of protobuf return bytes if it is not UTF-8."""
    return value if isinstance(value, str) else value.decode("utf-8", "replace")


_BYTES: Final = 2  # wire type of texts and messages, in the lowest three bits of a key
NODE_FIELD: Final = 1 << 3 | _BYTES
_NAME: Final = 2 << 3 | _BYTES
PARAMETER_FIELD: Final = 3 << 3 | _BYTES
_OUTPUT: Final = 4 << 3 | _BYTES
CONSTANT_FIELD: Final = 5 << 3 | _BYTES
GRAPH_FIELD_OF_MODEL: Final = 4 << 3 | _BYTES
_MODEL_NUMBERS: Final = (1 << 3, 3 << 3)  # ir_version, model_version; in a GraphProto 1 and 3 are messages

Span = tuple[int, int]  # first byte, end


def read_graph(data: bytes) -> graph.Graph:
    """Decode a GraphProto or a ModelProto. Raises UnreadableError (``graph.unreadable``) if the bytes are
    neither."""
    fields = _graph_fields(data)
    if np.isin(fields[:, 0], _MODEL_NUMBERS).any():
        spans = fields[fields[:, 0] == GRAPH_FIELD_OF_MODEL, 1:].tolist()
        if not spans:
            raise UnreadableError("graph.unreadable", "the model contains no graph")
        data = data[slice(*spans[-1])]
        fields = _graph_fields(data)
    if not (fields[:, 0] == NODE_FIELD).any():
        raise UnreadableError("graph.unreadable", "it contains no nodes")
    return _assemble(data, fields)


def _graph_fields(data: bytes) -> Ints:
    """Return the fields [f, 3] of a message: key, start and end. Raises UnreadableError."""
    GRAPH.check_size(len(data))
    with unreadable("graph.unreadable", "graph", UnparsableError):
        fields = itertools.islice(message_fields(data, 0, len(data)), GRAPH.items + 1)
        table = np.fromiter(itertools.chain.from_iterable(fields), np.int64).reshape(-1, 3)
        GRAPH.check_items(len(table))
    return table


@dataclass(slots=True)
class _Outer:
    """Fields of a GraphProto other than nodes."""

    names: tuple[list[str], list[str]] = field(default_factory=lambda: ([], []))  # parameters, constants
    spans: tuple[list[Span], list[Span]] = field(default_factory=lambda: ([], []))
    outputs: list[str] = field(default_factory=list)
    name: str = ""
    unreadable: int = 0


def _assemble(data: bytes, fields: Ints) -> graph.Graph:
    """Build the graph from the fields of a GraphProto."""
    is_node = fields[:, 0] == NODE_FIELD
    spans = fields[is_node, 1:]
    nodes = read_nodes(data, spans[:, 0], spans[:, 1])
    outer = _read_outer(data, fields[~is_node].tolist())
    outer.unreadable += len(spans) - len(nodes.rows)
    kinds = (graph.OPERATOR, graph.PARAMETER, graph.CONSTANT)
    parameters, constants = outer.names
    edges, operators_by_name, dangling = _edges(nodes, outer)
    message_spans = np.concatenate(
        [spans[nodes.rows], *(np.array(outer_spans, np.int64).reshape(-1, 2) for outer_spans in outer.spans)]
    )
    return graph.Graph(
        name=outer.name,
        names=(*graph.unique_paths(list(_paths(nodes))), *parameters, *constants),
        types=(
            *nodes.types,
            *[graph.PARAMETER_TYPE] * len(parameters),
            *[graph.CONSTANT_TYPE] * len(constants),
        ),
        kinds=np.repeat(kinds, [len(nodes.types), len(parameters), len(constants)]).astype(np.uint8),
        edges=edges,
        outputs=np.array(
            [operators_by_name[name] for name in outer.outputs if name in operators_by_name], dtype=np.int32
        ),
        payload=data,
        starts=message_spans[:, 0],
        ends=message_spans[:, 1],
        contents=np.concatenate([nodes.contents.T, _unnamed(data, message_spans[len(nodes.rows) :])]),
        losses=graph.Losses(nodes.types.count(""), dangling, outer.unreadable),
    )


def _unnamed(data: bytes, spans: Ints) -> Ints:
    """Return the spans [n, 2] of messages without the name, if that is the first field."""
    octets = np.frombuffer(data, np.uint8)
    starts, ends = spans.T
    starts, lengths = starts.copy(), octets[np.minimum(starts + 1, len(octets) - 1)].astype(np.int64)
    named = (
        (ends - starts > 1) & (lengths < 0x80) & (octets[np.minimum(starts, len(octets) - 1)] == _INPUT_NAME)
    )
    starts[named] += 2 + lengths[named]
    return np.column_stack([starts, ends])


def _paths(nodes: Nodes) -> Iterator[str]:
    """Yield the path of each operator."""
    columns = zip(nodes.full_names, nodes.scopes, nodes.types, nodes.names, strict=True)
    for number, (full_name, scope, kind, name) in enumerate(columns):
        yield graph.operator_path(full_name, scope, kind, name or f"?{number}")


def _read_outer(data: bytes, fields: list[list[int]]) -> _Outer:
    """Decode the fields other than nodes: key, start and end. Count the fields that cannot be read."""
    outer = _Outer()
    for key, start, end in fields:
        try:
            GRAPH_FIELD.check_size(end - start)
            _read_field(outer, data, key, start, end)
        except (DecodeError, UnicodeDecodeError, UnreadableError):
            outer.unreadable += 1
    return outer


def _read_field(outer: _Outer, data: bytes, key: int, start: int, end: int) -> None:
    """Add one field other than a node to ``outer``. Raises DecodeError or UnicodeDecodeError."""
    if key == PARAMETER_FIELD:
        outer.names[0].append(text(ParameterProto.FromString(data[start:end]).name))
        outer.spans[0].append((start, end))
    elif key == CONSTANT_FIELD:
        outer.names[1].append(text(NamedValueProto.FromString(data[start:end]).key))
        outer.spans[1].append((start, end))
    elif key == _OUTPUT:
        outer.outputs.append(OutputProto.FromString(data[start:end]).name)
    elif key == _NAME:
        outer.name = data[start:end].decode()


def _edges(nodes: Nodes, outer: _Outer) -> tuple[graph.Edges, dict[str, int], int]:
    """Return the edges, the operators by name, and the number of inputs with an unknown name. For one
    name, operators take precedence over parameters, and parameters over constants."""
    operators = len(nodes.names)
    parameters, constants = outer.names
    operators_by_name = dict(zip(nodes.names, range(operators), strict=True))
    operators_by_name.pop("", None)
    by_name = {name: node for node, name in enumerate(constants, operators + len(parameters))}
    by_name |= {name: node for node, name in enumerate(parameters, operators)}
    by_name |= operators_by_name
    sources = np.fromiter(map(by_name.get, nodes.inputs, itertools.repeat(-1)), np.int32)
    resolved = sources >= 0
    edges = graph.Edges(sources, nodes.owners.astype(np.int32), nodes.controls)
    return edges.select(resolved), operators_by_name, int(len(resolved) - np.count_nonzero(resolved))
