"""Weisfeiler-Lehman labels of the nodes of two graphs."""

from typing import Any

import numpy as np

from mindinsight.server.graph.comparison.node_columns import node_columns
from mindinsight.server.graph.comparison.node_labels import neighbour_flags, refine, seed_labels

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
