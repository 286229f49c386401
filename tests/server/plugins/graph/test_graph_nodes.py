"""Routes of graphs and their drawings over real runs."""

import os
import shutil
from pathlib import Path
from typing import Any

from mindinsight.proto.framing import encode_record
from mindinsight.proto.graph_pb2 import GraphProto, ModelProto
from mindinsight.proto.summary_pb2 import Event

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


DATA = Path(__file__).parents[3] / "data"


def test_graphs_of_a_run_and_its_pipeline(shared_samples: Any) -> None:
    client = shared_samples("lenet", "multi_rank")
    answer = client.get("/v2/graph/graphs", params={"run": "./multi_rank/rank_1"}).json()
    assert len(answer["tags"]) == 1 and answer["dataset"]
    assert client.get("/v2/graph/graphs", params={"run": "./nothing"}).status_code == 404


def test_graph_files_beside_events_are_graphs_and_the_final_one_comes_first(
    samples: Any, tmp_path: Path
) -> None:
    base = tmp_path / "base" / "files"
    base.mkdir(parents=True)
    for name in ("a.pb", "ms_output_optimize.pb"):
        shutil.copy(DATA / "graph" / "conv_optimize.pb", base / name)
    client = samples()
    answer = client.get("/v2/graph/graphs", params={"run": "./files"}).json()
    size = (base / "a.pb").stat().st_size
    assert answer == {
        "run": "./files",
        "tags": ["ms_output_optimize.pb", "a.pb"],
        "newest": {"ms_output_optimize.pb": [1, size], "a.pb": [1, size]},
        "dataset": False,
        "claims": [],
    }
    picture = client.get("/v2/graph/picture", params={"run": "./files", "tag": "a.pb"}).json()
    assert (picture["operators"], picture["parameters"], picture["constants"]) == (26, 9, 4)


def test_a_graph_beyond_the_budget_is_refused(samples: Any, tmp_path: Path) -> None:
    base = tmp_path / "base" / "huge"
    base.mkdir(parents=True)
    (base / "a.pb").touch()
    os.truncate(base / "a.pb", 1400 << 20)
    answer = samples().get("/v2/graph/picture", params={"run": "./huge", "tag": "a.pb"})
    assert answer.status_code == 422
    assert "cannot be read: 1468006400 bytes" in answer.json()["error"]["message"]


def test_both_graphs_of_a_file_can_be_reached(samples: Any, tmp_path: Path) -> None:
    base = tmp_path / "base" / "two"
    base.mkdir(parents=True)
    name, records = "events.out.events.summary.1.0.h_MS", b""
    for graph in ("conv_optimize", "simplified"):
        model = ModelProto.FromString((DATA / "graph" / f"{graph}.pb").read_bytes())
        event = Event(wall_time=1.0)
        event.graph_def.CopyFrom(GraphProto.FromString(model.graph.SerializeToString()))
        records += encode_record(event.SerializeToString())
    (base / name).write_bytes(records)
    client = samples()
    tags = client.get("/v2/graph/graphs", params={"run": "./two"}).json()["tags"]
    assert tags == [name, f"{name}#2"]
    first, second, default = (
        client.get("/v2/graph/picture", params={"run": "./two", **({"tag": tag} if tag else {})}).json()
        for tag in (*tags, None)
    )
    assert first["operators"] == 26
    assert second["operators"] != 26
    assert default == first


def test_scopes_open_by_their_number(lenet: Any) -> None:
    first = lenet("picture", view="recorded").json()
    closed = next(box for box in first["boxes"] if box["label"] == "_backbone-LeNet")
    assert not closed["open"] and closed["count"] == 22
    opened = lenet(
        "picture", view="recorded", open=",".join(map(str, [*first["open"], closed["id"], 99999])) + ",x"
    ).json()
    assert {box["label"] for box in opened["boxes"]} >= {"conv1-Conv2d", "fc1-Dense", "ImageSummary-op0"}
    assert all(box["open"] for box in opened["boxes"] if box["id"] in opened["open"])


