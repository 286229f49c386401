"""Fixtures of dumps: real ones, and copies with planted values."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mindinsight.server.formats.dumps import open_dump
from tests.server.graph.conftest import graph  # noqa: F401 - a fixture

DUMPS = Path(__file__).parents[2] / "data" / "dumps"


def spoil(root: Any, pattern: Any, value: Any, position: int = 1) -> None:
    """Put a value at a position of every tensor file below ``root`` that fits the pattern."""
    paths = sorted(root.rglob(pattern))
    assert paths, pattern
    for path in paths:
        values = np.load(path)
        values.flat[position] = value
        np.save(path, values)


def broken_job(job: Any) -> None:
    """Return a run with its graph and a dump: at step 1 one operator produces NaN, another only zeros."""
    dump = Path(shutil.copytree(DUMPS / "ms_sync_v2_0_names", job / "dump"))
    shutil.copy(dump / "rank_0" / "graphs" / "ms_output_trace_code_graph_0.pb", job)
    step = dump / "rank_0" / "Net" / "0" / "1"
    spoil(step, "MatMul.MatMul-op66.*.output.0.*", np.nan, position=0)
    (empty,) = step.glob("ReluGrad.ReluGrad-op71.*.output.0.*")
    np.save(empty, np.zeros_like(np.load(empty)))


@pytest.fixture
def data() -> Any:
    return DUMPS


@pytest.fixture
def copied(tmp_path: Path) -> Callable[..., Any]:
    """Return a function that copies a dump for changes: ``copied("ms_sync_v2_0_names")`` returns its path."""

    def copy(name: Any) -> Any:
        return Path(shutil.copytree(DUMPS / name, tmp_path / name))

    return copy


@pytest.fixture
def lenet() -> Any:
    """Return a healthy dump of a small network by MindSpore 2.0, with two steps."""
    return open_dump(DUMPS / "ms_sync_v2_0_names")


@pytest.fixture
def spoilt_weights(copied: Callable[..., Any]) -> Any:
    """Return the healthy dump with one NaN in ``fc1.weight`` and one Inf in ``fc2.weight`` at step 1."""
    path = copied("ms_sync_v2_0_names")
    step = path / "rank_0" / "Net" / "0" / "1"
    spoil(step, "Parameter.fc1.weight.*", np.nan)
    spoil(step, "Parameter.fc2.weight.*", np.inf)
    return open_dump(path)
