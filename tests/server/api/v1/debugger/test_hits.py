"""Hits of watchpoints."""

import json
from typing import Any

import pytest

from tests.server.api.v1.conftest import DATA, code_of, fine
from tests.server.api.v1.debugger.conftest import WEIGHT, go, state, watch


def test_a_watchpoint_is_hit(dumps: Any, session: Any) -> None:
    expected = json.loads((DATA / "dumps/ms_sync_v2_0_names/watchpoints_expected.json").read_text())["out"]
    (large,) = [entry for entry in expected if entry["condition"] == 15 and entry["iteration"] == 0]
    limits = [(entry["name"], entry["value"]) for entry in large["parameters"] if not entry["disabled"]]
    assert watch(dumps, session, "weight_too_large", limits)["id"] == 1
    go(dumps, session, mode="continue", level="step", steps=-1)
    assert state(dumps, session)["step"] == 1
    answer = dumps.sent(f"{session}/search-watchpoint-hits", {"group_condition": {"limit": 10}})
    names = {hit["node_name"].rpartition("/")[2] for hit in answer["watch_point_hits"]}
    assert names == {hit["name"] for hit in large["hits"]}
    (conv,) = [entry for entry in answer["watch_point_hits"] if entry["node_name"] == WEIGHT]
    params = conv["tensors"][0]["watch_points"][0]["watch_condition"]["params"]
    assert [entry["name"] for entry in params] == ["abs_mean_gt", "max_gt", "mean_gt"]
    assert params[1]["actual_value"] == pytest.approx(0.01553309, rel=1e-6)
    watchpoints = dumps.ok(f"{session}/tensor-hits", tensor_name=f"{WEIGHT}:0")["watch_points"]
    assert watchpoints[0]["watch_condition"]["abbr"] == "WL"
    history = dumps.sent(f"{session}/tensor-history", {"name": WEIGHT})["tensor_history"]
    assert history[0]["is_hit"]


def test_why_a_condition_was_not_judged_is_a_key_of_the_pages(dumps: Any, session: Any) -> None:
    watch(dumps, session, "weight_not_changed")
    go(dumps, session, mode="continue", level="step", steps=1)
    hits = dumps.sent(f"{session}/search-watchpoint-hits", {"group_condition": {"limit": 1}})
    (watchpoint,) = hits["watch_point_hits"][0]["tensors"][0]["watch_points"]
    assert (watchpoint["error_code"], watchpoint["error_list"]) == (4, ["no_prev_tensor"])


def test_hits_in_pages(dumps: Any, session: Any) -> None:
    def page(**group: Any) -> Any:
        return dumps.post(f"{session}/search-watchpoint-hits", {"group_condition": group})

    assert fine(page(limit=1)) == {"outdated": False}
    watch(dumps, session, "tensor_too_small", [("max_lt", 1e9)])
    go(dumps, session, mode="continue", level="step", steps=1)
    whole = fine(page(limit=100))
    assert whole["total"] == len(whole["watch_point_hits"]) > 2
    second = fine(page(limit=1, offset=1))
    assert second["watch_point_hits"] == whole["watch_point_hits"][1:2]
    focus = {"graph_name": "Net_0", "node_name": whole["watch_point_hits"][2]["node_name"]}
    assert fine(page(limit=1, focused_node=focus))["offset"] == 2
    assert fine(page(limit=9, watchpoint_id=7)) == {"outdated": False}
    assert code_of(page(limit=1, offset=whole["total"])) == (400, "5054B081")
    assert code_of(page(limit=0)) == (400, "5054B081")
    assert code_of(page()) == (400, "5054B081")
    assert code_of(page(limit=1, rank_id=4)) == (400, "5054B081")
    assert code_of(dumps.post(f"{session}/search-watchpoint-hits", {})) == (400, "5054B080")
