"""Which nodes of two graphs belong together."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mindinsight.server.graph.comparison.matching import match
from mindinsight.server.graph.scopes.folding import REPEAT, folded_tree


@pytest.fixture
def partners(graph: Any) -> Callable[..., Any]:
    """partners(left nodes, right nodes) -> {left path: right path or None}."""

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
