"""Layered layout of a directed graph (Sugiyama et al. 1981): layers, crossing reduction, components."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise, zip_longest
from math import ceil, sqrt
from typing import Final

from mindinsight.server.graph.layout.coordinates import Columns, Size, assign_coordinates, break_columns
from mindinsight.server.graph.scopes.folding import connected

Link = tuple[int, int]


def find_back_links(count: int, links: Sequence[Link]) -> set[Link]:
    """Return the links to reverse so that no cycle is left: links on a cycle that lead to an earlier item."""
    group = _strong_components(count, links)
    return {
        (source, target) for source, target in links if source > target and group[source] == group[target]
    }


def _strong_components(count: int, links: Sequence[Link]) -> list[int]:
    """Return the strongly connected component of each item (Tarjan 1972, without recursion)."""
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
    """Return the layer of each of ``count`` items, 0 at the top, with at most ``widest`` items in a layer.

    ``links`` must be free of cycles. The layer follows the longest path. Items without sources are
    then moved down next to their first user. ``top_item`` stays in the top layer, ``bottom_item`` goes to a
    last layer.
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


_SWEEPS: Final = 8  # downwards and upwards in turn
Neighbours = Sequence[Sequence[int]]


def order_layers(layers: list[list[int]], above: Neighbours, below: Neighbours) -> list[list[int]]:
    """Return the items of each layer ordered so that few links to the items ``above`` and ``below`` cross.
    These are the neighbours of each item in the adjacent layers. The result is deterministic. Of all
    sweeps the order with the fewest crossings is returned."""
    position = _positions(layers)
    best, fewest = [list(layer) for layer in layers], crossings(layers, below, position)
    for sweep in range(_SWEEPS):
        if not fewest:
            break
        downwards = sweep % 2 == 0
        neighbours = above if downwards else below
        for layer in layers if downwards else reversed(layers):
            _sort_layer(layer, neighbours, position)
        now = crossings(layers, below, position)
        if now < fewest:
            best, fewest = [list(layer) for layer in layers], now
    return best


def _positions(layers: list[list[int]]) -> dict[int, int]:
    return {item: index for layer in layers for index, item in enumerate(layer)}


def _sort_layer(layer: list[int], neighbours: Neighbours, position: dict[int, int]) -> None:
    """Sort a layer by the mean position of the neighbours. An item without neighbours keeps its position."""
    means = {item: _mean(neighbours[item], position, index) for index, item in enumerate(layer)}
    layer.sort(key=means.__getitem__)
    for index, item in enumerate(layer):
        position[item] = index


def _mean(neighbours: Sequence[int], position: dict[int, int], otherwise: float) -> float:
    if not neighbours:
        return otherwise
    return sum(position[neighbour] for neighbour in neighbours) / len(neighbours)


def crossings(layers: list[list[int]], below: Neighbours, position: dict[int, int]) -> int:
    """Return the number of pairs of links that cross, as inversions (Barth, Jünger and Mutzel 2002)."""
    total = 0
    for layer, next_layer in pairwise(layers):
        ends = [end for item in layer for end in sorted(position[neighbour] for neighbour in below[item])]
        total += _inversions(ends, len(next_layer))
    return total


def _inversions(ends: list[int], size: int) -> int:
    """Return the number of pairs out of order, with a Fenwick tree over the ``size`` possible ends."""
    counts = [0] * (size + 1)
    total = 0
    for seen, end in enumerate(ends):
        node, smaller = end + 1, 0
        while node:
            smaller += counts[node]
            node &= node - 1
        total += seen - smaller
        node = end + 1
        while node <= size:
            counts[node] += 1
            node += node & -node
    return total


LAYER_GAP: Final = 44.0  # between two layers of boxes
SIDE_GAP: Final = 28.0  # between two boxes of a layer
_POINT_GAP: Final = 18.0  # the same next to a layer that links only pass
_BACK_LINK_OFFSET: Final = 14.0  # distance between lines that run upwards and lines that run down
_DUMMY: Final = Size(0.0, 0.0, 0.0, 0.0)
_BROAD: Final = 1000.0  # approximate width of a layer, so that a few wide boxes do not form a ribbon
_SHAPE: Final = 1.6  # ratio of width to height of packed components

Point = tuple[float, float]


@dataclass(slots=True)
class Arrangement:
    """Result of a layout: corners of the boxes and routes of the links. The top left corner is (0, 0)."""

    corners: list[Point]  # upper left corner of each box
    routes: dict[Link, list[Point]] = field(default_factory=dict)  # from the source to the target
    width: float = 0.0
    height: float = 0.0


