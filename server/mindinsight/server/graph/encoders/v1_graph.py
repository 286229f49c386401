"""JSON encoder of graphs for the v1 interface: nodes with their attributes, inputs and outputs.

All functions take the tree of the recorded graph (``build_tree(graph)``) or of the simplified one
(``build_tree(simplify(graph), Folding(least=10))``). They raise UnknownNode for a name that is not in it.
"""

from typing import Any, Final

import numpy as np

from mindinsight.server.graph.model.graph import PARAMETER, PARAMETER_TYPE, Edges
from mindinsight.server.graph.model.node_details import (
    Output,
    attribute_texts,
    is_marked_dynamic,
    output_index,
    output_of,
)
from mindinsight.server.graph.scopes.scope_tree import GROUP, ROOT, Tree
from mindinsight.server.graph.search import match_end_of_path, nest

Node = dict[str, Any]
MOST_EDGES: Final = 1_000_000  # limit of the edges of the leaves in one response


class UnknownNode(LookupError):  # noqa: N818
    """Error: the tree has no scope or node of this name."""


class TooManyEdges(ValueError):  # noqa: N818
    """Error: a response would have more than `MOST_EDGES` edges, too large to build or to read."""


def children(tree: Tree, name: str = "") -> list[Node]:
    """Return the nodes directly inside a scope, by default the root, as JSON, [] for a leaf. Raises
    UnknownNode."""
    encoder = _Encoder(tree)
    return [encoder.node(index) for index in tree.children(_index_of(tree, name))]


def all_leaves(tree: Tree, name: str = "") -> list[Node]:
    """Return all leaves below a scope, by default the root, as JSON, depth first. Raises UnknownNode or
    TooManyEdges."""
    index = _index_of(tree, name)
    if len(tree.edges) > MOST_EDGES and edges_at(tree, index) > MOST_EDGES:
        raise TooManyEdges(index)
    encoder = _Encoder(tree)
    return [encoder.node(leaf) for leaf in tree.leaves(index) if leaf != index]


def search_names(tree: Tree, search: str, offset: int = 0, limit: int = 100) -> list[Node]:
    """Return a page of the nodes that `match_end_of_path` finds, nested in their ancestors, as JSON.
    ``offset`` counts pages of ``limit`` nodes."""
    matches = match_end_of_path(tree, search)[offset * limit : (offset + 1) * limit]
    encoder = _Encoder(tree)
    dynamic = {index: encoder.is_dynamic(index) for index in matches}
    for index in matches:
        for scope in tree.ancestors(index):
            dynamic.setdefault(scope, dynamic[index])

    def entry(index: int, inside: list[Node]) -> Node:
        return {
            "name": tree.paths[index],
            "type": tree.types[index],
            "is_dynamic_shape_node": dynamic[index],
            "nodes": inside,
        }

    return nest(tree, matches, entry)


def levels(tree: Tree, name: str) -> Node:
    """Return the nodes of each level from the root to a node, nested in ``children``. Raises UnknownNode."""
    index = _index_of(tree, name)
    answer: Node = {}
    for scope in [*tree.ancestors(index)[::-1], ROOT]:
        path = tree.paths[scope]
        answer = {"scope_name": path, "nodes": children(tree, path), "children": answer}
    return answer


def node_json(tree: Tree, index: int) -> Node:
    """Return one node or scope as JSON."""
    return _Encoder(tree).node(index)


def edges_at(tree: Tree, index: int) -> int:
    """Return the number of edges with an end in the subtree of an index."""
    into, out_of = tree.in_subtree(index, tree.edges.targets), tree.in_subtree(index, tree.edges.sources)
    return int(np.count_nonzero(into | out_of))


