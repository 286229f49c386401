"""Matching of the nodes of two graphs."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.planted_networks import GptOptions
from benchmarks.planted_pairs import LEAST, PAIRS, UNRELATED, score
from mindinsight.server.graph.comparison import tree_matching as module
from mindinsight.server.graph.comparison.node_labels import NodeColumns, node_columns
from mindinsight.server.graph.comparison.tree_matching import (
    agreement,
    align,
    carried_values,
    drop_contradicted,
    kinship,
    match,
    match_carriers,
)
from mindinsight.server.graph.model.graph import Offsets
from mindinsight.server.graph.scopes.folding import REPEAT, folded_tree


@pytest.fixture
def partners(graph: Any) -> Callable[..., Any]:
    """Return a function: partners(left nodes, right nodes) -> {left path: right path or None}."""

    def find(left: Any, right: Any, **more: Any) -> dict[Any, Any]:
        trees = [folded_tree(graph(nodes, **more)) for nodes in (left, right)]
        matching = match(trees[0], trees[1])
        others = [None, *trees[1].paths]
        return {
            path: others[index + 1]
            for path, index in zip(trees[0].paths, matching.to_right.tolist(), strict=True)
        }

    return find


def test_numbers_of_operators_are_not_looked_at(partners: Callable[..., Any]) -> None:
    left: list[Any] = [("net/fc/MatMul-op4", []), ("net/fc/MatMul-op5", [])]
    right: list[Any] = [("net/fc/MatMul-op5", []), ("net/fc/MatMul-op6", [])]
    partner_of = partners(left, right)
    assert partner_of["net/fc/MatMul-op4"] == "net/fc/MatMul-op5"
    assert partner_of["net/fc/MatMul-op5"] == "net/fc/MatMul-op6"


def test_an_operator_more_changes_no_partner_of_the_others(partners: Callable[..., Any]) -> None:
    left = [("net/Load-op0", ["a"]), ("net/Load-op1", ["b"]), ("net/Load-op2", ["c"])]
    right = [
        ("net/Load-op0", ["x"]),
        ("net/Load-op1", ["a"]),
        ("net/Load-op2", ["b"]),
        ("net/Load-op3", ["c"]),
    ]
    partner_of = partners(left, right, parameters=["a", "b", "c", "x"])
    assert [partner_of[f"net/Load-op{number}"] for number in range(3)] == [
        f"net/Load-op{number}" for number in (1, 2, 3)
    ]


def test_operators_of_other_types_are_partners_only_if_their_neighbours_are(
    partners: Callable[..., Any],
) -> None:
    partner_of = partners([("net/ReLU-op0", [])], [("net/GeLU-op0", [])])
    assert partner_of["net/ReLU-op0"] is None and partner_of["net"] == "net"


def test_a_scope_of_another_number_stands_in_for_one_that_is_gone(partners: Callable[..., Any]) -> None:
    left: list[Any] = [("net/3-Block/Add-op0", []), ("net/4-Block/Add-op1", []), ("net/head/Mul-op0", [])]
    right: list[Any] = [("net/4-Block/Add-op0", []), ("net/5-Block/Add-op1", []), ("net/tail/Mul-op0", [])]
    partner_of = partners(left, right)
    assert partner_of["net/4-Block"] == "net/4-Block"
    assert partner_of["net/3-Block"] == "net/5-Block"
    assert partner_of["net/3-Block/Add-op0"] == "net/5-Block/Add-op1"
    assert partner_of["net/head"] is None and partner_of["net/head/Mul-op0"] is None


def test_equal_operators_in_other_scopes_are_no_partners(partners: Callable[..., Any]) -> None:
    partner_of = partners([("net/encoder/Add-op0", [])], [("net/decoder/Add-op0", [])])
    assert partner_of["net/encoder"] is None and partner_of["net/encoder/Add-op0"] is None


def test_repeated_layers_are_partners_though_there_is_one_more(
    partners: Callable[..., Any], blocks: Any
) -> None:
    partner_of = partners(blocks(6), blocks(7))
    assert partner_of["Default/net/*-Block[6]"] == "Default/net/*-Block[7]"
    assert partner_of["Default/net/5-Block/MatMul-op5"] == "Default/net/5-Block/MatMul-op5"


def test_layers_that_are_not_folded_in_one_graph_still_find_each_other(
    partners: Callable[..., Any], blocks: Any
) -> None:
    partner_of = partners(blocks(3), blocks(5))
    assert partner_of["Default/net/2-Block/act"] == "Default/net/2-Block/act"
    assert not any(path.endswith("]") for path in partner_of.values() if path)


def test_boxes_hold_the_partners_of_each_others_members(graph: Any, blocks: Any) -> None:
    trees = [folded_tree(graph([*blocks(count), *blocks(6, "Default/other")])) for count in (8, 9)]
    matching = match(trees[0], trees[1])
    for index, kind in enumerate(trees[0].types):
        if kind == REPEAT:
            other = int(matching.to_right[index])
            assert trees[1].types[other] == REPEAT
            assert trees[0].paths[index].rpartition("/")[0] == trees[1].paths[other].rpartition("/")[0]


@given(st.data())
def test_partners_are_each_others_and_both_operators_or_scopes_of_one_type(written: Any, data: Any) -> None:
    left, right = (folded_tree(data.draw(written)) for _ in range(2))
    matching = match(left, right)
    for index, partner in enumerate(matching.to_right.tolist()):
        if partner >= 0:
            assert matching.to_left[partner] == index
            assert left.is_leaf(index) or left.types[index] == right.types[partner]
            assert bool(left.nodes[index] < 0) == bool(right.nodes[partner] < 0)
    assert (matching.to_right >= 0).sum() == (matching.to_left >= 0).sum()


@given(st.data())
def test_a_graph_beside_itself(written: Any, data: Any) -> None:
    tree = folded_tree(data.draw(written))
    matching = match(tree, tree)
    assert matching.to_right.tolist() == matching.to_left.tolist() == list(range(len(tree.paths)))


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


WORDS = st.lists(st.sampled_from("abcd"), max_size=12)


def laid(left: Any, right: Any, *keys: Any) -> list[Any]:
    """Return the paired words. ``keys`` are functions of words."""
    pairs = align(range(len(left)), range(len(right)), [keyed(left, right, key) for key in keys or [str]])
    return [(left[item], right[other]) for item, other in pairs]


def keyed(left: Any, right: Any, key: Any) -> tuple[Any, Any]:
    return (lambda item: key(left[item])), (lambda other: key(right[other]))


def test_equal_items_are_paired_around_one_that_was_put_in() -> None:
    assert laid("abcd", "abxcd") == [("a", "a"), ("b", "b"), ("c", "c"), ("d", "d")]
    assert laid("abxcd", "abcd") == [("a", "a"), ("b", "b"), ("c", "c"), ("d", "d")]


def test_what_is_left_between_equal_items_is_paired_in_order() -> None:
    assert laid("axb", "ayb") == [("a", "a"), ("x", "y"), ("b", "b")]
    assert laid("axyb", "azb") == [("a", "a"), ("x", "z"), ("b", "b")]


def test_a_second_key_decides_between_what_the_first_left() -> None:
    left, right = ["Conv one 3", "Conv two 5"], ["Conv two 7"]
    assert laid(left, right) == [("Conv one 3", "Conv two 7")]
    assert laid(left, right, str, lambda word: word.split()[1]) == [("Conv two 5", "Conv two 7")]


def test_one_and_one_are_a_pair_whatever_they_are() -> None:
    assert laid("a", "b") == [("a", "b")]
    assert laid("", "b") == laid("a", "") == []


def test_where_too_much_would_be_compared_ends_still_meet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_LARGEST", 4)
    assert laid("abcdeyz", "abxcfdyz") == [
        ("a", "a"), ("b", "b"), ("c", "x"), ("d", "c"), ("e", "f"), ("y", "y"), ("z", "z")
    ]  # fmt: skip


@given(WORDS, WORDS)
def test_no_item_is_in_two_pairs_and_no_pairs_cross(left: Any, right: Any) -> None:
    pairs = align(range(len(left)), range(len(right)), [keyed(left, right, str)])
    assert pairs == sorted(pairs)
    for side in (0, 1):
        indices = [pair[side] for pair in pairs]
        assert indices == sorted(set(indices))
    assert len(pairs) <= min(len(left), len(right))


@given(WORDS)
def test_a_sequence_beside_itself(words: Any) -> None:
    assert align(range(len(words)), range(len(words)), [keyed(words, words, str)]) == [
        (index, index) for index in range(len(words))
    ]
