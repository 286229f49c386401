"""The operators of a step as a graph that can be drawn, and how strongly each of its places is coloured."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from mindinsight.proto.graph_pb2 import GraphProto
from mindinsight.server.debug.neighbours import Link
from mindinsight.server.formats.dumps.types import Operator
from mindinsight.server.formats.graphs.graph_proto import read_graph
from mindinsight.server.graph.scopes.folding import folded_tree
from mindinsight.server.graph.scopes.tree import Tree


@dataclass(frozen=True)
class OperatorTree:
    """A graph of operators in their scopes; node ``i`` of the graph is ``operators[i]``."""

    tree: Tree
    operators: tuple[Operator, ...]

    def operator_at(self, place: int) -> Operator | None:
        """The operator at a place; None for a scope."""
        node = int(self.tree.nodes[place])
        return self.operators[node] if 0 <= node < len(self.operators) else None

    def largest(self, place: int, values: Mapping[str, float]) -> float | None:
        """The largest value, by name of operator, at and below a place."""
        found = (self.operator_at(leaf) for leaf in self.tree.leaves(place))
        return max((values[each.name] for each in found if each and each.name in values), default=None)


def operator_tree(operators: Iterable[Operator], links: Sequence[Link]) -> OperatorTree:
    """The tree of all operators of a graph; parameters and data are not among them.

    Raises UnreadableError when there is no operator.
    """
    listed = tuple(each for each in operators if each.type != "Parameter")
    numbers = {each.recorded: str(i) for i, each in enumerate(listed)}
    proto = GraphProto(name="dump")
    for number, each in enumerate(listed):
        path = "/".join((*each.scope, each.name.rpartition("/")[2]))
        proto.node.add(name=str(number), op_type=each.type or "Operator", full_name=path)
    for link in links:
        if link.source in numbers and link.target in numbers:
            proto.node[int(numbers[link.target])].input.add(name=numbers[link.source])
    return OperatorTree(folded_tree(read_graph(proto.SerializeToString())), listed)


def share(value: float, values: Iterable[float]) -> float:
    """Where a magnitude lies among others, 0 to 1 on a logarithmic scale; zero and less is 0.

    What is not finite is 1: it is what is looked for.
    """
    if not math.isfinite(value):
        return 1.0
    known = [each for each in values if 0 < each < math.inf]
    if value <= 0 or not known:
        return 0.0
    least, most = math.log(min(known)), math.log(max(known))
    return 1.0 if most == least else (math.log(value) - least) / (most - least)
