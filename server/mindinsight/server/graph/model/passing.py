"""Value flow through operators that only pass values on.

``Load`` passes its first input; ``MakeTuple`` all of its inputs, in order; ``TupleGetItem`` one of them, or
the whole of a tuple that an operator gives; ``UpdateState`` none, as it is the order of side effects.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from google.protobuf.message import DecodeError

from mindinsight.proto.graph_pb2 import NamedValueProto
from mindinsight.server.graph.model.graph import CONSTANT, OPERATOR, Edges, Flags, Graph

PASSING: Final = frozenset({"Load", "TupleGetItem", "MakeTuple", "UpdateState"})
_MOST_SOURCES: Final = 1000  # of one input; nested tuples would grow with the product of their lengths


def pass_values(graph: Graph, retained: Flags) -> Edges:
    """Edges between the retained nodes that pass nothing on; the inputs of each in their order.

    ``retained`` are flags [n]; what flows through other operators ends there.
    """
    values = _Values(graph, retained)
    rows = [
        (source, target, control)
        for target in np.flatnonzero(retained & (graph.kinds == OPERATOR)).tolist()
        if graph.types[target] not in PASSING
        for fed, control in values.inputs[target]
        for source in values.sources(fed)
    ]
    table = np.array(rows, dtype=np.int32).reshape(-1, 3)
    return Edges(table[:, 0], table[:, 1], table[:, 2].astype(np.bool_))


class _Values:
    """Resolver of the operators, parameters and constants whose values stand behind a node."""

    def __init__(self, graph: Graph, retained: Flags) -> None:
        self._graph = graph
        self._retained = retained.tolist()
        self._origins: dict[int, int | None] = {}
        self.inputs: list[list[tuple[int, bool]]] = [[] for _ in range(len(graph))]
        columns = (graph.edges.sources, graph.edges.targets, graph.edges.controls)
        for source, target, control in zip(*(column.tolist() for column in columns), strict=True):
            self.inputs[target].append((source, control))

    def sources(self, node: int) -> list[int]:
        """Nodes that give the value of ``node``: itself, or what it passes on, in order."""
        origins: list[int] = []
        waiting = [node]
        for _ in range(10 * _MOST_SOURCES):
            if not waiting or len(origins) == _MOST_SOURCES:
                break
            origin = self._origin(waiting.pop())
            if origin is None or not self._retained[origin]:
                continue
            kind = self._graph.types[origin]
            if kind == "MakeTuple":
                waiting += [source for source, _ in reversed(self.inputs[origin])]
            elif kind == "TupleGetItem":
                waiting += [source for source, _ in self.inputs[origin][:1]]
            else:
                origins.append(origin)
        return origins

    def _origin(self, node: int) -> int | None:
        """The first node behind ``node`` that is no Load, nor TupleGetItem of a MakeTuple; None for order."""
        path = [node]
        entered = {node}
        while path:
            current = path[-1]
            ahead = current if current in self._origins else self._ahead(current)
            if ahead is None or ahead == current or ahead in self._origins or ahead in entered:
                path.pop()
                if current not in self._origins:
                    self._origins[current] = None if ahead is None else self._origins.get(ahead, current)
                continue
            entered.add(ahead)
            path.append(ahead)
        return self._origins[node]

    def _ahead(self, node: int) -> int | None:
        """The node whose origin is needed next for that of ``node``: itself when nothing stands behind it."""
        kind = self._graph.types[node] if self._retained[node] else ""
        fed = self.inputs[node]
        if kind == "UpdateState" or (kind == "Load" and not fed):
            return None
        if kind == "Load":
            return fed[0][0]
        if kind != "TupleGetItem" or len(fed) < 2:
            return node
        if fed[0][0] not in self._origins:
            return fed[0][0]
        made = self._origins[fed[0][0]]
        if made is None or self._graph.types[made] != "MakeTuple":
            return node
        number = self._number(fed[1][0])
        elements = self.inputs[made]
        return node if number is None or not 0 <= number < len(elements) else elements[number][0]

    def _number(self, node: int) -> int | None:
        """Value of a constant that is an integer."""
        if self._graph.kinds[node] != CONSTANT:
            return None
        try:
            value = NamedValueProto.FromString(self._graph.message(node)).value
        except DecodeError:
            return None
        return int(value.int_val) if value.HasField("int_val") else None
