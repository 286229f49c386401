from collections.abc import Callable
from typing import Any

from mindinsight.server.graph.model.graph import Graph
from mindinsight.server.graph.scopes.folding import folded_tree
from mindinsight.server.graph.scopes.signatures import identical_scopes, signatures_of


def test_numbers_and_order_do_not_count_and_names_do(graph: Callable[..., Graph]) -> None:
    nodes: list[Any] = [
        ("a/q0/MatMul-op0", []),
        ("a/q0/Add-op0", []),
        ("a/q1/Add-op1", []),
        ("a/q1/MatMul-op1", []),
        ("a/k0/MatMul-op2", []),
        ("a/k0/Add-op2", []),
        ("a/q2/MatMul-op3", []),
    ]
    tree = folded_tree(graph(nodes))
    numbers = {path: signatures_of(tree)[index] for path, index in tree.indices.items()}
    assert numbers["a/q0"] == numbers["a/q1"]
    assert len({numbers[path] for path in ("a/q0", "a/k0", "a/q2")}) == 3


def test_identical_layers_are_found_wherever_they_are(graph: Callable[..., Graph], blocks: Any) -> None:
    tree = folded_tree(graph([*blocks(5), *blocks(2, "Default/other")]))
    scopes = identical_scopes(tree, tree.indices["Default/net/1-Block"])
    assert [tree.paths[index] for index in scopes] == [
        *(f"Default/net/{number}-Block" for number in (0, 2, 3, 4)),
        *(f"Default/other/{number}-Block" for number in (0, 1)),
    ]
