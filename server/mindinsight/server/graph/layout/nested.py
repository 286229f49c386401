"""Nested layout of a graph with some scopes open, as boxes with corners and lines with points."""

from __future__ import annotations

from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final, TypeAlias

from mindinsight.server.graph.layout.boxes import (
    CHIP_GAP,
    CHIP_HEIGHT,
    CHIP_SPACE,
    Chip,
    Content,
    Flow,
    Flows,
    OuterInputs,
    box_content,
    flows_of,
)
from mindinsight.server.graph.layout.coordinates import Size
from mindinsight.server.graph.layout.layered import Arrangement, Point, arrange
from mindinsight.server.graph.scopes.costs import Costs, costs_of
from mindinsight.server.graph.scopes.folding import in_file_order
from mindinsight.server.graph.scopes.scope_tree import ROOT, Tree


@dataclass(frozen=True, slots=True)
class Box:
    """Drawn scope or operator, by its index in the tree, open or closed, with place and size.

    (x, y) is its upper left corner.
    """

    index: int
    x: float
    y: float
    width: float
    height: float
    open: bool
    content: Content
    parent: int  # enclosing scope
    enters: int = 0  # number of values from outside the enclosing scope that no line shows
    leaves: int = 0  # number of values to the outside that no line shows

    def moved(self, x: float, y: float) -> Box:
        """Return a copy moved by (x, y)."""
        return replace(self, x=self.x + x, y=self.y + y)

    def chips(self) -> list[tuple[Chip, Point]]:
        """Return the chips with their upper left corners."""
        column = len(self.content.chips) * (CHIP_HEIGHT + CHIP_GAP) - CHIP_GAP
        top = self.y + (self.height - column) / 2
        return [
            (chip, (self.x - CHIP_SPACE - chip.width, top + number * (CHIP_HEIGHT + CHIP_GAP)))
            for number, chip in enumerate(self.content.chips)
        ]


@dataclass(frozen=True, slots=True)
class Line:
    """Drawn flow between two boxes, by their indices in the tree, as a polyline.

    Without ``flow`` it is a line between the border of a scope and one of its children.
    """

    source: int
    target: int
    points: tuple[Point, ...]
    flow: Flow | None = None

    def moved(self, x: float, y: float) -> Line:
        """Return a copy moved by (x, y)."""
        points = tuple([(px + x, py + y) for px, py in self.points])
        return Line(self.source, self.target, points, self.flow)


@dataclass(slots=True)
class Drawing:
    """Drawing of a graph: its size, its boxes, each scope before its contents, and its lines.

    Lengths are in the units of `boxes`, in which text is 12 high.
    """

    width: float
    height: float
    boxes: list[Box] = field(default_factory=list)
    lines: list[Line] = field(default_factory=list)


_HEADER: Final = 26.0  # height of the name of an open scope: one line of text and space around it
_BORDER: Final = 22.0  # around the content of an open scope, and of the drawing; lines cross it
_PORT: Final = Size(0.0, 0.0, 0.0, 0.0)
# Limit of lines from the border of a scope to its children, and back. With more, boxes show counts instead.
_MOST_LINES: Final = 12
MOST_FLAT: Final = 2000  # limit of the operators of a scope that is drawn flat; bounds the time of its layout
_CACHED_BOXES: Final = 100_000  # limit of boxes in cached layouts; bounds memory
_CACHED_PLANS: Final = 256  # limit of cached arrangements; bounds memory


_ScopeKey: TypeAlias = tuple[int, tuple[frozenset[int], frozenset[int]], str]
_PlanKey: TypeAlias = tuple[tuple[Size, ...], tuple[tuple[int, int], ...], int | None, int | None]


@dataclass(frozen=True, slots=True)
class _View:
    """Part of a tree to draw, with options."""

    opened: list[int]  # scopes, sorted
    flat: frozenset[int]  # open scopes drawn with their operators, without the scopes between
    attribute: str  # shown in operators instead of their outputs

    def inside(self, tree: Tree, index: int) -> tuple[frozenset[int], frozenset[int]]:
        """Return the open and the flat scopes among a scope and its descendants."""
        end = int(tree.ends[index])
        opened = self.opened[bisect_left(self.opened, index) : bisect_left(self.opened, end)]
        return frozenset(opened), frozenset(scope for scope in self.flat if index <= scope < end)


