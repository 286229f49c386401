import json
import struct
from pathlib import Path
from typing import Any

import pytest

from mindinsight.proto import dump_pb2
from mindinsight.server.formats.dumps.layouts.asynchronous import UnitStatus, read_opdebug
from mindinsight.server.formats.read_limits import UnreadableError

UNIT = {"model_id": 1, "stream_id": 7, "task_id": 5, "task_type": 0, "status": 3}


def write(tmp_path: Any, content: Any) -> Any:
    (tmp_path / "Opdebug.Node_OpDebug.1.7.99.output.0.json").write_text(json.dumps(content))
    return tmp_path / "Opdebug.Node_OpDebug.1.7.99.output.0.json"


def test_units_that_overflowed(tmp_path: Path) -> None:
    content = {"AI Core": UNIT, "DHA Atomic Add": UNIT | {"status": 0}, "L2 Atomic Add": UNIT | {"status": 1}}
    assert read_opdebug(write(tmp_path, content)) == (
        UnitStatus("AI Core", 3, 5, 7),
        UnitStatus("L2 Atomic Add", 1, 5, 7),
    )


@pytest.mark.parametrize("several", [False, True])
def test_the_newer_spelling(tmp_path: Path, several: bool) -> None:
    record = {"acc_type": "AIC", "data": UNIT}
    path = write(tmp_path, {"acc_list": [record] if several else record})
    assert read_opdebug(path) == (UnitStatus("AIC", 3, 5, 7),)


@pytest.mark.parametrize(
    "content", [[], {"AI Core": {}}, {"AI Core": 5}, {"AI Core": UNIT | {"status": "x"}}]
)
def test_records_that_make_no_sense(tmp_path: Path, content: Any) -> None:
    with pytest.raises(UnreadableError, match=r"dump.json"):
        read_opdebug(write(tmp_path, content))


def raw(payload: Any) -> Any:
    data = dump_pb2.DumpData(op_name="Node_OpDebug")
    data.output.add(data_type=4, format=2, size=len(payload)).shape.dim.append(len(payload))
    head = data.SerializeToString()
    return len(head).to_bytes(8, "little") + head + payload


def test_the_raw_record(tmp_path: Path) -> None:
    payload = bytearray(1280)
    struct.pack_into("<3Q", payload, 128, 1, 8, 6)  # model, stream and task of the L2 unit
    struct.pack_into("<Q", payload, 768, 2)
    struct.pack_into("<3Q", payload, 256, 1, 7, 5)
    struct.pack_into("<Q", payload, 1024 + 16, 3)
    (tmp_path / "record").write_bytes(raw(bytes(payload)))
    assert read_opdebug(tmp_path / "record") == (
        UnitStatus("AI Core", 3, 5, 7),
        UnitStatus("L2 Atomic Add", 2, 6, 8),
    )


def test_a_raw_record_cut_off(tmp_path: Path) -> None:
    (tmp_path / "record").write_bytes(raw(bytes(300)))
    with pytest.raises(UnreadableError, match=r"dump.truncated"):
        read_opdebug(tmp_path / "record")
