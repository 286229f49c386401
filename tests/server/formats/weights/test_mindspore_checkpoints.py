import zlib
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from mindinsight.proto import checkpoint_pb2
from mindinsight.server.formats.arrays.lazy_array import Held
from mindinsight.server.formats.read_limits import UnreadableError
from mindinsight.server.formats.weights.mindspore_checkpoints import (
    checkpoint_values,
    open_checkpoint,
    read_checkpoint,
    verify_checksum,
)

DATA = Path(__file__).parents[3] / "data" / "weights"
NAMES = {
    "Bool": "?",
    "Int8": "i1",
    "Int16": "<i2",
    "Int32": "<i4",
    "Int64": "<i8",
    "UInt8": "u1",
    "UInt16": "<u2",
    "UInt32": "<u4",
    "UInt64": "<u8",
    "Float16": "<f2",
    "Float32": "<f4",
    "Float64": "<f8",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return tmp_path_factory.mktemp("checkpoints")


def value(tag: Any, dtype: Any, dims: Any, content: Any) -> bytes:
    message = checkpoint_pb2.Checkpoint()
    entry = message.value.add(tag=tag)
    entry.tensor.tensor_type = dtype
    entry.tensor.dims.extend(dims)
    entry.tensor.tensor_content = content
    return message.SerializeToString()


def checkpoint_file(folder: Any, *values: Any, tail: bytes = b"") -> Any:
    path = folder / "some.ckpt"
    path.write_bytes(b"".join(values) + tail)
    return open_checkpoint(path)


@pytest.mark.parametrize("name", ["plain.ckpt", "checked.ckpt"])
def test_what_mindspore_saved(name: str) -> None:
    file = open_checkpoint(DATA / name)
    arrays = {name: read_checkpoint(file, name) for name in file.tensors}
    assert {name: (tensor.dtype, tensor.shape) for name, tensor in file.tensors.items()} == {
        "a": ("float32", (2, 3)),
        "b": ("bfloat16", (2,)),
        "s": ("int64", ()),
        "epoch": ("int64", ()),
        "lr": ("float32", ()),
        "flag": ("bool", ()),
        "note": ("str", ()),
    }
    assert arrays["a"].tolist() == [[0, 1, 2], [3, 4, 5]]
    assert arrays["b"].tolist() == [1.5, 2]
    assert (arrays["s"], arrays["epoch"], arrays["lr"], arrays["flag"]) == (3, 3, 0.5, True)
    assert str(arrays["note"]) == "héllo"
    assert verify_checksum(file) is (None if name == "plain.ckpt" else True)
    assert file.damage == ()


def test_a_wrong_checksum_is_found(folder: Any) -> None:
    content = bytearray((DATA / "checked.ckpt").read_bytes())
    content[30] ^= 1
    (folder / "wrong.ckpt").write_bytes(content)
    file = open_checkpoint(folder / "wrong.ckpt")
    assert verify_checksum(file) is False
    assert len(file.tensors) == 7


@given(st.data(), st.sampled_from(sorted(NAMES)), hnp.array_shapes(min_dims=0, min_side=0, max_side=4))
def test_round_trip(folder: Any, data: Any, name: Any, shape: Any) -> None:
    array = data.draw(hnp.arrays(NAMES[name], shape))
    result = read_checkpoint(checkpoint_file(folder, value("x", name, shape, array.tobytes())), "x")
    assert result.dtype == array.dtype
    assert result.shape == shape
    assert result.tobytes() == array.tobytes()


@given(hnp.arrays("<f4", st.integers(1, 50)), st.lists(st.integers(0, 50), max_size=4))
def test_pieces_with_one_name_are_one_tensor(folder: Any, array: Any, cuts: Any) -> None:
    edges = [0, *sorted({cut * 4 for cut in cuts if 0 < cut < len(array)}), array.nbytes]
    content = array.tobytes()
    pieces = [value("x", "Float32", array.shape, content[a:b]) for a, b in pairwise(edges)]
    file = checkpoint_file(
        folder, value("before", "Int8", (1,), b"\1"), *pieces, value("after", "Int8", (1,), b"\2")
    )
    assert list(file.tensors) == ["before", "x", "after"]
    assert read_checkpoint(file, "x").tobytes() == content
    assert file.tensors["x"].size == array.nbytes
    values = checkpoint_values(file, "x")
    assert not isinstance(values, Held)  # read by parts, whatever its size
    assert b"".join(piece.tobytes() for piece in values.pieces()) == content
    np.testing.assert_array_equal(values.part((slice(1, None, 2),)), array[1::2])


def test_a_piece_that_is_missing(folder: Any) -> None:
    file = checkpoint_file(folder, value("x", "Float32", (4,), bytes(8)), value("y", "Int8", (1,), b"\2"))
    with pytest.raises(UnreadableError, match=r"dump.truncated"):
        read_checkpoint(file, "x")
    assert read_checkpoint(file, "y") == 2


def test_scalars_of_older_files_and_int4(folder: Any) -> None:
    file = checkpoint_file(
        folder,
        value("scalar", "Float32", (0,), np.float32(1.5).tobytes()),
        value("packed", "Int4", (3,), b"\x21\x0f"),
        value("loose", "Int4", (3,), b"\x01\x02\xff"),
        value("empty", "Float32", (0,), b""),
    )
    assert read_checkpoint(file, "scalar").shape == ()
    assert read_checkpoint(file, "packed").tolist() == [1, 2, -1]
    assert read_checkpoint(file, "loose").tolist() == [1, 2, -1]
    assert read_checkpoint(file, "empty").shape == (0,)


def test_map_parameters_give_their_parts(folder: Any) -> None:
    message = checkpoint_pb2.Checkpoint()
    parts = message.value.add(tag="table").maptensor
    for number in (1, 2):
        part = parts.tensor.add(tensor_type="Int8", tensor_content=bytes([number]))
        part.dims.append(1)
    file = checkpoint_file(folder, message.SerializeToString())
    assert {name: read_checkpoint(file, name).tolist() for name in file.tensors} == {
        "table.0": [1],
        "table.1": [2],
    }


@pytest.mark.parametrize("end", [-1, -30, 60])
def test_a_file_cut_off_keeps_what_is_whole(folder: Any, end: int) -> None:
    whole = (DATA / "plain.ckpt").read_bytes()
    (folder / "cut.ckpt").write_bytes(whole[:end])
    file = open_checkpoint(folder / "cut.ckpt")
    assert [error.reason for error in file.damage] == ["dump.truncated"]
    assert read_checkpoint(file, "a").tolist() == [[0, 1, 2], [3, 4, 5]]
    assert len(file.tensors) < 7


def test_types_and_shapes_that_make_no_sense(folder: Any) -> None:
    file = checkpoint_file(
        folder,
        value("type", "Quaternion", (1,), bytes(16)),
        value("shape", "Float32", (-1,), bytes(4)),
        value("huge", "Float32", (10**15,), bytes(4)),
        value("fine", "Int8", (1,), b"\5"),
    )
    for name, reason in (
        ("type", "dump.unknown_dtype"),
        ("shape", "dump.truncated"),
        ("huge", "dump.truncated"),
        ("nothing", "dump.missing"),
    ):
        with pytest.raises(UnreadableError) as error:
            read_checkpoint(file, name)
        assert error.value.reason == reason
    assert read_checkpoint(file, "fine") == 5


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "dump.not_checkpoint"),
        (b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "dump.not_checkpoint"),
        (b"just some text", "dump.not_checkpoint"),
        (b"\x0a\x7f\x0a\x05w\x00", "dump.not_checkpoint"),
        (b"\x0a\x7f\x0a\x05weigh\x12\x60", "dump.truncated"),
        (b"\x0a\x7f\x0a\x05wei", "dump.truncated"),
        (b"\xff" * 40, "dump.not_checkpoint"),
        (b"\x1f\x8b\x08\x00" + bytes(20), "dump.compressed"),
        (b"\x28\xb5\x2f\xfd" + bytes(20), "dump.compressed"),
    ],
)
def test_what_is_no_checkpoint(folder: Any, content: Any, reason: str) -> None:
    (folder / "other.ckpt").write_bytes(content)
    with pytest.raises(UnreadableError) as error:
        open_checkpoint(folder / "other.ckpt")
    assert error.value.reason == reason


