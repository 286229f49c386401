"""Graphs in the words of MindInsight's interface: nodes with their attributes, inputs and outputs as JSON.

All functions take the tree of the recorded graph (``build_tree(graph)``) or of the simplified one
(``build_tree(simplify(graph), Folding(least=10))``). A name that is not in the tree raises UnknownNode.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mindinsight.server.graph.details import (
    Output,
    attribute_texts,
    output_index,
    output_of,
    says_dynamic,
)
from mindinsight.server.graph.model import PARAMETER, PARAMETER_TYPE, Edges
from mindinsight.server.graph.search import match_end_of_path, nested
from mindinsight.server.graph.tree import GROUP, ROOT, Tree

Node = dict[str, Any]


class UnknownNode(LookupError):  # noqa: N818
    """The tree has no such scope or node."""


def children(tree: Tree, name: str = "") -> list[Node]:
    """The nodes directly inside a scope; none inside a leaf."""
    return [node_json(tree, place) for place in tree.children(_place(tree, name))]


def all_leaves(tree: Tree, name: str = "") -> list[Node]:
    """All leaves below a scope, depth first."""
    place = _place(tree, name)
    return [node_json(tree, leaf) for leaf in tree.leaves(place) if leaf != place]


def found_names(tree: Tree, search: str, offset: int = 0, limit: int = 100) -> list[Node]:
    """The tree of the nodes that match and their ancestors; ``offset`` counts pages of ``limit`` nodes."""
    found = match_end_of_path(tree, search)[offset * limit : (offset + 1) * limit]
    dynamic = {place: _is_dynamic(tree, place) for place in found}
    for place in found:
        for scope in tree.ancestors(place):
            dynamic.setdefault(scope, dynamic[place])

    def entry(place: int, inside: list[Node]) -> Node:
        return {
            "name": tree.paths[place],
            "type": tree.types[place],
            "is_dynamic_shape_node": dynamic[place],
            "nodes": inside,
        }

    return nested(tree, found, entry)


def levels(tree: Tree, name: str) -> Node:
    """All levels from the top to the one that holds a node."""
    place = _place(tree, name)
    answer: Node = {}
    for scope in [*tree.ancestors(place)[::-1], ROOT]:
        path = tree.paths[scope]
        answer = {"scope_name": path, "nodes": children(tree, path), "children": answer}
    return answer


def node_json(tree: Tree, place: int) -> Node:
    """One node or scope."""
    node = int(tree.nodes[place])
    inputs, outputs = tree.crossing(place)
    outputs = outputs.select(np.argsort(tree.ages[outputs.sources], kind="stable"))
    groups = _ParameterGroups(tree, place)
    return {
        "name": tree.paths[place],
        "type": tree.types[place],
        "is_dynamic_shape_node": _is_dynamic(tree, place),
        "attr": attribute_texts(tree.graph, node) if node >= 0 else {},
        "input": _ends(tree, inputs, inputs.sources.tolist()),
        "output": _ends(tree, outputs, outputs.targets.tolist()),
        "output_i": output_index(tree.graph, node) if node >= 0 else 0,
        "proxy_input": groups.feeding(inputs),
        "proxy_output": groups.fed(outputs),
        "subnode_count": int(tree.counts[place]),
        "independent_layout": _independent(tree, place),
        "stack_info": [],
    }


def _place(tree: Tree, name: str) -> int:
    try:
        return tree.places[name]
    except KeyError:
        raise UnknownNode(name) from None


def _ends(tree: Tree, edges: Edges, others: list[int]) -> Node:
    """The other ends of edges by name, with what flows; of several edges to one end the last counts."""
    known: dict[int, Output] = {}
    found = {}
    for source, other, control in zip(edges.sources.tolist(), others, edges.controls.tolist(), strict=True):
        if source not in known:
            known[source] = output_of(tree.graph, int(tree.nodes[source]))
        found[tree.paths[other]] = {
            "shape": known[source].shapes,
            "edge_type": "control" if control else "data",
            "independent_layout": _independent(tree, other),
            "data_type": known[source].type,
        }
    return found


def _is_dynamic(tree: Tree, place: int) -> bool:
    """Whether a shape that goes in or out is not known before the graph runs."""
    node = int(tree.nodes[place])
    if node >= 0 and says_dynamic(tree.graph, node):
        return True
    inputs, outputs = tree.crossing(place)
    sources = {*inputs.sources.tolist(), *outputs.sources.tolist()}
    return any(output_of(tree.graph, int(tree.nodes[source])).dynamic for source in sources)


def _independent(tree: Tree, place: int) -> bool:
    """Whether a place is a group of parameters or in one: they are drawn apart."""
    if tree.nodes[place] >= 0:
        place = int(tree.parents[place])
    if tree.types[place] != GROUP:
        return False
    leaf = int(tree.nodes[place + 1])
    return bool(tree.graph.kinds[leaf] == PARAMETER)


class _ParameterGroups:
    """Groups of parameters stand for their members beside the nodes they feed."""

    def __init__(self, tree: Tree, place: int) -> None:
        self.tree = tree
        self.independent = _independent(tree, place)

    def feeding(self, inputs: Edges) -> Node:
        """The groups that feed a node."""
        parents = {int(self.tree.parents[source]) for source in inputs.sources.tolist()}
        return {
            self.tree.paths[group]: {"edge_type": "data"}
            for group in sorted(parents)
            if group > ROOT and self._holds_parameters(group)
        }

    def fed(self, outputs: Edges) -> Node:
        """What a group of parameters, or one of them, feeds in the scope around the group."""
        if not self.independent:
            return {}
        found: Node = {}
        for source, target in zip(outputs.sources.tolist(), outputs.targets.tolist(), strict=True):
            scope = int(self.tree.parents[self.tree.parents[source]])
            inside = target
            while self.tree.parents[inside] != scope:
                inside = int(self.tree.parents[inside])
            found[self.tree.paths[inside]] = {"edge_type": "data"}
        return found

    def _holds_parameters(self, place: int) -> bool:
        return self.tree.types[place] == GROUP and self.tree.types[place + 1] == PARAMETER_TYPE
