"""JSON encoders of one scope, operator, parameter or constant, and of the outline of a network."""

from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from mindinsight.server.claims import Claim
from mindinsight.server.graph.encoders.drawing_json import kind_of
from mindinsight.server.graph.model.graph import CONSTANT, OPERATOR, Edges
from mindinsight.server.graph.model.node_details import attribute_summaries, output_of
from mindinsight.server.graph.scopes.costs import Costs
from mindinsight.server.graph.scopes.folding import REPEAT, display_name, identical_scopes
from mindinsight.server.graph.scopes.network_outline import Part, model_parts
from mindinsight.server.graph.scopes.scope_tree import Tree
from mindinsight.server.graph.search import sorted_counts

_MOST_HITS: Final = 20_000  # limit of a list of indices
_MOST: Final = 200  # limit of a list of entries, which comes with the total


def describe_node(tree: Tree, index: int) -> dict[str, Any]:
    """Return a scope or an operator as JSON: path, ancestors, type, inputs and outputs."""
    node = int(tree.nodes[index])
    inputs, outputs = tree.boundary_edges(index)
    leaves = tree.leaves(index)
    answer: dict[str, Any] = {
        **entry(tree, index),
        "around": [entry(tree, scope) for scope in tree.ancestors(index)],
        "inputs": _neighbours(tree, inputs, inputs.sources, inputs.sources),
        "outputs": _neighbours(tree, outputs, outputs.targets, outputs.sources),
        "outer": _outer_values(tree, leaves),
    }
    if node < 0:
        identical = identical_scopes(tree, index)
        return answer | {
            "operators": len(leaves),
            "types": sorted_counts(tree.types[leaf] for leaf in leaves),
            "identical": {
                "total": len(identical),
                "shown": [entry(tree, scope) for scope in identical[:_MOST]],
            },
        }
    output = output_of(tree.graph, node)
    attributes = attribute_summaries(tree.graph, node)
    return answer | {"output": output.text, "dynamic": output.dynamic, "attributes": attributes}


def flow_json(tree: Tree, source: int, target: int) -> dict[str, Any]:
    """Return the values along a line between two boxes as JSON, each once, with the operators that use it.
    One box may enclose the other. ``total`` counts all values, of which the first are ``shown``."""
    edges = tree.edges
    from_inside, to_inside = tree.in_subtree(source, edges.sources), tree.in_subtree(target, edges.targets)
    if tree.in_subtree(source, np.array([target], dtype=np.int32))[0]:
        from_inside = ~from_inside
    elif tree.in_subtree(target, np.array([source], dtype=np.int32))[0]:
        to_inside = ~to_inside
    flowing = edges.select(from_inside & to_inside)
    values: dict[int, dict[str, Any]] = {}
    for leaf, user, control in zip(
        flowing.sources.tolist(), flowing.targets.tolist(), flowing.controls.tolist(), strict=True
    ):
        if leaf not in values:
            text = output_of(tree.graph, int(tree.nodes[leaf])).text
            values[leaf] = {**entry(tree, leaf), "text": text, "control": control, "users": []}
        values[leaf]["users"].append(entry(tree, user))
    return {
        "source": entry(tree, source),
        "target": entry(tree, target),
        "values": {"total": len(values), "shown": list(values.values())[:_MOST]},
    }


def describe_outer(tree: Tree, node: int) -> dict[str, Any]:
    """Return a parameter or constant of the graph as JSON, with the operators that use it."""
    graph = tree.graph
    users = np.unique(graph.edges.targets[graph.edges.sources == node])
    indices = [index for index in tree.leaf_indices[users].tolist() if index >= 0]
    return {
        **outer_entry(tree, node),
        "attributes": attribute_summaries(graph, node),
        "users": {"total": len(indices), "shown": [entry(tree, index) for index in indices[:_MOST]]},
        "hits": sorted(indices[:_MOST_HITS]),
    }


