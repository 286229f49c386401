"""Routes of one pair of compared tensors."""

import io
from typing import Any

import numpy as np
import pytest

HEALTHY = "./job/healthy"


@pytest.fixture(scope="module")
def comparison(client: Any, finished: Any) -> str:
    body = {"target": {"dump": HEALTHY, "step": 1}, "reference": {"dump": HEALTHY, "step": 0}}
    number = client.post("/v2/dump/compare", json=body).json()["comparison"]
    finished(f"compare/{number}")
    return f"compare/{number}"


def npy(client: Any, prefix: str, **params: Any) -> Any:
    answer = client.get(f"/v2/dump/{prefix}/download".replace("//", "/"), params=params)
    assert answer.status_code == 200, answer.text
    return np.load(io.BytesIO(answer.content))


def test_a_pair_tells_where_its_tensors_differ_most(ask: Any, client: Any, comparison: str) -> None:
    rows = ask(comparison, only="differ", limit=1000)["rows"]
    row = next(row for row in rows if row["target_tensor"]["direction"] == "input")
    entry = row["target_tensor"]
    slot = {"operator": entry["recorded"], **{key: entry[key] for key in ("graph", "direction", "slot")}}
    pair = ask(f"{comparison}/pair", **slot)
    assert (pair["target"], pair["has_difference"]) == (row["target"], True)
    assert 0 < pair["differing"] <= pair["count"]
    ours, theirs = (npy(client, "", dump=HEALTHY, step=step, **slot) for step in (1, 0))
    difference = npy(client, f"{comparison}/difference", **slot)
    np.testing.assert_array_equal(difference, ours.astype(np.float64) - theirs)
    assert np.abs(difference).max() == pair["max_absolute"]
    assert np.abs(difference[tuple(pair["largest"])]) == pair["max_absolute"]
    histogram = ask(f"{comparison}/difference/histogram", bins=10, **slot)
    assert histogram["counts"]


def test_a_pair_that_was_not_compared_is_told(client: Any, comparison: str) -> None:
    slot = {"graph": "Net/0", "operator": "nothing-op0", "direction": "output", "slot": "0"}
    for path in ("pair", "difference/values"):
        answer = client.get(f"/v2/dump/{comparison}/{path}", params=slot)
        assert (answer.status_code, answer.json()["error"]["code"]) == (404, "unknown_tensor")