def test_simplified_and_pipeline(lenet: Any) -> None:
    assert lenet("picture", view="simplified").json()["operators"] == 24
    assert lenet("picture", view="dataset").json()["operators"] == 11
    assert lenet("types", view="dataset").json()["types"]["Map"] == 2
    assert lenet("picture", view="other").status_code == 422


def test_a_scope_is_drawn_flat_in_pictures_and_figures(lenet: Any) -> None:
    layered = lenet("picture", view="recorded", open="1").json()
    scope = next(box for box in layered["boxes"] if box["count"])
    flat = lenet("picture", view="recorded", open="1", flat=f"{scope['id']},99999,x").json()
    assert (layered["flat"], flat["flat"]) == ([], [scope["id"]])
    inside = [box for box in flat["boxes"] if scope["id"] < box["id"] < scope["end"]]
    assert len(inside) > scope["count"]
    assert all(box["parent"] == scope["id"] and not box["count"] for box in inside)
    figure = lenet("figure", open="1", flat=scope["id"]).json()
    assert len(figure["layout"]["shapes"]) == len(flat["boxes"])


def test_the_plotly_figure_has_every_box_as_a_shape(lenet: Any) -> None:
    picture, figure = lenet("picture", view="recorded").json(), lenet("figure", theme="dark").json()
    assert len(figure["layout"]["shapes"]) == len(picture["boxes"])
    lines, heads, texts, targets = figure["data"]
    assert lines["x"].count(None) == len(picture["lines"])
    assert len(heads["x"]) == 2 * len(picture["lines"])
    assert len(texts["text"]) == len(picture["boxes"])
    assert set(targets["customdata"]) == {box["id"] for box in picture["boxes"] if not box["open"]}


def test_a_training_opens_simplified_and_anything_else_as_recorded(
    lenet: Any, samples: Any, tmp_path: Path
) -> None:
    simplified = lenet("picture", view="auto").json()
    assert simplified["view"] == "simplified"
    assert simplified == lenet("picture", view="simplified").json()
    (tmp_path / "base" / "files").mkdir(parents=True)
    shutil.copy(DATA / "graph" / "types.pb", tmp_path / "base" / "files" / "types.pb")
    assert (
        samples().get("/v2/graph/picture", params={"run": "./files", "view": "auto"}).json()["view"]
        == "recorded"
    )


def test_boxes_tell_parameters_and_operations_of_scopes_or_an_attribute(lenet: Any) -> None:
    texts = {box["label"]: box["text"] for box in lenet("picture", view="simplified").json()["boxes"]}
    assert texts["_backbone-LeNet"] == "3.00 k · 809 kFLOP"
    strided = lenet("picture", open=",".join(map(str, range(60))), attribute="pad_mode").json()["boxes"]
    assert next(box["text"] for box in strided if box["type"] == "Conv2D") == "2"


def test_runs_without_graph_or_pipeline(shared_samples: Any) -> None:
    client = shared_samples("record_api/images")
    params = {"run": "./images", "tag": "x"}
    answer = client.get("/v2/graph/graphs", params=params).json()
    (claim,) = answer.pop("claims")
    assert (claim["key"], claim["verdict"]) == ("claim.graph.none", "note")
    assert answer == {"run": "./images", "tags": [], "newest": {}, "dataset": False}
    assert client.get("/v2/graph/picture", params=params).json()["error"]["code"] == "unknown_tag"
    answer = client.get("/v2/graph/picture", params={**params, "view": "dataset"})
    assert answer.json()["error"]["code"] == "no_pipeline"


def test_bytes_that_are_no_graph_are_said_to_be_none(samples: Any, tmp_path: Path) -> None:
    (tmp_path / "base" / "bad").mkdir(parents=True)
    (tmp_path / "base" / "bad" / "broken.pb").write_bytes(b"not a graph at all")
    answer = samples().get("/v2/graph/picture", params={"run": "./bad", "tag": "broken.pb"})
    assert answer.status_code == 422
    assert answer.json()["error"]["code"] == "graph_unreadable"
