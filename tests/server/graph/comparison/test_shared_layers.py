"""Uses of a weight that layers share are separated where the other graph has a weight for each."""

from collections.abc import Callable

import numpy as np

from mindinsight.server.formats.graphs.graph_proto import read_graph
from mindinsight.server.graph.comparison.node_labels import node_columns
from mindinsight.server.graph.comparison.node_matching import match_nodes
from tests.claims.situations.graph_edits import applied


def separated(left: Callable[[], bytes], right: Callable[[], bytes]) -> list[str]:
    """Return the names of the weights that stand for uses in both graphs."""
    graphs = read_graph(left()), read_graph(right())
    matched = match_nodes(node_columns(*graphs))
    assert (matched.partners[matched.separated] == matched.separated).all()
    names = [name for graph in graphs for name in graph.names]
    return [names[node] for node in matched.separated.tolist()]


def test_each_use_has_the_weight_of_the_other_graph() -> None:
    names = [f"h.{i}.w{k}" for i in (1, 2) for k in range(3)]
    assert separated(applied(0, 1, 2), applied(0, 0, 0)) == names
    assert separated(applied(0, 0, 0), applied(0, 1, 2)) == names


def test_the_first_uses_are_separated_if_there_are_fewer() -> None:
    assert separated(applied(0, 1, 2), applied(0, 0)) == [f"h.1.w{k}" for k in range(3)]


def test_layers_that_no_other_layer_replaces_stay() -> None:
    for right in (applied(0, 1, 2), applied(2, 1, 0), applied(0, 2), applied(0)):
        assert not separated(applied(0, 1, 2), right)


def test_columns_are_changed_only_at_shared_weights() -> None:
    graphs = read_graph(applied(0, 1)()), read_graph(applied(0, 0)())
    columns = node_columns(*graphs)
    changed = np.flatnonzero(match_nodes(columns).columns.sources != columns.sources)
    assert len(changed) == 3
    assert (columns.sources[changed] >= columns.left_count).all()
