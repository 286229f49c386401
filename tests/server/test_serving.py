"""Answers while runs are being loaded: what has been read is there, and what has not says so."""

import dataclasses
import threading
from collections.abc import Iterator
from concurrent.futures import Executor, Future
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from mindinsight.proto.framing import encode_record
from mindinsight.proto.summary_pb2 import Event
from mindinsight.server.app import create_app, make_service
from mindinsight.server.ingest import loader as dispatcher
from mindinsight.server.ingest.loader import Loader
from mindinsight.server.settings import Settings
from tests.waiting import until


class Reluctant(Executor):
    """Reads at once, but a run called ``slow`` only when it is told to."""

    def __init__(self) -> None:
        self.missing = False
        self.held: list[Any] = []
        self.asked = threading.Event()
        self.willing = False

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
        future: Future[Any] = Future()
        if not self.willing and any("/slow/" in request.path for request in args[0]):
            self.held.append((future, fn, args))
            self.asked.set()
        else:
            future.set_result(fn(*args, **kwargs))
        return future

    def release(self) -> None:
        self.willing = True
        for future, fn, args in self.held:
            future.set_result(fn(*args))


def written(folder: Path, steps: int) -> None:
    records = []
    for step in range(steps):
        event = Event(wall_time=1_700_000_000.0 + step, step=step)
        event.summary.value.add(tag="loss", scalar_value=1 / (1 + step))
        records.append(encode_record(event.SerializeToString()))
    folder.mkdir(parents=True)
    (folder / "events.summary.1700000000.host").write_bytes(b"".join(records))


@pytest.fixture
def executor() -> Any:
    return Reluctant()


@pytest.fixture
def client(tmp_path: Path, executor: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Over a run that is loaded and a larger one that is not."""
    monkeypatch.setattr(dispatcher, "INLINE", -1)
    monkeypatch.setattr(dispatcher, "PIECE", 10_000)  # one of the files at a time
    for name, steps in (("fast", 50), ("slow", 500)):
        written(tmp_path / "base" / name, steps)
    settings = Settings(tmp_path / "base", tmp_path / "workspace", reload_interval=0.1)
    service = make_service(settings)
    loader = Loader(settings, service.store, executor)
    service = dataclasses.replace(service, loader=loader, executor=executor)
    with TestClient(create_app(settings, service), base_url="http://127.0.0.1") as client:
        yield client


def runs(client: Any) -> Any:
    return {run["id"]: run for run in client.get("/v2/runs").json()["runs"]}


def points(client: Any, run: Any) -> Any:
    answer = client.get("/v2/scalar/series", params={"tag": "loss", "run": run, "px": 0}).json()
    return [curve["count"] for curve in answer["series"]]


def test_a_loaded_series_is_answered_while_another_run_is_loaded(client: Any, executor: Any) -> None:
    assert executor.asked.wait(120)
    until(lambda: points(client, "./fast") == [50])
    assert points(client, "./slow") == []
    listing = runs(client)
    assert listing["./fast"]["read"] == listing["./fast"]["total"]
    assert listing["./slow"]["read"] == 0 < listing["./slow"]["total"]
    executor.release()
    until(lambda: points(client, "./slow") == [500])


def test_how_far_loading_is_can_be_asked_for(client: Any, executor: Any) -> None:
    assert executor.asked.wait(120)
    until(lambda: client.get("/health").json()["points"] == 50)
    health = client.get("/health").json()
    assert health["runs"] == 2
    assert 0 < health["bytes_read"] < health["bytes_total"]
    executor.release()
    until(lambda: client.get("/health").json()["points"] == 550)
    health = client.get("/health").json()
    assert health["bytes_read"] == health["bytes_total"]
