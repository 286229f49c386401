"""Computational graphs as bytes: GraphProto from event files, ModelProto from ``.pb`` files (graph.proto).

A node that cannot be read is counted and left out; the others are kept.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from google.protobuf.message import DecodeError

from mindinsight.proto.graph_pb2 import NamedValueProto, NodeProto, OutputProto, ParameterProto
from mindinsight.server.formats.unreadable import UnreadableError
from mindinsight.server.formats.wire_format import UnparsableError, message_fields
from mindinsight.server.graph.model import (
    CONSTANT,
    CONSTANT_TYPE,
    OPERATOR,
    PARAMETER,
    PARAMETER_TYPE,
    Edges,
    Graph,
    Losses,
)
from mindinsight.server.graph.naming import operator_path, unique_paths

_BYTES: Final = 2  # wire type of texts and messages, in the lowest three bits of a key
_NODE: Final = 1 << 3 | _BYTES
_NAME: Final = 2 << 3 | _BYTES
_PARAMETER: Final = 3 << 3 | _BYTES
_OUTPUT: Final = 4 << 3 | _BYTES
_CONSTANT: Final = 5 << 3 | _BYTES
_MODEL_GRAPH: Final = 4 << 3 | _BYTES
_MODEL_NUMBERS: Final = (1 << 3, 3 << 3)  # ir_version, model_version; in a GraphProto 1 and 3 are messages

Span = tuple[int, int, int]  # key, first byte, end


def read_graph(data: bytes) -> Graph:
    """The graph in the bytes of a GraphProto or of a ModelProto.

    Raises UnreadableError (``graph.unreadable``) when they are neither.
    """
    spans = _fields(data)
    if any(key in _MODEL_NUMBERS for key, _, _ in spans):
        found = [(start, end) for key, start, end in spans if key == _MODEL_GRAPH]
        if not found:
            raise UnreadableError("graph.unreadable", "a model without a graph")
        data = data[slice(*found[-1])]
        spans = _fields(data)
    if not any(key == _NODE for key, _, _ in spans):
        raise UnreadableError("graph.unreadable", "no node in it")
    return _assemble(data, spans)


def _fields(data: bytes) -> list[Span]:
    try:
        return list(message_fields(data, 0, len(data)))
    except UnparsableError as error:
        raise UnreadableError("graph.unreadable", str(error)) from error


@dataclass(slots=True)
class _Columns:
    """The graph while it is read. ``ids`` are the names by which inputs refer to nodes."""

    paths: list[str] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    types: list[str] = field(default_factory=list)
    spans: list[tuple[int, int]] = field(default_factory=list)
    inputs: list[str] = field(default_factory=list)  # the ids that nodes name as inputs, node after node
    counts: list[int] = field(default_factory=list)  # how many of them are each node's
    controls: list[int] = field(default_factory=list)  # InputProto.EdgeType of each: 1 is a control edge
    names: list[list[str]] = field(default_factory=lambda: [[], []])  # of parameters, of constants
    outer: list[list[tuple[int, int]]] = field(default_factory=lambda: [[], []])
    outputs: list[str] = field(default_factory=list)
    name: str = ""
    unreadable: int = 0


def _assemble(data: bytes, spans: list[Span]) -> Graph:
    columns = _Columns()
    for key, start, end in spans:
        try:
            _read_field(columns, data, key, start, end)
        except (DecodeError, UnicodeDecodeError):
            columns.unreadable += 1
    parameters, constants = columns.names
    edges, dangling = _edges(columns)
    operators = len(columns.paths)
    kinds = np.repeat([OPERATOR, PARAMETER, CONSTANT], [operators, len(parameters), len(constants)])
    places = np.array(columns.spans + columns.outer[0] + columns.outer[1], dtype=np.int64).reshape(-1, 2)
    types = (*columns.types, *[PARAMETER_TYPE] * len(parameters), *[CONSTANT_TYPE] * len(constants))
    known = {name: node for node, name in enumerate(columns.ids) if name}
    return Graph(
        name=columns.name,
        names=(*unique_paths(columns.paths), *parameters, *constants),
        types=types,
        kinds=kinds.astype(np.uint8),
        edges=edges,
        outputs=np.array([known[name] for name in columns.outputs if name in known], dtype=np.int32),
        payload=data,
        starts=places[:, 0],
        ends=places[:, 1],
        losses=Losses(columns.types.count(""), dangling, columns.unreadable),
    )


def _read_field(columns: _Columns, data: bytes, key: int, start: int, end: int) -> None:
    if key == _NODE:
        _read_node(columns, NodeProto.FromString(data[start:end]), (start, end))
    elif key == _PARAMETER:
        columns.names[0].append(_text(ParameterProto.FromString(data[start:end]).name))
        columns.outer[0].append((start, end))
    elif key == _CONSTANT:
        columns.names[1].append(_text(NamedValueProto.FromString(data[start:end]).key))
        columns.outer[1].append((start, end))
    elif key == _OUTPUT:
        columns.outputs.append(OutputProto.FromString(data[start:end]).name)
    elif key == _NAME:
        columns.name = data[start:end].decode()


def _read_node(columns: _Columns, node: Any, span: tuple[int, int]) -> None:
    name, op_type = _text(node.name), _text(node.op_type)
    number = name or f"?{len(columns.paths)}"
    path = operator_path(_text(node.full_name), _text(node.scope), op_type, number)
    fed = list(node.input)
    columns.inputs.extend([one.name for one in fed])
    columns.controls.extend([one.type for one in fed])
    columns.counts.append(len(fed))
    columns.paths.append(path)
    columns.ids.append(name)
    columns.types.append(op_type)
    columns.spans.append(span)


def _text(value: str | bytes) -> str:
    """Some versions of protobuf hand out bytes where a text is not UTF-8, others raise UnicodeDecodeError."""
    return value if isinstance(value, str) else value.decode("utf-8", "replace")


def _edges(columns: _Columns) -> tuple[Edges, int]:
    """The edges, and how many inputs name nothing. Operators win over parameters, these over constants."""
    operators = len(columns.paths)
    parameters, constants = columns.names
    known = {name: node for node, name in enumerate(constants, operators + len(parameters))}
    known.update({name: node for node, name in enumerate(parameters, operators)})
    known.update({name: node for node, name in enumerate(columns.ids) if name})
    sources = np.array([known.get(name, -1) for name in columns.inputs], dtype=np.int32)
    targets = np.repeat(np.arange(operators, dtype=np.int32), columns.counts)
    edges = Edges(sources, targets, np.array(columns.controls, dtype=np.int64) == 1)
    good = sources >= 0
    return edges.select(good), int(len(good) - np.count_nonzero(good))
