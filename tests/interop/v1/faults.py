"""Calls that are wrong, or about no run in particular."""

from __future__ import annotations

from collections.abc import Iterator

from questions import Question, get, post

DATA_CALLS = {
    "scalar/metadata": {"tag": "x/scalar"},
    "image/metadata": {"tag": "x/image"},
    "image/single-image": {"tag": "x/image", "step": 1},
    "histograms": {"tag": "x/histogram"},
    "tensors": {"tag": "x/tensor"},
    "landscape/intervals": {},
    "graphs/nodes": {},
    "graphs/nodes/all": {},
    "graphs/nodes/names": {},
    "graphs/single-node": {"name": "x"},
    "plugins": {},
}
IDS = ("./none", "lenet", "./../base", "/etc", "./a/b", "./lenet")
SEARCHES = (
    None,
    {},
    {"limit": 3},
    {"limit": 2, "offset": 1},
    {"offset": 0},
    {"limit": 0},
    {"limit": 101},
    {"limit": "1"},
    {"offset": -1},
    {"sorted_name": "epoch"},
    {"sorted_name": "epoch", "sorted_type": "descending"},
    {"sorted_name": "learning_rate", "sorted_type": "ascending"},
    {"sorted_name": "summary_dir"},
    {"sorted_name": "nothing"},
    {"sorted_type": "ascending"},
    {"sorted_name": "loss", "sorted_type": "up"},
    {"lineage_type": {"eq": "model"}},
    {"lineage_type": {"in": ["dataset"]}},
    {"lineage_type": {"eq": "other"}},
    {"lineage_type": "model"},
    {"summary_dir": {"in": ["./lenet"]}},
    {"summary_dir": {"not_in": ["./lenet"]}},
    {"summary_dir": {"lt": "./lenet"}},
    {"epoch": {"ge": 1}},
    {"epoch": {"ge": 1.5}},
    {"epoch": {"ge": True}},
    {"epoch": {"between": 1}},
    {"epoch": 1},
    {"learning_rate": {"gt": 0.001, "lt": 1}},
    {"learning_rate": {"in": [0.01, 0.1]}},
    {"learning_rate": {"not_in": [0.5]}},
    {"loss": {"eq": "x"}},
    {"metric/accuracy": {"gt": 0}},
    {"user_defined/x": {"eq": 1}},
    {"nothing": {"eq": 1}},
    {"network": {"eq": "x"}},
    {"dataset_mark": {"eq": "1"}},
    {"batch_size": {"in": [32, 64]}},
    {"batch_size": {"in": [32, "x", None, 1.5, {}]}},
    {"batch_size": {"eq": None}},
    {"epoch": {"lt": 2**63}},
    {"epoch": {"lt": 2**70}},
    {"epoch": {}},
    {"learning_rate": {"eq": None}},
    {"learning_rate": {"in": [None]}},
    {"learning_rate": {"in": [None, "x", 0.05]}},
    {"loss": {"lt": None}},
    {"loss": {"lt": True}},
    {"loss": None},
    {"network": {"eq": None}},
    {"network": {"in": [None, 3, "LeNet"]}},
    {"network": {"not_in": [None]}},
    {"summary_dir": {"in": []}},
    {"metric/Accuracy": {"eq": None}},
    {"metric/Accuracy": {"gt": "x"}},
    {"metric/Accuracy": {"in": [None, "x", 0.46]}},
    {"user_defined/version": {"eq": None}},
    {"user_defined/version": {"gt": "x"}},
    {"user_defined/version": {"gt": None}},
    {"user_defined/version": {"in": [3.0, "x", None]}},
    {"user_defined/version": {"in": 3}},
    {"user_defined/version": {"eq": 3.0}},
    {"user_defined/note": {"in": "hello world"}},
    {"user_defined/note": {"not_in": ["hello", None]}},
    {"user_defined/note": {"lt": 5}},
    {"sorted_name": "user_defined/note", "sorted_type": "descending"},
    {"sorted_name": None},
    {"sorted_type": None},
    {"sorted_name": "loss", "sorted_type": None},
    {"limit": None},
    {"limit": 10**20},
    {"offset": 10**20},
    {"lineage_type": None},
    {"lineage_type": {}},
    {"lineage_type": {"in": []}},
    {"lineage_type": {"eq": "model", "in": ["dataset"]}},
    {"lineage_type": {"in": [None]}},
    {"lineage_type": {"eq": None}},
    [],
    "text",
)


