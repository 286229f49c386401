"""Lineage searched, annotated and set against objectives, over real runs."""

import json
import shutil
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mindinsight.server.formats.lineage import EvaluationLineage, Lineage, TrainLineage
from mindinsight.server.store.run import Run
from mindinsight.server.v1 import lineages
from mindinsight.server.v1.lineage_search import parse_search
from mindinsight.server.v1.lineages import LineageRow, custom_columns, lineage_rows, targets_answer
from mindinsight.server.workspace.notes import Note
from tests.server.v1.conftest import DATA, ROOT, Interface, code_of, serving

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
        assert done.wait(60)
        return parse_search(body)

    monkeypatch.setattr(lineages, "parse_search", slow)
    with ThreadPoolExecutor(2) as threads:
        search = threads.submit(v1.post, path, {})
        assert begun.wait(60)
        other = threads.submit(v1.get, "ui-config")
        try:
            assert other.result(timeout=60).status_code == 200
        finally:
            done.set()
        assert search.result(timeout=60).status_code == 200


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
    assert "could not be stored" in answer.json()["error_msg"]


def run(name: str, lineage: Lineage | None) -> Run:
    return Run(f"./{name}", name, f"/base/{name}", f"./{name}", None, 0.0, 0.0, 0, lineage=lineage)


def rows(*lineages: Lineage | None, **notes: Note) -> list[LineageRow]:
    """Rows of the runs ./a, ./b, ... with these lineages, and notes by name."""
    runs = [run("abcdef"[number], lineage) for number, lineage in enumerate(lineages)]
    return lineage_rows(runs, {f"./{name}": note for name, note in notes.items()})


TRAINED = Lineage(
    TrainLineage(network="LeNet", learning_rate=0.1, train_dataset_size=60, loss=0.5),
    EvaluationLineage({"Accuracy": 0.9}, valid_dataset_size=10),
    {"op_type": "Mnist"},
    {"seed": 7},
)


def test_runs_without_lineage_have_no_row() -> None:
    assert [row.flat["summary_dir"] for row in rows(TRAINED, None, Lineage())] == ["./a", "./c"]


def test_flat_fields_name_metrics_and_what_users_defined() -> None:
    (row,) = rows(TRAINED, a=Note(tag=3, note="best"))
    expected = {
        "summary_dir": "./a",
        "network": "LeNet",
        "learning_rate": 0.1,
        "loss": 0.5,
        "optimizer": None,
        "train_dataset_count": 60,
        "test_dataset_count": 10,
        "metric/Accuracy": 0.9,
        "user_defined/seed": 7,
        "tag": 3,
    }
    assert {**row.flat, **expected} == row.flat


@pytest.mark.parametrize(
    ("halves", "keys"),
    [
        (frozenset(), {"added_info"}),
        (frozenset({"model"}), {"added_info", "summary_dir", "model_lineage"}),
        (frozenset({"dataset"}), {"added_info", "summary_dir", "dataset_graph"}),
        (frozenset({"model", "dataset"}), {"added_info", "summary_dir", "model_lineage", "dataset_graph"}),
    ],
)
def test_an_answer_has_the_halves_that_are_asked_for(halves: frozenset[str], keys: set[str]) -> None:
    (row,) = rows(TRAINED, a=Note(tag=3, note="best"))
    answer = row.response_json(halves)
    assert answer.keys() == keys
    assert answer["added_info"] == {"tag": 3, "remark": "best"}
    if "model" in halves:
        assert answer["model_lineage"]["metric"] == {"Accuracy": 0.9}
        assert answer["model_lineage"]["user_defined"] == {"seed": 7}
    if "dataset" in halves:
        assert answer["dataset_graph"] == {"op_type": "Mnist"}


def test_without_notes_nothing_is_added() -> None:
    (row,) = rows(TRAINED)
    assert row.response_json(frozenset()) == {"added_info": {}}


def test_equal_pipelines_have_one_mark_and_none_is_one() -> None:
    graphs: list[dict[str, Any] | None] = [None, {"a": 1, "b": 2}, {"a": 2}, {"b": 2, "a": 1}]
    lineage_rows = rows(*(Lineage(dataset_graph=graph) for graph in graphs))
    assert [row.flat["dataset_mark"] for row in lineage_rows] == ["1", "2", "3", "2"]


