"""Routes of nodes over a real run: search, children, details, dependencies."""

from typing import Any

BACKBONE = "Default/network-WithLossCell/_backbone-LeNet"


def test_search_and_browse(lenet: Any) -> None:
    matches = lenet("search", q="^conv2d-op0$", regex=True).json()
    assert (matches["total"], matches["shown"], matches["outer_total"]) == (2, 2, 0)
    assert lenet("search", q="conv1.weight").json()["outer"][0]["text"] == "float32 [4, 1, 5, 5]"
    bad = lenet("search", q="(", regex=True)
    assert bad.status_code == 400 and bad.json()["error"]["key"] == "error.bad_pattern"
    assert [entry["label"] for entry in lenet("inside").json()["inside"]] == ["Default", "Gradients"]
    inside = lenet("inside", node=f"{BACKBONE}/relu-ReLU").json()["inside"]
    assert [entry["type"] for entry in inside] == ["ReLU"] * 4


def test_nodes_by_path_and_by_number(lenet: Any) -> None:
    about = lenet("node", node=f"{BACKBONE}/fc1-Dense/MatMul-op0").json()
    assert about == lenet("node", node=about["id"]).json()
    assert about["output"] == "float32 [10, 32]"
    assert [entry["label"] for entry in about["outer"]["shown"]] == ["cst2", "cst3"]
    assert lenet("node", node="Default/nothing").status_code == 404
    assert lenet("node", node="99999").status_code == 404


def test_parameters(lenet: Any) -> None:
    node = lenet("search", q="fc1.bias").json()["outer"][0]["node"]
    assert lenet("outer", node=node).json()["users"]["total"] >= 2
    assert lenet("outer", node=0).status_code == 404
    assert lenet("outer", node=99999).status_code == 404


def test_traces_name_the_boxes_that_are_shown(lenet: Any) -> None:
    boxes = {box["path"]: box["id"] for box in lenet("picture").json()["boxes"]}
    shown = ",".join(map(str, boxes.values()))
    users = lenet("trace", node=boxes[BACKBONE], direction="down", shown=shown).json()
    assert boxes["Default/optimizer-Momentum"] in users["boxes"]
    up = lenet("trace", node=f"{BACKBONE}/conv1-Conv2d/Conv2D-op0", direction="up", shown=shown).json()
    assert up["operators"] == 2
    assert set(up["boxes"]) == {boxes[path] for path in ("Default", "Default/network-WithLossCell", BACKBONE)}
