"""Values that flow between siblings, and siblings that none flows between."""

from collections.abc import Callable
from typing import Any

from mindinsight.server.graph.model.graph import Graph
from mindinsight.server.graph.scopes.build import Folding, build_tree
from mindinsight.server.graph.scopes.sibling_flow import connected, parallel, sibling_flow


def plain(graph: Graph) -> Any:
    return build_tree(graph, Folding(least=1000, outer=False, nameless=True))


def test_values_flow_through_operators_that_only_pass_them_on(graph: Callable[..., Graph]) -> None:
    tree = plain(
        graph(
            [
                ("n/0-B/MatMul-op0", []),
                ("n/TupleGetItem-op0", ["n/0-B/MatMul-op0"]),
                ("n/1-B/MatMul-op1", ["n/TupleGetItem-op0"]),
                ("n/UpdateState-op0", ["n/1-B/MatMul-op1"]),
                ("n/2-B/MatMul-op2", ["n/UpdateState-op0"]),
            ]
        )
    )
    flow = sibling_flow(tree)
    links = [
        (tree.paths[giver], tree.paths[taker]) for giver, taker in zip(flow.givers, flow.takers, strict=True)
    ]
    assert links == [("n/0-B", "n/1-B")]
    assert tree.paths[flow.scopes[0]] == "n"


def test_members_are_grouped_by_what_flows_between_them() -> None:
    assert connected([1, 2, 3, 4, 5], [(1, 2), (2, 3)]) == [[1, 2, 3], [4], [5]]


def test_parallel_members_depend_on_the_same_others(graph: Callable[..., Graph]) -> None:
    nodes: list[Any] = [("n/Add-op0", []), ("n/Add-op1", []), ("n/Mul-op0", ["n/Add-op0", "n/Add-op1"])]
    nodes += [("n/Add-op2", ["n/Mul-op0"]), ("n/Add-op3", ["n/Mul-op0"])]
    tree = plain(graph(nodes))
    group = [tree.indices[f"n/Add-op{number}"] for number in range(4)]
    assert parallel(tree, [group]) == [[group[:2], group[2:]]]
