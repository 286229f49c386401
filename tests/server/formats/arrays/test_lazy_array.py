"""Parts of tensors that are read from where they lie, against the same parts of the whole array."""

import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from mindinsight.server.compute.tensor_statistics import measure, measure_values
from mindinsight.server.debug.tensor_pictures import bin_values, shrink_rows
from mindinsight.server.formats.arrays import lazy_array
from mindinsight.server.formats.arrays.lazy_array import Held, Stored, stored_as, stored_npy, write_npy
from mindinsight.server.formats.arrays.npy import read_npy, read_npy_header
from mindinsight.server.formats.read_limits import UnreadableError
from tests.narrowing import require
from tests.thoroughness import amount

DTYPES = ["<f4", ">f4", "<f2", "<f8", ">i2", "<u8", "|b1", "<c8", "|i1"]


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pieces of seven elements, blocks of forty bytes: what happens to gigabytes happens to few numbers."""
    monkeypatch.setattr(lazy_array, "PIECE", 7)
    monkeypatch.setattr(lazy_array, "BLOCK", 40)


def entries(length: Any) -> Any:
    bounds = st.one_of(st.none(), st.integers(-length - 2, length + 2))
    steps = st.one_of(st.none(), st.integers(-3, 3).filter(bool))
    cuts = st.builds(slice, bounds, bounds, steps)
    return st.one_of(cuts, st.integers(-length, length - 1)) if length else cuts


@st.composite
def cut_arrays(draw: Any) -> tuple[Any, Any]:
    dtype = draw(st.sampled_from(DTYPES))
    shape = draw(arrays.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=6))
    array = np.arange(np.prod(shape, dtype=int), dtype=np.int64).reshape(shape).astype(dtype)
    window = tuple(draw(entries(length)) for length in shape[: draw(st.integers(0, len(shape)))])
    return array, window


@given(drawn=cut_arrays())
@settings(max_examples=amount(60, 15), deadline=None)
def test_a_part_is_what_indexing_gives(tmp_path_factory: pytest.TempPathFactory, drawn: Any) -> None:
    array, window = drawn
    path = tmp_path_factory.mktemp("stored") / "a.npy"
    np.save(path, array)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(lazy_array, "PIECE", 7)
        patched.setattr(lazy_array, "BLOCK", 40)
        result = stored_npy(path, read_npy_header(path))
        assert isinstance(result, Stored)
        expected = np.asarray(array[window])
        part = result.part(window)
        assert (part.shape, part.dtype) == (expected.shape, expected.dtype.newbyteorder("="))
        np.testing.assert_array_equal(part, expected)
        pieces = list(result.pieces())
        assert all(piece.size <= 7 for piece in pieces)
        np.testing.assert_array_equal(np.concatenate([np.empty(0, array.dtype), *pieces]), array.ravel())


def test_bfloat16_is_widened_part_by_part(tmp_path: Path, small: None) -> None:
    halves = np.arange(0x3F80, 0x3F80 + 30, dtype="<u2").reshape(5, 6)
    path = tmp_path / "a.npy"
    np.save(path, halves.view("V2"))
    result = require(stored_npy(path, read_npy_header(path)))
    np.testing.assert_array_equal(result.part((slice(1, 4), 2)), read_npy(path)[1:4, 2])
    assert result.dtype == np.float32
    assert measure_values(result) == measure(read_npy(path))


def test_fortran_order_is_read_whole_and_means_the_same(tmp_path: Path) -> None:
    array = np.asfortranarray(np.arange(12.0).reshape(3, 4))
    np.save(tmp_path / "a.npy", array)
    assert stored_npy(tmp_path / "a.npy", read_npy_header(tmp_path / "a.npy")) is None
    np.testing.assert_array_equal(np.concatenate(list(Held(array).pieces())), array.ravel())


def test_elements_that_share_a_byte_are_read_whole(tmp_path: Path) -> None:
    assert stored_as(tmp_path / "a", 0, (4,), "int4") is None
    assert stored_as(tmp_path / "a", 0, (4,), "no such type") is None
    assert require(stored_as(tmp_path / "a", 0, (4,), "BFloat16")).name == "bfloat16"


@pytest.mark.parametrize("array", [np.arange(20, dtype=">i4").reshape(4, 5), np.float16(3), np.zeros((0, 3))])
def test_what_is_written_reads_the_same(tmp_path: Path, small: None, array: Any) -> None:
    np.save(tmp_path / "a.npy", array)
    result = require(stored_npy(tmp_path / "a.npy", read_npy_header(tmp_path / "a.npy")))
    (tmp_path / "b.npy").write_bytes(b"".join(write_npy(result)))
    again = np.load(tmp_path / "b.npy")
    assert (again.shape, again.dtype) == (np.shape(array), result.dtype)
    np.testing.assert_array_equal(again, array)


def test_a_file_cut_short_while_it_is_read_is_an_error_and_no_crash(tmp_path: Path, small: None) -> None:
    path = tmp_path / "a.npy"
    np.save(path, np.arange(100.0))
    result = require(stored_npy(path, read_npy_header(path)))
    pieces = result.pieces()
    next(pieces)
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(UnreadableError) as raised:
        list(pieces)
    assert raised.value.reason == "dump.truncated"
    path.unlink()
    with pytest.raises(UnreadableError):
        result.part((0,))


ROWS, COLUMNS = 4_000, 4_000  # 64 MB that take no room on disk


@pytest.fixture(scope="module")
def huge(tmp_path_factory: pytest.TempPathFactory) -> Any:
    path = tmp_path_factory.mktemp("huge") / "a.npy"
    with path.open("wb") as file:
        np.lib.format.write_array_header_1_0(
            file, {"descr": "<f4", "fortran_order": False, "shape": (ROWS, COLUMNS)}
        )
        start = file.tell()
        file.truncate(start + 4 * ROWS * COLUMNS)
        file.seek(start + 4 * (3000 * COLUMNS + 77))
        file.write(np.float32(-3).tobytes())
    return stored_npy(path, read_npy_header(path))


@pytest.mark.parametrize(
    ("look", "expected"),
    [
        (lambda values: measure_values(values).minimum, -3),
        (lambda values: int(bin_values(values, 10)[0].sum()), ROWS * COLUMNS),
        (lambda values: values.part((slice(2990, 3010), slice(70, 80))).min(), -3),
        (lambda values: values.part((slice(None), 77)).min(), -3),
        (lambda values: shrink_rows(lambda a, b: values.part((slice(a, b),)), ROWS, 256).min(), -3),
        (lambda values: sum(map(len, write_npy(values))), 128 + 4 * ROWS * COLUMNS),
    ],
    ids=["statistics", "histogram", "window", "column", "heat map", "download"],
)
def test_no_more_than_a_few_parts_are_ever_held(huge: Any, look: Any, expected: Any) -> None:
    tracemalloc.start()
    try:
        assert look(huge) == expected
        assert tracemalloc.get_traced_memory()[1] < 24 << 20
    finally:
        tracemalloc.stop()
