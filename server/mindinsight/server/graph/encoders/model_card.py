"""JSON encoder of the outline of a network, with the costs of each part."""

from __future__ import annotations

from typing import Any

from mindinsight.server.graph.encoders.nodes import entry
from mindinsight.server.graph.scopes.costs import Costs
from mindinsight.server.graph.scopes.model_card import Part, model_parts
from mindinsight.server.graph.scopes.tree import Tree


def model_card_json(tree: Tree, costs: Costs) -> dict[str, Any]:
    """The network and its parts; ``parameters`` in elements, ``bytes``, ``flops`` of one forward pass."""
    network, parts = model_parts(tree, costs)
    return {
        "network": {**entry(tree, network), **costs_json(costs, network)},
        "parts": [_part_json(tree, costs, part) for part in parts],
    }


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
