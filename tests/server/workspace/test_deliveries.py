"""State of webhooks in a file that somebody may have written to."""

import json
from pathlib import Path
from typing import Any

import pytest

from mindinsight.server.workspace.deliveries import Deliveries, Delivery

STATE = Delivery(["a", "b"], [{"id": "b", "step": 3}], 1, 2, 1000.0)


def test_a_state_is_there_after_a_restart_and_for_its_base_directory_alone(tmp_path: Path) -> None:
    Deliveries(tmp_path, Path("/base")).keep("hook", lambda: STATE)
    assert Deliveries(tmp_path, Path("/base")).of("hook") == STATE
    assert Deliveries(tmp_path, Path("/base")).of("another") is None
    assert Deliveries(tmp_path, Path("/other")).of("hook") is None


@pytest.mark.parametrize(
    "wrong",
    [
        {"seen": [1]},
        {"waiting": [{"step": 1}]},
        {"waiting": [3]},
        {"failures": -1},
        {"failures": "many"},
        {"tried": float("inf")},
        {"unknown": 1},
    ],
)
def test_what_is_not_a_state_is_none(tmp_path: Path, wrong: dict[str, Any]) -> None:
    (tmp_path / "webhooks.json").write_text(json.dumps({"/base": {"hook": wrong}}))
    assert Deliveries(tmp_path, Path("/base")).of("hook") is None
