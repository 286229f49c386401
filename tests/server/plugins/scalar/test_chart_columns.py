"""The ranks of a job as one curve: median, range, axes, smoothing."""

import asyncio
import base64
import math
from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from fastapi.testclient import TestClient

from mindinsight.server.errors import ApiError
from mindinsight.server.formats.lineage import Lineage
from mindinsight.server.http.service import Service
from mindinsight.server.plugins.scalar.chart_columns import (
    CurveQuery,
    SeriesAnswers,
    View,
    drawn_line,
    drawn_series,
    inside,
    job_series,
    line_between,
    missing_rows,
    newest_rows,
    series_answer,
)
from mindinsight.server.store.run import Run, Snapshot
from mindinsight.server.store.series import ScalarSeries
from tests.server.plugins.scalar.runs import WALL, part, run

X = np.array([1.0, 2.0, 4.0, 8.0])


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (None, None, [1, 2, 4, 8]),
        (2, 4, [1, 2, 4, 8]),  # a neighbour on each side
        (4, None, [2, 4, 8]),
        (None, 1, [1, 2]),
        (5, 6, [4, 8]),  # between two points
        (9, 10, [8]),
        (-2, 0, [1]),
    ],
)
def test_a_range_has_one_neighbour_on_each_side(
    low: float | None, high: float | None, expected: list[float]
) -> None:
    assert X[inside(X, low, high)].tolist() == expected


def test_of_no_points_none_are_in_a_range() -> None:
    assert X[:0][inside(X[:0], 1, 2)].tolist() == []


def columns(answer: dict[str, Any], *names: str) -> list[list[float]]:
    return [answer[name].tolist() for name in names]


def test_columns_on_each_axis() -> None:
    entry = run("./a", loss=[part([1, 2, 4], [10.0, 20.0, 40.0])], lr=[part([2, 4], [0.5, 0.25])])
    line = entry.scalars["loss"].line()
    start = float(line.walls[0])
    assert columns(drawn_line(entry, line, View(0), start), "step", "value") == [[1, 2, 4], [10, 20, 40]]
    relative = drawn_line(entry, line, View(0, "relative"), start)
    assert relative["x"].tolist() == (line.walls - start).tolist()
    assert columns(drawn_line(entry, line, View(0, "tag:lr"), start), "x", "value") == [[0.5, 0.25], [20, 40]]
    assert columns(drawn_line(entry, line, View(0, "tag:none"), start), "step") == [[]]
    with pytest.raises(ApiError, match="not 'epoch'"):
        drawn_line(entry, line, View(0, "epoch"), start)


def test_a_range_of_a_line_has_its_ends_and_nothing_beside_them() -> None:
    entry = run("./a", loss=[part([1, 2, 4, 8], [1.0, 2.0, 3.0, 4.0])])
    line = line_between(entry, "loss", View(0, low=2, high=4))
    assert line is not None
    assert line.steps.tolist() == [2, 4]
    assert line_between(entry, "none", View(0)) is None


def test_a_line_of_fewer_points_is_not_smoothed() -> None:
    entry = run("./a", loss=[part([1, 2, 3], [0.0, 1.0, 0.0])])
    assert "smooth" in drawn_series(entry, entry.scalars["loss"], View(0, weight=0.5, least=3), False)
    assert "smooth" not in drawn_series(entry, entry.scalars["loss"], View(0, weight=0.5, least=4), False)


def test_the_last_value_is_json_whatever_it_is() -> None:
    entry = run("./a", loss=[part([1, 2], [1.0, math.inf])])
    assert drawn_series(entry, entry.scalars["loss"], View(0), False)["last"][2] == "inf"


