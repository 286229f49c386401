"""Bytes that are there when a file is listed and not when they are read."""

import io
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mindinsight.server.formats import file_bytes
from mindinsight.server.formats.arrays.npy import read_npy
from mindinsight.server.formats.file_bytes import FileBytes, read_bytes
from mindinsight.server.formats.read_limits import UnreadableError
from mindinsight.server.formats.weights.weight_files import open_weights

LARGE = np.arange(4 << 20, dtype=np.float64)  # 32 MiB


@pytest.fixture
def content() -> Any:
    return bytes(range(256)) * 1024


@pytest.fixture
def path(tmp_path: Path, content: Any) -> Any:
    path = tmp_path / "file"
    path.write_bytes(content)
    return path


@pytest.mark.parametrize(
    ("start", "end"), [(0, 10), (100, 100), (300, 299), (65_530, 65_550), (5, 200_000), (262_140, 262_200)]
)
def test_slices_are_those_of_the_content(path: Any, content: Any, start: int, end: int) -> None:
    with path.open("rb") as file:
        data = FileBytes(file)
        assert len(data) == len(content)
        assert [data.slice(start, end) for _ in range(2)] == [content[start:end]] * 2


def test_a_claim_of_gigabytes_asks_for_no_memory(path: Any, content: Any) -> None:
    with path.open("rb") as file:
        data = FileBytes(file)
        assert data.read(1 << 60) == content
        assert data.read(1 << 60) == b""
        assert data.tell() == len(content)


def test_a_line_without_an_end_is_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_bytes, "MAX_LINE", 1000)
    path = tmp_path / "line"
    path.write_bytes(b"x" * 5000)
    with path.open("rb") as file:
        assert FileBytes(file).readline() == b"x" * 1000


def test_a_stretch_beyond_the_end_is_told(path: Any) -> None:
    with path.open("rb") as file, pytest.raises(UnreadableError, match="truncated"):
        read_bytes(file, 100, 1 << 60)


class Shrinking(io.FileIO):
    """Is cut short right after its length was asked for."""

    def seek(self, offset: Any, whence: int = 0) -> Any:
        result = super().seek(offset, whence)
        if whence == 2:
            os.truncate(self.name, 1000)
        return result


def test_a_file_cut_short_between_two_looks_is_told(path: Any) -> None:
    with Shrinking(path) as file, pytest.raises(UnreadableError, match="became shorter"):
        read_bytes(file, 500, 1000)


def test_an_array_outlives_its_file(tmp_path: Path) -> None:
    """A map of it would end the process here."""
    path = tmp_path / "large.npy"
    np.save(path, LARGE)
    array = read_npy(path)
    os.truncate(path, 128)
    np.testing.assert_array_equal(array, LARGE)


@pytest.mark.parametrize("name", ["w.npz", "w.npy"])
def test_weights_cut_short_after_they_were_listed_are_told(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    np.save(path, LARGE) if name == "w.npy" else np.savez(path, w=LARGE)
    listed = open_weights(path)
    os.truncate(path, 1 << 20)
    with pytest.raises(UnreadableError):
        listed.read("w")
