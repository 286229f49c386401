"""Nodes of two graphs as one set of columns, so that both are labelled and matched in single numpy calls."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable
from dataclasses import dataclass
from typing import Final

import numpy as np

from mindinsight.proto.graph_pb2 import NamedValueProto, NodeProto, ParameterProto
from mindinsight.server.graph.model.graph import CONSTANT, OPERATOR, PARAMETER, Codes, Flags, Graph, Offsets
from mindinsight.server.graph.model.graph import scope_of as enclosing_scope

CONTROL_SLOT: Final = -1
_PACKING: Final = frozenset({"MakeTuple", "UpdateState"})  # one value more moves the positions of all others


@dataclass(frozen=True, eq=False)
class NodeColumns:
    """Nodes of two graphs: first those of the left graph, then those of the right one.

    Codes are integers that are equal for equal values: n nodes, e edges, sorted by target.
    """

    graphs: tuple[Graph, Graph]
    kinds: Codes  # [n] OPERATOR, PARAMETER or CONSTANT
    names: Offsets  # [n] code of the name
    types: Offsets  # [n] code of the operator's type
    scopes: Offsets  # [n] code of the enclosing scope
    attributes: Offsets  # [n] code of an operator's attributes; of a constant's value
    outputs: Offsets  # [n] code of the type and shape of the output
    sources: Offsets  # [e]
    targets: Offsets  # [e]
    slots: (
        Offsets  # [e] position among the inputs of the target, 0 where packed; CONTROL_SLOT for control edges
    )

    @property
    def left_count(self) -> int:
        """Number of nodes of the left graph."""
        return len(self.graphs[0])

    def is_left(self) -> Flags:
        """[n] flag of the nodes of the left graph."""
        return np.arange(len(self.kinds)) < self.left_count


def node_columns(left: Graph, right: Graph) -> NodeColumns:
    """Decode the nodes of two graphs into columns."""
    graphs = left, right
    contents = _contents(graphs)
    names = [name for graph in graphs for name in graph.names]
    offsets = 0, len(left)
    return NodeColumns(
        graphs,
        kinds=np.concatenate([graph.kinds for graph in graphs]),
        names=_codes(names),
        types=_codes(kind for graph in graphs for kind in graph.types),
        scopes=_codes(map(enclosing_scope, names)),
        attributes=_codes(attributes for attributes, _ in contents),
        outputs=_codes(output for _, output in contents),
        sources=np.concatenate(
            [graph.edges.sources + offset for graph, offset in zip(graphs, offsets, strict=True)]
        ).astype(np.int64),
        targets=np.concatenate(
            [graph.edges.targets + offset for graph, offset in zip(graphs, offsets, strict=True)]
        ).astype(np.int64),
        slots=np.concatenate([_slots(graph) for graph in graphs]),
    )


def of_types(columns: NodeColumns, types: Collection[str]) -> Flags:
    """[n] flag of the nodes of some types."""
    return np.array([kind in types for graph in columns.graphs for kind in graph.types], dtype=np.bool_)


def _codes(values: Iterable[Hashable]) -> Offsets:
    known: dict[Hashable, int] = {}
    return np.array([known.setdefault(value, len(known)) for value in values], dtype=np.int64)


def _slots(graph: Graph) -> Offsets:
    edges = graph.edges
    begins = np.searchsorted(edges.targets, edges.targets, "left")
    packing = np.array([kind in _PACKING for kind in graph.types], dtype=np.bool_)
    slots = np.where(packing[edges.targets], 0, np.arange(len(edges)) - begins)
    return np.where(edges.controls, CONTROL_SLOT, slots)


def _contents(graphs: Iterable[Graph]) -> list[tuple[Hashable, bytes]]:
    """``_content`` of all nodes; operators of equal bytes are decoded once."""
    known: dict[bytes, tuple[Hashable, bytes]] = {}
    contents = []
    for graph in graphs:
        spans = graph.contents.tolist()
        for node, kind in enumerate(graph.kinds.tolist()):
            if kind != OPERATOR:
                contents.append(_content(graph, node))
                continue
            key = graph.payload[spans[node][0] : spans[node][1]]
            content = known.get(key)
            if content is None:
                content = known[key] = _content(graph, node)
            contents.append(content)
    return contents


def _content(graph: Graph, node: int) -> tuple[Hashable, bytes]:
    """Attributes (of a constant its value) and output type of a node as serialized; no names, no inputs."""
    message = graph.message(node)
    kind = graph.kinds[node]
    if kind == OPERATOR:
        proto = NodeProto.FromString(message)
        attributes = sorted(item.SerializeToString(deterministic=True) for item in proto.attribute)
        return tuple(attributes), proto.output_type.SerializeToString(deterministic=True)
    if kind == PARAMETER:
        return (), ParameterProto.FromString(message).type.SerializeToString(deterministic=True)
    assert kind == CONSTANT
    value = NamedValueProto.FromString(message).value
    return value.SerializeToString(deterministic=True), b""
