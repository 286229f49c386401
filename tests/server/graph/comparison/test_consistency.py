"""Pairs that edges contradict, and operators identified by the value that they pass on."""

from typing import Any

import numpy as np
import pytest

from benchmarks.planted_networks import GptOptions
from benchmarks.planted_pairs import LEAST, PAIRS, UNRELATED, score
from mindinsight.server.graph.comparison.consistency import (
    agreement,
    carried_values,
    drop_contradicted,
    kinship,
    match_carriers,
)
from mindinsight.server.graph.comparison.node_columns import NodeColumns, node_columns
from mindinsight.server.graph.model.graph import Offsets

CHAIN: list[tuple[str, list[str]]] = [
    ("n/A-op0", []),
    ("n/B-op0", ["n/A-op0"]),
    ("n/C-op0", ["n/B-op0"]),
    ("n/D-op0", []),
    ("n/B-op1", ["n/D-op0"]),
]


@pytest.fixture
def columns(graph: Any) -> NodeColumns:
    return node_columns(graph(CHAIN), graph(CHAIN))


def pairs(columns: NodeColumns, *names: tuple[str, str]) -> Offsets:
    partners = np.full(len(columns.kinds), -1, dtype=np.int64)
    for left, right in names:
        ends = (
            columns.graphs[0].names.index(left),
            columns.left_count + columns.graphs[1].names.index(right),
        )
        partners[ends[0]], partners[ends[1]] = ends[1], ends[0]
    return partners


def test_a_pair_that_shares_no_edge_with_the_pairs_around_it_is_separated(columns: NodeColumns) -> None:
    partners = pairs(
        columns,
        ("n/A-op0", "n/A-op0"),
        ("n/D-op0", "n/D-op0"),
        ("n/B-op0", "n/B-op1"),
        ("n/B-op1", "n/B-op0"),
    )
    agreed, contradicted = agreement(columns, partners)
    assert agreed.sum() == 0 and contradicted[:5].tolist() == [1, 1, 0, 1, 1]
    drop_contradicted(columns, partners)
    assert partners[1] == partners[4] == -1


def test_a_pair_with_one_edge_in_common_stays(columns: NodeColumns) -> None:
    partners = pairs(columns, *((name, name) for name, _ in CHAIN))
    assert drop_contradicted(columns, partners) == 0
    assert kinship(columns, partners) == 1.0


def test_an_update_is_that_of_the_operator_that_changed_the_state(graph: Any) -> None:
    def steps(weights: list[str]) -> Any:
        nodes: list[tuple[str, list[str]]] = []
        for number, weight in enumerate(weights):
            before = [f"n/UpdateState-op{number - 1}"] if number else []
            nodes.append((f"n/Adam-op{number}", [weight]))
            nodes.append((f"n/UpdateState-op{number}", [*before, f"n/Adam-op{number}"]))
        return graph(nodes, parameters=["a.w", "b.w", "c.w"])

    columns = node_columns(steps(["a.w", "b.w", "c.w"]), steps(["a.w", "c.w"]))
    partners = pairs(
        columns,
        ("n/Adam-op0", "n/Adam-op0"),
        ("n/Adam-op2", "n/Adam-op1"),
        ("n/UpdateState-op1", "n/UpdateState-op1"),
    )
    match_carriers(columns, partners, np.zeros_like(partners), carried_values(columns))
    left, right = (graph.names for graph in columns.graphs)
    measured = {
        left[node]: right[partners[node] - columns.left_count] for node in range(6) if partners[node] >= 0
    }
    assert measured["n/UpdateState-op0"] == "n/UpdateState-op0"
    assert measured["n/UpdateState-op2"] == "n/UpdateState-op1"
    assert "n/UpdateState-op1" not in measured


@pytest.mark.parametrize("name", PAIRS)
def test_planted_pairs_are_found(name: str) -> None:
    result = score(*PAIRS[name](GptOptions(layers=range(4))))
    assert min(result.precision, result.recall) >= LEAST, (result.wrong[:5], result.missed[:5])


@pytest.mark.parametrize("name", UNRELATED)
def test_unrelated_networks_have_no_pair(name: str) -> None:
    assert score(*UNRELATED[name](GptOptions(layers=range(4))), related=False).wrong == ()
