"""JSON encoders of a drawing: boxes and lines for SVG, or a Plotly figure."""

from collections.abc import Iterable
from typing import Any, Final, Literal

from mindinsight.server.graph.layout.boxes import CHIP_HEIGHT, Flow
from mindinsight.server.graph.layout.layered import Point
from mindinsight.server.graph.layout.nested import Box, Drawing, Line
from mindinsight.server.graph.model.node_details import output_of
from mindinsight.server.graph.scopes.scope_tree import PLUMBING, Tree


def drawing_json(tree: Tree, drawing: Drawing) -> dict[str, Any]:
    """Return a drawing as JSON: boxes (scopes before their contents) and lines. y points down."""
    outputs = {box.index: box.content.output for box in drawing.boxes}
    return {
        "width": round(drawing.width, 1),
        "height": round(drawing.height, 1),
        "boxes": [box_json(tree, box) for box in drawing.boxes],
        "lines": [line_json(tree, line, outputs) for line in drawing.lines],
    }


def box_json(tree: Tree, box: Box) -> dict[str, Any]:
    """Return a box as JSON. ``id`` is the index in the tree, ``parent`` the scope it is drawn in (0:
    root). All nodes inside it have indices from ``id`` up to ``end``."""
    index = box.index
    return {
        "id": index,
        "parent": box.parent,
        "end": int(tree.ends[index]),
        "path": tree.paths[index],
        "kind": kind_of(tree, index),
        "type": tree.types[index],
        "label": box.content.label,
        "text": box.content.text,
        "x": round(box.x, 1),
        "y": round(box.y, 1),
        "w": round(box.width, 1),
        "h": round(box.height, 1),
        "open": box.open,
        "count": int(tree.counts[index]),
        "dynamic": box.content.dynamic,
        "enters": box.enters,
        "leaves": box.leaves,
        "hidden": 0 if box.open else box.content.hidden,
        "chips": [] if box.open else _chips_json(tree, box),
    }


def kind_of(tree: Tree, index: int) -> str:
    """Return the kind of a box: scope, group, repeat, run, operator, plumbing or call. Plumbing is an
    operator that only passes values. A call is a node without a type."""
    if tree.nodes[index] < 0:
        kind = tree.types[index].removesuffix("_scope")
        return {"name": "scope", "aggregation": "group"}.get(kind, kind)
    kind = tree.types[index]
    if not kind:
        return "call"
    return "plumbing" if kind in PLUMBING else "operator"


def _chips_json(tree: Tree, box: Box) -> list[dict[str, Any]]:
    return [
        {
            "node": chip.node,
            "name": tree.graph.names[chip.node],
            "kind": "parameter" if tree.graph.types[chip.node] == "Parameter" else "constant",
            "label": chip.label,
            "x": round(x, 1),
            "y": round(y, 1),
            "w": round(chip.width, 1),
            "h": CHIP_HEIGHT,
        }
        for chip, (x, y) in box.chips()
    ]


def line_json(tree: Tree, line: Line, outputs: dict[int, str]) -> dict[str, Any]:
    """Return a line as JSON. ``points`` are x, y, x, y, ... ``values`` is 0 for a line to or from a
    border. ``text`` is the shape of the value if there is only one. ``outputs`` are those of the operators
    drawn."""
    return {
        "source": line.source,
        "target": line.target,
        "points": [round(value, 1) for point in line.points for value in point],
        "values": line.flow.values if line.flow else 0,
        "control": bool(line.flow and line.flow.control),
        "text": _flow_text(tree, line.flow, outputs) if line.flow else "",
    }


def _flow_text(tree: Tree, flow: Flow, outputs: dict[int, str]) -> str:
    if flow.control or flow.leaf < 0:
        return ""
    if (text := outputs.get(flow.leaf)) is not None:
        return text
    return output_of(tree.graph, int(tree.nodes[flow.leaf])).compact


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
_BEND: Final = (0.1, 0.25, 0.5, 0.75, 0.9)  # positions at which a curve is sampled


def figure_json(tree: Tree, drawing: Drawing, theme: Theme = "light") -> dict[str, Any]:
    """Return a drawing as ``data`` and ``layout`` of a Plotly figure. y points down as in the drawing."""
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


def _scatter(mode: str, points: Iterable[Point | None], **options: Any) -> dict[str, Any]:
    """Return a scatter trace of a Plotly figure. A line is interrupted at None."""
    pairs = [(None, None) if point is None else (round(point[0], 1), round(point[1], 1)) for point in points]
    xs, ys = [x for x, _ in pairs], [y for _, y in pairs]
    return {"type": "scatter", "mode": mode, "x": xs, "y": ys, **options}


def _lines(drawing: Drawing, page: dict[str, str]) -> dict[str, Any]:
    points = [point for line in drawing.lines for point in (*curve(line), None)]
    return _scatter("lines", points, hoverinfo="skip", line={"color": page["line"], "width": 1})


def curve(line: Line) -> list[Point]:
    """Return the points of a line with its bends sampled. Tangents are vertical at every point."""
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
    """Return arrow heads as markers. Plotly points each away from the marker before it, which has size 0."""
    lines = [line for line in drawing.lines if len(line.points) > 1]
    marker = {
        "symbol": "arrow",
        "angleref": "previous",
        "size": [size for _ in lines for size in (0, 8)],
        "color": page["line"],
    }
    points = [point for line in lines for point in curve(line)[-2:]]
    return _scatter("markers", points, hoverinfo="skip", marker=marker)


def _labels(drawing: Drawing, page: dict[str, str]) -> dict[str, Any]:
    return _scatter(
        "text",
        [(box.x + box.width / 2, box.y + (14 if box.open else box.height / 2)) for box in drawing.boxes],
        text=[_escape(box.content.label) for box in drawing.boxes],
        textfont={"size": 11, "color": page["text"]},
        hoverinfo="skip",
    )


def _hover_markers(tree: Tree, drawing: Drawing) -> dict[str, Any]:
    closed = [box for box in drawing.boxes if not box.open]
    return _scatter(
        "markers",
        [(box.x + box.width / 2, box.y + box.height / 2) for box in closed],
        marker={"size": 26, "opacity": 0},
        customdata=[box.index for box in closed],
        text=[_escape(f"{tree.paths[box.index]} {box.content.text}".strip()) for box in closed],
        hovertemplate="%{text}<extra></extra>",
    )


def _escape(text: str) -> str:
    """Escape text: Plotly interprets some HTML tags, and names come from files."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