@dataclass
class _ScopeLayout:
    """Layout of the inside of a scope, from (0, 0). Open scopes in it have layouts of their own.

    Boxes and lines are moved to their coordinates in the drawing once, at any depth.
    """

    size: Size
    boxes: list[Box] = field(default_factory=list)
    lines: list[Line] = field(default_factory=list)
    insides: list[tuple[int, _ScopeLayout]] = field(default_factory=list)  # each with its index in boxes

    @cached_property
    def drawing(self) -> Drawing:
        """Return all boxes, scopes before their contents, and all lines, inner ones first."""
        drawing = Drawing(self.size.width, self.size.height)
        self._place(drawing, 0.0, 0.0)
        return drawing

    def _place(self, drawing: Drawing, x: float, y: float) -> None:
        begin = 0
        for number, inside in self.insides:
            drawing.boxes += [box.moved(x, y) for box in self.boxes[begin : number + 1]]
            begin = number + 1
            scope = self.boxes[number]
            inside._place(drawing, x + scope.x, y + scope.y)
        drawing.boxes += [box.moved(x, y) for box in self.boxes[begin:]]
        drawing.lines += [line.moved(x, y) for line in self.lines]


class DrawingCache:
    """LRU cache of the layouts of one tree. A scope is laid out once for each set of scopes open in it.

    So opening one more scope costs its layout and the layouts of its ancestors.
    """

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self._cache: OrderedDict[_ScopeKey, _ScopeLayout] = OrderedDict()
        self._cached_boxes = 0
        self._plans: dict[_PlanKey, Arrangement] = {}  # mostly of repeated blocks

    @cached_property
    def costs(self) -> Costs:
        """Return the parameters and operations of each scope."""
        return costs_of(self.tree)

    @cached_property
    def _outer(self) -> OuterInputs:
        return OuterInputs(self.tree.graph)

    def draw(self, opened: Iterable[int], attribute: str = "", flat: Iterable[int] = ()) -> Drawing:
        """Return the drawing with the root, the given scopes and those in ``flat`` open, the latter without
        scopes inside. Operators show ``attribute`` instead of their output, unless it is "".

        Operators show ``attribute`` instead of their output, unless it is "". The contents of closed scopes
        are not drawn. Scopes in ``flat`` are open and show all their operators without the scopes between,
        see ``flattened``. Indices of operators are ignored.
        """
        flattened = self.flattened(flat)
        scopes = {index for index in opened if self.tree.nodes[index] < 0}
        view = _View(sorted(scopes | {ROOT, *flattened}), frozenset(flattened), attribute)
        return self._scope(ROOT, view).drawing

    def flattened(self, indices: Iterable[int]) -> list[int]:
        """Return the given scopes that can be drawn flat: those with at most MOST_FLAT operators."""
        return [
            index
            for index in sorted(set(indices))
            if self.tree.nodes[index] < 0 and len(self.tree.leaves(index)) <= MOST_FLAT
        ]

    def _scope(self, index: int, view: _View) -> _ScopeLayout:
        """Return the layout of the inside of a scope, from the cache if possible."""
        key = index, view.inside(self.tree, index), view.attribute
        layout = self._cache.get(key)
        if layout is None:
            layout = self._cache[key] = self._draw_scope(index, view)
            self._cached_boxes += len(layout.boxes)
            while self._cached_boxes > _CACHED_BOXES and len(self._cache) > 1:
                self._cached_boxes -= len(self._cache.popitem(last=False)[1].boxes)
        return layout

    def _draw_scope(self, index: int, view: _View) -> _ScopeLayout:
        """Return the layout of the inside of a scope with its border."""
        tree = self.tree
        children = in_file_order(tree, (tree.leaves if index in view.flat else tree.children)(index))
        flows = flows_of(tree, index, children)
        outer, costs = self._outer, self.costs
        contents = {child: box_content(tree, child, outer, costs, view.attribute) for child in children}
        opened, _ = view.inside(tree, index)
        insides = {child: self._scope(child, view) for child in children if child in opened}
        sizes = [insides[child].size if child in insides else contents[child].size for child in children]
        numbers = {child: number for number, child in enumerate(children)}
        ports = _Ports(flows, numbers)
        links = [(numbers[flow.source], numbers[flow.target]) for flow in flows.inside]
        plan = self._arrange([*sizes, *ports.sizes], [*links, *ports.links], ports)
        top = _BORDER if index == ROOT else _BORDER + _HEADER
        width, height = plan.width + 2 * _BORDER, plan.height + top + _BORDER
        middle = width / 2
        inlet = middle if ports.inlet is None else plan.corners[ports.inlet][0] + _BORDER
        outlet = middle if ports.outlet is None else plan.corners[ports.outlet][0] + _BORDER
        layout = _ScopeLayout(Size(width, height, inlet, outlet))
        for child in children:
            x, y = plan.corners[numbers[child]]
            crossing = (
                0 if child in ports.entered else flows.enters.get(child, 0),
                0 if child in ports.left else flows.leaves.get(child, 0),
            )
            corner = x + _BORDER, y + top
            _add_child(layout, corner, child, contents[child], index, crossing, insides.get(child))
        overhang = [0.0 if child in insides else contents[child].overhang for child in children] + [0.0, 0.0]
        for flow, link in zip(flows.inside, links, strict=True):
            points = [(x + _BORDER, y + top) for x, y in _attached_route(plan, link, overhang)]
            layout.lines.append(Line(flow.source, flow.target, _simplified_route(points), flow))
        for source, target in ports.links:
            points = [(x + _BORDER, y + top) for x, y in _attached_route(plan, (source, target), overhang)]
            if source == ports.inlet:
                points.insert(0, (points[0][0], 0.0))
                layout.lines.append(Line(index, children[target], _simplified_route(points)))
            else:
                points.append((points[-1][0], height))
                layout.lines.append(Line(children[source], index, _simplified_route(points)))
        return layout

    def _arrange(self, sizes: list[Size], links: list[tuple[int, int]], ports: _Ports) -> Arrangement:
        """Return the arrangement of a scope's children. Scopes of equal structure and sizes share one."""
        key = tuple(sizes), tuple(links), ports.inlet, ports.outlet
        plan = self._plans.get(key)
        if plan is None:
            if len(self._plans) >= _CACHED_PLANS:
                self._plans.clear()
            plan = self._plans[key] = arrange(sizes, links, ports.inlet, ports.outlet)
        return plan


