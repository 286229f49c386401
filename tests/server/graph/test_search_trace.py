"""Transitive inputs and users of a node."""

from typing import Any

from mindinsight.server.graph.scopes.folding import folded_tree
from mindinsight.server.graph.search import count_by_box, trace

SIDE = [
    ("Default/a/A-op0", ["w"]),
    ("Default/a/B-op0", ["Default/a/A-op0"]),
    ("Default/b/C-op0", ["Default/a/A-op0", "cst1"]),
    ("Default/b/D-op0", ["Default/a/B-op0", "Default/b/C-op0"]),
    ("Default/E-op0", []),
]


def names(tree: Any, indices: Any) -> set[Any]:
    return {tree.paths[index].split("/")[-1][0] for index in indices}


def test_up_and_down(graph: Any) -> None:
    tree = folded_tree(graph(SIDE, parameters=["w"], constants={"cst1": 1}))
    assert names(tree, trace(tree, tree.indices["Default/b/C-op0"], "up")) == {"C", "A"}
    assert names(tree, trace(tree, tree.indices["Default/a/B-op0"], "down")) == {"B", "D"}
    assert names(tree, trace(tree, tree.indices["Default/b"], "up")) == {"A", "B", "C", "D"}
    assert names(tree, trace(tree, tree.indices["Default/E-op0"], "down")) == {"E"}


def test_boxes_of_the_picture_that_hold_what_was_traced(graph: Any) -> None:
    tree = folded_tree(graph(SIDE, parameters=["w"], constants={"cst1": 1}))
    leaves = trace(tree, tree.indices["Default/b/C-op0"], "up")
    boxes = [tree.indices[path] for path in ("Default/a", "Default/b", "Default/E-op0")]
    assert count_by_box(tree, boxes, leaves) == {boxes[0]: 1, boxes[1]: 1}


def test_long_chains_and_cycles_end(graph: Any, blocks: Any) -> None:
    tree = folded_tree(graph(blocks(2000)))
    assert len(trace(tree, tree.indices["Default/net/Out-op0"], "up")) == 4002
