"""Lineage searched, annotated and set against objectives, over real runs."""

import json
import shutil
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from mindinsight.server.api.v1 import lineages
from mindinsight.server.api.v1.lineage_search import parse_search

from .conftest import DATA, ROOT, Interface, code_of, serving

SEARCH = "lineagemgr/lineages"
TARGETS = "optimizer/targets/search"


def put(v1: Any, body: Any, **query: Any) -> Any:
    """The body is sent in ASCII, as half a character can be sent in no other way."""
    headers = {"Content-Type": "application/json"}
    return v1.client.put(f"{ROOT}/{SEARCH}", content=json.dumps(body), params=query, headers=headers)


def test_every_run_with_lineage_is_a_row(v1: Any) -> None:
    answer = v1.sent(SEARCH)
    runs = {row["summary_dir"] for row in answer["object"]}
    assert answer["count"] == len(runs)
    assert {"./lenet", "./landscape", "./lineage_and_graph"} <= runs
    (row,) = v1.sent(SEARCH, {"summary_dir": {"eq": "./lenet"}})["object"]
    assert row["model_lineage"]["network"]
    assert row["dataset_graph"]["op_type"] == "Batch"


def test_halves_pages_and_order(v1: Any) -> None:
    (row,) = v1.sent(SEARCH, {"summary_dir": {"eq": "./lenet"}, "lineage_type": {"eq": "model"}})["object"]
    assert "dataset_graph" not in row
    ordered = v1.sent(SEARCH, {"sorted_name": "summary_dir"})["object"]
    names = [row["summary_dir"] for row in ordered]
    assert names == sorted(names)
    page = v1.sent(SEARCH, {"sorted_name": "summary_dir", "limit": 1, "offset": 1})
    assert [row["summary_dir"] for row in page["object"]] == names[1:2]
    assert page["count"] == len(names)


@pytest.mark.parametrize("body", [[], "x", {"limit": 0}, {"nothing": {"eq": 1}}, {"epoch": {"ge": True}}])
def test_what_is_wrong_with_a_search(v1: Any, body: Any) -> None:
    assert code_of(v1.post(SEARCH, body)) == code_of(v1.post(TARGETS, body)) == (400, "50542218")


def test_a_body_that_is_no_json(v1: Any) -> None:
    assert code_of(v1.client.post(f"{ROOT}/{SEARCH}", content=b"{")) == (400, "50540002")
    assert code_of(v1.get(SEARCH)) == (405, "50545002")


def test_tags_and_remarks_outlive_the_server(tmp_path: Path) -> None:
    base = tmp_path / "base"
    (base / "lenet").mkdir(parents=True)
    for file in (DATA / "events" / "lenet").glob("*_lineage"):
        (base / "lenet" / file.name).write_bytes(file.read_bytes())
    with serving(base, tmp_path / "workspace") as client:
        answer = put(Interface(client), {"tag": 3, "remark": "kept"}, train_id="./lenet")
        assert answer.json() == {"status": "success"}
    with serving(base, tmp_path / "workspace") as client:
        (row,) = Interface(client).sent(SEARCH)["object"]
    assert row["added_info"] == {"tag": 3, "remark": "kept"}


@pytest.mark.parametrize(
    ("query", "body", "code"),
    [
        ({}, {}, "50540003"),
        ({"train_id": "lenet"}, {}, "50540002"),
        ({"train_id": "./none"}, {}, "50545005"),
        ({"train_id": "./lenet"}, [], "50540002"),
        ({"train_id": "./images"}, {}, "50540002"),
        ({"train_id": "./lenet"}, {"tag": 11}, "50542081"),
        ({"train_id": "./lenet"}, {"tag": True}, "50542081"),
        ({"train_id": "./lenet"}, {"remark": "x" * 129}, "50542081"),
        ({"train_id": "./lenet"}, {"other": 1}, "50542081"),
        ({"train_id": "./lenet"}, {"remark": "a\ud800"}, "50542081"),
    ],
)
def test_annotations_that_cannot_be_kept(v1: Any, query: Any, body: Any, code: str) -> None:
    assert code_of(put(v1, body, **query)) == (400, code)


def test_nothing_is_changed_by_an_empty_annotation(v1: Any) -> None:
    assert put(v1, {}, train_id="./lenet").json() == {"status": "success"}
    wrong = v1.client.put(f"{ROOT}/{SEARCH}", params={"train_id": "./lenet"}, content=b"{")
    assert wrong.status_code == 400


def test_a_remark_that_cannot_be_kept_leaves_nothing_behind(tmp_path: Path) -> None:
    base = tmp_path / "base"
    shutil.copytree(DATA / "events" / "lenet", base / "lenet")
    with serving(base, tmp_path / "workspace") as client:
        before = sorted(path.name for path in (tmp_path / "workspace").rglob("*"))
        assert put(Interface(client), {"remark": "\udc80"}, train_id="./lenet").status_code == 400
        assert sorted(path.name for path in (tmp_path / "workspace").rglob("*")) == before


@pytest.mark.parametrize("path", [SEARCH, TARGETS])
def test_others_are_answered_while_a_search_goes_on(
    v1: Any, monkeypatch: pytest.MonkeyPatch, path: Any
) -> None:
    begun, done = threading.Event(), threading.Event()

    def slow(body: Any) -> Any:
        begun.set()
        assert done.wait(20)
        return parse_search(body)

    monkeypatch.setattr(lineages, "parse_search", slow)
    with ThreadPoolExecutor(2) as threads:
        search = threads.submit(v1.post, path, {})
        assert begun.wait(20)
        other = threads.submit(v1.get, "ui-config")
        try:
            assert other.result(timeout=10).status_code == 200
        finally:
            done.set()
        assert search.result(timeout=20).status_code == 200


def test_the_dataset_graph_of_a_run(v1: Any) -> None:
    path = "datasets/dataset_graph"
    answer = v1.ok(path, train_id="./lenet")
    assert (answer["summary_dir"], answer["dataset_graph"]["op_type"]) == ("./lenet", "Batch")
    assert v1.ok(path, train_id="./none") == v1.ok(path, train_id="./images") == {}
    assert v1.fault(path, train_id="lenet") == (400, "50540002")
    assert v1.fault(path) == (400, "50540003")


def test_objectives(v1: Any) -> None:
    answer = v1.sent(TARGETS, {})
    rows = len(answer["metadata"]["train_ids"])
    assert all(len(target["data"]) == rows and len(target["buckets"]) == 5 for target in answer["targets"])
    assert [target["name"] for target in answer["targets"]] == sorted(t["name"] for t in answer["targets"])
    assert "NaN" not in json.dumps(answer)
    empty = v1.sent(TARGETS, {"summary_dir": {"eq": "./none"}})
    assert (empty["targets"], empty["metadata"]["train_ids"]) == ([], [])


def test_a_remark_for_which_there_is_no_room_is_told(tmp_path: Path) -> None:
    base = tmp_path / "base"
    shutil.copytree(DATA / "events" / "lenet", base / "lenet")
    with serving(base, tmp_path / "workspace") as client:
        (tmp_path / "workspace" / "notes.json").mkdir(parents=True)
        answer = put(Interface(client), {"remark": "x"}, train_id="./lenet")
    assert answer.status_code == 507
    assert "could not be kept" in answer.json()["error_msg"]
