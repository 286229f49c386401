"""Routes without FastAPI read a query, refuse it and are described as FastAPI's own routes."""

from typing import Annotated, Any

import pytest
from fastapi import APIRouter, FastAPI, Header, Query
from fastapi.testclient import TestClient
from pydantic import BaseModel, Field
from starlette.datastructures import Headers, State
from starlette.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send

from mindinsight.server.errors import ApiError
from mindinsight.server.http import openapi
from mindinsight.server.http.openapi import described_endpoint
from mindinsight.server.http.query_routes import QueryRoute


class Asked(BaseModel):
    tag: str
    run: list[str] = Field(max_length=2)
    also: list[str] | None = None
    px: int = Field(600, ge=0, le=4000)
    low: float | None = None
    log_x: bool = False
    smooth: float = Field(0.0, ge=0, lt=1)


async def echo(state: State, headers: Headers, query: Asked) -> Response:
    """What was understood."""
    if query.tag == "short":
        raise MemoryError
    if query.tag == "none":
        raise ApiError(404, "unknown", "There is none.")
    return JSONResponse({"query": repr(query), "accept": headers["accept"], "started": state.started})


DIRECT = QueryRoute("/direct/told", Asked, echo, "tests", ("accept",))


@pytest.fixture(scope="module")
def client() -> TestClient:
    app = FastAPI()
    state = State({"started": 7.0})
    openapi.install(app)
    router = APIRouter()

    @router.get("/plain/told")
    async def plain(query: Annotated[Asked, Query()], accept: Annotated[str, Header()] = "") -> Response:
        """What was understood."""
        return await echo(state, Headers({"accept": accept}), query)

    router.add_api_route("/described", described_endpoint(DIRECT))
    app.include_router(router)

    async def direct(scope: Scope, receive: Receive, send: Send) -> None:
        await (await DIRECT.response(state, scope))(scope, receive, send)

    app.mount("/direct", direct)
    return TestClient(app)


RIGHT = "tag=a&run=b"
QUERIES = [
    "tag=a&run=b&px=5&log_x=true&low=-1e3&smooth=0.5", "run=b&run=c&tag=", "tag=a&tag=b&run=c",
    "tag=%2B+%26&run=",
    *(f"{RIGHT}&{more}" for more in (
        "px=", "px=1&px=2", "px=x&low=y", "px=-1", "px=4001", "px=1.5", "px=1e999", "low=", "low=nan",
        "low=1e999",
        "log_x=2", "log_x=on", "smooth=1", "smooth=nan", "unknown=1", "px[]=1", "PX=5",
    )),
    "", "tag=a", "run=b", "run=1&run=2&run=3&tag=a", "tag", "tag=a&run", "&&;", "tag=%ff&run=%00",
]  # fmt: skip


@pytest.mark.parametrize("query", QUERIES)
def test_what_fits_and_what_does_not_is_told_alike(client: TestClient, query: Any) -> None:
    direct, plain = (
        client.get(f"/{prefix}/told?{query}", headers={"Accept": "x"}) for prefix in ("direct", "plain")
    )
    assert (direct.status_code, direct.json()) == (plain.status_code, plain.json())
    assert direct.status_code in (200, 422)


def test_the_state_and_the_header_are_passed_on(client: TestClient) -> None:
    body = client.get(f"/direct/told?{RIGHT}", headers={"Accept": "text/x"}).json()
    query = repr(Asked.model_validate({"tag": "a", "run": ["b"]}))
    assert body == {"query": query, "accept": "text/x", "started": 7.0}


@pytest.mark.parametrize(("tag", "status"), [("none", 404), ("short", 503)])
def test_errors_of_the_server_are_answers(client: TestClient, tag: str, status: int) -> None:
    answer = client.get(f"/direct/told?run=b&tag={tag}")
    assert (answer.status_code, "message" in answer.json()["error"]) == (status, True)


def test_other_methods_are_refused(client: TestClient) -> None:
    direct, plain = client.post("/direct/told"), client.post("/plain/told")
    assert (direct.status_code, direct.json()) == (plain.status_code, plain.json())
    assert direct.headers["allow"] == plain.headers["allow"]


def test_both_are_described_alike(client: TestClient) -> None:
    paths = client.get("/openapi.json").json()["paths"]
    direct, plain = paths["/described"]["get"], paths["/plain/told"]["get"]
    assert [parameter["name"] for parameter in direct["parameters"]] == [*Asked.model_fields, "accept"]
    for part in ("parameters", "responses", "description"):
        assert direct[part] == plain[part]
