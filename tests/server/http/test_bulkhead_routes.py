"""Routes whose work hangs, never ends or is too much: the others answer, and theirs say why they do not."""

import asyncio
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import httpx2
import pytest
from fastapi import Depends, FastAPI

from mindinsight.server.api.v2 import _api_error
from mindinsight.server.app import create_app
from mindinsight.server.cancellation import check
from mindinsight.server.errors import ApiError
from mindinsight.server.http.bulkhead_routes import DumpRoute, GraphRoute, stream
from mindinsight.server.settings import Settings
from mindinsight.server.v1 import _api_error as v1_error
from tests.waiting import until_async


def forever() -> None:
    while True:
        check()


@pytest.fixture
def app(tmp_path: Path) -> Any:
    """A server to which routes can be added; what hangs in it lasts as long as the test."""
    (tmp_path / "base").mkdir()
    server = create_app(Settings(tmp_path / "base", tmp_path / "workspace", workers=1, deadline=1.0))
    app = FastAPI()
    app.state = server.state
    app.add_exception_handler(ApiError, _api_error)
    app.server = server  # type: ignore[attr-defined]
    return app


def add(app: Any, path: Any, endpoint: Any, kind: Any = DumpRoute) -> None:
    app.router.add_api_route(path, endpoint, route_class_override=kind)


def ask(app: Any, *paths: Any) -> list[Any]:
    """(status, body) of requests that are sent at once."""

    async def scenario() -> Any:
        async with app.server.router.lifespan_context(app.server):
            transport = httpx2.ASGITransport(app)
            async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
                return await asyncio.gather(*(client.get(path) for path in paths))

    return [(answer.status_code, answer.json()) for answer in asyncio.run(scenario())]


def test_an_endpoint_and_what_it_depends_on_answer_as_ever(app: Any) -> None:
    def number(n: int) -> int:
        return n

    async def double(n: Annotated[int, Depends(number)]) -> int:
        return 2 * n

    def thread(value: Annotated[int, Depends(double)]) -> dict[str, object]:
        return {"value": value, "thread": threading.current_thread().name, "nan": float("nan"), "x": "\udc80"}

    add(app, "/twice", thread)
    answer = ask(app, "/twice?n=4")
    assert answer == [(200, {"value": 8, "thread": "dumps", "nan": None, "x": "\udc80"})]
    assert ask(app, "/twice?n=x")[0][0] == 422


def test_endless_work_is_stopped_and_the_answer_says_so(app: Any) -> None:
    add(app, "/forever", forever)
    [(status, body)] = ask(app, "/forever")
    assert status == 503
    assert body["error"]["code"] == "too_late"
    assert "1 seconds" in body["error"]["message"]


def test_a_class_that_is_full_leaves_the_others_alone(app: Any) -> None:
    hangs = threading.Event()
    add(app, "/hangs", lambda: hangs.wait(60))
    add(app, "/graph", lambda: "drawn", GraphRoute)
    answers = ask(app, *["/hangs"] * 40, "/graph")
    hangs.set()
    assert answers[-1] == (200, "drawn")
    codes = {body["error"]["code"] for status, body in answers[:-1]}
    assert {status for status, _ in answers[:-1]} == {503}
    assert codes <= {"too_late", "busy"}


def test_work_of_a_client_that_left_is_stopped(app: Any) -> None:
    ended = threading.Event()

    def work() -> None:
        try:
            forever()
        finally:
            ended.set()

    add(app, "/work", work)

    async def leave() -> None:
        scope = {
            "type": "http", "method": "GET", "path": "/work", "query_string": b"", "headers": [], "app": app,
        }  # fmt: skip
        messages = iter([{"type": "http.request", "body": b""}, {"type": "http.disconnect"}])

        async def receive() -> Any:
            await asyncio.sleep(0.1)
            return next(messages)

        async def send(message: Any) -> None:
            pass

        await app(scope, receive, send)

    app.server.state.service.settings.__dict__["deadline"] = 60.0
    asyncio.run(leave())
    assert ended.wait(60)


def test_a_download_whose_client_left_keeps_no_file_open(app: Any) -> None:
    """Also as long as nobody collects garbage: what was cancelled is part of a cycle."""
    sent, closed, references = threading.Event(), threading.Event(), []

    def parts() -> Iterator[bytes]:
        try:
            while True:
                yield b"part"
        finally:
            closed.set()

    add(app, "/download", lambda: stream(parts(), {}))

    async def leave() -> None:
        scope = {
            "type": "http", "method": "GET", "path": "/download", "query_string": b"", "headers": [],
            "app": app,
        }  # fmt: skip
        messages = [{"type": "http.request", "body": b""}]

        async def receive() -> Any:
            if not messages:
                await asyncio.sleep(600)
            return messages.pop()

        async def send(message: Any) -> None:
            if message.get("body"):
                sent.set()
                await asyncio.sleep(600)  # who reads slowly

        task = asyncio.ensure_future(app(scope, receive, send))
        await until_async(sent.is_set)
        task.cancel()
        with pytest.raises(asyncio.CancelledError) as error:
            await task
        references.append((error, task))

    app.server.state.service.settings.__dict__["deadline"] = 60.0
    asyncio.run(leave())
    assert closed.wait(60)
    assert references


def test_a_client_that_leaves_before_its_request_is_whole_is_no_error(app: Any) -> None:
    worked: list[int] = []
    add(app, "/work", lambda: worked.append(1))
    statuses: list[int] = []

    async def receive() -> Any:
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        statuses.append(message.get("status", 0))

    scope = {
        "type": "http", "method": "GET", "path": "/work", "query_string": b"", "headers": [], "app": app,
    }  # fmt: skip
    asyncio.run(app(scope, receive, send))
    assert statuses[0] == 499
    assert worked == []


def test_v1_says_it_in_its_own_words() -> None:
    answer = v1_error(None, ApiError(503, "busy", "The server is busy."))  # type: ignore[arg-type]
    assert answer.status_code == 503
    assert b'"error_msg":"The server is busy."' in answer.body


def test_health_pages_and_series_answer_while_every_thread_of_dumps_hangs(
    tmp_path: Path, samples: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = samples("lenet", deadline=30.0)
    hangs = threading.Event()

    def hang(service: Any, dump: Any) -> None:
        hangs.wait(100)
        raise ApiError(404, "unknown_dump", "It is gone.")

    monkeypatch.setattr("mindinsight.server.plugins.dump.dump_listing.open_known_dump", hang)
    waiting = [
        threading.Thread(target=lambda: client.get("/v2/dump/summary", params={"dump": "./x"}))
        for _ in range(20)
    ]
    for thread in waiting:
        thread.start()
    time.sleep(0.5)  # until they hang
    run = client.get("/v2/runs").json()["runs"][0]["id"]
    tag = client.get("/v2/tags", params={"run": run}).json()["tags"][0]["tag"]
    paths = ["/health", "/metrics", "/", f"/v2/scalar/series?run={run}&tag={tag}", "/v2/runs"]
    assert [client.get(path).status_code for path in paths] == [200] * len(paths)
    assert all(thread.is_alive() for thread in waiting)
    hangs.set()
    for thread in waiting:
        thread.join()
