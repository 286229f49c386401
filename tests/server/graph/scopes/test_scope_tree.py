"""Scope trees against the meaning of paths, on random graphs."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mindinsight.server.graph.model.graph import CONSTANT, OPERATOR, PARAMETER, scope_of
from mindinsight.server.graph.scopes.scope_tree import GROUP, ROOT, SCOPE, Folding, build_tree


@given(st.data(), st.integers(2, 6))
def test_every_node_has_its_place_and_every_edge_its_ends(written: Any, data: Any, least: Any) -> None:
    graph = data.draw(written)
    tree = build_tree(graph, Folding(least=least))
    operators = [int(node) for node in tree.nodes if node >= 0 and graph.kinds[node] == OPERATOR]
    assert sorted(operators) == np.flatnonzero(graph.kinds == OPERATOR).tolist()
    between = zip(tree.nodes[tree.edges.sources], tree.nodes[tree.edges.targets], strict=True)
    assert sorted(between) == sorted(zip(graph.edges.sources, graph.edges.targets, strict=True))
    assert len(set(tree.paths)) == len(tree.paths)


@given(st.data(), st.integers(2, 6))
def test_places_walk_through_the_scopes(written: Any, data: Any, least: Any) -> None:
    tree = build_tree(data.draw(written), Folding(least=least))
    assert (tree.parents[ROOT], tree.ends[ROOT]) == (-1, len(tree.paths))
    for index in range(1, len(tree.paths)):
        parent = int(tree.parents[index])
        assert parent < index < tree.ends[parent]
        assert tree.paths[parent] == scope_of(tree.paths[index])
        assert index in tree.children(parent)
        assert (tree.types[index] in {SCOPE, GROUP}) == (tree.nodes[index] < 0)
    assert tree.counts.sum() == len(tree.paths) - 1


@given(st.data(), st.integers(2, 6))
def test_groups_hold_what_their_names_say(written: Any, data: Any, least: Any) -> None:
    tree = build_tree(data.draw(written), Folding(least=least))
    for index, kind in enumerate(tree.types):
        if kind != GROUP:
            continue
        name, _, count = tree.paths[index].rpartition("/")[2].partition("[")
        members = [child for child in tree.children(index) if tree.types[child] != "Const"]
        assert {tree.types[child] for child in members} == {name}
        assert len(members) == int(count.partition("]")[0]) >= least


@given(st.data())
def test_what_is_used_stands_in_the_scope_of_its_user(written: Any, data: Any) -> None:
    graph = data.draw(written)
    tree = build_tree(graph, Folding(least=99))
    for source, target in zip(tree.edges.sources.tolist(), tree.edges.targets.tolist(), strict=True):
        if graph.kinds[tree.nodes[source]] in {PARAMETER, CONSTANT}:
            assert tree.parents[source] == tree.parents[target]


def test_parameters_and_constants_may_be_left_out(graph: Any) -> None:
    made = graph([("a/Add-op0", ["w", "cst1"])], ["w"], {"cst1": 1})
    assert build_tree(made, Folding(outer=False)).paths == ("", "a", "a/Add-op0")
    assert set(build_tree(made).paths) == {"", "a", "a/Add-op0", "a/w", "a/cst1"}


def test_a_parameter_may_be_called_like_a_scope(graph: Any) -> None:
    tree = build_tree(graph([("a/b/Add-op0", []), ("a/Mul-op0", ["b"])], ["b"]))
    assert set(tree.paths) == {"", "a", "a/b", "a/b#2", "a/b/Add-op0", "a/Mul-op0"}
    assert tree.types[tree.indices["a/b#2"]] == "Parameter"


def test_a_constant_may_be_called_like_a_scope(graph: Any) -> None:
    tree = build_tree(graph([("a/b/Add-op0", []), ("a/Mul-op0", ["b"])], constants={"b": 1}))
    assert [tree.paths[child] for child in tree.children(tree.indices["a/b"])] == ["a/b/Add-op0"]


def test_a_parameter_with_slashes_opens_no_scope(graph: Any) -> None:
    tree = build_tree(graph([("a/Mul-op0", ["x/y/w"])], ["x/y/w"]))
    assert set(tree.paths) == {"", "a", "a/Mul-op0", "a/x/y/w"}


@pytest.mark.parametrize("nameless", [True, False])
def test_nameless_nodes_are_kept_when_asked(graph: Any, nameless: bool) -> None:
    made = graph([("a/Add-op0", []), ("a/-op1", ["a/Add-op0"])])
    assert made.types == ("Add", "")
    tree = build_tree(made, Folding(nameless=nameless))
    assert ("a/-op1" in tree.paths) == nameless


@given(st.data())
def test_edges_cross_a_place_when_one_end_is_inside(written: Any, data: Any) -> None:
    tree = build_tree(data.draw(written))
    edges = list(zip(tree.edges.sources.tolist(), tree.edges.targets.tolist(), strict=True))
    for index in range(len(tree.paths)):
        inside = range(index, tree.ends[index])
        into, out_of = tree.boundary_edges(index)
        assert list(zip(into.sources, into.targets, strict=True)) == [
            edge for edge in edges if edge[1] in inside and edge[0] not in inside
        ]
        assert list(zip(out_of.sources, out_of.targets, strict=True)) == [
            edge for edge in edges if edge[0] in inside and edge[1] not in inside
        ]
        within = tree.inner_edges(index)
        assert list(zip(within.sources, within.targets, strict=True)) == [
            edge for edge in edges if edge[0] in inside and edge[1] in inside
        ]


def test_ancestors_and_leaves(graph: Any) -> None:
    tree = build_tree(graph([("a/b/c/Add-op0", []), ("a/b/Mul-op0", [])]))
    index = tree.indices["a/b/c/Add-op0"]
    assert [tree.paths[node] for node in tree.ancestors(index)] == ["a", "a/b", "a/b/c"]
    assert sorted(tree.paths[node] for node in tree.leaves(tree.indices["a/b"])) == [
        "a/b/Mul-op0",
        "a/b/c/Add-op0",
    ]
    assert tree.leaves(index) == [index] and tree.is_leaf(index)
    assert np.array_equal(
        tree.in_subtree(tree.indices["a/b/c"], tree.nodes * 0 + index), np.ones(len(tree.paths)) == 1
    )