class _Encoder:
    """JSON encoder of the nodes of one tree. Decoded outputs are cached."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self._outputs: dict[int, Output] = {}
        self._ends: dict[tuple[int, int, bool], Node] = {}

    def node(self, index: int) -> Node:
        """Return one node or scope as JSON."""
        tree = self.tree
        node = int(tree.nodes[index])
        inputs, outputs = tree.boundary_edges(index)
        outputs = outputs.select(np.argsort(tree.creation_order[outputs.sources], kind="stable"))

        return {
            "name": tree.paths[index],
            "type": tree.types[index],
            "is_dynamic_shape_node": self._is_dynamic(node, inputs, outputs),
            "attr": attribute_texts(tree.graph, node) if node >= 0 else {},
            "input": self._by_name(inputs, inputs.sources.tolist()),
            "output": self._by_name(outputs, outputs.targets.tolist()),
            "output_i": output_index(tree.graph, node) if node >= 0 else 0,
            "proxy_input": _input_groups(tree, inputs),
            "proxy_output": _output_nodes(tree, index, outputs),
            "subnode_count": int(tree.counts[index]),
            "independent_layout": _independent(tree, index),
            "stack_info": [],
        }

    def is_dynamic(self, index: int) -> bool:
        """Return True if the shape of an input or output is unknown before the graph runs."""
        return self._is_dynamic(int(self.tree.nodes[index]), *self.tree.boundary_edges(index))

    def _is_dynamic(self, node: int, inputs: Edges, outputs: Edges) -> bool:
        if node >= 0 and is_marked_dynamic(self.tree.graph, node):
            return True
        sources = {*inputs.sources.tolist(), *outputs.sources.tolist()}
        return any(self._output(source).dynamic for source in sources)

    def _by_name(self, edges: Edges, neighbours: list[int]) -> Node:
        """Return the neighbours at the ends of edges as JSON, by path. If several edges lead to one
        neighbour, the last is used."""
        ends = zip(edges.sources.tolist(), neighbours, edges.controls.tolist(), strict=True)
        return {
            self.tree.paths[neighbour]: self._end(source, neighbour, control)
            for source, neighbour, control in ends
        }

    def _end(self, source: int, neighbour: int, control: bool) -> Node:
        """Return the value of ``source`` at an edge to or from ``neighbour``. Equal values are one object."""
        parent = int(self.tree.parents[neighbour]) if self.tree.nodes[neighbour] >= 0 else neighbour
        key = (source, parent, control)
        if key not in self._ends:
            output = self._output(source)
            self._ends[key] = {
                "shape": output.shapes,
                "edge_type": "control" if control else "data",
                "independent_layout": _independent(self.tree, neighbour),
                "data_type": output.type,
            }
        return self._ends[key]

    def _output(self, index: int) -> Output:
        if index not in self._outputs:
            self._outputs[index] = output_of(self.tree.graph, int(self.tree.nodes[index]))
        return self._outputs[index]


def _index_of(tree: Tree, name: str) -> int:
    try:
        return tree.indices[name]
    except KeyError:
        raise UnknownNode(name) from None


def _independent(tree: Tree, index: int) -> bool:
    """Return True if an index is a group of parameters or inside one. MindInsight draws these outside of the
    graph."""
    if tree.nodes[index] >= 0:
        index = int(tree.parents[index])
    if tree.types[index] != GROUP:
        return False
    leaf = int(tree.nodes[index + 1])
    return bool(tree.graph.kinds[leaf] == PARAMETER)


def _input_groups(tree: Tree, inputs: Edges) -> Node:
    """Return the groups of parameters that feed a node, by path. They replace their members."""
    parents = {int(tree.parents[source]) for source in inputs.sources.tolist()}
    return {
        tree.paths[group]: {"edge_type": "data"}
        for group in sorted(parents)
        if group > ROOT and tree.types[group] == GROUP and tree.types[group + 1] == PARAMETER_TYPE
    }


def _output_nodes(tree: Tree, index: int, outputs: Edges) -> Node:
    """Return the nodes that a group of parameters, or a member of one, feeds in its parent scope, by path."""
    if not _independent(tree, index):
        return {}
    targets: Node = {}
    for source, target in zip(outputs.sources.tolist(), outputs.targets.tolist(), strict=True):
        scope = int(tree.parents[tree.parents[source]])
        inside = target
        while tree.parents[inside] != scope:
            inside = int(tree.parents[inside])
        targets[tree.paths[inside]] = {"edge_type": "data"}
    return targets