def wrong_calls() -> Iterator[Question]:
    """Missing, unknown and malformed parameters of every call."""
    for call, others in DATA_CALLS.items():
        path = f"datavisual/{call}"
        yield get(f"missing {call}", path)
        yield get(f"empty {call}", path, train_id="", **others)
        for train_id in IDS:
            yield get(f"id {call} {train_id}", path, train_id=train_id, **others)
        for method in ("POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS"):
            yield Question(f"method {call} {method}", method, path)
    for query in (
        {"limit": 0},
        {"limit": 1000},
        {"limit": "x"},
        {"limit": ""},
        {"offset": -1},
        {"offset": "2.5"},
        {"offset": "9" * 30},
        {"limit": "9" * 30},
        {"limit": "5 "},
        {"limit": " 5"},
        {"limit": "+5"},
        {"limit": "1_0"},
        {"limit": "5", "offset": "٢"},
        {"train_id": "./lenet", "offset": "9" * 30},
    ):
        yield get(f"train-jobs {query}", "datavisual/train-jobs", **query)
    for query in (
        {"mode": "x"},
        {"train_id": "./lenet", "tag": "none"},
        {"train_id": "./lenet", "mode": "optimize", "tag": "none"},
        {"train_id": "./lenet", "tag": ""},
        {"train_id": "./lenet"},
        {"train_id": "./graphs"},
        {"train_id": "./graphs", "mode": "optimize"},
    ):
        yield get(f"graphs {query}", "datavisual/graphs/nodes", **query)
    for step in ("9" * 30, "-9999999999999999999999"):
        query = {"train_id": "./lenet", "tag": "Image/image", "step": step}
        yield get(f"single-image {step}", "datavisual/image/single-image", **query)
    for plugin in ("", "none", "scalar"):
        yield get(f"single-job {plugin}", "datavisual/single-job", plugin_name=plugin, train_id="./none")
    yield get("single-job plugin first", "datavisual/single-job", train_id="./none")
    yield get("plugins manual", "datavisual/plugins", train_id="./lenet", manual_update="1")
    yield get("plugins null byte", "datavisual/plugins", train_id="./a\0b")
    yield get("scalars nothing", "datavisual/scalars")
    yield get("unknown path", "datavisual/nothing")
    yield get("unknown group", "nothing")
    for train_id in ("", "x", "./none"):
        yield get(f"landscapes {train_id}", "datavisual/landscape/landscapes", train_id=train_id)
    for body in (
        None,
        b"{",
        b"\xff",
        b'{"train_ids": ["\xff"]}',
        {},
        {"train_ids": "x"},
        {"train_ids": [1]},
        {"train_ids": ["./none"]},
        [],
    ):
        yield post(f"train-job-caches {body!r}", "datavisual/train-job-caches", body)


def whole() -> Iterator[Question]:
    """Lists over all runs, lineage and its searches."""
    for query in ({}, {"limit": 5}, {"limit": 5, "offset": 1}, {"limit": 999}, {"offset": 99}):
        yield get(f"train-jobs {query}", "datavisual/train-jobs", **query)
    yield get("ui-config", "ui-config")
    yield get("train-jobs unknown", "datavisual/train-jobs", train_id="../x")
    for body in SEARCHES:
        yield post(f"lineages {body!r}", "lineagemgr/lineages", body)
    yield post("lineages not json", "lineagemgr/lineages", b"{")
    yield get("lineages GET", "lineagemgr/lineages")
    yield post("targets", "optimizer/targets/search", {})
    yield from _annotations()
    for train_id in ("", "lenet", "./a/b", "./none"):
        yield get(f"dataset_graph {train_id}", "datasets/dataset_graph", train_id=train_id)
    yield get("dataset_graph missing", "datasets/dataset_graph")


def _annotations() -> Iterator[Question]:
    path = "lineagemgr/lineages"
    bodies = (
        {},
        {"tag": 3},
        {"tag": 11},
        {"tag": "1"},
        {"tag": True},
        {"remark": "kept"},
        {"remark": "x" * 129},
    )
    for body in (*bodies, {"remark": 1}, {"other": 1}, [], {"tag": 0, "remark": ""}):
        yield Question(f"annotate {body!r}", "PUT", path, {"train_id": "./lenet"}, body)
    for train_id in ("./none", "lenet", "./a/b", "", "./record_api_values"):
        yield Question(f"annotate id {train_id}", "PUT", path, {"train_id": train_id}, {"tag": 1})
    yield post("lineages annotated", path, {"summary_dir": {"eq": "./lenet"}})
