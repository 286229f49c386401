"""Layer assignment, so that links run downwards (Sugiyama, Tagawa and Toda 1981).

Items are numbers 0..n-1, in the order in which a reader expects them; all ties are broken by number, so the
same input gives the same layers.
"""

from __future__ import annotations

from collections.abc import Sequence

Link = tuple[int, int]


def find_back_links(count: int, links: Sequence[Link]) -> set[Link]:
    """Find the links to reverse so that no cycle is left: those on a cycle that lead to an earlier item."""
    group = _strong_components(count, links)
    return {
        (source, target) for source, target in links if source > target and group[source] == group[target]
    }


def _strong_components(count: int, links: Sequence[Link]) -> list[int]:
    """Strongly connected component of each item (Tarjan 1972, without recursion)."""
    targets_of: list[list[int]] = [[] for _ in range(count)]
    for source, target in links:
        targets_of[source].append(target)
    discovered: list[int] = [-1] * count
    lowest = [0] * count
    group = [-1] * count
    stack: list[int] = []
    time = 0
    for start in range(count):
        path = [start] if discovered[start] < 0 else []
        while path:
            item = path[-1]
            if discovered[item] < 0:
                discovered[item] = lowest[item] = time
                time += 1
                stack.append(item)
            unvisited = next((target for target in targets_of[item] if discovered[target] < 0), None)
            if unvisited is not None:
                path.append(unvisited)
                continue
            path.pop()
            lowest[item] = min(
                [lowest[item], *(lowest[target] for target in targets_of[item] if group[target] < 0)]
            )
            if lowest[item] == discovered[item]:
                position = stack.index(item)
                for target in stack[position:]:
                    group[target] = item
                del stack[position:]
    return group


def assign_layers(
    count: int,
    links: Sequence[Link],
    widest: int,
    top_item: int | None = None,
    bottom_item: int | None = None,
) -> list[int]:
    """Assign a layer to each item, 0 at the top; ``links`` must be free of cycles.

    Longest path with at most ``widest`` items in a layer; items without sources are then moved down to where
    they are first used. ``top_item`` stays in the topmost layer, ``bottom_item`` goes to a last layer.
    """
    sources_of: list[list[int]] = [[] for _ in range(count)]
    targets_of: list[list[int]] = [[] for _ in range(count)]
    for source, target in links:
        sources_of[target].append(source)
        targets_of[source].append(target)
    layers = [0] * count
    item_counts: dict[int, int] = {}
    for item in _topological(count, sources_of, targets_of):
        layer = max((layers[source] + 1 for source in sources_of[item]), default=0)
        while item_counts.get(layer, 0) >= widest:
            layer += 1
        layers[item] = layer
        item_counts[layer] = item_counts.get(layer, 0) + 1
    if bottom_item is not None:
        layers[bottom_item] = max(layers) + 1
    for item in range(count):
        if targets_of[item] and not sources_of[item] and item != top_item:
            layer = min(layers[target] for target in targets_of[item]) - 1
            while layer > layers[item] and item_counts.get(layer, 0) >= widest:
                layer -= 1
            item_counts[layers[item]] -= 1
            item_counts[layer] = item_counts.get(layer, 0) + 1
            layers[item] = layer
    compact = {layer: position for position, layer in enumerate(sorted(set(layers)))}
    return [compact[layer] for layer in layers]


def _topological(count: int, sources_of: list[list[int]], targets_of: list[list[int]]) -> list[int]:
    pending = [len(sources) for sources in sources_of]
    ready = [item for item in range(count) if not pending[item]]
    for item in ready:
        for target in targets_of[item]:
            pending[target] -= 1
            if not pending[target]:
                ready.append(target)
    return ready


def components(count: int, links: Sequence[Link]) -> list[list[int]]:
    """Connected components (union-find), each in order, sorted by their first item."""
    leader = list(range(count))

    def find(item: int) -> int:
        while leader[item] != item:
            leader[item] = leader[leader[item]]
            item = leader[item]
        return item

    for source, target in links:
        left, right = find(source), find(target)
        leader[max(left, right)] = min(left, right)
    groups: dict[int, list[int]] = {}
    for item in range(count):
        groups.setdefault(find(item), []).append(item)
    return list(groups.values())
