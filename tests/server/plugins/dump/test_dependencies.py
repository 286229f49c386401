"""Errors of the dependencies of dump routes."""

from typing import Any

import pytest

BROKEN = {"dump": "./job/broken", "rank": 0, "step": 1}
TENSOR = {**BROKEN, "graph": "Net/0", "operator": "MatMul-op66", "direction": "output", "slot": "0"}


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
def test_what_is_not_there_is_said(client: Any, path: str, params: Any, status: int, code: str) -> None:
    answer = client.get(f"/v2/dump/{path}", params=params)
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)
