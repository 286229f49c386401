"""Choice of the scopes that are open when a graph is first shown."""

from __future__ import annotations

from typing import Final

from mindinsight.server.graph.scopes.tree import ROOT, Tree

_COMFORT: Final = 26  # boxes that are legible on one screen
_FEW: Final = 8  # closed boxes below which there is nothing to look at
_MOST: Final = 100  # boxes; with their lines about 300 elements


def choose_initial_scopes(tree: Tree) -> list[int]:
    """Choose the scopes to open at first, in order of place.

    From the top down, smaller scopes first, while the picture stays comfortable. Where that leaves next to
    nothing to look at (a chain of scopes, or one wide scope that holds everything) the scope of the most
    operators is opened, again and again, until there is.
    """
    opened = _comfortable(tree)
    shown = sum(int(tree.counts[place]) for place in (ROOT, *opened))
    while shown - len(opened) < _FEW:
        largest = _largest_closed(tree, opened)
        if largest is None or shown + int(tree.counts[largest]) > _MOST:
            break
        opened.add(largest)
        shown += int(tree.counts[largest])
    return sorted(opened)


def _comfortable(tree: Tree) -> set[int]:
    """Scopes level by level while the picture stays small."""
    opened: set[int] = set()
    shown = int(tree.counts[ROOT])
    level = [ROOT]
    while level:
        level = [child for place in level for child in tree.children(place) if tree.nodes[child] < 0]
        level = [place for place in level if tree.counts[place] <= _COMFORT]
        for place in sorted(level, key=lambda place: int(tree.counts[place])):
            if shown + int(tree.counts[place]) > _COMFORT:
                return opened
            opened.add(place)
            shown += int(tree.counts[place])
    return opened


def _largest_closed(tree: Tree, opened: set[int]) -> int | None:
    """The closed scope in the picture that holds the most; the first of several."""
    children = (child for place in (ROOT, *opened) for child in tree.children(place))
    closed = [child for child in children if tree.nodes[child] < 0 and child not in opened]
    return max(closed, key=lambda place: (int(tree.ends[place]) - place, -place), default=None)
