from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from mindinsight.server.graph.layout.boxes import flows_of
from mindinsight.server.graph.scopes.folding import folded_tree
from mindinsight.server.graph.scopes.scope_tree import ROOT


def child_holding(tree: Any, scope: Any, leaf: Any) -> Any:
    return next((child for child in tree.children(scope) if child <= leaf < tree.ends[child]), None)


@given(st.data())
def test_flows_are_the_edges_lifted_to_children(written: Any, data: Any) -> None:
    tree = folded_tree(data.draw(written))
    for scope in range(len(tree.paths)):
        if tree.nodes[scope] >= 0:
            continue
        expected: dict[Any, Any] = {}
        enters: dict[Any, Any] = {}
        leaves: dict[Any, Any] = {}
        for source, target in zip(tree.edges.sources.tolist(), tree.edges.targets.tolist(), strict=True):
            giver, taker = (child_holding(tree, scope, leaf) for leaf in (source, target))
            if giver is not None and taker is not None and giver != taker:
                expected.setdefault((giver, taker), set()).add(source)
            elif giver is None and taker is not None:
                enters.setdefault(taker, set()).add(source)
            elif giver is not None and taker is None:
                leaves.setdefault(giver, set()).add(source)
        flows = flows_of(tree, scope, tree.children(scope))
        values_by_pair = {(flow.source, flow.target): flow.values for flow in flows.inside}
        assert values_by_pair == {pair: len(values) for pair, values in expected.items()}
        for flow in flows.inside:
            values = expected[flow.source, flow.target]
            assert {flow.leaf} == (values if len(values) == 1 else {-1})
        assert flows.enters == {child: len(values) for child, values in enters.items()}
        assert flows.leaves == {child: len(values) for child, values in leaves.items()}
        assert scope != ROOT or not (flows.enters or flows.leaves)
