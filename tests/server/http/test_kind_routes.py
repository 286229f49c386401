"""Routes of one kind are made when they are first asked for, and no others with them."""

from typing import Any

from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient
from starlette.types import ASGIApp

from mindinsight.server.http.kind_routes import KindRoutes


def text(content: str, path: str) -> Starlette:
    async def answer(_: Any) -> PlainTextResponse:
        return PlainTextResponse(content)

    return Starlette(routes=[Route(path, answer)])


def test_each_kind_is_made_once_and_everything_else_is_the_interfaces() -> None:
    made: list[str] = []

    def make(name: str) -> ASGIApp | None:
        made.append(name)
        return text(name, "/v2/{kind}/rows") if name in ("a", "b") else None

    client = TestClient(KindRoutes(make, text("interface", "/{rest:path}")))
    kinds = ["/v2/a/rows", "/v2/b/rows", "/v2/a/rows"]
    paths = [*kinds, "/v2/c/rows", "/v2/a", "/v2/", "/data/a", "/v2/x-y/rows"]
    answers = [client.get(path).text for path in paths]
    assert answers == ["a", "b", "a", *["interface"] * 5]
    assert made == ["a", "b", "c"]
