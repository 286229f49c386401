"""Route of the drawing of a step."""

from typing import Any

BROKEN = {"dump": "./job/broken", "rank": 0, "step": 1}


def test_the_graph_is_coloured_by_a_statistic(finished: Any) -> None:
    picture = finished("picture", **BROKEN, colour="nans")
    boxes = {box["path"]: box for box in picture["boxes"]}
    assert picture["lines"] and picture["operators"] == 22
    assert {path for path, box in boxes.items() if not box["parent"]} == {"Default", "Gradients"}
    assert (boxes["Default"]["value"], boxes["Default"]["share"]) == (0, 0)
    assert (boxes["Gradients"]["value"], boxes["Gradients"]["share"]) == (1, 1)
    assert finished("picture", **BROKEN, open="")["open"] == []
    (leaf,) = [box for box in boxes.values() if box["recorded"] == "Conv2D-op51"] or [None]
    assert leaf is None or leaf["graph"] == "Net/0"


def test_a_dump_without_a_graph_is_drawn_by_what_its_tensors_hold(finished: Any) -> None:
    picture = finished("picture", dump="./torch", rank=0, step=0)
    assert picture["lines"]
    names = {box["recorded"] for box in picture["boxes"]}
    assert "Functional.relu.0.forward" in names


def test_the_fault_is_marked_whatever_the_colour_and_the_scale_told(finished: Any) -> None:
    picture = finished("picture", **BROKEN, colour="norm", open="")
    marked = {box["path"] for box in picture["boxes"] if box["symptom"] == "fault"}
    assert marked == {"Gradients"}
    assert picture["counts"]["fault"] == 1
    assert 0 < picture["least"] < picture["most"]
    assert not picture["in_order"]
