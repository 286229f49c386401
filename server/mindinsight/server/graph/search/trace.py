"""Dependency search: transitive inputs and users of a node, by breadth-first search."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import numpy as np

from mindinsight.server.graph.model.graph import Numbers
from mindinsight.server.graph.scopes.tree import ROOT, Tree

Direction = Literal["up", "down"]


def trace(tree: Tree, index: int, direction: Direction) -> Numbers:
    """Leaves that a subtree depends on (up) or that depend on it (down), its own included; ascending."""
    near_ends, far_ends = tree.edges.targets, tree.edges.sources
    if direction == "down":
        near_ends, far_ends = far_ends, near_ends
    order = np.argsort(near_ends, kind="stable")
    offsets = np.searchsorted(near_ends[order], np.arange(len(tree.paths) + 1)).tolist()
    neighbours = far_ends[order].tolist()
    visited = dict.fromkeys(tree.leaves(index))
    queue = list(visited)
    for leaf in queue:
        for neighbour in neighbours[offsets[leaf] : offsets[leaf + 1]]:
            if neighbour not in visited:
                visited[neighbour] = None
                queue.append(neighbour)
    return np.array(sorted(visited), dtype=np.int32)


def count_by_box(tree: Tree, boxes: Iterable[int], leaves: Numbers) -> dict[int, int]:
    """Count the leaves (ascending) in each box; boxes without any are left out."""
    counts = {
        box: int(np.searchsorted(leaves, tree.ends[box]) - np.searchsorted(leaves, box)) for box in boxes
    }
    return {box: count for box, count in counts.items() if count and box != ROOT}
