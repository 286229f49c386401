import io
import os
import zipfile
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from mindinsight.server.files import opener
from mindinsight.server.formats.arrays import npy as archives
from mindinsight.server.formats.arrays.npy import (
    array_of,
    npz_headers,
    read_npy,
    read_npy_header,
    read_npz,
)
from mindinsight.server.formats.read_limits import UnreadableError

SHAPES = hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4)
DTYPES = st.one_of(
    hnp.boolean_dtypes(),
    hnp.integer_dtypes(endianness="?"),
    hnp.unsigned_integer_dtypes(endianness="?"),
    hnp.floating_dtypes(endianness="?", sizes=(16, 32, 64)),
    hnp.complex_number_dtypes(endianness="?", sizes=(64, 128)),
    hnp.unicode_string_dtypes(min_len=1, max_len=5),
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return tmp_path_factory.mktemp("arrays")


def npy(
    descr: Any = "'<f4'",
    shape: Any = "(2, 3)",
    order: Any = "False",
    data: Any = b"\0" * 24,
    version: Any = b"\x01\x00",
) -> Any:
    """A .npy file with any header."""
    header = f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}".encode("latin-1")
    width = 2 if version[0] == 1 else 4
    return b"\x93NUMPY" + version + len(header).to_bytes(width, "little") + header + data


def fails(path: Any, content: Any, reason: Any) -> Any:
    path.write_bytes(content)
    for read in (read_npy, read_npy_header):
        with pytest.raises(UnreadableError) as error:
            read(path)
        assert error.value.reason == reason
    return error.value.detail


@given(st.data(), DTYPES, SHAPES, st.booleans())
def test_what_numpy_saves_comes_back(folder: Any, data: Any, dtype: Any, shape: Any, fortran: Any) -> None:
    array = data.draw(hnp.arrays(dtype, shape))
    if fortran:
        array = np.asfortranarray(array).reshape(shape, order="F")
    path = folder / "array.npy"
    np.save(path, array)
    result = read_npy(path)
    assert result.shape == shape
    assert result.dtype == dtype.newbyteorder("=")
    assert np.ascontiguousarray(result).tobytes() == array.astype(result.dtype).tobytes()
    header = read_npy_header(path)
    assert (header.shape, header.dtype, header.size) == (shape, dtype.name, array.nbytes)


@given(hnp.arrays("u2", SHAPES))
def test_bfloat16_has_no_name_in_numpy(folder: Any, halves: Any) -> None:
    path = folder / "bfloat16.npy"
    path.write_bytes(npy("'<V2'", repr(halves.shape), data=halves.tobytes()))
    result = read_npy(path)
    assert read_npy_header(path).dtype == "bfloat16"
    assert result.dtype == np.float32
    assert result.shape == halves.shape
    assert (np.frombuffer(result.tobytes(), "<u4") >> 16).tolist() == halves.reshape(-1).tolist()


@pytest.mark.parametrize("order", ["C", "F"])
def test_arrays_of_either_order_are_read_only(folder: Any, order: Any) -> None:
    path = folder / "large.npy"
    array = np.arange(1000, dtype=np.int64).reshape((10, 100), order=order)
    np.save(path, array)
    result = read_npy(path)
    assert not result.flags.writeable
    np.testing.assert_array_equal(result[3:5, ::7], array[3:5, ::7])


@pytest.mark.parametrize("version", [b"\x01\x00", b"\x02\x00", b"\x03\x00"])
def test_every_version(folder: Any, version: Any) -> None:
    path = folder / "version.npy"
    path.write_bytes(npy(data=np.arange(6, dtype="<f4").tobytes(), version=version))
    assert read_npy(path).tolist() == [[0, 1, 2], [3, 4, 5]]


def test_headers_of_python_2(folder: Any) -> None:
    path = folder / "long.npy"
    path.write_bytes(npy(shape="(2L, 3L)", data=np.arange(6, dtype="<f4").tobytes()))
    assert read_npy(path).shape == (2, 3)


@pytest.mark.parametrize("end", [0, 4, 9, 50, -1])
def test_cut_off_anywhere(folder: Any, end: Any) -> None:
    whole = npy()
    reason = "dump.not_npy" if end == 0 else "dump.truncated"
    fails(folder / "cut.npy", whole[:end], reason)


def test_a_header_that_claims_more_than_there_is(folder: Any) -> None:
    detail = fails(folder / "huge.npy", npy(shape="(1000000000000000,)"), "dump.truncated")
    assert "4000000000000" in detail


@pytest.mark.parametrize(
    ("header", "reason"),
    [
        ({"descr": "'|O'"}, "dump.object_dtype"),
        ({"descr": "'|V8'"}, "dump.unknown_dtype"),
        ({"descr": "'<f3'"}, "dump.unknown_dtype"),
        ({"descr": "[('a', '<f4')]"}, "dump.unknown_dtype"),
        ({"descr": "__import__('os').abort()"}, "dump.unknown_dtype"),
        ({"shape": "(-1,)"}, "dump.bad_header"),
        ({"shape": "(9" + "9" * 99 + ",)"}, "dump.bad_shape"),
        ({"shape": "(0, 99999999999999999999)"}, "dump.bad_shape"),
        ({"shape": "(" + "1," * 40 + ")"}, "dump.bad_shape"),
        ({"order": "Maybe"}, "dump.bad_header"),
    ],
)
def test_headers_that_make_no_sense(folder: Any, header: Any, reason: Any) -> None:
    fails(folder / "odd.npy", npy(**header), reason)