def test_columns_of_metrics_and_users_have_the_type_of_their_values() -> None:
    def lineage(metric: dict[str, Any], **defined: Any) -> Lineage:
        return Lineage(evaluation=EvaluationLineage(metric), user_defined=defined)

    lineage_rows = rows(
        lineage({"Accuracy": 1}, name="x", note="y", nothing=None),
        lineage({"Accuracy": 0.5}, name=3, note="z"),
    )
    assert custom_columns(lineage_rows) == {
        "metric/Accuracy": {"label": "metric/Accuracy", "required": True, "type": "float"},
        "user_defined/name": {"label": "user_defined/name", "required": False, "type": "mixed"},
        "user_defined/note": {"label": "user_defined/note", "required": False, "type": "str"},
    }


ROWS = [
    {"summary_dir": "./1", "learning_rate": 0.1, "loss": 1.0, "metric/acc": 0.5, "user_defined/trial": 1,
     "user_defined/kind": "a", "user_defined/fixed": 2, "device_num": 1},
    {"summary_dir": "./2", "learning_rate": 0.2, "loss": 2.0, "metric/acc": 0.4, "user_defined/trial": None,
     "user_defined/kind": "b", "user_defined/fixed": 2, "device_num": 1},
    {"summary_dir": "./3", "learning_rate": 0.4, "loss": 4.0, "metric/acc": 0.1, "user_defined/trial": 3,
     "user_defined/kind": "c", "user_defined/fixed": 2, "device_num": 1},
]  # fmt: skip


@pytest.fixture
def answer() -> Any:
    return targets_answer(ROWS)


def test_objectives_are_metrics_and_loss(answer: Any) -> None:
    assert [target["name"] for target in answer["targets"]] == ["[M]acc", "loss"]
    assert answer["metadata"]["train_ids"] == ["./1", "./2", "./3"]


def test_importance_is_the_absolute_correlation(answer: Any) -> None:
    loss = answer["targets"][1]["hyper_parameters"]
    assert loss[0] == {"name": "learning_rate", "importance": pytest.approx(1.0)}
    accuracy = answer["targets"][0]["hyper_parameters"][0]
    assert accuracy["importance"] == pytest.approx(abs(np.corrcoef([0.1, 0.2, 0.4], [0.5, 0.4, 0.1])[0, 1]))


def test_reasons_are_given_where_importance_cannot_be(answer: Any) -> None:
    by_name = {parameter["name"]: parameter for parameter in answer["targets"][1]["hyper_parameters"]}
    assert by_name["[U]trial"]["reason_code"] == 2
    assert by_name["[U]fixed"]["reason_code"] == 3
    assert answer["metadata"]["unrecognized_params"] == [
        {"name": "[U]kind", "unselected": True, "reason_code": 1}
    ]


def test_a_gap_turns_the_column_into_floats(answer: Any) -> None:
    data = {
        parameter["name"]: parameter["data"] for parameter in answer["metadata"]["possible_hyper_parameters"]
    }
    assert data["[U]trial"] == [1.0, None, 3.0]
    assert all(isinstance(value, float) for value in data["[U]trial"] if value is not None)
    assert data["[U]fixed"] == [2, 2, 2]
    assert "device_num" not in data


def test_objective_values_are_counted_in_five_buckets(answer: Any) -> None:
    buckets = answer["targets"][1]["buckets"]
    assert len(buckets) == 5
    assert sum(count for _, _, count in buckets) == 3


def test_no_rows_give_empty_lists() -> None:
    empty = targets_answer([])
    assert empty["targets"] == []
    assert empty["metadata"]["train_ids"] == []


def test_texts_of_missing_numbers_count_as_missing() -> None:
    rows = [
        {"summary_dir": "./1", "user_defined/x": "nan", "loss": float("nan")},
        {"summary_dir": "./2", "user_defined/x": 1, "loss": 3.0},
    ]
    data = targets_answer(rows)
    assert data["metadata"]["possible_hyper_parameters"] == [{"name": "[U]x", "data": [None, 1.0]}]
    assert data["targets"][0]["data"] == [None, 3.0]
