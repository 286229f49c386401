"""Nodes of two graphs in the same columns: equal codes for what is equal, and for nothing else."""

from collections.abc import Callable
from typing import Any

from mindinsight.server.graph.comparison.node_columns import CONTROL_SLOT, node_columns


def test_codes_are_equal_where_nodes_agree(graph: Callable[..., Any]) -> None:
    left = graph([("net/Add-op1", ["w", "c"]), ("net/Mul-op2", ["net/Add-op1"])], ["w"], {"c": 1})
    right = graph([("net/Add-op1", ["w", "c"]), ("other/Mul-op2", ["net/Add-op1"])], ["w"], {"c": 2})
    columns = node_columns(left, right)
    assert columns.left_count == len(left) == len(right) == 4
    assert columns.is_left().tolist() == [True] * 4 + [False] * 4
    agreeing = {
        name: [bool(codes[node] == codes[node + 4]) for node in map(left.names.index, left.names)]
        for name, codes in (
            ("name", columns.names),
            ("type", columns.types),
            ("scope", columns.scopes),
            ("attributes", columns.attributes),
            ("output", columns.outputs),
        )
    }
    differing = {
        name: [left.names[n] for n, same in enumerate(row) if not same] for name, row in agreeing.items()
    }
    assert differing == {
        "name": ["net/Mul-op2"], "type": [], "scope": ["net/Mul-op2"], "attributes": ["c"], "output": [],
    }  # fmt: skip


def test_edges_of_the_second_graph_lie_behind_those_of_the_first(graph: Callable[..., Any]) -> None:
    entry = graph([("a", []), ("b", ["a", "w"])], ["w"])
    columns = node_columns(entry, entry)
    count = len(entry.edges)
    assert count == 2
    assert (columns.sources[count:] - columns.sources[:count]).tolist() == [len(entry)] * count
    assert (columns.targets[count:] - columns.targets[:count]).tolist() == [len(entry)] * count
    assert columns.slots.tolist() == [0, 1, 0, 1]
    assert CONTROL_SLOT not in columns.slots
