"""Plotly figures of a drawing: shapes, curves, arrow heads, labels and hover texts in its coordinates."""

from collections.abc import Callable
from typing import Any

import pytest

from mindinsight.server.graph.encoders.drawing_json import curve, figure_json
from mindinsight.server.graph.layout.nested import Drawing, Line, draw
from mindinsight.server.graph.model.graph import Graph
from mindinsight.server.graph.scopes.folding import folded_tree
from mindinsight.server.graph.scopes.scope_tree import Tree


@pytest.fixture
def tree(graph: Callable[..., Graph]) -> Tree:
    nodes = [("a<b>/Mul-op1", []), ("a<b>/Add-op2", ["a<b>/Mul-op1"]), ("Sub-op3", ["a<b>/Add-op2"])]
    return folded_tree(graph(nodes))


@pytest.fixture
def drawing(tree: Tree) -> Drawing:
    return draw(tree, [index for index in range(len(tree.paths)) if tree.nodes[index] < 0])


@pytest.fixture
def figure(tree: Tree, drawing: Drawing) -> dict[str, Any]:
    return figure_json(tree, drawing)


def test_every_box_is_a_shape_and_open_ones_are_lighter(figure: dict[str, Any], drawing: Drawing) -> None:
    shapes = figure["layout"]["shapes"]
    assert [(shape["x0"], shape["y1"]) for shape in shapes] == [
        (box.x, box.y + box.height) for box in drawing.boxes
    ]
    assert {shape["opacity"] for shape, box in zip(shapes, drawing.boxes, strict=True) if box.open} == {0.45}
    assert {shape["opacity"] for shape, box in zip(shapes, drawing.boxes, strict=True) if not box.open} == {1}


def test_y_points_down_and_units_are_square(figure: dict[str, Any], drawing: Drawing) -> None:
    layout = figure["layout"]
    assert layout["xaxis"]["range"] == [0, drawing.width]
    assert layout["yaxis"]["range"] == [drawing.height, 0]
    assert layout["yaxis"]["scaleanchor"] == "x"


def test_lines_are_one_trace_with_a_gap_after_each(figure: dict[str, Any], drawing: Drawing) -> None:
    lines = figure["data"][0]
    assert lines["x"].count(None) == lines["y"].count(None) == len(drawing.lines) > 0
    assert lines["x"][-1] is None
    assert (lines["x"][0], lines["y"][0]) == tuple(round(part, 1) for part in drawing.lines[0].points[0])


def test_an_arrow_head_is_at_the_end_of_each_line(figure: dict[str, Any], drawing: Drawing) -> None:
    heads = figure["data"][1]
    ends = [line.points[-1] for line in drawing.lines]
    assert list(zip(heads["x"], heads["y"], strict=True))[1::2] == [
        (round(x, 1), round(y, 1)) for x, y in ends
    ]
    assert heads["marker"]["size"] == [0, 8] * len(ends)


def test_names_from_files_are_no_markup_and_clicks_carry_the_node(
    figure: dict[str, Any], tree: Tree, drawing: Drawing
) -> None:
    labels, hover = figure["data"][2], figure["data"][3]
    assert "a&lt;b&gt;" in labels["text"]
    assert not any("<" in text for text in [*labels["text"], *hover["text"]])
    assert hover["customdata"] == [box.index for box in drawing.boxes if not box.open]


def test_the_dark_theme_has_another_page(tree: Tree, drawing: Drawing) -> None:
    light, dark = (
        figure_json(tree, drawing, theme)["layout"]["paper_bgcolor"] for theme in ("light", "dark")
    )
    assert light == "#ffffff" != dark


def test_a_bend_is_sampled_and_a_straight_line_is_not() -> None:
    assert curve(Line(1, 2, ((0.0, 0.0), (0.0, 10.0)))) == [(0.0, 0.0), (0.0, 10.0)]
    bent = curve(Line(1, 2, ((0.0, 0.0), (8.0, 10.0))))
    assert len(bent) == 7
    assert bent[3] == (4.0, 5.0)
    assert [y for _, y in bent] == sorted(y for _, y in bent)
