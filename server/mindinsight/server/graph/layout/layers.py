"""Layer assignment of a layered layout, so that edges run downwards.

Sugiyama, Tagawa and Toda 1981. Items are numbers 0..n-1, in the order in which a reader expects them;
all ties are broken by number, so the same input gives the same layers.
"""

from __future__ import annotations

from collections.abc import Sequence

Link = tuple[int, int]


def find_back_links(count: int, links: Sequence[Link]) -> set[Link]:
    """Back links, to be reversed so that no cycle is left: those on a cycle that lead to an earlier item."""
    group = _cycles(count, links)
    return {
        (source, target) for source, target in links if source > target and group[source] == group[target]
    }


def _cycles(count: int, links: Sequence[Link]) -> list[int]:
    """Strongly connected component of each item (Tarjan 1972, without recursion)."""
    gives: list[list[int]] = [[] for _ in range(count)]
    for source, target in links:
        gives[source].append(target)
    met: list[int] = [-1] * count
    lowest = [0] * count
    group = [-1] * count
    stack: list[int] = []
    clock = 0
    for start in range(count):
        path = [start] if met[start] < 0 else []
        while path:
            item = path[-1]
            if met[item] < 0:
                met[item] = lowest[item] = clock
                clock += 1
                stack.append(item)
            following = next((target for target in gives[item] if met[target] < 0), None)
            if following is not None:
                path.append(following)
                continue
            path.pop()
            lowest[item] = min(
                [lowest[item], *(lowest[target] for target in gives[item] if group[target] < 0)]
            )
            if lowest[item] == met[item]:
                at = stack.index(item)
                for target in stack[at:]:
                    group[target] = item
                del stack[at:]
    return group


def layers_of(
    count: int, links: Sequence[Link], widest: int, first: int | None = None, last: int | None = None
) -> list[int]:
    """The layer of each item, 0 at the top; ``links`` hold no cycle.

    As high as their sources allow, at most ``widest`` items in a layer; items without sources are then
    moved down to where they are first used. The items ``first`` and ``last``, when there are such, stay at
    the very top and go to the very bottom.
    """
    takes: list[list[int]] = [[] for _ in range(count)]
    gives: list[list[int]] = [[] for _ in range(count)]
    for source, target in links:
        takes[target].append(source)
        gives[source].append(target)
    layers = [0] * count
    filled: dict[int, int] = {}
    for item in _topological(count, takes, gives):
        layer = max((layers[source] + 1 for source in takes[item]), default=0)
        while filled.get(layer, 0) >= widest:
            layer += 1
        layers[item] = layer
        filled[layer] = filled.get(layer, 0) + 1
    if last is not None:
        layers[last] = max(layers) + 1
    for item in range(count):
        if gives[item] and not takes[item] and item != first:
            layer = min(layers[target] for target in gives[item]) - 1
            while layer > layers[item] and filled.get(layer, 0) >= widest:
                layer -= 1
            filled[layers[item]] -= 1
            filled[layer] = filled.get(layer, 0) + 1
            layers[item] = layer
    used = {layer: at for at, layer in enumerate(sorted(set(layers)))}
    return [used[layer] for layer in layers]


def _topological(count: int, takes: list[list[int]], gives: list[list[int]]) -> list[int]:
    waiting = [len(sources) for sources in takes]
    ready = [item for item in range(count) if not waiting[item]]
    for item in ready:
        for target in gives[item]:
            waiting[target] -= 1
            if not waiting[target]:
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
        first, second = find(source), find(target)
        leader[max(first, second)] = min(first, second)
    groups: dict[int, list[int]] = {}
    for item in range(count):
        groups.setdefault(find(item), []).append(item)
    return list(groups.values())
