from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mindinsight.proto.framing import encode_record
from mindinsight.proto.lineage_pb2 import LineageEvent
from mindinsight.server.api.runs import lowest, thinned
from mindinsight.server.http.responses import decode

LENET = {"run": "./lenet"}


def test_a_list_says_of_each_run_what_a_table_shows(shared_samples: Any) -> None:
    body = shared_samples("lenet", "multi_rank").get("/v2/runs").json()
    runs = {run["id"]: run for run in body["runs"]}
    assert set(runs) == {"./lenet", *(f"./multi_rank/rank_{n}" for n in range(4))}
    lenet = runs["./lenet"]
    kinds = {"scalar": 2, "graph": 1, "histogram": 9, "image": 2, "tensor": 1}
    assert list(lenet["kinds"].items()) == list(kinds.items()), "in one order, however files were read"
    assert lenet["step"] == 60
    assert lenet["hyper"]["learning_rate"] == pytest.approx(0.05)
    assert lenet["metrics"]["Accuracy"] == pytest.approx(0.46)
    assert (lenet["job"], lenet["rank"]) == ("./lenet", None)
    assert (runs["./multi_rank/rank_2"]["job"], runs["./multi_rank/rank_2"]["rank"]) == ("./multi_rank", 2)
    assert {run["slot"] for run in body["runs"] if run["job"] == "./multi_rank"} != {lenet["slot"]}
    assert sorted({run["slot"] for run in body["runs"]}) == [0, 1]
    assert body["base_missing"] is False
    assert body["now"] >= lenet["updated"]


def test_one_run_with_odd_lineage_hides_no_other(samples: Any, tmp_path: Path) -> None:
    odd = tmp_path / "base" / "odd"
    odd.mkdir(parents=True)
    metric = r'{"\ud800": "\udfff", "nan": NaN, "big": 1' + "0" * 399 + "}"
    record = LineageEvent(wall_time=1.0)
    record.evaluation_lineage.metric = metric
    network = LineageEvent(wall_time=1.0)
    network.train_lineage.algorithm.network = "@@"
    (odd / "events.out.events.summary.1.0.h_lineage").write_bytes(
        encode_record(record.SerializeToString())
        + encode_record(network.SerializeToString().replace(b"@@", b"\xff\xfe"))
    )
    answer = samples("lenet").get("/v2/runs")
    assert answer.status_code == 200
    runs = {run["id"]: run for run in answer.json()["runs"]}
    assert runs.keys() == {"./lenet", "./odd"}
    big = "an integer of 400 digits"
    assert runs["./odd"]["metrics"] == {"\\ud800": "\\udfff", "nan": "nan", "big": big}
    assert runs["./odd"]["hyper"]["network"] == "\\xff\\xfe"


def test_some_runs_may_be_asked_for(shared_samples: Any) -> None:
    body = shared_samples("lenet", "multi_rank").get("/v2/runs", params={"run": ["./lenet", "./gone"]}).json()
    assert [run["id"] for run in body["runs"]] == ["./lenet"]


def test_an_unchanged_list_is_not_sent_again(samples: Any) -> None:
    client = samples("lenet")
    etag = client.get("/v2/runs").headers["etag"]
    assert client.get("/v2/runs", headers={"If-None-Match": etag}).status_code == 304
    client.patch("/v2/runs/notes", json={**LENET, "note": "n"})
    assert client.get("/v2/runs", headers={"If-None-Match": etag}).status_code == 200


def test_files_tell_how_far_they_are_read_and_what_is_damaged(shared_samples: Any) -> None:
    client = shared_samples("damaged/flip_body_crc")
    (file,) = client.get("/v2/runs/files", params={"run": "./flip_body_crc"}).json()["files"]
    assert file["read"] == file["size"] == 38667
    assert file["damage"] == [{"offset": 22770, "size": 757, "reason": "damage.body_crc"}]


@pytest.mark.parametrize("path", ["/v2/runs/files", "/v2/runs/facts"])
def test_an_unknown_run_is_said(shared_samples: Any, path: str) -> None:
    answer = shared_samples("lenet").get(path, params={"run": "./../etc"})
    assert answer.status_code == 404
    error = answer.json()["error"]
    assert (error["code"], error["key"]) == ("unknown_run", "error.unknown_run")
    assert error["vars"] == {"run": "./../etc"}


def test_tags_come_with_the_runs_that_have_them(shared_samples: Any) -> None:
    client = shared_samples("lenet", "multi_rank")
    tags = {row["tag"]: row for row in client.get("/v2/tags").json()["tags"]}
    assert tags["fc2_mean"]["runs"] == ["./lenet"]
    assert tags["loss/auto"]["count"] == 5
    brief = client.get("/v2/tags", params={"brief": True, "kind": "image"}).json()["tags"]
    assert brief == [{"tag": "Image", "count": 1}, {"tag": "input_data/auto", "count": 1}]
    assert client.get("/v2/tags", params={"kind": "graph", **LENET}).json()["tags"][0]["count"] == 1
    assert client.get("/v2/tags", params={"kind": "nonsense"}).json()["tags"] == []


def test_tags_of_the_ranks_of_one_job(shared_samples: Any) -> None:
    client = shared_samples("lenet", "multi_rank")
    (row,) = client.get("/v2/tags", params={"job": "./multi_rank"}).json()["tags"]
    assert (row["tag"], row["count"]) == ("loss/auto", 4)
    assert client.get("/v2/tags", params={"job": "./none"}).json()["tags"] == []


