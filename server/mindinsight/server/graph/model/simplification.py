"""Simplification of a graph: the forward computation without operators that only pass values through."""

from typing import Final

import numpy as np
from google.protobuf.message import DecodeError

from mindinsight.proto.graph_pb2 import NamedValueProto
from mindinsight.server.graph.model import graph as model

PASSING: Final = frozenset({"Load", "TupleGetItem", "MakeTuple", "UpdateState"})
_MOST_SOURCES: Final = 1000  # sources of one input: those of nested tuples multiply


def pass_values(graph: model.Graph, retained: model.Flags) -> model.Edges:
    """Return the edges between retained nodes in input order, bypassing nodes that only pass values
    through. ``retained`` are flags [n]. A value that flows through a node that is not retained ends there.
    At most 1,000 sources of one input are followed."""
    values = _Values(graph, retained)
    rows = [
        (source, target, control)
        for target in np.flatnonzero(retained & (graph.kinds == model.OPERATOR)).tolist()
        if graph.types[target] not in PASSING
        for fed, control in values.inputs[target]
        for source in values.sources(fed)
    ]
    table = np.array(rows, dtype=np.int32).reshape(-1, 3)
    return model.Edges(table[:, 0], table[:, 1], table[:, 2].astype(np.bool_))


class _Values:
    """Resolver of the operators, parameters and constants that produced the value of a node."""

    def __init__(self, graph: model.Graph, retained: model.Flags) -> None:
        self._graph = graph
        self._retained = retained.tolist()
        self._origins: dict[int, int | None] = {}
        self.inputs = _inputs(graph)

    def sources(self, node: int) -> list[int]:
        """Return the nodes that produced the value of ``node``, in order: ``node``, or those whose values it
        passes on."""
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
        """Return the node whose value ``node`` passes on, or ``node``, or None if it only orders side
        effects. Passed are Load, and TupleGetItem of a MakeTuple."""
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
        """Return the next node to resolve to find the origin of ``node``, ``node`` if none, None for side
        effects."""
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
        """Return the value of an integer constant, or None for other nodes."""
        if self._graph.kinds[node] != model.CONSTANT:
            return None
        try:
            value = NamedValueProto.FromString(self._graph.message(node)).value
        except DecodeError:
            return None
        return int(value.int_val) if value.HasField("int_val") else None


_Feed = tuple[int, bool]  # a node, and True if the edge from it is a control edge


def simplify(graph: model.Graph, ordering: bool = True) -> model.Graph:
    """Return the graph of the forward computation, without operators that only pass values through.

    Left out are operators of training and nodes without a type. Scopes that hold only operators of the type
    they are named after are dissolved.

    With ``ordering`` False, edges through ``UpdateState`` are dropped instead of bypassed. They order side
    effects and would hide the flow of data behind them. No operator gains an input, and the order of inputs
    stays.
    """
    nameless = np.array([not kind for kind in graph.types], dtype=np.bool_)
    retained = ~(model.training_operators(graph) | nameless)
    if ordering:
        bypassed = np.array([kind in PASSING for kind in graph.types], dtype=np.bool_)
        edges = _bypass(graph, retained, bypassed)
    else:
        edges = pass_values(graph, retained)
    touched = np.zeros(len(graph), dtype=np.bool_)
    touched[edges.sources] = touched[edges.targets] = True
    operators = np.flatnonzero(touched & (graph.kinds == model.OPERATOR))
    paths, lifted = _dissolve(graph, operators)
    outer_nodes = np.flatnonzero(touched & (graph.kinds != model.OPERATOR))
    order = np.concatenate([operators[~lifted], operators[lifted]])
    names = model.unique_paths([paths[index] for index in np.argsort(lifted, kind="stable").tolist()])
    names += [graph.names[node] for node in outer_nodes.tolist()]
    return graph.subgraph(tuple(names), np.concatenate([order, outer_nodes]), edges)


def _bypass(graph: model.Graph, retained: model.Flags, bypassed: model.Flags) -> model.Edges:
    """Return the edges between retained nodes, with bypassed nodes replaced by their inputs."""
    inputs = _inputs(graph)
    resolved: dict[int, list[_Feed]] = {}
    rows = [
        (source, target, control)
        for target in np.flatnonzero(retained & ~bypassed & (graph.kinds == model.OPERATOR)).tolist()
        for source, control in _feeds(graph, target, inputs, resolved, retained, bypassed)
    ]
    table = np.array(rows, dtype=np.int32).reshape(-1, 3)
    return model.Edges(table[:, 0], table[:, 1], table[:, 2].astype(np.bool_))


def _inputs(graph: model.Graph) -> list[list[_Feed]]:
    """Return the inputs of every node."""
    inputs: list[list[_Feed]] = [[] for _ in range(len(graph))]
    columns = (graph.edges.sources, graph.edges.targets, graph.edges.controls)
    for source, target, control in zip(*(column.tolist() for column in columns), strict=True):
        inputs[target].append((source, control))
    return inputs


def _feeds(
    graph: model.Graph,
    target: int,
    inputs: list[list[_Feed]],
    resolved: dict[int, list[_Feed]],
    retained: model.Flags,
    bypassed: model.Flags,
) -> list[_Feed]:
    """Return the inputs of a node, each source once: direct inputs first, then those through bypassed
    nodes."""
    waiting = [target]
    while waiting:
        node = waiting[-1]
        through = [
            source
            for source, _ in inputs[node]
            if bypassed[source] and retained[source] and source not in resolved
        ]
        if through and node not in resolved:
            resolved.setdefault(node, [])  # ends the recursion of a cycle in a damaged file
            waiting.extend(through)
            continue
        waiting.pop()
        fed = [edge for edge in inputs[node] if retained[edge[0]]]
        sources = {source: control for source, control in fed if not bypassed[source]}
        sources.update(edge for source, _ in fed if bypassed[source] for edge in resolved.get(source, ()))
        resolved[node] = list(sources.items())[:_MOST_SOURCES]
    return resolved[target]


def _dissolve(graph: model.Graph, operators: model.Offsets) -> tuple[list[str], model.Flags]:
    """Return the paths of the operators without dissolved scopes, and flags of those that changed. A scope
    is dissolved if all operators in it have the type that it is named after."""
    paths = [graph.names[node] for node in operators.tolist()]
    types: dict[str, set[str]] = {}
    counts: dict[str, int] = {}
    for path, node in zip(paths, operators.tolist(), strict=True):
        scope = model.scope_of(path)
        types.setdefault(scope, set()).add(graph.types[node])
        counts[scope] = counts.get(scope, 0) + 1
    parent_scopes = {model.scope_of(scope) for scope in model.scopes_of(paths)}
    dissolved = {
        scope
        for scope, scope_types in types.items()
        if scope not in parent_scopes
        and counts[scope] > 1
        and len(scope_types) == 1
        and next(iter(scope_types)) in scope
    }
    lifted = np.array([model.scope_of(path) in dissolved for path in paths], dtype=np.bool_)
    return [
        _without_scope(path) if is_lifted else path for path, is_lifted in zip(paths, lifted, strict=True)
    ], lifted


def _without_scope(path: str) -> str:
    scope, _, name = path.rpartition("/")
    return f"{model.scope_of(scope)}/{name}".removeprefix("/")
