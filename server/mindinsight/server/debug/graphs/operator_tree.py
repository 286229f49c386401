"""Tree of the operators of a step for drawing, and the colour scale of its values."""

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
    """Tree of operators in their scopes; node ``i`` of its graph is ``operators[i]``."""

    tree: Tree
    operators: tuple[Operator, ...]

    def operator_at(self, index: int) -> Operator | None:
        """The operator at an index of the tree; None for a scope."""
        node = int(self.tree.nodes[index])
        return self.operators[node] if 0 <= node < len(self.operators) else None

    def largest(self, index: int, values: Mapping[str, float]) -> float | None:
        """The largest value, by name of operator, at and below an index of the tree."""
        operators = (self.operator_at(leaf) for leaf in self.tree.leaves(index))
        return max(
            (values[operator.name] for operator in operators if operator and operator.name in values),
            default=None,
        )


def operator_tree(operators: Iterable[Operator], links: Sequence[Link]) -> OperatorTree:
    """Build the tree of the operators of a graph, without parameters and data.

    Raises UnreadableError when there is no operator.
    """
    drawn = tuple(operator for operator in operators if operator.type != "Parameter")
    numbers = {operator.recorded: str(i) for i, operator in enumerate(drawn)}
    proto = GraphProto(name="dump")
    for number, operator in enumerate(drawn):
        path = "/".join((*operator.scope, operator.name.rpartition("/")[2]))
        proto.node.add(name=str(number), op_type=operator.type or "Operator", full_name=path)
    for link in links:
        if link.source in numbers and link.target in numbers:
            proto.node[int(numbers[link.target])].input.add(name=numbers[link.source])
    return OperatorTree(folded_tree(read_graph(proto.SerializeToString())), drawn)


def share(value: float, values: Iterable[float]) -> float:
    """Position of a magnitude among others on a logarithmic scale, 0 to 1; 0 for zero and negative values.

    Values that are not finite are 1, so that they stand out.
    """
    if not math.isfinite(value):
        return 1.0
    known = [magnitude for magnitude in values if 0 < magnitude < math.inf]
    if value <= 0 or not known:
        return 0.0
    least, most = math.log(min(known)), math.log(max(known))
    return 1.0 if most == least else (math.log(value) - least) / (most - least)