def test_newest_rows_follow_or_the_whole_is_asked_for() -> None:
    entry = run("./a", loss=[part([1, 2, 3], [1.0, 2.0, 3.0])])
    generation = entry.scalars["loss"].generation
    tail = newest_rows(entry, "loss", 2, generation, View(0))
    assert (tail["whole"], tail["step"].tolist(), tail["count"]) == (False, [3], 3)
    for since, known in ((0, generation), (4, generation), (2, generation + 1)):
        assert newest_rows(entry, "loss", since, known, View(0))["whole"]
    restarted = run("./a", loss=[part([1, 2, 3], [1.0, 2.0, 3.0]), part([2], [9.0])])
    generation = restarted.scalars["loss"].generation
    assert newest_rows(restarted, "loss", 3, generation, View(0))["whole"]
    assert newest_rows(entry, "none", 2, generation, View(0)).keys() == missing_rows("./a").keys()


LENGTH = 300


def having(runs: list[Run]) -> list[tuple[Run, ScalarSeries]]:
    """The runs with their losses."""
    return [(entry, entry.scalars["loss"]) for entry in runs]


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
    answer = job_series(having(ranks(64)), View(600))
    assert (answer["run"], answer["job"], answer["ranks"]) == ("./job/rank_0", "./job", 64)
    assert (answer["points"], len(answer["step"])) == (64 * LENGTH, LENGTH)
    np.testing.assert_allclose(answer["value"], 31.5 + np.arange(LENGTH) / 1000)
    np.testing.assert_allclose(answer["low"], np.arange(LENGTH) / 1000)
    np.testing.assert_allclose(answer["high"], 63 + np.arange(LENGTH) / 1000)
    assert "x" not in answer
    assert "smooth" not in answer


def test_a_rank_that_is_not_finite_moves_nothing_and_is_told() -> None:
    steps = np.arange(LENGTH)
    answer = job_series(having(ranks(3, rank_2=np.where(steps > 9, np.nan, 2.0))), View(600))
    assert np.isfinite(answer["value"]).all()
    assert answer["value"][-1] == pytest.approx(0.5 + 0.299)
    assert answer["non_finite"] == [("nan", 10, LENGTH - 1, LENGTH - 10)]


def test_the_median_and_both_ends_are_smoothed_alike() -> None:
    raw = job_series(having(ranks(5)), View(600))
    smoothed = job_series(having(ranks(5)), View(600, weight=0.9, least=LENGTH))
    np.testing.assert_allclose(smoothed["value"], raw["value"])
    np.testing.assert_allclose(smoothed["smooth"] - smoothed["low"], 2.0)
    np.testing.assert_allclose(smoothed["high"] - smoothed["smooth"], 2.0)
    assert smoothed["smooth"][-1] < raw["value"][-1]
    few = job_series(having(ranks(5)), View(600, weight=0.9, least=LENGTH + 1))
    assert "smooth" not in few


@pytest.mark.parametrize(("x", "last"), [("relative", 0.5 * (LENGTH - 1)), ("tag:epoch", 2.99)])
def test_other_axes_are_those_of_the_lowest_rank(x: str, last: float) -> None:
    answer = job_series(having(ranks(4)), View(600, x=x))
    assert answer["x"][0] == 0.0
    assert answer["x"][-1] == pytest.approx(last)
    assert len(job_series(having(ranks(4)), View(600, x="tag:absent"))["step"]) == 0


def test_a_zoomed_job_is_drawn_as_finely_as_it_was_recorded() -> None:
    steps = np.arange(200_000)
    long = [
        run(f"./job/rank_{rank}", job="./job", rank=rank, loss=[part(steps, rank + np.sin(steps))])
        for rank in range(3)
    ]
    assert len(job_series(having(long), View(300))["step"]) <= 4 * 300 + 2
    near = job_series(having(long), View(300, low=1000.0, high=1100.0))
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


def run_of(values: list[float], version: int) -> Run:
    series = ScalarSeries("loss", [part(range(len(values)), values)], version)
    return Run("./a", "a", "/x/a", "./a", None, 0, 0, 0, scalars={"loss": series}, version=version)


