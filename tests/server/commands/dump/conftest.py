"""Dumps for commands: a small network, the same with a NaN, and one with a truncated file."""

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

DUMPS = Path(__file__).parents[3] / "data" / "dumps"
LENET = DUMPS / "ms_sync_v2_0_names"


@pytest.fixture(autouse=True)
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MINDINSIGHT_WORKSPACE", str(tmp_path / "workspace"))


@pytest.fixture
def broken(tmp_path: Path) -> Any:
    """The network with a NaN out of one operator of step 1."""
    path = Path(shutil.copytree(LENET, tmp_path / "broken"))
    (file,) = (path / "rank_0" / "Net" / "0" / "1").glob("MatMul.MatMul-op66.*.output.0.*")
    values = np.load(file)
    values[0, 0] = np.nan
    np.save(file, values)
    return path


@pytest.fixture
def cut(tmp_path: Path) -> Any:
    """The network with the file of one tensor cut off."""
    path = Path(shutil.copytree(LENET, tmp_path / "cut"))
    (file,) = (path / "rank_0" / "Net" / "0" / "0").glob("MatMul.MatMul-op66.*.output.0.*")
    file.write_bytes(file.read_bytes()[:-10])
    return path
