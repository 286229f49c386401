"""LoRA that one of two graphs has: which layers, blocks and rank, on either side."""

from collections.abc import Sequence

import pytest

from mindinsight.server.claims import Claim
from mindinsight.server.graph.comparison.low_rank_adapters import Adapter, lora_claims
from tests.server.graph.comparison.test_graph_verdicts import claims, tree


def test_lora_tells_layers_blocks_and_rank() -> None:
    (claim,) = claims(tree(), tree(lora=("q", "v"), rank=4))
    assert (claim.key, claim.values) == ("claim.graph.lora", {"layers": ["q", "v"], "n": 3, "rank": 4})
    assert len(claim.evidence) == 6


def test_lora_of_the_left_graph_was_removed() -> None:
    (claim,) = claims(tree(lora=("q",), rank=2), tree())
    assert (claim.key, claim.values) == ("claim.graph.lora_removed", {"layers": ["q"], "n": 3, "rank": 2})


def test_lora_in_both_graphs_is_no_difference() -> None:
    keys = [claim.key for claim in claims(tree(lora=("q",), rank=2), tree(lora=("q",), rank=2))]
    assert keys == ["claim.graph.identical"]


def claims_of(blocks: Sequence[str], layers: Sequence[str] = ("q",)) -> list[Claim]:
    adapters = [Adapter(layer, block, 4, 0, (), 1) for block in blocks for layer in layers]
    return list(lora_claims([[], adapters]))


@pytest.mark.parametrize(
    ("blocks", "layers", "key"),
    [
        (("0", "1"), ("q", "v"), "claim.graph.lora"),
        (("",), ("q",), "claim.graph.lora_places"),  # outside of blocks with numbers
        (("0", "0", "1"), ("q",), "claim.graph.lora_places"),  # twice in a block
    ],
)
def test_layers_and_blocks_are_named_only_if_each_block_has_each_layer_once(
    blocks: Sequence[str], layers: Sequence[str], key: str
) -> None:
    assert [claim.key for claim in claims_of(blocks, layers)] == [key]