class Store:
    """A store whose run is set by hand."""

    def __init__(self) -> None:
        absent: Any = None
        loader: Any = SimpleNamespace(want=list)
        store: Any = self
        self.run = run_of([1, 2], 1)
        self.service = Service(absent, store, loader, absent, absent, started=WALL)

    def snapshot(self) -> Snapshot:
        return Snapshot(self.run.version, {self.run.id: self.run}, 0, "/x", "polling", WALL)

    def body(self, view: View) -> bytes:
        response = asyncio.run(series_answer(self.service, CurveQuery("loss", ("./a",), view), ""))
        return bytes(response.body)

    def cached(self) -> int:
        return len(self.service.parts.of(SeriesAnswers).values())


def test_an_answer_is_drawn_once_per_view_and_version() -> None:
    store = Store()
    first = store.body(View(600))
    assert store.body(View(600)) == first
    assert store.cached() == 1
    store.body(View(0, x="wall"))
    assert store.cached() == 2


def test_a_run_that_changed_is_drawn_anew() -> None:
    store = Store()
    first = store.body(View(600))
    store.run = run_of([1, 2, 3], 2)
    assert store.body(View(600)) != first


def test_large_answers_are_not_kept() -> None:
    store = Store()
    store.run = run_of([float(value) for value in range(20_000)], 3)
    assert len(store.body(View(0))) > 1 << 17
    assert store.cached() == 0


def numbers(column: dict[str, str]) -> list[float]:
    """The numbers of an encoded column."""
    return np.frombuffer(base64.b64decode(column["bdata"]), column["dtype"]).tolist()


def continuing(run_id: str, job: str, rank: int, parent: str, steps: range, add: float) -> Run:
    """A rank whose values are its step plus `add` times its rank, and that continues another run."""
    known = run(run_id, job, rank, loss=[part(steps, [step + add * rank for step in steps])])
    return replace(known, lineage=Lineage(user_defined={"parent_run": parent} if parent else {}))


def test_a_folded_job_continues_the_median_of_the_job_before(ask: Callable[..., TestClient]) -> None:
    ranks = range(3)
    before = [continuing(f"./a/rank_{rank}", "./a", rank, "", range(20), 0.1) for rank in ranks]
    after = [continuing(f"./b/rank_{rank}", "./b", rank, "a@9", range(10, 15), 0.1) for rank in ranks]
    client = ask(*before, *after)
    query = {"tag": "loss", "run": [member.id for member in after]}
    (folded,) = client.get("/series", params={**query, "fold": "./b"}).json()["series"]
    (inherited,) = folded["inherited"]
    assert inherited["run"] == "./a/rank_0"
    assert numbers(inherited["step"]) == list(range(10))
    assert numbers(inherited["value"]) == pytest.approx(
        [step + 0.1 for step in range(10)]
    )  # of the middle rank
    single = client.get("/series", params=query).json()["series"]
    assert [series["inherited"][0]["run"] for series in single] == [member.id for member in before]
    assert numbers(single[2]["inherited"][0]["value"]) == pytest.approx([step + 0.2 for step in range(10)])


def test_a_folded_job_in_a_range_ends_where_its_parent_does(ask: Callable[..., TestClient]) -> None:
    before = [continuing(f"./a/rank_{rank}", "./a", rank, "", range(20), 0.1) for rank in range(2)]
    after = [continuing(f"./b/rank_{rank}", "./b", rank, "a@9", range(10, 15), 0.1) for rank in range(2)]
    query = {"tag": "loss", "run": [member.id for member in after], "fold": "./b"}
    client = ask(*before, *after)
    (part_of,) = client.get("/series", params={**query, "low": 4, "high": 7}).json()["series"]
    assert [numbers(shown["step"]) for shown in part_of["inherited"]] == [
        [3, 4, 5, 6, 7, 8]
    ]  # a neighbour each
    (later,) = client.get("/series", params={**query, "low": 11, "high": 14}).json()["series"]
    assert later["inherited"] == []  # the own curve has its neighbour of the range
