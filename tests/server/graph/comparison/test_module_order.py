"""Modules that run in another order, and the operators that differ only for that."""

from collections.abc import Callable

import numpy as np
import pytest

from mindinsight.server.claims import sentence
from mindinsight.server.formats.graphs.graph_proto import read_graph
from mindinsight.server.graph.comparison.graph_comparison import LEFT, Comparison, compare
from mindinsight.server.graph.comparison.graph_verdicts import comparison_claims
from mindinsight.server.graph.comparison.module_order import find_reorderings, moved_operators
from mindinsight.server.graph.scopes.folding import folded_tree
from tests.claims.situations.graph_edits import norms


def compared(left: Callable[[], bytes], right: Callable[[], bytes]) -> Comparison:
    return compare(*(folded_tree(read_graph(make())) for make in (left, right)))


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [(norms(), norms(*range(4)),
      "Pre-norm → post-norm in 4 × Block: ln1, ln2 moved behind the residual addition"),
     (norms(), norms(2), "Pre-norm → post-norm in 2-Block: ln1, ln2 moved behind the residual addition"),
     (norms(2), norms(),
      "Post-norm → pre-norm in 2-Block: ln1, ln2 moved from behind the residual addition into the branch")],
)  # fmt: skip
def test_norms_that_move_are_the_whole_answer(
    left: Callable[[], bytes], right: Callable[[], bytes], expected: str
) -> None:
    assert [sentence(claim) for claim in comparison_claims(compared(left, right))] == [expected]


def test_sums_are_paired_inside_their_blocks() -> None:
    comparison = compared(norms(), norms(*range(4)))
    left, right = comparison.trees
    for index in np.flatnonzero(left.nodes >= 0).tolist():
        assert right.paths[comparison.partners[LEFT][index]] == left.paths[index]


def test_a_rewired_operator_that_the_move_does_not_explain_is_left() -> None:
    comparison = compared(norms(), norms(0, 2, 3, torn=True))
    explained = moved_operators(comparison, list(find_reorderings(comparison)))
    left = comparison.trees[LEFT]
    others = [int(node) for node in comparison.rewired if int(node) not in explained]
    assert [left.graph.names[node] for node in others] == ["Default/1-Block/ln2-LayerNorm/layer_norm-op3"]
