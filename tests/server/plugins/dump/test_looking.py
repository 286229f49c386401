"""Listing dumps, tensors, operators and values over HTTP."""

import io

import numpy as np
import pytest

from mindinsight.server.formats.dumps import list_tensors, open_dump, read_tensor
from mindinsight.server.http.column_encoding import decode

BROKEN = {"dump": "./job/broken", "rank": 0, "step": 1}
TENSOR = {**BROKEN, "graph": "Net/0", "operator": "MatMul-op66", "direction": "output", "slot": "0"}


def test_dumps_are_listed_with_their_runs(ask):
    assert ask("list")["dumps"] == [
        {"id": "./job/broken", "run": "./job"},
        {"id": "./job/healthy", "run": "./job"},
        {"id": "./torch", "run": "./"},
    ]


def test_a_dump_tells_who_wrote_it_and_what_it_holds(ask):
    found = ask("summary", dump="./job/broken")
    assert (found["layout"], found["framework"], found["version"]) == ("sync", "mindspore", "2.0.0")
    assert [(each["rank"], each["steps"]) for each in found["ranks"]] == [(0, [0, 1])]
    assert found["graphs"] == ["Net/0"]
    assert "input_output" in found["config"]


def test_the_table_has_every_tensor_with_its_statistics(finished, base):
    answer = finished("tensors", **BROKEN, limit=1000)
    entries = list_tensors(open_dump(base / "job" / "broken"), 0, 1).items
    assert (answer["all"], answer["measured"], answer["total"]) == (99, 99, 99)
    for row, entry in zip(answer["rows"], entries, strict=True):
        values = read_tensor(entry.ref)
        assert (row["recorded"], row["shape"]) == (entry.recorded, list(values.shape))
        assert row["statistics"]["nans"] == np.isnan(values).sum()


def test_rows_come_page_by_page(finished):
    first, second = (finished("tensors", **BROKEN, limit=10, offset=offset)["rows"] for offset in (0, 10))
    assert [row["sequence"] for row in first + second] == list(range(20))


@pytest.mark.parametrize(
    ("chosen", "fits"),
    [
        ({"q": "relu-OP52"}, lambda row: row["recorded"] == "ReLU-op52"),
        ({"type": "MatMul"}, lambda row: row["type"] == "MatMul"),
        (
            {"direction": "output", "dtype": "float32"},
            lambda row: (row["direction"], row["dtype"]) == ("output", "float32"),
        ),
        ({"dtype": "int64"}, lambda row: row["dtype"] == "int64"),
        ({"lost": True}, lambda row: row["statistics"]["nans"] > 0),
        ({"by": "nans", "least": 1}, lambda row: row["statistics"]["nans"] > 0),
        ({"by": "maximum", "least": 3, "most": 3.2}, lambda row: 3 <= row["statistics"]["maximum"] <= 3.2),
        ({"q": "no such operator"}, lambda row: False),
        ({"graph": "Other/0"}, lambda row: False),
    ],
)
def test_filters(finished, chosen, fits):
    every = finished("tensors", **BROKEN, limit=1000)
    answer = finished("tensors", **BROKEN, **chosen, limit=1000)
    assert answer["rows"] == [row for row in every["rows"] if fits(row)]
    assert answer["total"] == len(answer["rows"])
    assert {"float32", "int64"} <= set(every["dtypes"])


@pytest.mark.parametrize("source", ["net.py:14", "return self.fc2(x)"])
def test_tensors_are_found_by_the_line_they_come_from(finished, source):
    rows = finished("tensors", **BROKEN, source=source, limit=1000)["rows"]
    assert len(rows) == 24
    for name in {row["recorded"] for row in rows}:
        found = finished("operator", **BROKEN, graph="Net/0", recorded=name)
        stacks = [found["stack"], *found["other_stacks"]]
        assert any(frame["line"] == 14 for stack in stacks for frame in stack)


@pytest.mark.parametrize("descending", [True, False])
def test_sorting_puts_what_has_no_value_last(finished, descending):
    rows = finished("tensors", **BROKEN, sort="maximum", descending=descending, limit=1000)["rows"]
    values = [row["statistics"]["maximum"] for row in rows]
    known = [value for value in values if value is not None]
    assert values[: len(known)] == sorted(known, reverse=descending)
    names = [row["operator"] for row in finished("tensors", **BROKEN, sort="operator", limit=1000)["rows"]]
    assert names == sorted(names)


def test_the_tree_unfolds_scope_by_scope(finished, ask):
    finished("tensors", **BROKEN)
    top = {child["name"]: child for child in ask("tree", **BROKEN)["children"]}
    assert (top["Gradients"]["scope"], top["Gradients"]["lost"]) == (True, 1)
    path = ["Gradients", "Default", "network-WithLossCell", "_backbone-Net", "fc2-Dense", "gradMatMul-expand"]
    leaves = ask("tree", **BROKEN, scope=path)["children"]
    assert [(leaf["recorded"], leaf["lost"]) for leaf in leaves if not leaf["scope"] and leaf["lost"]] == [
        ("MatMul-op66", 1)
    ]


