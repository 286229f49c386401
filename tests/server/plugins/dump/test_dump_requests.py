"""JSON encoders of the debugger's values."""

import json
import math
from typing import Any

import numpy as np
import pytest

from mindinsight.server.compute.tensor_statistics import measure
from mindinsight.server.debug.examine import TensorResult
from mindinsight.server.debug.statistics_cache import Measurement
from mindinsight.server.formats.dumps import list_tensors, open_dump
from mindinsight.server.formats.dumps.dump_types import FileDamage, RecordedStatistics
from mindinsight.server.plugins.dump.dump_requests import damage_json, entry_json, frame_json, recorded_json
from tests.server.plugins.dump.conftest import DUMPS

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


@pytest.fixture(scope="module")
def entry() -> Any:
    return list_tensors(open_dump(DUMPS / "ms_sync_v2_0_names"), 0, 0)[0]


def test_damage_is_sent_without_folders_of_the_machine() -> None:
    damage = FileDamage("/home/someone/dump/a.npy", "dump.truncated", "/home/someone/b.npy")
    assert damage_json(damage) == {"file": "a.npy", "reason": "dump.truncated", "detail": "b.npy"}
    assert damage_json(None) is None


def test_only_recorded_values_are_sent() -> None:
    recorded = RecordedStatistics(max=math.inf, min=0.0, nan=0, checksum_kind="")
    assert recorded_json(recorded) == {"max": "inf", "min": 0.0, "nan": 0}
    assert recorded_json(None) is None


def test_a_tensor_has_statistics_once_it_is_measured(entry: Any) -> None:
    pending = entry_json(entry, None)
    assert (pending["known"], pending["statistics"], pending["finite"]) == (False, None, None)
    values = np.array([[1.0, math.nan]])
    result = TensorResult(entry, Measurement(measure(values), (1, 2), "float32"))
    row = entry_json(entry, result)
    assert (row["known"], row["computed"], row["finite"], row["shape"]) == (True, True, False, [1, 2])
    assert row["statistics"]["nans"] == 1
    json.dumps(row, allow_nan=False)


def test_no_frame_is_null() -> None:
    assert frame_json(None) is None