def draw(tree: Tree, opened: Iterable[int], flat: Iterable[int] = ()) -> Drawing:
    """Return the layout of a tree, as ``DrawingCache.draw`` does but without a cache."""
    return DrawingCache(tree).draw(opened, flat=flat)


class _Ports:
    """Inlet and outlet on a scope's border, as two more items of its layout.

    Lines run from the inlet to children without an input from inside, and to the outlet from children without
    a user inside. For other children, and if there are too many, the box shows a count instead.
    """

    def __init__(self, flows: Flows, numbers: dict[int, int]) -> None:
        fed = {flow.target for flow in flows.inside}
        feeding = {flow.source for flow in flows.inside}
        self.entered = _limited(child for child in numbers if child in flows.enters and child not in fed)
        self.left = _limited(child for child in numbers if child in flows.leaves and child not in feeding)
        count = len(numbers)
        self.inlet = count if self.entered else None
        self.outlet = count + bool(self.entered) if self.left else None
        self.sizes = [_PORT for port in (self.inlet, self.outlet) if port is not None]
        self.links = [(self.inlet, numbers[child]) for child in self.entered if self.inlet is not None]
        self.links += [(numbers[child], self.outlet) for child in self.left if self.outlet is not None]


def _limited(children: Iterable[int]) -> list[int]:
    ends = list(children)
    return ends if len(ends) <= _MOST_LINES else []


def _add_child(
    layout: _ScopeLayout,
    corner: Point,
    child: int,
    content: Content,
    parent: int,
    crossing: tuple[int, int],
    inside: _ScopeLayout | None,
) -> None:
    """Add the box of a child, with its layout if it is open. ``crossing`` values enter and leave it."""
    x, y = corner
    if inside is None:
        x += content.size.width - content.width
        y += content.overhang
        layout.boxes.append(
            Box(child, x, y, content.width, content.height, False, content, parent, *crossing)
        )
        return
    layout.insides.append((len(layout.boxes), inside))
    width, height = inside.size.width, inside.size.height
    layout.boxes.append(Box(child, x, y, width, height, True, content, parent, *crossing))


def _attached_route(plan: Arrangement, link: tuple[int, int], overhang: list[float]) -> list[Point]:
    """Return a route whose ends touch the boxes, even where a column of chips is taller than its box."""
    route = list(plan.routes[link])
    for end, item in ((0, link[0]), (-1, link[1])):
        x, y = route[end]
        route[end] = (x, y + overhang[item] if y <= plan.corners[item][1] else y - overhang[item])
    return route


def _simplified_route(route: list[Point]) -> tuple[Point, ...]:
    """Return a route without repeated points and without inner points of vertical segments."""
    corners: list[Point] = []
    for point in route:
        if corners and point == corners[-1]:
            continue
        if len(corners) > 1 and corners[-2][0] == corners[-1][0] == point[0]:
            corners[-1] = point
        else:
            corners.append(point)
    return tuple(corners)