def entry(tree: Tree, index: int) -> dict[str, Any]:
    """Return the list entry of a scope or an operator as JSON."""
    return {
        "id": index,
        "path": tree.paths[index],
        "label": display_name(tree, index),
        "kind": kind_of(tree, index),
        "type": tree.types[index],
        "count": int(tree.counts[index]),
    }


def outer_entry(tree: Tree, node: int) -> dict[str, Any]:
    """Return the list entry of a parameter or a constant as JSON."""
    return {
        "node": node,
        "label": tree.graph.names[node],
        "kind": "constant" if tree.graph.kinds[node] == CONSTANT else "parameter",
        "text": output_of(tree.graph, node).text,
    }


def _neighbours(tree: Tree, edges: Edges, ends: Any, sources: Any) -> dict[str, Any]:
    """Return the neighbours at the other ends of edges, at most _MOST, with the type of the value passed."""
    neighbours: dict[int, dict[str, Any]] = {}
    columns = (ends.tolist(), sources.tolist(), edges.controls.tolist())
    total = len(set(columns[0]))
    for end, source, control in zip(*columns, strict=True):
        if end in neighbours or len(neighbours) == _MOST:
            continue
        text = output_of(tree.graph, int(tree.nodes[source])).text
        neighbours[end] = {**entry(tree, end), "text": text, "control": control}
    return {"total": total, "shown": list(neighbours.values())}


def _outer_values(tree: Tree, leaves: list[int]) -> dict[str, Any]:
    """Return the parameters and constants that the leaves use, in order of the edges."""
    graph = tree.graph
    used = np.zeros(len(graph), dtype=np.bool_)
    used[tree.nodes[leaves]] = True
    edges = graph.edges.select(used[graph.edges.targets] & (graph.kinds[graph.edges.sources] != OPERATOR))
    nodes = list(dict.fromkeys(edges.sources.tolist()))
    return {"total": len(nodes), "shown": [outer_entry(tree, node) for node in nodes[:_MOST]]}


def model_card_json(tree: Tree, costs: Costs) -> dict[str, Any]:
    """Return the network and its parts as JSON, with ``parameters``, ``bytes`` and ``flops`` of a forward
    pass."""
    network, parts = model_parts(tree, costs)
    return {
        "claims": [
            claim.as_json() for claim in (*_repeats(tree, parts), *_unknown_costs(tree, costs, network))
        ],
        "network": {**entry(tree, network), **costs_json(costs, network)},
        "parts": [_part_json(tree, costs, part) for part in parts],
        "roles": costs.roles,
    }


def _repeats(tree: Tree, parts: list[Part]) -> Iterator[Claim]:
    """Yield a claim on the number of equal layers of each repeated part."""
    for part in parts:
        if tree.types[part.index] == REPEAT:
            count, _, layer = display_name(tree, part.index).partition(" × ")
            yield Claim(
                "claim.graph.repeats", "note", {"n": int(count), "layer": layer}, ({"node": part.index},)
            )
        yield from _repeats(tree, part.inside)


def _unknown_costs(tree: Tree, costs: Costs, network: int) -> Iterator[Claim]:
    """Yield claims on operators of unknown cost, and on parameters that only their names mark as inputs or
    not."""
    if uncounted := int(costs.uncounted[network]):
        yield Claim("claim.graph.flops_unknown", "unknown", {"n": uncounted})
    if guessed := costs.roles["guessed"]:
        yield Claim("claim.graph.roles_guessed", "note", {"n": guessed})


def costs_json(costs: Costs, index: int) -> dict[str, Any]:
    """Return the costs of one scope or operator as JSON."""
    return {
        "parameters": int(costs.parameters[index]),
        "bytes": int(costs.bytes[index]),
        "flops": float(costs.flops[index]),
        "uncounted": int(costs.uncounted[index]),
    }


def _part_json(tree: Tree, costs: Costs, part: Part) -> dict[str, Any]:
    return {
        **entry(tree, part.index),
        **costs_json(costs, part.index),
        "inside": [_part_json(tree, costs, inner) for inner in part.inside],
    }
