"""Look-ups in a scope tree: boundary edges, ancestors, leaves."""

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from mindinsight.server.graph.scopes.build import build_tree


@given(st.data())
def test_edges_cross_a_place_when_one_end_is_inside(written: Any, data: Any) -> None:
    tree = build_tree(data.draw(written))
    edges = list(zip(tree.edges.sources.tolist(), tree.edges.targets.tolist(), strict=True))
    for index in range(len(tree.paths)):
        inside = range(index, tree.ends[index])
        into, out_of = tree.boundary_edges(index)
        assert list(zip(into.sources, into.targets, strict=True)) == [
            edge for edge in edges if edge[1] in inside and edge[0] not in inside
        ]
        assert list(zip(out_of.sources, out_of.targets, strict=True)) == [
            edge for edge in edges if edge[0] in inside and edge[1] not in inside
        ]
        within = tree.inner_edges(index)
        assert list(zip(within.sources, within.targets, strict=True)) == [
            edge for edge in edges if edge[0] in inside and edge[1] in inside
        ]


def test_ancestors_and_leaves(graph: Any) -> None:
    tree = build_tree(graph([("a/b/c/Add-op0", []), ("a/b/Mul-op0", [])]))
    index = tree.indices["a/b/c/Add-op0"]
    assert [tree.paths[node] for node in tree.ancestors(index)] == ["a", "a/b", "a/b/c"]
    assert sorted(tree.paths[node] for node in tree.leaves(tree.indices["a/b"])) == [
        "a/b/Mul-op0",
        "a/b/c/Add-op0",
    ]
    assert tree.leaves(index) == [index] and tree.is_leaf(index)
    assert np.array_equal(
        tree.in_subtree(tree.indices["a/b/c"], tree.nodes * 0 + index), np.ones(len(tree.paths)) == 1
    )
