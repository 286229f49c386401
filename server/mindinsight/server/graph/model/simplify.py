"""Graph simplification: the forward computation without operators that only pass values on.

Rules of MindInsight 2.3.1's "optimized" graph:

- operators of the backward pass and of the optimizer are left out;
- ``Load``, ``TupleGetItem``, ``MakeTuple`` and ``UpdateState`` are bypassed: what fed them feeds their users;
- operators without any edge left are left out;
- a scope that holds nothing but two or more operators of one type, and has the type in its path
  (``relu-ReLU``), is dissolved.

Without ordering, our own rules for what is bypassed (passing.py) keep the inputs of each operator.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from mindinsight.server.graph.model.graph import OPERATOR, Edges, Flags, Graph, Offsets, scope_of
from mindinsight.server.graph.model.passing import PASSING, pass_values
from mindinsight.server.graph.model.paths import scopes_of, unique_paths
from mindinsight.server.graph.model.training import training_operators

_MOST_SOURCES: Final = 1000  # of one bypassed node; chains of UpdateState would grow with their square

_Feed = tuple[int, bool]  # a node, and whether the edge from it is a control edge


def simplify(graph: Graph, ordering: bool = True) -> Graph:
    """Simplify a graph.

    With ``ordering`` false, edges through ``UpdateState`` are dropped instead of bypassed: they are the order
    of side effects, not a flow of values, and would hide the flow of data behind them. No operator has an
    input then that it had not, and their order stays.
    """
    nameless = np.array([not kind for kind in graph.types], dtype=np.bool_)
    retained = ~(training_operators(graph) | nameless)
    if ordering:
        bypassed = np.array([kind in PASSING for kind in graph.types], dtype=np.bool_)
        edges = _bypass(graph, retained, bypassed)
    else:
        edges = pass_values(graph, retained)
    touched = np.zeros(len(graph), dtype=np.bool_)
    touched[edges.sources] = touched[edges.targets] = True
    operators = np.flatnonzero(touched & (graph.kinds == OPERATOR))
    paths, lifted = _dissolve(graph, operators)
    outer_nodes = np.flatnonzero(touched & (graph.kinds != OPERATOR))
    order = np.concatenate([operators[~lifted], operators[lifted]])
    names = unique_paths([paths[index] for index in np.argsort(lifted, kind="stable").tolist()])
    names += [graph.names[node] for node in outer_nodes.tolist()]
    return graph.subgraph(tuple(names), np.concatenate([order, outer_nodes]), edges)


def _bypass(graph: Graph, retained: Flags, bypassed: Flags) -> Edges:
    """Edges between the retained nodes, bypassed ones replaced by what feeds them."""
    inputs = _inputs(graph)
    resolved: dict[int, list[_Feed]] = {}
    rows = [
        (source, target, control)
        for target in np.flatnonzero(retained & ~bypassed & (graph.kinds == OPERATOR)).tolist()
        for source, control in _feeds(graph, target, inputs, resolved, retained, bypassed)
    ]
    table = np.array(rows, dtype=np.int32).reshape(-1, 3)
    return Edges(table[:, 0], table[:, 1], table[:, 2].astype(np.bool_))


def _inputs(graph: Graph) -> list[list[_Feed]]:
    inputs: list[list[_Feed]] = [[] for _ in range(len(graph))]
    columns = (graph.edges.sources, graph.edges.targets, graph.edges.controls)
    for source, target, control in zip(*(column.tolist() for column in columns), strict=True):
        inputs[target].append((source, control))
    return inputs


def _feeds(
    graph: Graph,
    target: int,
    inputs: list[list[_Feed]],
    resolved: dict[int, list[_Feed]],
    retained: Flags,
    bypassed: Flags,
) -> list[_Feed]:
    """Inputs of a node, each source once: direct inputs first, then those through bypassed nodes."""
    waiting = [target]
    while waiting:
        node = waiting[-1]
        through = [
            source
            for source, _ in inputs[node]
            if bypassed[source] and retained[source] and source not in resolved
        ]
        if through and node not in resolved:
            resolved.setdefault(node, [])  # a cycle, which a file may hold, ends here
            waiting.extend(through)
            continue
        waiting.pop()
        fed = [edge for edge in inputs[node] if retained[edge[0]]]
        sources = {source: control for source, control in fed if not bypassed[source]}
        sources.update(edge for source, _ in fed if bypassed[source] for edge in resolved[source])
        resolved[node] = list(sources.items())[:_MOST_SOURCES]
    return resolved[target]


def _dissolve(graph: Graph, operators: Offsets) -> tuple[list[str], Flags]:
    """Paths of the operators without dissolved scopes, and flags of those that changed."""
    paths = [graph.names[node] for node in operators.tolist()]
    types: dict[str, set[str]] = {}
    counts: dict[str, int] = {}
    for path, node in zip(paths, operators.tolist(), strict=True):
        scope = scope_of(path)
        types.setdefault(scope, set()).add(graph.types[node])
        counts[scope] = counts.get(scope, 0) + 1
    parent_scopes = {scope_of(scope) for scope in scopes_of(paths)}
    dissolved = {
        scope
        for scope, scope_types in types.items()
        if scope not in parent_scopes
        and counts[scope] > 1
        and len(scope_types) == 1
        and next(iter(scope_types)) in scope
    }
    lifted = np.array([scope_of(path) in dissolved for path in paths], dtype=np.bool_)
    return [
        _without_scope(path) if is_lifted else path for path, is_lifted in zip(paths, lifted, strict=True)
    ], lifted


def _without_scope(path: str) -> str:
    scope, _, name = path.rpartition("/")
    parent = scope_of(scope)
    return f"{parent}/{name}" if parent else name
