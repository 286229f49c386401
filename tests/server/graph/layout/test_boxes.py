from typing import Any

import pytest

from mindinsight.proto.graph_pb2 import GraphProto
from mindinsight.server.formats.graphs.graph_proto import read_graph
from mindinsight.server.graph.layout.boxes import OuterInputs, box_content, text_width, truncate
from mindinsight.server.graph.scopes.costs import costs_of
from mindinsight.server.graph.scopes.folding import folded_tree


@pytest.fixture
def tree(graph: Any) -> Any:
    nodes = [
        ("net/MatMul-op0", ["weight", "cst1", "cst2", "bias", "weight"]),
        ("net/Add-op0", ["net/MatMul-op0"]),
    ]
    return folded_tree(graph(nodes, ["weight", "bias"], {"cst1": 7, "cst2": -1}))


def content(tree: Any, path: Any, attribute: str = "") -> Any:
    index = tree.indices[path]
    return box_content(tree, index, OuterInputs(tree.graph), costs_of(tree), attribute)


def test_an_operator_shows_its_name_its_output_and_what_feeds_it(tree: Any) -> None:
    shown = content(tree, "net/MatMul-op0")
    assert (shown.label, shown.text) == ("MatMul-op0", "float32 2×3")
    assert [chip.label for chip in shown.chips] == ["weight", "bias", "7"]  # parameters come first
    assert shown.hidden == 1
    assert content(tree, "net/MatMul-op0", "none").output == "float32 2×3"


def test_an_operator_shows_one_of_its_attributes_when_asked() -> None:
    proto = GraphProto()
    strided = proto.node.add(name="1", op_type="Conv2D", full_name="net/Conv2D-op0").attribute.add(name="pad")
    strided.value.dtype, strided.value.int_val = 5, 3
    proto.node.add(name="2", op_type="Add", full_name="net/Add-op0")
    tree = folded_tree(read_graph(proto.SerializeToString()))
    assert content(tree, "net/Conv2D-op0", "pad").text == "3"
    assert content(tree, "net/Add-op0", "pad").text == ""


def test_links_meet_the_box_and_not_its_chips(tree: Any) -> None:
    shown = content(tree, "net/MatMul-op0")
    assert shown.size.inlet == shown.size.outlet == pytest.approx(shown.size.width - shown.width / 2)
    assert shown.size.width > shown.width + max(chip.width for chip in shown.chips)
    assert content(tree, "net/Add-op0").size.inlet == content(tree, "net/Add-op0").width / 2


def test_tokens_of_order_are_not_shown() -> None:
    proto = GraphProto()
    proto.node.add(name="1", op_type="Load", full_name="net/Load-op0")
    for name in ("cst1", "cst2", "cst3"):
        proto.node[0].input.add(name=name)
    proto.const_vals.add(key="cst1").value.str_val = "U"
    proto.const_vals.add(key="cst2").value.str_val = "IO"
    text = proto.const_vals.add(key="cst3").value
    text.dtype, text.str_val = 13, "U"  # a string of the program
    graph = read_graph(proto.SerializeToString())
    assert [graph.names[node] for node in OuterInputs(graph).of(0)] == ["cst3"]


@pytest.mark.parametrize(
    "text", ["", "a", "layer_norm_12", "矩阵乘法", "ΩΩΩ", "WWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWW"]
)
def test_texts_are_cut_to_the_room_there_is(text: str) -> None:
    for room in (30, 60, 400):
        short = truncate(text, room)
        assert text_width(short) <= max(room, text_width("…"))
        assert short == text or "…" in short
