"""JSON encoder of a drawing as a Plotly figure.

Boxes are shapes in data coordinates, so that they scale with the zoom.
All lines are one trace and their arrow heads another; an invisible trace carries the hover text of each box
and its index in the tree, for clicks (``customdata``).
"""

from __future__ import annotations

from typing import Any, Final, Literal

from mindinsight.server.graph.encoders.drawing import kind_of
from mindinsight.server.graph.layout.drawing import Box, Drawing, Line
from mindinsight.server.graph.layout.layered import Point
from mindinsight.server.graph.scopes.tree import Tree

Theme = Literal["light", "dark"]

_COLOURS: Final = {
    "light": {"paper": "#ffffff", "text": "#1a222d", "line": "#566273", "border": "#8a95a5"},
    "dark": {"paper": "#181e26", "text": "#e5eaf0", "line": "#9eabbb", "border": "#6b7a8d"},
}
_FILL: Final = {
    "light": {"scope": "#dfe9f5", "group": "#f5ead0", "repeat": "#e6ddf5", "run": "#e4e7ec"},
    "dark": {"scope": "#22344a", "group": "#3d3420", "repeat": "#352b4d", "run": "#2b333d"},
}
_PLAIN: Final = {"light": "#ffffff", "dark": "#202833"}
_BEND: Final = (0.1, 0.25, 0.5, 0.75, 0.9)  # where a curve is sampled


def figure_json(tree: Tree, drawing: Drawing, theme: Theme = "light") -> dict[str, Any]:
    """``data`` and ``layout`` of a Plotly figure; y points down as in the drawing."""
    page = _COLOURS[theme]
    axis = {"visible": False, "fixedrange": False}
    return {
        "data": [
            _lines(drawing, page),
            _arrow_heads(drawing, page),
            _labels(drawing, page),
            _hover_markers(tree, drawing),
        ],
        "layout": {
            "shapes": [_shape(tree, box, theme) for box in drawing.boxes],
            "xaxis": {**axis, "range": [0, drawing.width]},
            "yaxis": {**axis, "range": [drawing.height, 0], "scaleanchor": "x"},
            "paper_bgcolor": page["paper"],
            "plot_bgcolor": page["paper"],
            "margin": {"l": 0, "r": 0, "t": 0, "b": 0},
            "showlegend": False,
            "dragmode": "pan",
            "hovermode": "closest",
        },
    }


def _shape(tree: Tree, box: Box, theme: Theme) -> dict[str, Any]:
    return {
        "type": "rect",
        "layer": "below",
        "x0": box.x,
        "y0": box.y,
        "x1": box.x + box.width,
        "y1": box.y + box.height,
        "line": {"color": _COLOURS[theme]["border"], "width": 1},
        "fillcolor": _FILL[theme].get(kind_of(tree, box.index), _PLAIN[theme]),
        "opacity": 0.45 if box.open else 1,
    }


def _lines(drawing: Drawing, page: dict[str, str]) -> dict[str, Any]:
    xs: list[float | None] = []
    ys: list[float | None] = []
    for line in drawing.lines:
        for x, y in curve(line):
            xs.append(round(x, 1))
            ys.append(round(y, 1))
        xs.append(None)
        ys.append(None)
    return {
        "type": "scatter",
        "mode": "lines",
        "x": xs,
        "y": ys,
        "hoverinfo": "skip",
        "line": {"color": page["line"], "width": 1},
    }


def curve(line: Line) -> list[Point]:
    """Points of a line with its bends sampled; tangents are vertical at every point."""
    points = [line.points[0]]
    for x, y in line.points[1:]:
        from_x, from_y = points[-1]
        if from_x != x:
            for part in _BEND:
                eased = part * part * (3 - 2 * part)
                points.append((from_x + (x - from_x) * eased, from_y + (y - from_y) * part))
        points.append((x, y))
    return points


def _arrow_heads(drawing: Drawing, page: dict[str, str]) -> dict[str, Any]:
    """Arrow heads as markers; Plotly points each away from the marker before it, which has size 0."""
    lines = [line for line in drawing.lines if len(line.points) > 1]
    ends = [curve(line)[-2:] for line in lines]
    return {
        "type": "scatter",
        "mode": "markers",
        "x": [round(x, 1) for pair in ends for x, _ in pair],
        "y": [round(y, 1) for pair in ends for _, y in pair],
        "hoverinfo": "skip",
        "marker": {
            "symbol": "arrow",
            "angleref": "previous",
            "size": [size for _ in ends for size in (0, 8)],
            "color": page["line"],
        },
    }


def _labels(drawing: Drawing, page: dict[str, str]) -> dict[str, Any]:
    boxes = drawing.boxes
    return {
        "type": "scatter",
        "mode": "text",
        "x": [round(box.x + box.width / 2, 1) for box in boxes],
        "y": [round(box.y + (14 if box.open else box.height / 2), 1) for box in boxes],
        "text": [_escape(box.content.label) for box in boxes],
        "textfont": {"size": 11, "color": page["text"]},
        "hoverinfo": "skip",
    }


def _hover_markers(tree: Tree, drawing: Drawing) -> dict[str, Any]:
    closed = [box for box in drawing.boxes if not box.open]
    return {
        "type": "scatter",
        "mode": "markers",
        "x": [round(box.x + box.width / 2, 1) for box in closed],
        "y": [round(box.y + box.height / 2, 1) for box in closed],
        "marker": {"size": 26, "opacity": 0},
        "customdata": [box.index for box in closed],
        "text": [_escape(f"{tree.paths[box.index]} {box.content.text}".strip()) for box in closed],
        "hovertemplate": "%{text}<extra></extra>",
    }


def _escape(text: str) -> str:
    """Escape text: Plotly interprets some HTML tags, and names come from files."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