def test_an_operator_has_its_source_its_tensors_and_its_neighbours(finished):
    found = finished("operator", **BROKEN, graph="Net/0", recorded="MatMul-op66")
    assert (found["source"]["line"], found["source"]["code"]) == (14, "return self.fc2(x)")
    assert found["source"]["own"] and not found["stack"][0]["own"]
    assert [(each["direction"], each["slot"]) for each in found["tensors"]] == [
        ("input", "0"),
        ("input", "1"),
        ("output", "0"),
    ]
    assert found["tensors"][2]["statistics"]["nans"] == 1
    assert all(link["certain"] for link in found["inputs"] + found["outputs"])
    before = finished("operator", **BROKEN, graph="Net/0", recorded=found["inputs"][0]["recorded"])
    assert "MatMul-op66" in [link["recorded"] for link in before["outputs"]]


def test_without_a_graph_neighbours_are_found_by_what_they_hold(finished):
    found = finished("operator", dump="./torch", rank=0, step=0, recorded="Functional.relu.0.forward")
    assert [link["recorded"] for link in found["inputs"]] == ["Functional.linear.0.forward"]
    assert not found["inputs"][0]["certain"]
    assert found["tensors"][0]["said"].keys() >= {"max", "min", "mean", "l2norm"}
    assert not found["tensors"][0]["computed"]


def test_the_graph_is_coloured_by_a_statistic(finished):
    found = finished("picture", **BROKEN, colour="nans")
    boxes = {box["path"]: box for box in found["boxes"]}
    assert found["lines"] and found["operators"] == 22
    assert {path for path, box in boxes.items() if not box["parent"]} == {"Default", "Gradients"}
    assert (boxes["Default"]["value"], boxes["Default"]["share"]) == (0, 0)
    assert (boxes["Gradients"]["value"], boxes["Gradients"]["share"]) == (1, 1)
    assert finished("picture", **BROKEN, open="")["open"] == []
    (leaf,) = [box for box in boxes.values() if box["recorded"] == "Conv2D-op51"] or [None]
    assert leaf is None or leaf["graph"] == "Net/0"


def test_a_dump_without_a_graph_is_drawn_by_what_its_tensors_hold(finished):
    found = finished("picture", dump="./torch", rank=0, step=0)
    assert found["lines"]
    names = {box["recorded"] for box in found["boxes"]}
    assert "Functional.relu.0.forward" in names


def test_a_window_of_values(ask, client, base):
    whole = np.load(io.BytesIO(client.get("/v2/dump/download", params=TENSOR).content))
    found = ask("values", **TENSOR)
    assert found["window"] == list(whole.shape)
    np.testing.assert_array_equal(decode(found["values"]).reshape(whole.shape), whole)
    part = ask("values", **TENSOR, dims="[1:3,0]")
    np.testing.assert_array_equal(decode(part["values"]), whole[1:3, 0])
    piece = client.get("/v2/dump/download", params={**TENSOR, "dims": "[1:3,:]"}).content
    np.testing.assert_array_equal(np.load(io.BytesIO(piece)), whole[1:3])


def test_the_histogram_counts_the_finite_elements(ask):
    found = ask("histogram", **TENSOR, bins=10)
    counts, edges = decode(found["counts"]), decode(found["edges"])
    assert counts.sum() == ask("values", **TENSOR)["rows"] * ask("values", **TENSOR)["columns"] - 1
    assert (len(counts), len(edges)) == (10, 11)


def test_the_heat_map_shows_what_is_not_finite(ask):
    found = ask("heatmap", **TENSOR)
    assert np.isnan(decode(found["values"])).sum() == 1


@pytest.mark.parametrize(
    ("path", "params", "status", "code"),
    [
        ("summary", {"dump": "./nowhere"}, 404, "unknown_dump"),
        ("summary", {"dump": "./job/../job/broken"}, 404, "unknown_dump"),
        ("tensors", {"dump": "./job/broken", "step": 7}, 404, "unknown_dump_step"),
        ("tensors", {"dump": "./job/broken", "rank": 3}, 404, "unknown_dump_step"),
        ("operator", {**BROKEN, "recorded": "Nothing-op0"}, 404, "unknown_operator"),
        ("values", {**TENSOR, "slot": "9"}, 404, "unknown_tensor"),
        ("values", {**TENSOR, "dims": "[0]"}, 422, "bad_slice"),
        ("values", {**TENSOR, "dims": "[__import__('os')]"}, 422, "bad_slice"),
        ("check/99", {}, 404, "unknown_check"),
        ("compare/99", {}, 404, "unknown_comparison"),
    ],
)
def test_what_is_not_there_is_said(client, path, params, status, code):
    answer = client.get(f"/v2/dump/{path}", params=params)
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)


def test_a_tensor_of_which_only_statistics_were_kept_has_no_values(client):
    tensor = {"operator": "Functional.relu.0.forward", "direction": "output", "slot": "0"}
    answer = client.get("/v2/dump/values", params={"dump": "./torch", "step": 0, **tensor})
    assert answer.json()["error"]["code"] == "only_statistics"


def test_every_way_between_operators_can_be_walked_back(finished, base):
    names = {entry.recorded for entry in list_tensors(open_dump(base / "job" / "broken"), 0, 1).items}
    place = {**BROKEN, "graph": "Net/0"}
    found = {name: finished("operator", **place, recorded=name) for name in names if "-op" in name}
    ways = 0
    for name, operator in found.items():
        for link in operator["inputs"]:
            if link["recorded"] in found:
                there = [each["recorded"] for each in found[link["recorded"]]["outputs"]]
                assert name in there
                ways += 1
        for link in operator["outputs"]:
            assert name in [each["recorded"] for each in found[link["recorded"]]["inputs"]]
    assert ways > 20
