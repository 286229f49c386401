"""The ranks of a job as one curve: median, range, axes, smoothing."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from fastapi.testclient import TestClient

from mindinsight.server.plugins.scalar.job_series import job_series
from mindinsight.server.plugins.scalar.lines import View
from mindinsight.server.store.run import Run

from .runs import part, run

LENGTH = 300


def ranks(count: int, **changes: Any) -> list[Run]:
    """Ranks of a job whose losses are rank + step / 1000, the highest rank first."""
    steps = np.arange(LENGTH)
    return [
        run(
            f"./job/rank_{rank}",
            job="./job",
            rank=rank,
            loss=[part(steps, changes.get(f"rank_{rank}", rank + steps / 1000), np.float64)],
            epoch=[part(steps, steps / 100, np.float64)],
        )
        for rank in reversed(range(count))
    ]


def test_a_job_is_its_median_with_the_range_of_all_ranks() -> None:
    answer = job_series(ranks(64), "loss", View(600))
    assert (answer["run"], answer["job"], answer["ranks"]) == ("./job/rank_0", "./job", 64)
    assert (answer["points"], len(answer["step"])) == (64 * LENGTH, LENGTH)
    np.testing.assert_allclose(answer["value"], 31.5 + np.arange(LENGTH) / 1000)
    np.testing.assert_allclose(answer["low"], np.arange(LENGTH) / 1000)
    np.testing.assert_allclose(answer["high"], 63 + np.arange(LENGTH) / 1000)
    assert "x" not in answer
    assert "smooth" not in answer


def test_a_rank_that_is_not_finite_moves_nothing_and_is_told() -> None:
    steps = np.arange(LENGTH)
    answer = job_series(ranks(3, rank_2=np.where(steps > 9, np.nan, 2.0)), "loss", View(600))
    assert np.isfinite(answer["value"]).all()
    assert answer["value"][-1] == pytest.approx(0.5 + 0.299)
    assert answer["non_finite"] == [("nan", 10, LENGTH - 1, LENGTH - 10)]


def test_the_median_and_both_ends_are_smoothed_alike() -> None:
    raw = job_series(ranks(5), "loss", View(600))
    smoothed = job_series(ranks(5), "loss", View(600, weight=0.9, least=LENGTH))
    np.testing.assert_allclose(smoothed["value"], raw["value"])
    np.testing.assert_allclose(smoothed["smooth"] - smoothed["low"], 2.0)
    np.testing.assert_allclose(smoothed["high"] - smoothed["smooth"], 2.0)
    assert smoothed["smooth"][-1] < raw["value"][-1]
    few = job_series(ranks(5), "loss", View(600, weight=0.9, least=LENGTH + 1))
    assert "smooth" not in few


@pytest.mark.parametrize(("x", "last"), [("relative", 0.5 * (LENGTH - 1)), ("tag:epoch", 2.99)])
def test_other_axes_are_those_of_the_lowest_rank(x: str, last: float) -> None:
    answer = job_series(ranks(4), "loss", View(600, x=x))
    assert answer["x"][0] == 0.0
    assert answer["x"][-1] == pytest.approx(last)
    assert len(job_series(ranks(4), "loss", View(600, x="tag:absent"))["step"]) == 0


def test_a_zoomed_job_is_drawn_as_finely_as_it_was_recorded() -> None:
    steps = np.arange(200_000)
    long = [
        run(f"./job/rank_{rank}", job="./job", rank=rank, loss=[part(steps, rank + np.sin(steps))])
        for rank in range(3)
    ]
    assert len(job_series(long, "loss", View(300))["step"]) <= 4 * 300 + 2
    near = job_series(long, "loss", View(300, low=1000.0, high=1100.0))
    assert near["step"].tolist() == list(range(999, 1102))
    np.testing.assert_allclose(near["value"], 1 + np.sin(near["step"]), atol=1e-6)


def test_the_route_folds_the_jobs_that_are_named(ask: Callable[..., TestClient]) -> None:
    alone = run("./alone", loss=[part(range(5), range(5))])
    client = ask(alone, *ranks(3))
    runs = ["./job/rank_2", "./alone", "./job/rank_0", "./job/rank_1"]
    query = {"tag": "loss", "run": runs}
    folded = client.get("/series", params={**query, "fold": "./job"}).json()["series"]
    assert [(series["run"], series.get("ranks")) for series in folded] == [
        ("./job/rank_0", 3),
        ("./alone", None),
    ]
    assert len(client.get("/series", params=query).json()["series"]) == 4
    single = client.get("/series", params={"tag": "loss", "run": runs[:1], "fold": "./job"}).json()["series"]
    assert "ranks" not in single[0], "a single rank is a curve of its own"
