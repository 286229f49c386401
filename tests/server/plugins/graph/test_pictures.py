"""Routes of graphs and their drawings over real runs."""

import os
import shutil
from pathlib import Path
from typing import Any

from mindinsight.proto.framing import encode_record
from mindinsight.proto.graph_pb2 import GraphProto, ModelProto
from mindinsight.proto.summary_pb2 import Event

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