def arrange(
    sizes: Sequence[Size], links: Sequence[Link], top_item: int | None = None, bottom_item: int | None = None
) -> Arrangement:
    """Return a deterministic layout of boxes and links. Links from a box to itself are omitted.
    ``top_item`` and ``bottom_item`` are placed above and below everything in their components. No other
    component is placed above or below these, because lines may continue there."""
    links = sorted({link for link in links if link[0] != link[1]})
    arrangement = Arrangement([(0.0, 0.0)] * len(sizes))
    layouts = []
    groups = connected(range(len(sizes)), links)
    groups.sort(key=lambda members: top_item not in members and bottom_item not in members)
    through = sum(top_item in members or bottom_item in members for members in groups)
    for members in groups:
        numbers = {item: number for number, item in enumerate(members)}
        inside = [(numbers[source], numbers[target]) for source, target in links if source in numbers]
        ends = (_number_of(numbers, top_item), _number_of(numbers, bottom_item))
        layouts.append((members, _layered([sizes[item] for item in members], inside, *ends)))
    corners = _pack_components([(layout.width, layout.height) for _, layout in layouts], through)
    for (members, layout), (x, y) in zip(layouts, corners, strict=True):
        for item, corner in zip(members, layout.corners, strict=True):
            arrangement.corners[item] = (corner[0] + x, corner[1] + y)
        for (source, target), route in layout.routes.items():
            arrangement.routes[members[source], members[target]] = [(px + x, py + y) for px, py in route]
        arrangement.width = max(arrangement.width, x + layout.width)
        arrangement.height = max(arrangement.height, y + layout.height)
    return arrangement


def _number_of(numbers: dict[int, int], item: int | None) -> int | None:
    return None if item is None else numbers.get(item)


def _pack_components(sizes: Sequence[Point], count: int) -> list[Point]:
    """Return corners of packed rectangles: the first ``count`` in a row, the others in rows to the right of
    it."""
    corners = []
    x = 0.0
    for width, _ in sizes[:count]:
        corners.append((x, 0.0))
        x += width + SIDE_GAP
    return corners + [(x + right, y) for right, y in _pack(sizes[count:])]


def _pack(sizes: Sequence[Point]) -> list[Point]:
    """Return corners of rectangles packed into rows, in order. The total width is about the height times
    _SHAPE."""
    area = sum((width + SIDE_GAP) * (height + LAYER_GAP) for width, height in sizes)
    widest = max([sqrt(area * _SHAPE), *(width for width, _ in sizes)])
    corners = []
    x = y = row_height = 0.0
    for width, height in sizes:
        if x and x + width > widest:
            x, y, row_height = 0.0, y + row_height + LAYER_GAP, 0.0
        corners.append((x, y))
        x += width + SIDE_GAP
        row_height = max(row_height, height)
    return corners


