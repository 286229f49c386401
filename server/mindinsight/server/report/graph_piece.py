"""Piece of a step's graph around an operator, laid out for an inline SVG."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from mindinsight.server.debug.graphs.operator_tree import operator_tree
from mindinsight.server.debug.neighbours import graph_links
from mindinsight.server.formats.dumps.types import Operator
from mindinsight.server.formats.unreadable import UnreadableError
from mindinsight.server.graph.layout.nested import draw

_DEPTH: Final = 3  # operators before the one in question
MOST: Final = 16


@dataclass(frozen=True)
class PieceBox:
    """A scope or an operator of the drawing."""

    x: float
    y: float
    width: float
    height: float
    label: str
    scope: bool
    fault: bool


@dataclass(frozen=True)
class GraphPiece:
    """Boxes, scopes before what is in them, and polylines ("x,y x,y")."""

    width: float
    height: float
    boxes: list[PieceBox]
    lines: list[str]


def ancestors(operators: Mapping[str, Operator], start: str, most: int = MOST) -> list[Operator]:
    """Operators that feed ``start`` over at most three others, nearest first, without parameters."""
    operators_before: dict[str, Operator] = {}
    layer = [start]
    for _ in range(_DEPTH):
        sources = [source for name in layer if name in operators for source in operators[name].sources]
        layer = [
            name
            for name in dict.fromkeys(sources)
            if name in operators and name not in operators_before and name != start
        ]
        operators_before |= {name: operators[name] for name in layer if operators[name].type != "Parameter"}
    return list(operators_before.values())[:most]


def graph_piece(operators: Iterable[Operator], start: str) -> GraphPiece | None:
    """The operator ``start`` with those before it and those it feeds; None where no graph is known."""
    known = {operator.name: operator for operator in operators}
    if start not in known:
        return None
    after = [operator for operator in known.values() if start in operator.sources][: MOST // 4]
    chosen = {operator.name: operator for operator in (*ancestors(known, start), known[start], *after)}
    ordered = [operator for name, operator in known.items() if name in chosen]
    links = graph_links(ordered)
    try:
        tree = operator_tree(ordered, links)
    except UnreadableError:
        return None
    drawing = draw(tree.tree, range(len(tree.tree.paths)))
    boxes = []
    for box in drawing.boxes:
        operator = tree.operator_at(box.index)
        fault = operator is not None and operator.name == start
        boxes.append(
            PieceBox(box.x, box.y, box.width, box.height, box.content.label, operator is None, fault)
        )
    lines = [" ".join(f"{x:.1f},{y:.1f}" for x, y in line.points) for line in drawing.lines]
    return GraphPiece(drawing.width, drawing.height, boxes, lines)
