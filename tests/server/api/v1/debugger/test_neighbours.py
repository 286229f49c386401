"""The neighbourhood of a tensor."""

from typing import Any

import pytest

from tests.server.api.v1.debugger.conftest import CONV, RELU, go, recorded, watch


def test_the_neighbourhood_of_a_tensor(dumps: Any, session: Any) -> None:
    path = f"{session}/tensor-graphs"
    assert dumps.fault(path, tensor_name=f"{RELU}:0") == (400, "5054B187")
    dumps.sent(f"{session}/control", {"mode": "reset", "steps": 1})
    nodes = dumps.ok(path, tensor_name=f"{RELU}:0")["graph"]["nodes"]
    assert [node["name"] for node in nodes[:2]] == [RELU, CONV]
    assert len(nodes) > 2
    values = recorded("ReLU.ReLU-op52", 0)
    assert nodes[0]["slots"][0]["statistics"]["max"] == pytest.approx(float(values.max()))
    assert nodes[0]["input"][CONV]["slot_mapping"] == [["0", ""]]


def test_slots_of_a_neighbourhood_carry_their_hits(dumps: Any, session: Any) -> None:
    watch(dumps, session, "tensor_too_small", [("max_lt", 1e9)], watch_nodes=[RELU])
    go(dumps, session, mode="continue", level="step", steps=1)
    nodes = dumps.ok(f"{session}/tensor-graphs", tensor_name=f"{RELU}:0")["graph"]["nodes"]
    slots = {node["name"]: node["slots"][0] for node in nodes}
    assert [watchpoint["id"] for watchpoint in slots[RELU]["watch_points"]] == [1]
    assert "watch_points" not in slots[CONV]