class _LayeredGraph:
    """Connected component in layers: its items, and dummy nodes where longer links cross a layer."""

    def __init__(
        self, sizes: Sequence[Size], links: Sequence[Link], top_item: int | None, bottom_item: int | None
    ) -> None:
        self.count = len(sizes)  # number of boxes, all further items are dummy nodes
        self.sizes = list(sizes)
        self.reversed = find_back_links(len(sizes), links)
        self.links = [(b, a) if (a, b) in self.reversed else (a, b) for a, b in links]
        widest = max(_layer_capacity(sizes), ceil(sqrt(len(sizes)) * 1.5))
        self.layer_of = assign_layers(len(sizes), sorted(set(self.links)), widest, top_item, bottom_item)
        self.above: list[list[int]] = [[] for _ in sizes]
        self.below: list[list[int]] = [[] for _ in sizes]
        self.chains: dict[int, list[int]] = {}
        for link in sorted(set(self.links), key=lambda link: (link[0], self.layer_of[link[1]], link[1])):
            self._connect(*link)

    def _connect(self, source: int, target: int) -> None:
        """Link two items through one dummy node per layer between them. Links of one source share dummy
        nodes."""
        chain = self.chains.setdefault(source, [source])
        while len(chain) < self.layer_of[target] - self.layer_of[source]:
            point = len(self.sizes)
            self.sizes.append(_DUMMY)
            self.layer_of.append(self.layer_of[source] + len(chain))
            self.above.append([chain[-1]])
            self.below.append([])
            self.below[chain[-1]].append(point)
            chain.append(point)
        last = chain[self.layer_of[target] - self.layer_of[source] - 1]
        self.above[target].append(last)
        self.below[last].append(target)

    def layers(self) -> list[list[int]]:
        """Return the ordered items of each layer. Sorting starts with the dummy nodes in the middle."""
        boxes: list[list[int]] = [[] for _ in range(max(self.layer_of) + 1)]
        points: list[list[int]] = [[] for _ in boxes]
        for item, layer in enumerate(self.layer_of):
            (boxes if item < self.count else points)[layer].append(item)
        layers = [
            [*in_layer[: (len(in_layer) + 1) // 2], *passing, *in_layer[(len(in_layer) + 1) // 2 :]]
            for in_layer, passing in zip(boxes, points, strict=True)
        ]
        return order_layers(layers, self.above, self.below)

    def dummy_nodes(self, source: int, target: int) -> list[int]:
        """Return the dummy nodes between a source and a target, downwards."""
        return self.chains[source][1 : self.layer_of[target] - self.layer_of[source]]


def _layer_capacity(sizes: Sequence[Size]) -> int:
    """Return the number of boxes of mean width that make a layer as wide as _BROAD."""
    widths = [size.width + SIDE_GAP for size in sizes if size.width]
    return ceil(_BROAD * len(widths) / sum(widths)) if widths else 1


def _layered(
    sizes: Sequence[Size], links: Sequence[Link], top_item: int | None, bottom_item: int | None
) -> Arrangement:
    """Return the layout of one connected component."""
    drawing = _LayeredGraph(sizes, links, top_item, bottom_item)
    layers = drawing.layers()
    left = assign_coordinates(layers, drawing.above, drawing.below, drawing.sizes, SIDE_GAP)
    bands = _bands(layers, drawing.sizes)
    breaks = break_columns(layers, bands, left, drawing.sizes, drawing.below)
    left = [x + breaks.shifts[layer][0] for x, layer in zip(left, drawing.layer_of, strict=True)]
    bands = [(top + y, bottom + y) for (top, bottom), (_, y) in zip(bands, breaks.shifts, strict=True)]
    arrangement = Arrangement([(0.0, 0.0)] * len(sizes))
    for item, size in enumerate(sizes):
        top, bottom = bands[drawing.layer_of[item]]
        arrangement.corners[item] = (left[item], top + (bottom - top - size.height) / 2)
    for link in links:
        arrangement.routes[link] = _route(drawing, link, arrangement.corners, left, bands, breaks)
    arrangement.width = max(x + size.width for x, size in zip(left, drawing.sizes, strict=True))
    arrangement.height = max(bottom for _, bottom in bands)
    return arrangement


def _bands(layers: list[list[int]], sizes: Sequence[Size]) -> list[tuple[float, float]]:
    """Return top and bottom of each layer. The gap is smaller next to a layer with only dummy nodes."""
    heights = [max(sizes[item].height for item in layer) for layer in layers]
    bands = []
    top = 0.0
    for height, next_height in zip_longest(heights, heights[1:], fillvalue=0.0):
        bands.append((top, top + height))
        top += height + (LAYER_GAP if height and next_height else _POINT_GAP)
    return bands


def _route(
    drawing: _LayeredGraph,
    link: Link,
    corners: list[Point],
    left: list[float],
    bands: list[tuple[float, float]],
    cut: Columns,
) -> list[Point]:
    """Return the points of a link's line. A reversed link runs upwards."""
    source, target = link[::-1] if link in drawing.reversed else link
    sizes = drawing.sizes
    offset = _BACK_LINK_OFFSET if link in drawing.reversed else 0.0
    start = left[source] + sizes[source].outlet + offset
    end = left[target] + sizes[target].inlet + offset
    xs = [start, *(left[point] for point in drawing.dummy_nodes(source, target)), end]
    route = [(start, corners[source][1] + sizes[source].height)]
    for layer, (x, next_x) in enumerate(pairwise(xs), drawing.layer_of[source]):
        bottom, top = bands[layer][1], bands[layer + 1][0]
        route.append((x, bottom))
        if cut.column_of[layer] != cut.column_of[layer + 1]:
            between = cut.gutters[cut.column_of[layer]]
            turn, head = bottom + _POINT_GAP, top - _POINT_GAP
            route += [(x, turn), (between, turn), (between, head), (next_x, head)]
        route.append((next_x, top))
    route.append((end, corners[target][1]))
    return route[::-1] if link in drawing.reversed else route
