"""Dependency search: what a node depends on, and what depends on it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import numpy as np

from mindinsight.server.graph.model.graph import Numbers
from mindinsight.server.graph.scopes.tree import ROOT, Tree

Direction = Literal["up", "down"]


def trace(tree: Tree, place: int, direction: Direction) -> Numbers:
    """Search for the leaves that a place depends on (up) or that depend on it (down), its own included."""
    here, there = tree.edges.targets, tree.edges.sources
    if direction == "down":
        here, there = there, here
    order = np.argsort(here, kind="stable")
    begins = np.searchsorted(here[order], np.arange(len(tree.paths) + 1)).tolist()
    following = there[order].tolist()
    met = dict.fromkeys(tree.leaves(place))
    waiting = list(met)
    for leaf in waiting:
        for other in following[begins[leaf] : begins[leaf + 1]]:
            if other not in met:
                met[other] = None
                waiting.append(other)
    return np.array(sorted(met), dtype=np.int32)


def count_by_box(tree: Tree, boxes: Iterable[int], leaves: Numbers) -> dict[int, int]:
    """Count the leaves (sorted) in each box that holds any."""
    counts = {
        box: int(np.searchsorted(leaves, tree.ends[box]) - np.searchsorted(leaves, box)) for box in boxes
    }
    return {box: count for box, count in counts.items() if count and box != ROOT}
