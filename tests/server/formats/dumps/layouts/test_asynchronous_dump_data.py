from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mindinsight.proto import dump_pb2
from mindinsight.server.formats.dumps.layouts.asynchronous import find_slot, read_slot, read_slots
from mindinsight.server.formats.read_limits import Limits, UnreadableError


def message(**changes: Any) -> Any:
    """An operator with one float32 input of two by three and one int8 output of four."""
    data = dump_pb2.DumpData(version="2.0", op_name="Default/Add-op1")
    source = data.input.add(data_type=1, format=2, size=24)
    source.shape.dim.extend([2, 3])
    result = data.output.add(data_type=3, format=2, size=4)
    result.shape.dim.extend([4])
    for name, value in changes.items():
        setattr(result, name, value)
    return data


PAYLOAD = np.arange(6, dtype="<f4").tobytes() + bytes([1, 2, 3, 255])


def write(path: Any, data: Any, payload: Any = PAYLOAD) -> Any:
    head = data.SerializeToString()
    path.write_bytes(len(head).to_bytes(8, "little") + head + payload)
    return path


def test_inputs_come_before_outputs(tmp_path: Path) -> None:
    path = write(tmp_path / "a", message())
    operator = read_slots(path)
    assert operator.name == "Default/Add-op1"
    assert [(s.io, s.number, s.dtype, s.format, s.shape) for s in operator.slots] == [
        ("input", 0, "float32", "ND", (2, 3)),
        ("output", 0, "int8", "ND", (4,)),
    ]
    assert read_slot(path, "input", 0).tolist() == [[0, 1, 2], [3, 4, 5]]
    assert read_slot(path, "output", 0).tolist() == [1, 2, 3, -1]


def test_small_old_files_are_the_message_alone(tmp_path: Path) -> None:
    data = message()
    data.input[0].data = np.arange(6, dtype="<f4").tobytes()
    data.output[0].data = bytes([1, 2, 3, 4])
    (tmp_path / "a").write_bytes(data.SerializeToString())
    assert read_slot(tmp_path / "a", "input", 0).sum() == 15
    assert read_slot(tmp_path / "a", "output", 0).tolist() == [1, 2, 3, 4]


def test_grouped_fractal_z_is_named_apart(tmp_path: Path) -> None:
    path = write(tmp_path / "a", message(format=4, sub_format=2))
    assert find_slot(path, "output", 0).format == "FRACTAL_Z_G"


def test_an_empty_tensor(tmp_path: Path) -> None:
    data = message(size=0)
    del data.output[0].shape.dim[:]
    data.output[0].shape.dim.extend([0, 4])
    assert read_slot(write(tmp_path / "a", data), "output", 0).shape == (0, 4)


@pytest.mark.parametrize(
    ("number", "name"),
    [(27, "bfloat16"), (40, "float4_e1m2"), (41, "type(41)"), (-1, "type(-1)"), (0, "int8")],
)
def test_numbers_of_types(tmp_path: Path, number: int, name: str) -> None:
    assert find_slot(write(tmp_path / "a", message(data_type=number)), "output", 0).dtype == name


def fails(path: Any, io: Any, reason: Any) -> None:
    with pytest.raises(UnreadableError) as error:
        read_slot(path, io, 0)
    assert error.value.reason == reason


def test_a_payload_cut_off_leaves_what_comes_before(tmp_path: Path) -> None:
    path = write(tmp_path / "a", message(), np.arange(6, dtype="<f4").tobytes() + b"\1")
    assert read_slot(path, "input", 0).sum() == 15
    fails(path, "output", "dump.truncated")


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"size": 1 << 62}, "dump.truncated"),
        ({"size": 3}, "dump.truncated"),
        ({"data_type": 30}, "dump.unknown_dtype"),
        ({"data_type": 99}, "dump.unknown_dtype"),
    ],
)
def test_slots_that_make_no_sense_leave_the_others(tmp_path: Path, changes: Any, reason: str) -> None:
    path = write(tmp_path / "a", message(**changes))
    fails(path, "output", reason)
    assert read_slot(path, "input", 0).sum() == 15


def test_a_shape_that_claims_more_than_there_is(tmp_path: Path) -> None:
    data = message()
    data.output[0].shape.dim.append(10**15)
    fails(write(tmp_path / "a", data), "output", "dump.truncated")


def test_a_slot_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UnreadableError, match=r"dump.missing: no input 3"):
        read_slot(write(tmp_path / "a", message()), "input", 3)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "dump.truncated"),
        (b"\x05", "dump.truncated"),
        ((100).to_bytes(8, "little") + b"short", "dump.truncated"),
        ((3).to_bytes(8, "little") + b"\x0a\xff\x01rest", "dump.bad_message"),
        (b"\xff" * 100, "dump.bad_message"),
    ],
)
def test_what_is_no_such_file(tmp_path: Path, content: Any, reason: str) -> None:
    (tmp_path / "a").write_bytes(content)
    fails(tmp_path / "a", "output", reason)


def test_a_message_longer_than_any(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "mindinsight.server.formats.dumps.layouts.asynchronous.OPERATOR", Limits("message", 10, 10)
    )
    fails(write(tmp_path / "a", message()), "output", "dump.truncated")
