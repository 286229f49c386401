"""Route for the profile of a data pipeline, over runs of MindSpore."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

DATA = Path(__file__).parents[3] / "data" / "pipelines"


@pytest.fixture
def profiled(tmp_path: Path, samples: Any) -> Callable[[str], Any]:
    """Write the run of a slow map below a path, and ask for the profile of a run."""

    def ask(to: str, profiler: str | None = None, run: str = "") -> Any:
        base = tmp_path / "base"
        shutil.copytree(DATA / "map", base / to)
        if profiler is not None:
            (base / to / "profiler").rename(base / profiler)
        return samples().get("/v2/graph/pipeline", params={"run": run or f"./{to}"})

    return ask


def test_operators_in_the_order_of_the_data(profiled: Any) -> None:
    answer = profiled("a").json()
    assert [(row["name"], row["empty"], row["samples"], row["slowest"]) for row in answer["operators"]] == [
        ("Generator", 0, 16, False),
        ("Map", 16, 16, True),
        ("Batch", 15, 16, False),
    ]
    assert all(row["node"] for row in answer["operators"])
    assert (answer["interval_ms"], round(answer["wait_ms"])) == (1000.0, 67)
    assert answer["file"] == "pipeline_profiling_0.json"


def test_the_profile_of_a_rank_beside_its_folder(profiled: Any) -> None:
    assert profiled("job/rank_0", "job/profiler").json()["operators"]


def test_not_the_profile_of_another_rank(profiled: Any) -> None:
    answer = profiled("job/rank_1", "job/profiler").json()
    assert [claim["key"] for claim in answer["claims"]] == ["claim.pipeline_profile.none"]


def test_what_is_beside_the_base_is_not_looked_at(tmp_path: Path, samples: Any) -> None:
    base = tmp_path / "base"  # itself a run of rank 0, beside that of rank 1 below it
    shutil.copytree(DATA / "map", base)
    shutil.copytree(DATA / "map", base / "rank_1")
    (base / "profiler").rename(tmp_path / "profiler")
    client = samples()
    assert [run["rank"] for run in client.get("/v2/runs").json()["runs"] if run["id"] == "./"] == [0]
    answer = client.get("/v2/graph/pipeline", params={"run": "./"}).json()
    assert [claim["key"] for claim in answer["claims"]] == ["claim.pipeline_profile.none"]


def test_an_unknown_run(profiled: Any) -> None:
    assert profiled("a", run="./b").status_code == 404
