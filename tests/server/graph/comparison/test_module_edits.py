"""Edits of modules by the names of scopes: replaced, wrapped, added, removed, reordered, renamed."""

from typing import Any

import pytest

from mindinsight.server.claims import Claim, sentence
from mindinsight.server.formats.graphs.graph_proto import read_graph
from mindinsight.server.graph.comparison.graph_comparison import compare
from mindinsight.server.graph.comparison.graph_verdicts import comparison_claims
from mindinsight.server.graph.comparison.module_edits import split_name
from mindinsight.server.graph.scopes.folding import folded_tree
from mindinsight.writer import GraphBuilder
from tests.claims.situations.graph_edits import layers


def claims(changes: dict[str, Any], before: dict[str, Any] | None = None) -> list[Claim]:
    trees = [folded_tree(read_graph(layers(**some)())) for some in (before or {}, changes)]
    return comparison_claims(compare(*trees))


def sentences(changes: dict[str, Any], before: dict[str, Any] | None = None) -> list[str]:
    return [sentence(claim) for claim in claims(changes, before)]


@pytest.mark.parametrize(
    ("path", "expected"),
    [("Default/ln1-LayerNorm", ("ln1", "LayerNorm")), ("Default", ("", "")), ("a/b-", ("", "")),
     ("self-attn-MHA", ("self-attn", "MHA"))],
)  # fmt: skip
def test_a_scope_is_named_by_attribute_and_class(path: str, expected: tuple[str, str]) -> None:
    assert split_name(path) == expected


def test_a_replaced_module_is_named_with_its_places_and_operators() -> None:
    assert sentences({"norm": "pow"}) == ["Norm replaced by Rms in 4 places: norm (4 → 12 operators)"]
    assert sentences({}, {"norm": "pow"}) == ["Rms replaced by Norm in 4 places: norm (12 → 4 operators)"]


def test_a_module_replaced_in_one_place_is_named_with_its_path() -> None:
    assert sentences({"norm": "pow", "blocks": [2]}, {"blocks": [2]})[0].startswith(
        "Norm replaced by Rms in 1 place: 2.norm"
    )


def test_an_added_module_is_named_with_the_scopes_around_it() -> None:
    assert sentences({"gated": [2]}) == ["gate-Gate added in 2-Block (3 new operators)"]
    assert sentences({"gated": [0, 2]}) == ["gate-Gate added in 0-Block, 2-Block (6 new operators)"]
    assert sentences({"gated": range(4)}) == ["gate-Gate added in 4 places (12 new operators)"]
    assert sentences({}, {"gated": [2]}) == ["gate-Gate removed from 2-Block (3 operators)"]


def test_a_module_inside_a_new_one_is_wrapped() -> None:
    assert sentences({"wrapper": "Scaled"}) == [
        "Linear wrapped in Scaled in 4 places: fc (8 more operators)",
        "4 parameters added: *.fc.scale",
    ]
    assert sentences({}, {"wrapper": "Scaled"})[0] == (
        "Linear no longer wrapped in Scaled in 4 places: fc (8 fewer operators)"
    )


def test_a_module_wrapped_with_lora_is_lora() -> None:
    (claim,) = claims({"wrapper": "LoRA"})
    assert (claim.key, claim.values) == ("claim.graph.lora", {"layers": ["fc"], "n": 4, "rank": 2})


def test_a_module_that_may_be_either_of_two_is_not_wrapped() -> None:
    assert sentences({"wrapper": "Twin"})[0] == "Linear replaced by Twin in 4 places: fc (4 → 16 operators)"


def test_a_name_is_renamed_only_if_it_is_nowhere_the_same() -> None:
    assert [claim.key for claim in claims({"renamed": [1]})] == ["claim.graph.renamed"]
    assert sentences({"prefix": "module."})[1] == "Renamed everywhere: * → module.*"


def test_one_operator_of_another_type_is_named_by_its_type() -> None:
    assert sentences({"norm": "rms_norm"}) == ["layer_norm → rms_norm in 4 places"]


def test_a_layer_is_named_from_the_outermost_numbered_one_on() -> None:
    def names(left: list[str], right: list[str]) -> object:
        trees = [folded_tree(read_graph(scoped(some))) for some in (left, right)]
        (claim,) = comparison_claims(compare(*trees))
        assert claim.key == "claim.graph.layers_removed"
        return claim.values["layers"]

    inner = [f"{block}-Block/ln{part}-Norm" for block in range(3) for part in (1, 2)]
    assert names(inner, inner[:2] + inner[3:]) == ["1-Block/ln1-Norm"]
    assert names(inner, inner[:4]) == ["2-Block"]


def scoped(scopes: list[str]) -> bytes:
    """Return a chain of operators with weights, one in each scope."""
    graph = GraphBuilder("net")
    value = graph.parameter("x", (4,), role="input")
    for path in scopes:
        outer, inner = path.split("/")
        with graph.scope(outer), graph.scope(inner):
            value = graph.node("norm", [value, graph.parameter(f"{path.replace('/', '.')}.w", (4,))], (4,))
    graph.output(value)
    data: bytes = graph.model().graph.SerializeToString()
    return data
