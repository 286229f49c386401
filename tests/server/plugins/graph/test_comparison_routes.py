"""The routes that lay two graphs beside each other."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mindinsight.proto.graph_pb2 import GraphProto, ModelProto

LENET = Path(__file__).parents[3] / "data/graph/lenet.graph"
BACKBONE = "Default/network-WithLossCell/_backbone-LeNet"


@pytest.fixture
def compared(samples: Any, tmp_path: Path) -> Callable[..., Any]:
    """Two files of one run: the second without the first layer, and with another output of fc1."""
    folder = tmp_path / "base" / "two"
    folder.mkdir(parents=True)
    graph = GraphProto.FromString(LENET.read_bytes())
    (folder / "first.pb").write_bytes(ModelProto(ir_version=1, graph=graph).SerializeToString())
    for node in [
        candidate for candidate in graph.node if candidate.full_name.startswith(f"{BACKBONE}/conv1-Conv2d")
    ]:
        graph.node.remove(node)
    dense = next(node for node in graph.node if node.full_name.endswith("fc1-Dense/MatMul-op0"))
    dense.output_type.tensor_type.shape.dim[1].size = 64
    (folder / "second.pb").write_bytes(ModelProto(ir_version=1, graph=graph).SerializeToString())
    client = samples()

    def ask(path: Any, tags: Any = ("first.pb", "second.pb"), **params: Any) -> Any:
        given = {"run": "./two", "tag": tags[0], "other_run": "./two", "other_tag": tags[1], **params}
        return client.get(f"/v2/graph/compare/{path}", params=given)

    return ask


def test_differences_are_counted_and_listed(compared: Callable[..., Any]) -> None:
    differences = compared("differences").json()
    assert (differences["left"], differences["right"]) == (1, 0)
    labels = [(row["state"], (row["left"] or row["right"])["label"]) for row in differences["shown"]]
    assert ("only", "conv1-Conv2d") in labels and ("changed", "MatMul-op0") in labels
    assert differences["total"] == len(differences["shown"])
    assert len(compared("differences", limit=1).json()["shown"]) == 1


def test_a_graph_beside_itself_has_no_differences(compared: Callable[..., Any]) -> None:
    differences = compared("differences", tags=("first.pb", "first.pb")).json()
    assert (differences["total"], differences["changed"], differences["left"], differences["right"]) == (
        0,
        0,
        0,
        0,
    )


def test_what_is_open_on_one_side_is_open_on_the_other(compared: Callable[..., Any]) -> None:
    drawings = compared("pictures").json()
    left = {box["path"]: box for box in drawings["left"]["boxes"]}
    right = {box["path"]: box for box in drawings["right"]["boxes"]}
    assert left[BACKBONE]["partner"] == right[BACKBONE]["id"]
    assert right[BACKBONE]["partner"] == left[BACKBONE]["id"]
    assert left[BACKBONE]["state"] == "changed" and left[BACKBONE]["only"] == 1
    assert right[BACKBONE]["missing"] == 1
    opened = ",".join(map(str, [*drawings["open"], left[BACKBONE]["id"]]))
    more = compared("pictures", open=opened).json()
    labels = [{box["label"] for box in more[side]["boxes"]} for side in ("left", "right")]
    assert "conv1-Conv2d" in labels[0] and "conv1-Conv2d" not in labels[1]
    assert {"fc1-Dense", "relu-ReLU"} <= labels[0] & labels[1]
    assert more["other_open"] == []


def test_a_scope_without_a_partner_is_opened_by_itself(compared: Callable[..., Any]) -> None:
    tags = ("second.pb", "first.pb")
    first = compared("differences", tags=tags).json()["shown"]
    scope = next(row["right"] for row in first if row["state"] == "only")
    around = compared("node", tags=tags, other_node=scope["id"]).json()["around"]
    indices = ",".join(map(str, [*around["right"], scope["id"]]))
    drawings = compared("pictures", tags=tags, open="", other_open=indices).json()
    assert drawings["other_open"] == [scope["id"]]
    assert len(drawings["open"]) == len(around["right"])
    box = next(row for row in drawings["right"]["boxes"] if row["id"] == scope["id"])
    assert (box["open"], box["state"], box["partner"]) == (True, "only", None)


def test_a_pair_tells_in_what_it_differs(compared: Callable[..., Any]) -> None:
    pair = compared("node", node=f"{BACKBONE}/fc1-Dense/MatMul-op0").json()
    assert pair["left"]["path"] == pair["right"]["path"]
    assert {"what": "output", "name": "", "left": "float32 [10, 32]", "right": "float32 [10, 64]"} in pair[
        "differences"
    ]
    assert pair == compared("node", other_node=pair["right"]["id"]).json()
    alone = compared("node", node=f"{BACKBONE}/conv1-Conv2d").json()
    assert (alone["right"], alone["state"], alone["differences"]) == (None, "only", [])
    assert compared("node").json()["only"] == 1
    assert compared("node", node="nowhere").json()["error"]["code"] == "unknown_node"


def test_what_is_not_there_cannot_be_compared(compared: Callable[..., Any]) -> None:
    assert compared("differences", tags=("first.pb", "none.pb")).status_code == 404
    assert compared("differences", other_run="./nothing").status_code == 404
    assert compared("differences", view="dataset").json()["error"]["code"] == "no_pipeline"


def test_simplified_graphs_are_compared_too(compared: Callable[..., Any]) -> None:
    differences = compared("differences", view="simplified").json()
    assert 0 < differences["same"] < compared("differences").json()["same"]
