"""Decoder of computational graphs: GraphProto from event files, ModelProto from ``.pb`` files (graph.proto).

Nodes that cannot be decoded are counted and left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from google.protobuf.message import DecodeError

from mindinsight.proto.graph_pb2 import NamedValueProto, OutputProto, ParameterProto
from mindinsight.server.formats.budgets import GRAPH, GRAPH_FIELD
from mindinsight.server.formats.graphs.nodes import Nodes, read_nodes, text
from mindinsight.server.formats.unreadable import UnreadableError
from mindinsight.server.formats.wire_format import UnparsableError, message_fields
from mindinsight.server.graph.model.graph import (
    CONSTANT,
    CONSTANT_TYPE,
    OPERATOR,
    PARAMETER,
    PARAMETER_TYPE,
    Edges,
    Graph,
    Losses,
)
from mindinsight.server.graph.model.paths import operator_path, unique_paths

_BYTES: Final = 2  # wire type of texts and messages, in the lowest three bits of a key
_NODE: Final = 1 << 3 | _BYTES
_NAME: Final = 2 << 3 | _BYTES
_PARAMETER: Final = 3 << 3 | _BYTES
_OUTPUT: Final = 4 << 3 | _BYTES
_CONSTANT: Final = 5 << 3 | _BYTES
_MODEL_GRAPH: Final = 4 << 3 | _BYTES
_MODEL_NUMBERS: Final = (1 << 3, 3 << 3)  # ir_version, model_version; in a GraphProto 1 and 3 are messages

Field = tuple[int, int, int]  # key, first byte, end
Span = tuple[int, int]  # first byte, end


def read_graph(data: bytes) -> Graph:
    """Decode a GraphProto or a ModelProto.

    Raises UnreadableError (``graph.unreadable``) if the bytes are neither.
    """
    fields = _fields(data)
    if any(key in _MODEL_NUMBERS for key, _, _ in fields):
        spans = [(start, end) for key, start, end in fields if key == _MODEL_GRAPH]
        if not spans:
            raise UnreadableError("graph.unreadable", "the model contains no graph")
        data = data[slice(*spans[-1])]
        fields = _fields(data)
    if not any(key == _NODE for key, _, _ in fields):
        raise UnreadableError("graph.unreadable", "it contains no nodes")
    return _assemble(data, fields)


def _fields(data: bytes) -> list[Field]:
    GRAPH.check_size(len(data))
    fields = []
    try:
        for count, field in enumerate(message_fields(data, 0, len(data)), 1):
            GRAPH.check_items(count)
            fields.append(field)
    except UnparsableError as error:
        raise UnreadableError("graph.unreadable", str(error)) from error
    return fields


@dataclass(slots=True)
class _Outer:
    """Fields of a GraphProto other than nodes."""

    names: tuple[list[str], list[str]] = field(default_factory=lambda: ([], []))  # parameters, constants
    spans: tuple[list[Span], list[Span]] = field(default_factory=lambda: ([], []))
    outputs: list[str] = field(default_factory=list)
    name: str = ""
    unreadable: int = 0


def _assemble(data: bytes, fields: list[Field]) -> Graph:
    spans = np.array([(start, end) for key, start, end in fields if key == _NODE], np.int64)
    nodes = read_nodes(data, spans[:, 0], spans[:, 1])
    outer = _read_outer(data, fields)
    outer.unreadable += len(spans) - len(nodes.rows)
    kinds = (OPERATOR, PARAMETER, CONSTANT)
    parameters, constants = outer.names
    edges, operators_by_name, dangling = _edges(nodes, outer)
    message_spans = np.concatenate(
        [spans[nodes.rows], *(np.array(outer_spans, np.int64).reshape(-1, 2) for outer_spans in outer.spans)]
    )
    return Graph(
        name=outer.name,
        names=(*unique_paths(list(_paths(nodes))), *parameters, *constants),
        types=(*nodes.types, *[PARAMETER_TYPE] * len(parameters), *[CONSTANT_TYPE] * len(constants)),
        kinds=np.repeat(kinds, [len(nodes.types), len(parameters), len(constants)]).astype(np.uint8),
        edges=edges,
        outputs=np.array(
            [operators_by_name[name] for name in outer.outputs if name in operators_by_name], dtype=np.int32
        ),
        payload=data,
        starts=message_spans[:, 0],
        ends=message_spans[:, 1],
        contents=np.concatenate([nodes.contents.T, message_spans[len(nodes.rows) :]]),
        losses=Losses(nodes.types.count(""), dangling, outer.unreadable),
    )


def _paths(nodes: Nodes) -> Iterator[str]:
    columns = zip(nodes.full_names, nodes.scopes, nodes.types, nodes.names, strict=True)
    for number, (full_name, scope, kind, name) in enumerate(columns):
        yield operator_path(full_name, scope, kind, name or f"?{number}")


def _read_outer(data: bytes, fields: list[Field]) -> _Outer:
    outer = _Outer()
    for key, start, end in fields:
        if key != _NODE:
            try:
                GRAPH_FIELD.check_size(end - start)
                _read_field(outer, data, key, start, end)
            except (DecodeError, UnicodeDecodeError, UnreadableError):
                outer.unreadable += 1
    return outer


def _read_field(outer: _Outer, data: bytes, key: int, start: int, end: int) -> None:
    if key == _PARAMETER:
        outer.names[0].append(text(ParameterProto.FromString(data[start:end]).name))
        outer.spans[0].append((start, end))
    elif key == _CONSTANT:
        outer.names[1].append(text(NamedValueProto.FromString(data[start:end]).key))
        outer.spans[1].append((start, end))
    elif key == _OUTPUT:
        outer.outputs.append(OutputProto.FromString(data[start:end]).name)
    elif key == _NAME:
        outer.name = data[start:end].decode()


def _edges(nodes: Nodes, outer: _Outer) -> tuple[Edges, dict[str, int], int]:
    """Edges, operators by name, and the number of inputs that refer to an unknown name.

    For one name, operators take precedence over parameters, and these over constants.
    """
    operators = len(nodes.names)
    parameters, constants = outer.names
    operators_by_name = {name: number for number, name in enumerate(nodes.names) if name}
    by_name = {name: node for node, name in enumerate(constants, operators + len(parameters))}
    by_name.update({name: node for node, name in enumerate(parameters, operators)})
    by_name.update(operators_by_name)
    sources = np.array([by_name.get(name, -1) for name in nodes.inputs], dtype=np.int32)
    resolved = sources >= 0
    edges = Edges(sources, nodes.owners.astype(np.int32), nodes.controls)
    return edges.select(resolved), operators_by_name, int(len(resolved) - np.count_nonzero(resolved))
