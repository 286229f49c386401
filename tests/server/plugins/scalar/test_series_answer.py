"""The cache of answers: what is drawn again, and what is not."""

import asyncio
from types import SimpleNamespace
from typing import Any

from mindinsight.server.http.service import Service
from mindinsight.server.plugins.scalar.lines import View
from mindinsight.server.plugins.scalar.series_answer import CurveQuery, SeriesAnswers, series_answer
from mindinsight.server.store.run import Run, Snapshot
from mindinsight.server.store.series import ScalarSeries

from .runs import WALL, part


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
        return len(self.service.parts.of(SeriesAnswers).cache.values())


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