def test_an_encrypted_file_says_so() -> None:
    with pytest.raises(UnreadableError, match=r"dump.encrypted"):
        open_checkpoint(DATA / "encrypted.ckpt")


def test_a_file_cut_while_its_checksum_is_computed(folder: Any) -> None:
    content = (DATA / "checked.ckpt").read_bytes()
    (folder / "gone.ckpt").write_bytes(content)
    file = open_checkpoint(folder / "gone.ckpt")
    (folder / "gone.ckpt").write_bytes(content[:40])
    assert verify_checksum(file) is False
    with pytest.raises(UnreadableError, match=r"dump.truncated"):
        read_checkpoint(file, "note")


def test_the_checksum_is_a_crc32(folder: Any) -> None:
    body = value("x", "Int8", (1,), b"\5")
    tail = b"crc_num" + zlib.crc32(body).to_bytes(10, "big")
    assert verify_checksum(checkpoint_file(folder, body, tail=tail)) is True


def test_dimensions_in_one_packed_field(folder: Any) -> None:
    tensor = b"\x0a\x03\x02\x80\x01" + b"\x12\x04Int8" + b"\x1a\x80\x02" + bytes(256)
    entry = b"\x0a\x01x" + b"\x12" + bytes([len(tensor) & 127 | 128, len(tensor) >> 7]) + tensor
    content = b"\x0a" + bytes([len(entry) & 127 | 128, len(entry) >> 7]) + entry
    file = checkpoint_file(folder, content)
    assert file.tensors["x"].shape == (2, 128)
    assert read_checkpoint(file, "x").shape == (2, 128)


def test_fields_of_later_versions_are_passed_over(folder: Any) -> None:
    later = b"\x79" + bytes(8) + b"\x7d" + bytes(4) + b"\x78\x05" + b"\x7a\x02ab"  # field 15, every wire type
    file = checkpoint_file(folder, later, value("x", "Int8", (1,), b"\5"), later)
    assert list(file.tensors) == ["x"]
    assert file.damage == ()
