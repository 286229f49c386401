"""Boxes and lines of a drawing."""

from typing import Any

import pytest

from mindinsight.server.graph.layout.boxes import CHIP_GAP, CHIP_HEIGHT, OuterInputs, box_content
from mindinsight.server.graph.layout.nested import Box, Drawing, Line
from mindinsight.server.graph.scopes.costs import costs_of
from mindinsight.server.graph.scopes.folding import folded_tree


@pytest.fixture
def box(graph: Any) -> Box:
    tree = folded_tree(graph([("net/MatMul-op0", ["weight", "bias"])], ["weight", "bias"], {}))
    index = tree.indices["net/MatMul-op0"]
    content = box_content(tree, index, OuterInputs(tree.graph), costs_of(tree))
    return Box(index, 10, 20, content.width, content.height, False, content, 1, enters=2, leaves=3)


def test_a_moved_box_differs_in_its_corner_only(box: Box) -> None:
    moved = box.moved(5, -3)
    assert (moved.x, moved.y) == (15, 17)
    assert moved.moved(-5, 3) == box


def test_chips_lie_to_the_left_of_their_box_below_each_other(box: Box) -> None:
    (first, (x1, y1)), (second, (x2, y2)) = box.chips()
    assert (first.label, second.label) == ("weight", "bias")
    assert x1 + first.width == pytest.approx(x2 + second.width) and x1 + first.width < box.x
    assert y2 - y1 == pytest.approx(CHIP_HEIGHT + CHIP_GAP)
    assert (y1 + y2 + CHIP_HEIGHT) / 2 == pytest.approx(box.y + box.height / 2)


def test_a_moved_line_keeps_its_ends_and_flow() -> None:
    assert Line(1, 2, ((0, 0), (3, 4))).moved(1, 2) == Line(1, 2, ((1, 2), (4, 6)))


def test_drawings_share_no_lists() -> None:
    drawing = Drawing(1, 1)
    drawing.lines.append(Line(1, 2, ()))
    assert Drawing(1, 1).lines == []
