"""JSON encoders of the debugger's values."""

import json
import math
from typing import Any

import numpy as np
import pytest

from mindinsight.server.compute.statistics import measure
from mindinsight.server.debug.examine import TensorResult
from mindinsight.server.debug.statistics_cache import Measurement
from mindinsight.server.formats.dumps import list_tensors, open_dump
from mindinsight.server.formats.dumps.types import FileDamage, RecordedStatistics
from mindinsight.server.plugins.dump.encoders import damage_json, entry_json, frame_json, recorded_json
from tests.server.plugins.dump.conftest import DUMPS


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
