import contextlib
import threading
from collections.abc import AsyncIterator
from typing import Any, NoReturn

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Mount, Route
from starlette.testclient import TestClient as KindRoutesTestClient
from starlette.types import ASGIApp

from mindinsight.server.http.lazy_app import KindRoutes, LazyApp


class Part:
    """An application that notes when it is made, begun and ended."""

    def __init__(self) -> None:
        self.told: list[Any] = []
        self.later = LazyApp(self.make)

    def make(self) -> Any:
        self.told.append("made")
        self.thread = threading.current_thread()
        return FastAPI(lifespan=self.life, routes=[Route("/{name}", self.answer)])

    @contextlib.asynccontextmanager
    async def life(self, app: Any) -> AsyncIterator[Any]:
        self.told.append("begun")
        yield
        self.told.append("ended")

    async def answer(self, request: Any) -> Any:
        self.loop = threading.current_thread()
        return PlainTextResponse(request.path_params["name"])


@pytest.fixture
def part() -> Any:
    return Part()


@pytest.fixture
def client(part: Any) -> Any:
    app = Starlette(routes=[Mount("/part", part.later)], lifespan=lambda app: part.later.living())
    return TestClient(app)


def test_what_nobody_asks_for_is_never_made(part: Any, client: Any) -> None:
    with client:
        pass
    assert part.told == []


def test_it_is_made_once_and_ends_with_the_server(part: Any, client: Any) -> None:
    with client:
        assert [client.get(f"/part/{name}").text for name in "abc"] == ["a", "b", "c"]
        assert part.told == ["made", "begun"]
    assert part.told == ["made", "begun", "ended"]


def test_it_is_made_beside_the_event_loop(part: Any, client: Any) -> None:
    client.get("/part/x")
    assert part.thread is not part.loop


def test_many_first_requests_make_one(part: Any, client: Any) -> None:
    with client:
        answers = []
        threads = [
            threading.Thread(target=lambda: answers.append(client.get("/part/x").text)) for _ in range(8)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert answers == ["x"] * 8
    assert part.told == ["made", "begun", "ended"]


def test_without_a_server_around_it_it_answers_all_the_same(part: Any, client: Any) -> None:
    assert client.get("/part/x").text == "x"
    assert part.told == ["made"]


def test_one_that_cannot_be_made_is_tried_again(
    part: Any, client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> NoReturn:
        raise OSError("no memory")

    part.later = LazyApp(fail)
    app = Starlette(routes=[Mount("/part", part.later)])
    answers = TestClient(app, raise_server_exceptions=False)
    assert answers.get("/part/x").status_code == 500
    monkeypatch.setattr(part.later, "_make", part.make)
    assert answers.get("/part/x").text == "x"


def text(content: str, path: str) -> Starlette:
    async def answer(_: Any) -> PlainTextResponse:
        return PlainTextResponse(content)

    return Starlette(routes=[Route(path, answer)])


def test_each_kind_is_made_once_and_everything_else_is_the_interfaces() -> None:
    made: list[str] = []

    def make(name: str) -> ASGIApp | None:
        made.append(name)
        return text(name, "/v2/{kind}/rows") if name in ("a", "b") else None

    client = KindRoutesTestClient(KindRoutes(make, text("interface", "/{rest:path}")))
    kinds = ["/v2/a/rows", "/v2/b/rows", "/v2/a/rows"]
    paths = [*kinds, "/v2/c/rows", "/v2/a", "/v2/", "/data/a", "/v2/x-y/rows"]
    answers = [client.get(path).text for path in paths]
    assert answers == ["a", "b", "a", *["interface"] * 5]
    assert made == ["a", "b", "c"]
