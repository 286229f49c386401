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


@dataclass(frozen=True, eq=False)
class Tree:
    """Scope tree in preorder: a place is a preorder index 0..t-1, and 0 is the root.

    The places below a scope are therefore one range. Parameters and constants occur once in each scope
    that uses them, so ``nodes`` may name one node of the graph at several places.
    """

    graph: Graph
    paths: tuple[str, ...]  # [t] unique; "" for the top
    types: tuple[str, ...]  # [t] an operator's type, Parameter, Const, SCOPE or GROUP
    nodes: Numbers  # [t] the graph's node, -1 for a scope
    parents: Numbers  # [t] -1 for the top
    ends: Numbers  # [t] one behind the last place below
    ages: Numbers  # [t] operators in file order first, then parameters, groups, scopes, constants
    edges: Edges  # between leaves

    @cached_property
    def places(self) -> dict[str, int]:
        """The place of each path."""
        return {path: place for place, path in enumerate(self.paths)}

    @cached_property
    def leaf_places(self) -> Numbers:
        """[n] a place of each node of the graph, -1 for those without."""
        places = np.full(len(self.graph), -1, dtype=np.int32)
        leaves = np.flatnonzero(self.nodes >= 0)
        places[self.nodes[leaves]] = leaves
        return places

    @cached_property
    def counts(self) -> Offsets:
        """[t] how many places lie directly inside each place."""
        return np.bincount(self.parents[1:], minlength=len(self.paths))

    @cached_property
    def _siblings(self) -> tuple[Offsets, Offsets]:
        """All places but the top by their parents, and where each parent's begin."""
        order = np.argsort(self.parents[1:], kind="stable") + 1
        return order, np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(self.counts)])

    def children(self, place: int) -> list[int]:
        """The places directly inside a place, in order."""
        order, begins = self._siblings
        return [int(child) for child in order[begins[place] : begins[place + 1]]]

    def is_leaf(self, place: int) -> bool:
        return bool(self.nodes[place] >= 0)

    def leaves(self, place: int) -> list[int]:
        """The leaves at and below a place, in the order of the walk."""
        inside = np.arange(place, self.ends[place])
        return [int(leaf) for leaf in inside[self.nodes[inside] >= 0]]

    def ancestors(self, place: int) -> list[int]:
        """The scopes around a place, outermost first; the top is left out."""
        scopes = []
        while (place := int(self.parents[place])) > ROOT:
            scopes.append(place)
        return scopes[::-1]

    def below(self, place: int, places: Numbers) -> Flags:
        """Which of ``places`` are the place or inside it."""
        return np.asarray((places >= place) & (places < self.ends[place]))

    def crossing(self, place: int) -> tuple[Edges, Edges]:
        """The edges that come in from outside a place, and those that leave it."""
        into, out_of = (self._touching(index, place) for index in (self._by_target, self._by_source))
        into = into[~self.below(place, self.edges.sources[into])]
        out_of = out_of[~self.below(place, self.edges.targets[out_of])]
        return self.edges.select(into), self.edges.select(out_of)

    @cached_property
    def _by_target(self) -> _EdgeIndex:
        return _index(self.edges.targets, len(self.paths))

    @cached_property
    def _by_source(self) -> _EdgeIndex:
        return _index(self.edges.sources, len(self.paths))

    def _touching(self, index: _EdgeIndex, place: int) -> Offsets:
        """The edges with that end at or below a place, in their own order."""
        return np.sort(index.edges[index.begins[place] : index.begins[self.ends[place]]])


class _EdgeIndex(NamedTuple):
    """Index of the edges by the place of one end, so that a lookup need not scan all edges."""

    edges: Offsets  # [e] numbers of edges
    begins: Offsets  # [t + 1] where in ``edges`` those of each place begin


def _index(ends: Numbers, places: int) -> _EdgeIndex:
    counts = np.bincount(ends, minlength=places)
    begins = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(counts)])
    return _EdgeIndex(np.argsort(ends, kind="stable"), begins)
