"""The operators of a dump as a graph in scopes, so that what shows recorded graphs shows these too."""

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
    """The graph of one rank; ``operators[i]`` is node i of ``tree.graph``.

    A parameter stands in each scope that uses it, so one operator may have several places.
    """

    tree: Tree
    operators: tuple[Operator, ...]

    @cached_property
    def indices(self) -> dict[tuple[str, str], list[int]]:
        """The places of an operator by its graph and recorded name."""
        indices: dict[tuple[str, str], list[int]] = {}
        for index, node in enumerate(self.tree.nodes.tolist()):
            if node >= 0:
                operator = self.operators[node]
                indices.setdefault((operator.graph, operator.recorded or operator.name), []).append(index)
        return indices

    @cached_property
    def by_name(self) -> dict[str, int]:
        """The first place of an operator by its full name."""
        indices: dict[str, int] = {}
        for index, node in enumerate(self.tree.nodes.tolist()):
            if node >= 0:
                indices.setdefault(self.operators[node].name, index)
        return indices

    def operator(self, index: int) -> Operator | None:
        """The operator at a place; None at a scope."""
        node = int(self.tree.nodes[index])
        return self.operators[node] if node >= 0 else None

    def find(self, name: str) -> int | None:
        """The place of a path, or of an operator's full name."""
        return self.tree.indices.get(name, self.by_name.get(name))


def shown_name(graph: str) -> str:
    """A graph's name without slashes, which part scopes: ``Net/0`` is ``Net_0``."""
    return graph.replace("/", "_") or "graph"


def dump_graph(dump: Dump, rank: int, graph: str | None = None) -> DumpGraph | None:
    """The graph of a rank as its first step has it; of all graphs, each in a scope, when none is named.

    None when the rank has no operators.
    """
    operators: dict[tuple[str, str], Operator] = {}
    for name in dump.graphs(rank) if graph is None else (graph,):
        first = next((folder for folder in dump.folders if (folder.rank, folder.graph) == (rank, name)), None)
        if first is not None:
            listed = list_operators(dump, rank, first.step, name)
            operators |= {(name, operator.recorded or operator.name): operator for operator in listed}
    apart = graph is None and len(dump.graphs(rank)) > 1
    return _built(tuple(operators.values()), apart) if operators else None


def _built(operators: Sequence[Operator], apart: bool) -> DumpGraph:
    used = {(operator.graph, source) for operator in operators for source in operator.sources}
    outer = [
        operator
        for operator in operators
        if _is_parameter(operator) and (operator.graph, operator.name) in used
    ]
    inner = [
        operator
        for operator in operators
        if not (_is_parameter(operator) and (operator.graph, operator.name) in used)
    ]
    proto = GraphProto(name="dump")
    ids = _ids(inner, outer)
    for operator in inner:
        node = proto.node.add(
            name=ids[operator.graph, operator.name],
            op_type=operator.type or "Operator",
            full_name=_path(operator, apart),
        )
        for source in operator.sources:
            node.input.add(name=ids.get((operator.graph, source), ""))
    for operator in outer:
        proto.parameters.add(name=ids[operator.graph, operator.name])
    if not inner:
        proto.node.add(name="graph", op_type="Graph", full_name="graph")
    return DumpGraph(build_tree(read_graph(proto.SerializeToString())), (*inner, *outer))


def _ids(inner: Iterable[Operator], outer: Iterable[Operator]) -> dict[tuple[str, str], str]:
    """What nodes call each other: a number for an operator, its own name for a parameter."""
    ids = {(operator.graph, operator.name): str(number) for number, operator in enumerate(inner)}
    return ids | {(operator.graph, operator.name): operator.name for operator in outer}


def _is_parameter(operator: Operator) -> bool:
    return operator.type == PARAMETER_TYPE


def _path(operator: Operator, apart: bool) -> str:
    scope = () if _is_parameter(operator) else operator.scope
    parts = (*scope, operator.name.rpartition("/")[2])
    return "/".join((shown_name(operator.graph), *parts) if apart else parts)
