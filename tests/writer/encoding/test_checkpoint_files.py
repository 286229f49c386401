"""Checkpoint files read back equal."""

from pathlib import Path

import numpy as np
import pytest

from mindinsight.writer.encoding import checkpoint_files


@pytest.mark.parametrize("code", ["?", "i1", "i8", "u4", "f2", "f4", "f8"])
def test_weights_read_back_equal(tmp_path: Path, code: str) -> None:
    matrix = np.arange(6).reshape(2, 3).astype(code)
    given = {"a": matrix, "b": np.array(1, code), "c": np.zeros((0, 2), code)}
    checkpoint_files.save(tmp_path / "w.ckpt", given.items())
    loaded = checkpoint_files.load(tmp_path / "w.ckpt")
    assert list(loaded) == ["a", "b", "c"]
    for name, array in given.items():
        assert loaded[name].dtype == array.dtype
        np.testing.assert_array_equal(loaded[name], array)
