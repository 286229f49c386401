"""Weisfeiler-Lehman labels of the nodes of two graphs."""

from collections.abc import Callable
from typing import Any

import numpy as np

from mindinsight.server.graph.comparison.node_labels import (
    CONTROL_SLOT,
    neighbour_flags,
    node_columns,
    refine,
    seed_labels,
)

CHAIN = [("n/A-op0", []), ("n/B-op0", ["n/A-op0"]), ("n/B-op1", ["n/B-op0"]), ("n/C-op0", ["n/B-op1"])]


def labels_of(columns: Any, partners: Any = None, rounds: int = 2) -> Any:
    if partners is None:
        partners = np.full(len(columns.kinds), -1)
    return refine(columns, seed_labels(columns, [columns.types], partners), partners, rounds)


def test_equal_graphs_have_equal_labels(graph: Any) -> None:
    rounds = labels_of(node_columns(graph(CHAIN), graph(CHAIN)))
    for labels in (rounds.seeds, rounds.by_inputs, rounds.by_outputs, *rounds.refined):
        assert labels[:4].tolist() == labels[4:].tolist()


def test_neighbours_tell_operators_of_one_type_apart(graph: Any) -> None:
    rounds = labels_of(node_columns(graph(CHAIN), graph(CHAIN)))
    assert rounds.seeds[1] == rounds.seeds[2]
    assert rounds.by_inputs[1] != rounds.by_inputs[2]
    assert rounds.by_outputs[1] != rounds.by_outputs[2]
    assert len(set(rounds.refined[0][:4].tolist())) == 4


def test_inputs_are_ordered(graph: Any) -> None:
    first = [("n/A-op0", []), ("n/B-op0", []), ("n/C-op0", ["n/A-op0", "n/B-op0"])]
    second = [*first[:2], ("n/C-op0", ["n/B-op0", "n/A-op0"])]
    rounds = labels_of(node_columns(graph(first), graph(second)))
    assert rounds.by_inputs[2] != rounds.by_inputs[5]


def test_an_edit_changes_labels_up_to_its_distance(graph: Any) -> None:
    edited = [*CHAIN[:3], ("n/D-op0", ["n/B-op1"])]
    rounds = labels_of(node_columns(graph(CHAIN), graph(edited)), rounds=2)
    equal = [labels[:4] == labels[4:] for labels in (rounds.seeds, *rounds.refined)]
    assert [flags.tolist() for flags in equal] == [
        [True, True, True, False],
        [True, True, False, False],
        [True, False, False, False],
    ]


def test_a_pair_has_a_label_of_its_own_and_tells_its_neighbours_apart(graph: Any) -> None:
    nodes = [("n/In-op0", []), ("n/In-op1", []), ("n/B-op0", ["n/In-op0"]), ("n/B-op1", ["n/In-op1"])]
    columns = node_columns(graph(nodes), graph(nodes))
    partners = np.full(8, -1)
    assert labels_of(columns, partners).by_inputs[2] == labels_of(columns, partners).by_inputs[3]
    partners[[0, 5]] = 5, 0
    rounds = labels_of(columns, partners)
    assert rounds.seeds[0] == rounds.seeds[5] != rounds.seeds[1]
    assert rounds.by_inputs[2] == rounds.by_inputs[7] != rounds.by_inputs[3]
    fed, used = neighbour_flags(columns, partners)
    assert fed.tolist() == [False, False, True, False, False, False, False, True]
    assert not used.any()


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
