"""Claims about two graphs, with their evidence."""

from typing import Any

import pytest

from benchmarks.planted_networks import GptOptions, encode_planted, gpt
from mindinsight.server.claims import Claim
from mindinsight.server.formats.graphs.graph_proto import read_graph
from mindinsight.server.graph.comparison.graph_comparison import compare
from mindinsight.server.graph.comparison.graph_verdicts import _where, comparison_claims
from mindinsight.server.graph.scopes.folding import folded_tree
from mindinsight.server.graph.scopes.scope_tree import Tree


def tree(**changes: Any) -> Tree:
    options = GptOptions(**{"layers": range(3), "training": False, **changes})
    return folded_tree(read_graph(encode_planted(gpt(options))))


def claims(left: Tree, right: Tree) -> list[Claim]:
    return comparison_claims(compare(left, right))


def test_equal_graphs_are_counted_in_full() -> None:
    network = tree()
    (claim,) = claims(network, tree())
    assert (claim.key, claim.values["n"]) == ("claim.graph.identical", (network.nodes >= 0).sum())


def test_a_rewired_residual_is_named_with_both_values_and_its_place() -> None:
    left, right = tree(), tree(rewired=(1,))
    (claim,) = claims(left, right)
    assert claim.key == "claim.graph.residual_rewired"
    assert str(claim.values["scope"]).startswith("1-")
    (spot,) = claim.evidence
    assert left.types[spot["left"]] == right.types[spot["right"]] == "Add"
    assert left.paths[spot["left"]].endswith(f"/{claim.values['operator']}")
    assert claim.values["before"] != claim.values["after"]


def test_values_of_other_scopes_are_named_with_their_scope() -> None:
    """Both graphs number operators by themselves: ``Add-op1`` alone could be that of either."""
    blocks = [claims(tree(), tree(layers=order))[0] for order in ((0, 2, 1), (1, 0, 2))]
    for claim in blocks:
        assert claim.key == "claim.graph.rewired"
        assert "/" in str(claim.values["before"]) or "/" in str(claim.values["after"])
        assert claim.values["before"] != claim.values["after"]


def test_what_no_edit_names_is_counted_beside_those_that_are_named() -> None:
    keys = [claim.key for claim in claims(tree(), tree(norm="RmsNorm", dropout=0.5))]
    assert keys == ["claim.graph.replaced", "claim.graph.constant", "claim.graph.parameters_removed"]
    keys = [claim.key for claim in claims(tree(), tree(norm="RmsNorm"))]
    assert keys == ["claim.graph.replaced", "claim.graph.parameters_removed"]  # RmsNorm has no beta


def test_a_layer_more_is_named() -> None:
    (claim,) = claims(tree(), tree(layers=range(4)))
    assert claim.key == "claim.graph.layers_added"
    assert (claim.values["n"], [str(layer)[:2] for layer in claim.values["layers"]]) == (1, ["3-"])


@pytest.mark.parametrize(
    ("paths", "where"),
    [
        (["Default/blocks-ModuleList/1-Block/add-op2"], "1-Block"),
        (["Default/blocks-ModuleList/1-Block/act-GELU/gelu-op1"], "1-Block/act-GELU"),
        (["Default/network/Cast-op7"], "network"),
        (["Cast-op7"], None),
        (["Default/0-Block/add-op2", "Default/1-Block/add-op4"], None),
    ],
)
def test_the_module_of_one_operator_is_named(paths: list[str], where: str | None) -> None:
    assert _where(paths) == (where or Claim("claim.part.graph.places", "note", {"n": len(paths)}))
