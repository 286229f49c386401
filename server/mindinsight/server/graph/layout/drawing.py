"""Drawing of a graph: boxes with their corners, and lines as points."""

from __future__ import annotations

from dataclasses import dataclass, field

from mindinsight.server.graph.layout.boxes import CHIP_GAP, CHIP_HEIGHT, CHIP_SPACE, Chip, Content
from mindinsight.server.graph.layout.flows import Flow
from mindinsight.server.graph.layout.layered import Point


@dataclass(frozen=True, slots=True)
class Box:
    """A drawn scope or operator; (x, y) is its upper left corner."""

    index: int
    x: float
    y: float
    width: float
    height: float
    open: bool
    content: Content
    parent: int  # the scope it is drawn in
    enters: int = 0  # values from outside the enclosing scope that no line shows
    leaves: int = 0  # values to the outside that no line shows

    def moved(self, x: float, y: float) -> Box:
        """A copy moved by (x, y)."""
        return Box(
            self.index,
            self.x + x,
            self.y + y,
            self.width,
            self.height,
            self.open,
            self.content,
            self.parent,
            self.enters,
            self.leaves,
        )

    def chips(self) -> list[tuple[Chip, Point]]:
        """Chips with their upper left corners."""
        column = len(self.content.chips) * (CHIP_HEIGHT + CHIP_GAP) - CHIP_GAP
        top = self.y + (self.height - column) / 2
        return [
            (chip, (self.x - CHIP_SPACE - chip.width, top + number * (CHIP_HEIGHT + CHIP_GAP)))
            for number, chip in enumerate(self.content.chips)
        ]


@dataclass(frozen=True, slots=True)
class Line:
    """A drawn flow; without ``flow`` a line between the border of a scope and one of its children."""

    source: int
    target: int
    points: tuple[Point, ...]
    flow: Flow | None = None

    def moved(self, x: float, y: float) -> Line:
        """A copy moved by (x, y)."""
        points = tuple([(px + x, py + y) for px, py in self.points])
        return Line(self.source, self.target, points, self.flow)


@dataclass(slots=True)
class Drawing:
    """A drawing: boxes, scopes before what is in them, and lines."""

    width: float
    height: float
    boxes: list[Box] = field(default_factory=list)
    lines: list[Line] = field(default_factory=list)
