"""JSON encoder of a drawing, which the page turns into SVG."""

from __future__ import annotations

from typing import Any

from mindinsight.server.graph.layout.boxes import CHIP_HEIGHT
from mindinsight.server.graph.layout.drawing import Box, Drawing, Line
from mindinsight.server.graph.layout.flows import Flow
from mindinsight.server.graph.model.node_details import output_of
from mindinsight.server.graph.scopes.tree import PLUMBING, Tree


def drawing_json(tree: Tree, drawing: Drawing) -> dict[str, Any]:
    """A drawing as JSON: boxes (scopes before what is in them) and lines; y points down."""
    outputs = {box.index: box.content.output for box in drawing.boxes}
    return {
        "width": round(drawing.width, 1),
        "height": round(drawing.height, 1),
        "boxes": [box_json(tree, box) for box in drawing.boxes],
        "lines": [line_json(tree, line, outputs) for line in drawing.lines],
    }


def box_json(tree: Tree, box: Box) -> dict[str, Any]:
    """A box as JSON; ``id`` is the index in the tree, ``parent`` that of the scope it is drawn in (0: root).

    All nodes inside it have indices from ``id`` up to ``end``.
    """
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
    """Kind of box: scope, group, repeat, run; operator, plumbing (only passes values on), call."""
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
    """A line as JSON; ``points`` are x, y, x, y, ...; ``values`` is 0 for a line to or from a border.

    ``text`` is the shape of the value if only one flows; ``outputs`` are those of operators that are drawn.
    """
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
