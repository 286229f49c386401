"""What ``/health`` tells: figures that add up over all runs, and no names."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mindinsight.server.http.health import counts
from mindinsight.server.store.run import Run, Snapshot
from mindinsight.server.store.series import ScalarPart, ScalarSeries
from mindinsight.server.types import Damage, FileState


def series(tag: Any, points: Any) -> ScalarSeries:
    steps = np.arange(points)
    part = ScalarPart(steps, steps.astype(float), steps.astype(np.float32), np.zeros(1, np.int64))
    return ScalarSeries(tag, [part], version=1)


def state(name: Any, damage: Any = (), error: str = "", skipped: Any = ()) -> FileState:
    return FileState(
        name=name, size=9, modified=0.0, read=5, pending=0, damage=damage, error=error, skipped=skipped
    )


@pytest.fixture
def snapshot() -> Snapshot:
    damaged = state("secret.0", (Damage(0, 7, "damage.noise"), Damage(50, 3, "damage.zeros")))
    odd = state("secret.1", error="file.permission", skipped=(("explain", 2), ("unknown", 3)))
    first = Run(
        "./secret", "secret", "/x", "./secret", None, 0, 0, 9, (damaged, odd), read=10, total=18,
        scalars={"loss": series("loss", 4), "acc": series("acc", 6)},
    )  # fmt: skip
    second = Run(
        "./b", "b", "/x", "./b", None, 0, 0, 9, (state("c"),), read=5, total=9,
        scalars={"loss": series("loss", 1)},
    )  # fmt: skip
    return Snapshot(
        7, {first.id: first, second.id: second}, 3, "/secret/base", "polling", 0.0, base_missing=False
    )


def test_figures_add_up_over_runs_and_files(snapshot: Snapshot) -> None:
    assert counts(snapshot) == {
        "runs": 2,
        "runs_left_out": 3,
        "files": 3,
        "files_unreadable": 1,
        "damaged_stretches": 2,
        "damaged_bytes": 10,
        "records_skipped": 5,
        "bytes_read": 15,
        "bytes_total": 27,
        "points": 11,
    }


def test_no_name_of_a_run_file_or_folder_is_told(samples: Any, tmp_path: Path) -> None:
    response = samples("record_api/values").get("/health")
    assert response.json()["runs"] == 1
    assert "values" not in response.text
    assert "events.out" not in response.text
    assert str(tmp_path) not in response.text


def test_both_ways_to_ask_tell_the_same(samples: Any) -> None:
    """Before the interface is loaded the server answers by itself."""
    client = samples("lenet")
    health = client.get("/health").json()
    metrics = dict(
        line.rsplit(" ", 1) for line in client.get("/metrics").text.splitlines() if not line.startswith("#")
    )
    figures = {name: value for name, value in health.items() if isinstance(value, int)}
    assert figures.keys() >= {"runs", "points", "bytes_read"}
    for name, value in figures.items():
        assert float(metrics[f"mindinsight_{name}"]) == value
    assert client.get("/v2/openapi.json").json()["paths"].keys() >= {"/health", "/metrics"}
