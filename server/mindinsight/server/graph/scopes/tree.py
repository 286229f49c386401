"""Tree of scopes of a graph; its leaves are operators, parameters and constants."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np

from mindinsight.server.graph.model.graph import Edges, Flags, Graph, Numbers, Offsets

SCOPE: Final = "name_scope"
GROUP: Final = "aggregation_scope"
ROOT: Final = 0
PLUMBING: Final = frozenset(
    {"Load", "UpdateState", "Depend", "MakeTuple", "TupleGetItem", "Return", "Partial", "StopGradient"}
)  # types of operators that only pass values on


@dataclass(frozen=True, eq=False)
class Tree:
    """Scope tree as arrays in preorder; an index is 0..t-1, and 0 is the root.

    The descendants of a scope are therefore one range of indices. Parameters and constants occur once in
    each scope that uses them, so several leaves may stand for one node of the graph.
    """

    graph: Graph
    paths: tuple[str, ...]  # [t] unique; "" for the top
    types: tuple[str, ...]  # [t] an operator's type, Parameter, Const, SCOPE or GROUP
    nodes: Numbers  # [t] the graph's node, -1 for a scope
    parents: Numbers  # [t] -1 for the top
    ends: Numbers  # [t] one past the last descendant
    creation_order: Numbers  # [t] operators in file order first, then parameters, groups, scopes, constants
    edges: Edges  # between leaves

    @cached_property
    def indices(self) -> dict[str, int]:
        """Index of each path."""
        return {path: index for index, path in enumerate(self.paths)}

    @cached_property
    def leaf_indices(self) -> Numbers:
        """[n] index of a leaf for each node of the graph, -1 for nodes without one."""
        indices = np.full(len(self.graph), -1, dtype=np.int32)
        leaves = np.flatnonzero(self.nodes >= 0)
        indices[self.nodes[leaves]] = leaves
        return indices

    @cached_property
    def counts(self) -> Offsets:
        """[t] number of children."""
        return np.bincount(self.parents[1:], minlength=len(self.paths))

    @cached_property
    def _siblings(self) -> tuple[Offsets, Offsets]:
        """All indices but the root, grouped by parent, and where each parent's group begins."""
        order = np.argsort(self.parents[1:], kind="stable") + 1
        return order, np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(self.counts)])

    def children(self, index: int) -> list[int]:
        """Indices of the children, ascending."""
        order, begins = self._siblings
        return [int(child) for child in order[begins[index] : begins[index + 1]]]

    def is_leaf(self, index: int) -> bool:
        """Whether an index is an operator, parameter or constant."""
        return bool(self.nodes[index] >= 0)

    def leaves(self, index: int) -> list[int]:
        """Indices of the leaves of a subtree, the index itself included, in preorder."""
        inside = np.arange(index, self.ends[index])
        return [int(leaf) for leaf in inside[self.nodes[inside] >= 0]]

    def ancestors(self, index: int) -> list[int]:
        """Indices of the enclosing scopes, outermost first, without the root."""
        scopes = []
        while (index := int(self.parents[index])) > ROOT:
            scopes.append(index)
        return scopes[::-1]

    def in_subtree(self, index: int, indices: Numbers) -> Flags:
        """Flag per element of ``indices``: whether it lies in the subtree of ``index``."""
        return np.asarray((indices >= index) & (indices < self.ends[index]))

    def inner_edges(self, index: int) -> Edges:
        """Edges between leaves of a subtree."""
        edges = self._edges_of_subtree(self._by_source, index)
        return self.edges.select(edges[self.in_subtree(index, self.edges.targets[edges])])

    def boundary_edges(self, index: int) -> tuple[Edges, Edges]:
        """Edges that enter a subtree from outside, and edges that leave it."""
        into, out_of = (self._edges_of_subtree(ends, index) for ends in (self._by_target, self._by_source))
        into = into[~self.in_subtree(index, self.edges.sources[into])]
        out_of = out_of[~self.in_subtree(index, self.edges.targets[out_of])]
        return self.edges.select(into), self.edges.select(out_of)

    @cached_property
    def _by_target(self) -> _EdgeIndex:
        return _index(self.edges.targets, len(self.paths))

    @cached_property
    def _by_source(self) -> _EdgeIndex:
        return _index(self.edges.sources, len(self.paths))

    def _edges_of_subtree(self, ends: _EdgeIndex, index: int) -> Offsets:
        """Edges with that end in the subtree, in their own order."""
        return np.sort(ends.edges[ends.begins[index] : ends.begins[self.ends[index]]])


class _EdgeIndex(NamedTuple):
    """Edges grouped by one of their ends, so that a lookup need not scan all edges."""

    edges: Offsets  # [e] numbers of edges
    begins: Offsets  # [t + 1] where in ``edges`` each group begins


def _index(ends: Numbers, indices: int) -> _EdgeIndex:
    counts = np.bincount(ends, minlength=indices)
    begins = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(counts)])
    return _EdgeIndex(np.argsort(ends, kind="stable"), begins)
