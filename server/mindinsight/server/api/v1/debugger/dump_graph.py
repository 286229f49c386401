"""Conversion of a dump's operators to a graph and scope tree, as for recorded graphs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from mindinsight.proto.graph_pb2 import GraphProto
from mindinsight.server.formats.dumps import list_operators
from mindinsight.server.formats.dumps.types import Dump, Operator
from mindinsight.server.formats.graphs.graph_proto import read_graph
from mindinsight.server.graph.model.graph import PARAMETER_TYPE
from mindinsight.server.graph.scopes.build import build_tree
from mindinsight.server.graph.scopes.tree import Tree


@dataclass(frozen=True, eq=False)
class DumpGraph:
    """Graph of one rank; ``operators[i]`` is node i of ``tree.graph``.

    A parameter is a leaf of each scope that uses it, so one operator may have several indices in the tree.
    """

    tree: Tree
    operators: tuple[Operator, ...]

    @cached_property
    def by_name(self) -> dict[str, int]:
        """First index of an operator in the tree, by its full name."""
        indices: dict[str, int] = {}
        for index, node in enumerate(self.tree.nodes.tolist()):
            if node >= 0:
                indices.setdefault(self.operators[node].name, index)
        return indices

    def operator(self, index: int) -> Operator | None:
        """The operator at an index of the tree; None for a scope."""
        node = int(self.tree.nodes[index])
        return self.operators[node] if node >= 0 else None

    def find(self, name: str) -> int | None:
        """Index of a path in the tree, or of an operator's full name; None if there is none."""
        return self.tree.indices.get(name, self.by_name.get(name))


def display_name(graph: str) -> str:
    """Name of a graph with underscores for slashes, which separate scopes: ``Net_0`` for ``Net/0``."""
    return graph.replace("/", "_") or "graph"


def dump_graph(dump: Dump, rank: int, graph: str | None = None) -> DumpGraph | None:
    """Build the graph of a rank from its first step; without a name all graphs, each in its own scope.

    Returns None if the rank has no operators.
    """
    operators: dict[tuple[str, str], Operator] = {}
    for name in dump.graphs(rank) if graph is None else (graph,):
        folder = next(
            (folder for folder in dump.folders if (folder.rank, folder.graph) == (rank, name)), None
        )
        if folder is not None:
            step_operators = list_operators(dump, rank, folder.step, name)
            operators |= {(name, operator.recorded or operator.name): operator for operator in step_operators}
    scope_by_graph = graph is None and len(dump.graphs(rank)) > 1
    return _build(tuple(operators.values()), scope_by_graph) if operators else None


def _build(operators: Sequence[Operator], scope_by_graph: bool) -> DumpGraph:
    used_sources = {(operator.graph, source) for operator in operators for source in operator.sources}
    outer = [
        operator
        for operator in operators
        if _is_parameter(operator) and (operator.graph, operator.name) in used_sources
    ]
    inner = [
        operator
        for operator in operators
        if not (_is_parameter(operator) and (operator.graph, operator.name) in used_sources)
    ]
    proto = GraphProto(name="dump")
    ids = _ids(inner, outer)
    for operator in inner:
        node = proto.node.add(
            name=ids[operator.graph, operator.name],
            op_type=operator.type or "Operator",
            full_name=_path(operator, scope_by_graph),
        )
        for source in operator.sources:
            node.input.add(name=ids.get((operator.graph, source), ""))
    for operator in outer:
        proto.parameters.add(name=ids[operator.graph, operator.name])
    if not inner:
        proto.node.add(name="graph", op_type="Graph", full_name="graph")
    return DumpGraph(build_tree(read_graph(proto.SerializeToString())), (*inner, *outer))


def _ids(inner: Iterable[Operator], outer: Iterable[Operator]) -> dict[tuple[str, str], str]:
    """Names by which nodes refer to each other: a number for an operator, its own name for a parameter."""
    ids = {(operator.graph, operator.name): str(number) for number, operator in enumerate(inner)}
    return ids | {(operator.graph, operator.name): operator.name for operator in outer}


def _is_parameter(operator: Operator) -> bool:
    return operator.type == PARAMETER_TYPE


def _path(operator: Operator, scope_by_graph: bool) -> str:
    scope = () if _is_parameter(operator) else operator.scope
    parts = (*scope, operator.name.rpartition("/")[2])
    return "/".join((display_name(operator.graph), *parts) if scope_by_graph else parts)
