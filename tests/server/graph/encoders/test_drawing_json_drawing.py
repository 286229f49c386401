"""Drawings as JSON: chips and texts of lines."""

from pathlib import Path
from typing import Any

from mindinsight.server.formats.graphs.graph_proto import read_graph
from mindinsight.server.graph.encoders.drawing_json import drawing_json
from mindinsight.server.graph.layout.nested import draw
from mindinsight.server.graph.model.simplification import simplify
from mindinsight.server.graph.scopes.folding import folded_tree

DATA = Path(__file__).parents[3] / "data/graph"


def everything(tree: Any) -> list[Any]:
    return [index for index in range(len(tree.paths)) if tree.nodes[index] < 0]


def test_parameters_and_constants_stand_beside_their_users() -> None:
    graph = read_graph((DATA / "lenet.graph").read_bytes())
    tree = folded_tree(simplify(graph, ordering=False))
    picture = drawing_json(tree, draw(tree, everything(tree)))
    box = next(
        candidate
        for candidate in picture["boxes"]
        if candidate["label"] == "MatMul-op0" and "fc1" in candidate["path"]
    )
    assert [chip["label"] for chip in box["chips"]] == ["fc1.weight", "false", "true"]
    assert all(chip["x"] + chip["w"] < box["x"] for chip in box["chips"])
    assert box["text"] == "float32 10×32"


def test_lines_tell_the_shape_of_a_single_value_and_nothing_of_an_order() -> None:
    graph = read_graph((DATA / "lenet.graph").read_bytes())
    tree = folded_tree(graph)
    lines = drawing_json(tree, draw(tree, everything(tree)))["lines"]
    assert any(line["text"].startswith("float32 ") for line in lines)
    for line in lines:
        assert not line["text"] or (line["values"] and not line["control"])
        if not line["text"] and line["values"] and not line["control"]:
            assert line["values"] > 1
