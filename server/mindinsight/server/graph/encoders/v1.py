"""JSON encoding of graphs for the v1 interface: nodes with their attributes, inputs and outputs.

All functions take the tree of the recorded graph (``build_tree(graph)``) or of the simplified one
(``build_tree(simplify(graph), Folding(least=10))``). A name that is not in the tree raises UnknownNode.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from mindinsight.server.graph.model.graph import PARAMETER, PARAMETER_TYPE, Edges
from mindinsight.server.graph.model.node_details import (
    Output,
    attribute_texts,
    output_index,
    output_of,
    says_dynamic,
)
from mindinsight.server.graph.scopes.tree import GROUP, ROOT, Tree
from mindinsight.server.graph.search.node_search import match_end_of_path, nested

Node = dict[str, Any]
MOST_EDGES: Final = 1_000_000  # of the leaves that are answered at once


class UnknownNode(LookupError):  # noqa: N818
    """The tree has no such scope or node."""


class TooManyEdges(ValueError):  # noqa: N818
    """An answer would be too large to be made or read."""


def children(tree: Tree, name: str = "") -> list[Node]:
    """The nodes directly inside a scope; none inside a leaf."""
    encoder = _Encoder(tree)
    return [encoder.node(place) for place in tree.children(_place(tree, name))]


def all_leaves(tree: Tree, name: str = "") -> list[Node]:
    """All leaves below a scope, depth first. Raises TooManyEdges."""
    place = _place(tree, name)
    if len(tree.edges) > MOST_EDGES and edges_at(tree, place) > MOST_EDGES:
        raise TooManyEdges(place)
    encoder = _Encoder(tree)
    return [encoder.node(leaf) for leaf in tree.leaves(place) if leaf != place]


def search_names(tree: Tree, search: str, offset: int = 0, limit: int = 100) -> list[Node]:
    """The tree of the nodes that match and their ancestors; ``offset`` counts pages of ``limit`` nodes."""
    matches = match_end_of_path(tree, search)[offset * limit : (offset + 1) * limit]
    encoder = _Encoder(tree)
    dynamic = {place: encoder.is_dynamic(place) for place in matches}
    for place in matches:
        for scope in tree.ancestors(place):
            dynamic.setdefault(scope, dynamic[place])

    def entry(place: int, inside: list[Node]) -> Node:
        return {
            "name": tree.paths[place],
            "type": tree.types[place],
            "is_dynamic_shape_node": dynamic[place],
            "nodes": inside,
        }

    return nested(tree, matches, entry)


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
    return _Encoder(tree).node(place)


def edges_at(tree: Tree, place: int) -> int:
    """Edges that end or begin at or below a place."""
    into, out_of = tree.below(place, tree.edges.targets), tree.below(place, tree.edges.sources)
    return int(np.count_nonzero(into | out_of))


class _Encoder:
    """Encoder of the nodes of one tree; the output of a node is decoded once."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self._outputs: dict[int, Output] = {}
        self._ends: dict[tuple[int, int, bool], Node] = {}

    def node(self, place: int) -> Node:
        """One node or scope."""
        tree = self.tree
        node = int(tree.nodes[place])
        inputs, outputs = tree.crossing(place)
        outputs = outputs.select(np.argsort(tree.ages[outputs.sources], kind="stable"))
        groups = _ParameterGroups(tree, place)
        return {
            "name": tree.paths[place],
            "type": tree.types[place],
            "is_dynamic_shape_node": self._is_dynamic(node, inputs, outputs),
            "attr": attribute_texts(tree.graph, node) if node >= 0 else {},
            "input": self._by_name(inputs, inputs.sources.tolist()),
            "output": self._by_name(outputs, outputs.targets.tolist()),
            "output_i": output_index(tree.graph, node) if node >= 0 else 0,
            "proxy_input": groups.feeding(inputs),
            "proxy_output": groups.fed(outputs),
            "subnode_count": int(tree.counts[place]),
            "independent_layout": _independent(tree, place),
            "stack_info": [],
        }

    def is_dynamic(self, place: int) -> bool:
        """Whether a shape that goes in or out is not known before the graph runs."""
        return self._is_dynamic(int(self.tree.nodes[place]), *self.tree.crossing(place))

    def _is_dynamic(self, node: int, inputs: Edges, outputs: Edges) -> bool:
        if node >= 0 and says_dynamic(self.tree.graph, node):
            return True
        sources = {*inputs.sources.tolist(), *outputs.sources.tolist()}
        return any(self._output(source).dynamic for source in sources)

    def _by_name(self, edges: Edges, others: list[int]) -> Node:
        """The other ends of edges by name, with what flows; of several edges to one end the last counts."""
        ends = zip(edges.sources.tolist(), others, edges.controls.tolist(), strict=True)
        return {self.tree.paths[other]: self._end(source, other, control) for source, other, control in ends}

    def _end(self, source: int, other: int, control: bool) -> Node:
        """What flows out of ``source`` to or from the place ``other``: one object for all equal ends."""
        parent = int(self.tree.parents[other]) if self.tree.nodes[other] >= 0 else other
        key = (source, parent, control)
        if key not in self._ends:
            output = self._output(source)
            self._ends[key] = {
                "shape": output.shapes,
                "edge_type": "control" if control else "data",
                "independent_layout": _independent(self.tree, other),
                "data_type": output.type,
            }
        return self._ends[key]

    def _output(self, place: int) -> Output:
        if place not in self._outputs:
            self._outputs[place] = output_of(self.tree.graph, int(self.tree.nodes[place]))
        return self._outputs[place]


def _place(tree: Tree, name: str) -> int:
    try:
        return tree.places[name]
    except KeyError:
        raise UnknownNode(name) from None


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
        targets: Node = {}
        for source, target in zip(outputs.sources.tolist(), outputs.targets.tolist(), strict=True):
            scope = int(self.tree.parents[self.tree.parents[source]])
            inside = target
            while self.tree.parents[inside] != scope:
                inside = int(self.tree.parents[inside])
            targets[self.tree.paths[inside]] = {"edge_type": "data"}
        return targets

    def _holds_parameters(self, place: int) -> bool:
        return self.tree.types[place] == GROUP and self.tree.types[place + 1] == PARAMETER_TYPE
