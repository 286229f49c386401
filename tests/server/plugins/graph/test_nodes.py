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
    boxes = {box["path"]: box["id"] for box in lenet("picture", view="recorded").json()["boxes"]}
    shown = ",".join(map(str, boxes.values()))
    users = lenet("trace", node=boxes[BACKBONE], direction="down", shown=shown).json()
    assert boxes["Default/optimizer-Momentum"] in users["boxes"]
    up = lenet("trace", node=f"{BACKBONE}/conv1-Conv2d/Conv2D-op0", direction="up", shown=shown).json()
    assert up["operators"] == 2
    assert set(up["boxes"]) == {boxes[path] for path in ("Default", "Default/network-WithLossCell", BACKBONE)}


def test_the_model_card_lists_the_network(lenet: Any) -> None:
    card = lenet("card", view="simplified").json()
    assert card["network"]["label"] == "_backbone-LeNet"
    assert card["network"]["parameters"] == 2998
    assert [part["label"] for part in card["parts"] if part["parameters"]] == [
        "conv1-Conv2d",
        "conv2-Conv2d",
        "fc1-Dense",
        "fc2-Dense",
        "fc3-Dense",
    ]
    assert lenet("node", node=BACKBONE).json()["flops"] == card["network"]["flops"] > 0


def test_what_flows_along_a_line_and_across_a_border(lenet: Any) -> None:
    scopes = [f"{BACKBONE}/conv1-Conv2d", f"{BACKBONE}/relu-ReLU"]
    (value,) = lenet("flow", source=scopes[0], target=scopes[1]).json()["values"]["shown"]
    assert (value["label"], value["text"]) == ("Conv2D-op0", "float32 [10, 4, 16, 16]")
    assert [user["label"] for user in value["users"]] == ["ReLU-op0"]
    entering = lenet("flow", source=scopes[1], target=f"{scopes[1]}/ReLU-op0").json()["values"]["shown"]
    assert [value["label"] for value in entering] == ["Conv2D-op0"]
    leaving = lenet("flow", source=f"{scopes[0]}/Conv2D-op0", target=scopes[0]).json()["values"]["shown"]
    assert [value["label"] for value in leaving] == ["Conv2D-op0"]


def test_a_selection_is_found_again_in_another_view(lenet: Any) -> None:
    path = f"{BACKBONE}/relu-ReLU/ReLU-op0"
    assert lenet("node", node=path, view="simplified").status_code == 404
    assert lenet("node", node=path, view="simplified", nearest=True).json()["path"] == BACKBONE
    assert lenet("node", node="else/where", view="simplified", nearest=True).status_code == 404
    assert lenet("outer", name="fc1.bias", view="simplified").json()["label"] == "fc1.bias"
    assert lenet("outer", name="fc9.bias").status_code == 404


def test_paths_are_found_in_the_tree(lenet: Any) -> None:
    names = [BACKBONE, f"{BACKBONE}/fc1-Dense/MatMul-op0", "Default/nothing"]
    scope, operator, unknown = lenet("indices", body={"names": names}).json()["indices"]
    assert lenet("node", node=scope).json()["path"] == names[0]
    assert lenet("node", node=operator).json()["path"] == names[1]
    assert unknown == -1
