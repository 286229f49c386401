"""Graphs of dumps."""

from typing import Any

from tests.server.api.v1.debugger.conftest import SESSIONS


def test_a_dump_without_a_graph(dumps: Any) -> None:
    ids = [dump["id"] for dump in dumps.client.get("/v2/dump/list").json()["dumps"]]
    (torch,) = [dump for dump in ids if dump.startswith("./torch")]
    session = f"{SESSIONS}/{dumps.sent(SESSIONS, {'session_type': 'OFFLINE', 'dump_dir': torch})}"
    names = [node["name"] for node in dumps.sent(f"{session}/retrieve", {"mode": "all"})["graph"]["nodes"]]
    assert "Module.fc1.Linear.forward.0" in names
    dumps.sent(f"{session}/control", {"mode": "reset", "steps": 1})
    value = dumps.ok(f"{session}/tensors", name="Module.fc1.Linear.forward.0:0")["tensor_value"]
    assert value["tensor_status"] == "cached"
    dumps.sent(f"{session}/delete")
