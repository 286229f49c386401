"""Inputs of two operators side by side, also where one of them has an input more."""

import pytest

from mindinsight.server.formats.graphs.graph_proto import read_graph
from mindinsight.server.graph.comparison.graph_comparison import compare
from mindinsight.server.graph.comparison.input_pairing import is_lost, paired_inputs
from mindinsight.server.graph.scopes.folding import folded_tree
from mindinsight.writer import GraphBuilder


def joined(*names: str, more: bool = False) -> bytes:
    """Return a graph that joins parameters, and with ``more`` an operator's value before them."""
    graph = GraphBuilder("net")
    values = {name: graph.parameter(name, (2,)) for name in "abc"}
    first = [graph.node("Tanh", [values["a"]], (2,))] if more else []
    graph.output(graph.node("Concat", [*first, *(values[name] for name in names)], (2,)))
    data: bytes = graph.model().graph.SerializeToString()
    return data


@pytest.mark.parametrize(
    ("left", "right", "pairs", "lost"),
    [
        (joined("a", "b"), joined("a", "c"), ["aa", "bc"], []),
        (joined("a", "b", "c"), joined("a", "c"), ["aa", "b-", "cc"], ["b-"]),
        (joined("b"), joined("a", "b"), ["-a", "bb"], ["-a"]),
        (joined("b", more=True), joined("b"), ["T-", "bb"], []),
    ],
    ids=["as many", "lost", "gained", "of an operator that is gone"],
)
def test_inputs_are_paired_by_what_they_are(
    left: bytes, right: bytes, pairs: list[str], lost: list[str]
) -> None:
    comparison = compare(folded_tree(read_graph(left)), folded_tree(read_graph(right)))
    graphs = [tree.graph for tree in comparison.trees]
    first, second = (graph.types.index("Concat") for graph in graphs)
    result = paired_inputs(comparison.matching, comparison.input_ids, (first, second))

    def text(pair: tuple[int, int]) -> str:
        names = [graph.names[node] if node >= 0 else "-" for graph, node in zip(graphs, pair, strict=True)]
        return "".join(name.rpartition("/")[2][0] for name in names)

    assert [text(pair) for pair in result] == pairs
    assert [text(pair) for pair in result if is_lost(comparison.matching, pair)] == lost