def test_what_people_write_is_kept(samples: Any) -> None:
    client = samples("lenet")
    fields = {"note": "best", "labels": ["a", "b", "a"], "hidden": True, "colour": "#12ab34"}
    body = client.patch("/v2/runs/notes", json={**LENET, **fields}).json()
    assert body["labels"] == ["a", "b"]
    (run,) = client.get("/v2/runs").json()["runs"]
    assert (run["note"], run["labels"], run["hidden"], run["chosen"]) == ("best", ["a", "b"], True, "#12ab34")


def test_there_is_one_baseline_at_most(samples: Any) -> None:
    client = samples("multi_rank")
    for number in (0, 1):
        client.patch("/v2/runs/notes", json={"run": f"./multi_rank/rank_{number}", "pinned": True})
    pinned = [run["id"] for run in client.get("/v2/runs").json()["runs"] if run["pinned"]]
    assert pinned == ["./multi_rank/rank_1"]


@pytest.mark.parametrize(
    "fields",
    [
        {"colour": "red"},
        {"colour": "#12345g"},
        {"labels": [""]},
        {"labels": ["x"] * 51},
        {"note": "x" * 20_001},
    ],
)
def test_bad_notes_are_refused(shared_samples: Any, fields: Any) -> None:
    assert shared_samples("lenet").patch("/v2/runs/notes", json={**LENET, **fields}).status_code == 422


def test_a_full_disk_is_said(samples: Any, tmp_path: Path) -> None:
    client = samples("lenet")
    (tmp_path / "workspace").mkdir(exist_ok=True)
    (tmp_path / "workspace" / "notes.json").mkdir()
    answer = client.patch("/v2/runs/notes", json={**LENET, "note": "n"})
    assert answer.status_code == 507
    assert answer.json()["error"]["vars"]["why"]


def test_columns_give_last_lowest_and_highest(shared_samples: Any) -> None:
    client = shared_samples("lenet", "multi_rank")
    tables = client.get("/v2/runs/columns", params={"tag": ["loss/auto", "nothing"]}).json()["tables"]
    table = tables["loss/auto"]
    at = table["runs"].index("./lenet")
    last, low, high = (decode(table[part])[at] for part in ("last", "min", "max"))
    assert last == pytest.approx(1.126, abs=1e-3)
    assert low <= last < high
    assert tables["nothing"]["runs"] == []


def test_small_curves_begin_and_end_where_the_whole_does(shared_samples: Any) -> None:
    client = shared_samples("lenet")
    answer = client.get("/v2/runs/sparklines", params={"tag": "loss/auto", "run": ["./lenet", "./gone"]})
    curves = answer.json()["curves"]
    assert list(curves) == ["./lenet"]
    values = decode(curves["./lenet"])
    assert 2 < len(values) <= 48
    assert values[-1] == pytest.approx(1.126, abs=1e-3)


def test_facts_hold_the_pipeline_of_data(shared_samples: Any) -> None:
    facts = shared_samples("lenet").get("/v2/runs/facts", params=LENET).json()
    assert facts["dataset"]["op_type"] == "Batch" or facts["dataset"]["children"]
    assert facts["hyper"]["optimizer"] == "Momentum"


def test_the_lowest_value_is_a_number_when_there_is_one() -> None:
    assert lowest(np.array([3.0, np.nan, -1.0, -np.inf])) == -1.0
    assert np.isnan(lowest(np.array([np.nan, np.inf])))


@pytest.mark.parametrize("count", [1, 2, 47, 48, 49, 10_000])
def test_thinning_keeps_both_ends_and_order(count: int) -> None:
    values = thinned(np.arange(count, dtype=np.float32))
    assert len(values) == min(count, 48)
    assert values[0] == 0
    assert values[-1] == count - 1
    assert (np.diff(values) > 0).all()


def test_many_notes_change_together_and_a_name_is_only_shown(samples: Any) -> None:
    client = samples("lenet", "multi_rank")
    changes = [{**LENET, "name": "best", "group": "g"}, {"run": "./multi_rank/rank_1", "archived": True}]
    answer = client.patch("/v2/runs/notes/many", json={"changes": changes})
    assert [note["run"] for note in answer.json()["notes"]] == ["./lenet", "./multi_rank/rank_1"]
    runs = {run["id"]: run for run in client.get("/v2/runs").json()["runs"]}
    lenet = runs["./lenet"]
    assert (lenet["name"], lenet["directory"], lenet["group"]) == ("best", "lenet", "g")
    assert [run for run, row in runs.items() if row["archived"]] == ["./multi_rank/rank_1"]
    client.patch("/v2/runs/notes", json={**LENET, "name": ""})
    assert client.get("/v2/runs", params={"run": "./lenet"}).json()["runs"][0]["name"] == "lenet"


def test_no_note_changes_where_one_run_is_unknown(samples: Any) -> None:
    client = samples("lenet")
    changes = [{**LENET, "hidden": True}, {"run": "./gone", "hidden": True}]
    assert client.patch("/v2/runs/notes/many", json={"changes": changes}).status_code == 404
    assert client.get("/v2/runs").json()["runs"][0]["hidden"] is False
