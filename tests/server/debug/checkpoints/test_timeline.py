"""Timeline of weights: three checkpoints in which each tensor does something else, in every format."""

from pathlib import Path

import numpy as np
import pytest

from mindinsight.server.debug.checkpoints.timeline import TimelineCell, TimelineRow, weight_timeline
from mindinsight.server.debug.checkpoints.weights import locate_values
from mindinsight.server.formats.weights.weight_files import open_weights

Tensors = dict[str, np.ndarray]


def steps() -> list[Tensors]:
    base = np.ones(4, np.float32)
    broken = base.copy()
    broken[1:3] = np.nan, np.inf
    return [
        {"moves": base, "frozen": base, "breaks": base, "old": base},
        {"moves": 3 * base, "frozen": base, "breaks": broken},
        {"moves": 3 * base, "frozen": base, "breaks": broken, "new": base},
    ]


@pytest.fixture
def rows(tmp_path: Path) -> dict[str, TimelineRow]:
    for step, tensors in enumerate(steps()):
        np.savez(tmp_path / f"net-{step}.npz", **tensors)  # type: ignore[arg-type]
    files = [open_weights(tmp_path / f"net-{step}.npz") for step in range(3)]
    return {row.name: row for row in weight_timeline(files)}


def test_a_cell_says_how_far_a_tensor_moved_and_what_broke(rows: dict[str, TimelineRow]) -> None:
    start, frozen = TimelineCell("start", None, 0), TimelineCell("unchanged", 0.0, 0)
    assert rows["moves"].cells == (start, TimelineCell("changed", 2.0, 0), frozen)
    assert rows["frozen"].cells == (start, frozen, frozen)
    assert rows["old"].cells == (start, TimelineCell("absent"), TimelineCell("absent"))
    assert rows["new"].cells == (TimelineCell("absent"), TimelineCell("absent"), start)
    assert [cell.non_finite for cell in rows["breaks"].cells] == [0, 2, 2]
    assert [cell.state for cell in rows["breaks"].cells] == ["start", "changed", "unchanged"]


def test_values_are_located_without_reading_them(tmp_path: Path) -> None:
    np.savez(tmp_path / "net.npz", weight=np.arange(6.0).reshape(2, 3))
    values = locate_values(tmp_path / "net.npz", "weight")
    assert values.part((1, slice(1, None))).tolist() == [4.0, 5.0]
    with pytest.raises(KeyError):
        locate_values(tmp_path / "net.npz", "other")
