"""Choice of the scopes that are open when a graph is first shown."""

from __future__ import annotations

from typing import Final

from mindinsight.server.graph.scopes.tree import ROOT, Tree

_COMFORTABLE: Final = 26  # boxes that are legible on one screen
_FEW: Final = 8  # closed boxes below which there is nothing to look at
_MOST: Final = 100  # boxes; with their lines about 300 elements


def choose_initial_scopes(tree: Tree) -> list[int]:
    """Choose the scopes to open at first; ascending indices.

    From the top down, smaller scopes first, while the picture stays comfortable. Where that leaves next to
    nothing to look at (a chain of scopes, or one wide scope that holds everything) the scope of the most
    operators is opened, again and again, until there is.
    """
    opened = _open_by_level(tree)
    box_count = sum(int(tree.counts[index]) for index in (ROOT, *opened))
    while box_count - len(opened) < _FEW:
        largest = _largest_closed(tree, opened)
        if largest is None or box_count + int(tree.counts[largest]) > _MOST:
            break
        opened.add(largest)
        box_count += int(tree.counts[largest])
    return sorted(opened)


def _open_by_level(tree: Tree) -> set[int]:
    """Scopes opened level by level while the drawing stays small."""
    opened: set[int] = set()
    box_count = int(tree.counts[ROOT])
    level = [ROOT]
    while level:
        level = [child for index in level for child in tree.children(index) if tree.nodes[child] < 0]
        level = [index for index in level if tree.counts[index] <= _COMFORTABLE]
        for index in sorted(level, key=lambda index: int(tree.counts[index])):
            if box_count + int(tree.counts[index]) > _COMFORTABLE:
                return opened
            opened.add(index)
            box_count += int(tree.counts[index])
    return opened


def _largest_closed(tree: Tree, opened: set[int]) -> int | None:
    """The visible closed scope with the most descendants, the first of several; None when all are open."""
    children = (child for index in (ROOT, *opened) for child in tree.children(index))
    closed = [child for child in children if tree.nodes[child] < 0 and child not in opened]
    return max(closed, key=lambda index: (int(tree.ends[index]) - index, -index), default=None)
