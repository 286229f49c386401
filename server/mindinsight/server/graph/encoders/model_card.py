"""JSON encoder of the outline of a network, with the costs of each part."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from mindinsight.server.claims import Claim
from mindinsight.server.graph.encoders.nodes import entry
from mindinsight.server.graph.scopes.costs import Costs
from mindinsight.server.graph.scopes.folding import REPEAT, display_name
from mindinsight.server.graph.scopes.model_card import Part, model_parts
from mindinsight.server.graph.scopes.tree import Tree


def model_card_json(tree: Tree, costs: Costs) -> dict[str, Any]:
    """The network and its parts; ``parameters`` in elements, ``bytes``, ``flops`` of one forward pass."""
    network, parts = model_parts(tree, costs)
    return {
        "claims": [claim.as_json() for claim in _repeats(tree, parts)],
        "network": {**entry(tree, network), **costs_json(costs, network)},
        "parts": [_part_json(tree, costs, part) for part in parts],
    }


def _repeats(tree: Tree, parts: list[Part]) -> Iterator[Claim]:
    """Yield how many equal layers stand behind each repeated part."""
    for part in parts:
        if tree.types[part.index] == REPEAT:
            count, _, layer = display_name(tree, part.index).partition(" × ")
            yield Claim(
                "claim.graph.repeats", "note", {"n": int(count), "layer": layer}, ({"node": part.index},)
            )
        yield from _repeats(tree, part.inside)


def costs_json(costs: Costs, index: int) -> dict[str, Any]:
    """Costs of one scope or operator as JSON."""
    return {
        "parameters": int(costs.parameters[index]),
        "bytes": int(costs.bytes[index]),
        "flops": float(costs.flops[index]),
    }


def _part_json(tree: Tree, costs: Costs, part: Part) -> dict[str, Any]:
    return {
        **entry(tree, part.index),
        **costs_json(costs, part.index),
        "inside": [_part_json(tree, costs, inner) for inner in part.inside],
    }