def test_a_header_of_any_length(folder: Any) -> None:
    content = b"\x93NUMPY\x02\x00" + (70_000).to_bytes(4, "little") + b" " * 70_000
    fails(folder / "header.npy", content, "dump.bad_header")


def test_something_else(folder: Any) -> None:
    fails(folder / "else.npy", b"PK\x03\x04 and more", "dump.not_npy")


def test_no_file_and_no_name(folder: Any) -> None:
    with pytest.raises(UnreadableError, match=r"dump.missing"):
        read_npy(folder / "nothing.npy")
    with pytest.raises(UnreadableError, match=r"dump.missing"):
        read_npy(folder / "nothing\0.npy")


def test_npz_lists_and_reads(folder: Any) -> None:
    path = folder / "some.npz"
    values: dict[str, Any] = {
        "a": np.arange(6.0).reshape(2, 3),
        "b/c": np.array(3),
        "empty": np.empty((0, 4)),
    }
    np.savez_compressed(path, **values)
    headers: list[tuple[str, Any]] = list(npz_headers(path))
    assert [(name, header.shape) for name, header in headers] == [
        ("a", (2, 3)),
        ("b/c", ()),
        ("empty", (0, 4)),
    ]
    for name, array in values.items():
        np.testing.assert_array_equal(read_npz(path, name), array)


def test_one_broken_member_leaves_the_others(folder: Any) -> None:
    path = folder / "broken.npz"
    whole = io.BytesIO()
    np.save(whole, np.arange(3))
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("object.npy", npy("'|O'"))
        archive.writestr("fine.npy", whole.getvalue())
        archive.writestr("../../up.npy", whole.getvalue()[:-3])
        archive.writestr("note.txt", "not an array")
    headers: dict[str, Any] = dict(npz_headers(path))
    assert list(headers) == ["object", "fine", "../../up"]
    assert headers["object"].reason == "dump.object_dtype"
    assert headers["../../up"].reason == "dump.truncated"
    assert read_npz(path, "fine").tolist() == [0, 1, 2]
    with pytest.raises(UnreadableError, match=r"dump.missing"):
        read_npz(path, "../fine")


def test_a_bomb_is_not_unpacked(folder: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "MAX_UNPACKED", 100_000)
    path = folder / "bomb.npz"
    np.savez_compressed(path, zeros=np.zeros(1_000_000), fine=np.zeros(100))
    headers: dict[str, Any] = dict(npz_headers(path))
    assert headers["zeros"].reason == "dump.zip_bomb"
    assert "8000128" in headers["zeros"].detail
    assert read_npz(path, "fine").shape == (100,)
    with pytest.raises(UnreadableError, match=r"dump.zip_bomb"):
        read_npz(path, "zeros")


def test_zeros_that_pack_well_are_no_bomb(folder: Any) -> None:
    path = folder / "zeros.npz"
    np.savez_compressed(path, zeros=np.zeros(1_000_000))
    assert read_npz(path, "zeros").sum() == 0


@pytest.mark.parametrize(("end", "reason"), [(3, "bad_zip"), (60, "truncated"), (-30, "truncated")])
def test_an_archive_cut_off(folder: Any, end: Any, reason: str) -> None:
    path = folder / "cut.npz"
    np.savez(path, a=np.arange(100))
    path.write_bytes(path.read_bytes()[:end])
    with pytest.raises(UnreadableError, match=f"dump.{reason}"):
        npz_headers(path)


def test_an_archive_with_flipped_bytes(folder: Any) -> None:
    path = folder / "flipped.npz"
    np.savez_compressed(path, a=np.random.default_rng(0).normal(size=1000))
    content = bytearray(path.read_bytes())
    content[2000:2010] = b"\xff" * 10
    path.write_bytes(content)
    with pytest.raises(UnreadableError, match=r"dump.bad_zip"):
        read_npz(path, "a")


def test_a_file_that_may_not_be_read(folder: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: Any) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(opener, "_open_at_once", lambda *arguments: -1)
    monkeypatch.setattr(os, "open", refuse)
    for read in (read_npy, read_npy_header, npz_headers):
        with pytest.raises(UnreadableError, match=r"dump.permission"):
            read(folder / "array.npy")


def test_data_that_ends_after_its_header_was_read(folder: Any) -> None:
    path = folder / "ends.npy"
    np.save(path, np.arange(4))
    header = read_npy_header(path)
    with pytest.raises(UnreadableError, match=r"dump.truncated: 32 bytes of data announced, found 31"):
        array_of(header, path.read_bytes()[header.offset : -1])
