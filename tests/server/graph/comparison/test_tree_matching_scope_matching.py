"""Partners of scopes: by the operators they share, then by name."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mindinsight.server.graph.comparison.tree_matching import match_scopes
from mindinsight.server.graph.scopes.folding import folded_tree


@pytest.fixture
def partners(graph: Any) -> Callable[..., Any]:
    """Return partners(left, right, {left path: right path of operators}) -> {left: right path of scopes}."""

    def find(left: Any, right: Any, operators: Any) -> dict[Any, Any]:
        trees = [folded_tree(graph([(path, []) for path in paths])) for paths in (left, right)]
        to_right = np.full(len(trees[0].paths), -1, dtype=np.int32)
        for path, other in operators.items():
            to_right[trees[0].indices[path]] = trees[1].indices[other]
        pairs = match_scopes(trees[0], trees[1], to_right)
        return {trees[0].paths[left]: trees[1].paths[right] for left, right in pairs}

    return find


def test_scopes_that_share_operators_are_partners_whatever_their_names(partners: Callable[..., Any]) -> None:
    left, right = ["net/a/Add-op0", "net/b/Mul-op0"], ["net/x/Mul-op0", "net/y/Add-op0"]
    assert partners(left, right, {left[0]: right[1], left[1]: right[0]}) == {
        "": "", "net": "net", "net/a": "net/y", "net/b": "net/x",
    }  # fmt: skip


def test_of_nested_scopes_with_the_same_operators_those_of_equal_name_are_partners(
    partners: Callable[..., Any],
) -> None:
    left, right = ["net/inner/Add-op0"], ["wrapper/net/inner/Add-op0"]
    assert partners(left, right, {left[0]: right[0]}) == {
        "": "", "net": "wrapper/net", "net/inner": "wrapper/net/inner",
    }  # fmt: skip


def test_scopes_that_share_nothing_are_matched_by_name_then_without_numbers(
    partners: Callable[..., Any],
) -> None:
    left, right = ["n/1-Block/A-op0", "n/head/B-op0"], ["n/2-Block/C-op0", "n/head/D-op0", "n/tail/E-op0"]
    assert partners(left, right, {}) == {"": "", "n": "n", "n/head": "n/head", "n/1-Block": "n/2-Block"}
