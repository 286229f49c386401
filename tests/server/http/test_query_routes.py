"""Routes whose query is read in one step answer, refuse and describe themselves as FastAPI's own do."""

from types import SimpleNamespace
from typing import Annotated, Any

import pytest
from fastapi import APIRouter, Depends, FastAPI, Header, Query
from fastapi.testclient import TestClient
from pydantic import BaseModel, Field
from starlette.responses import JSONResponse

from mindinsight.server.http import validation_errors
from mindinsight.server.http.query_routes import QueryRoute
from mindinsight.server.http.service import Service, service_of


class Asked(BaseModel):
    tag: str
    run: list[str] = Field(max_length=2)
    px: int = Field(600, ge=0, le=4000)
    low: float | None = None
    log_x: bool = False
    smooth: float = Field(0.0, ge=0, lt=1)


async def echo(
    service: Annotated[Service, Depends(service_of)],
    query: Annotated[Asked, Query()],
    accept: Annotated[str, Header()] = "",
) -> JSONResponse:
    """What was understood."""
    return JSONResponse({"query": repr(query), "accept": accept, "service": service.started})


@pytest.fixture(scope="module")
def client() -> TestClient:
    app = FastAPI()
    stub: Any = SimpleNamespace()
    app.state.service = Service(stub, stub, stub, stub, stub, started=7.0)
    validation_errors.install(app)
    for prefix, kind in (("/direct", QueryRoute), ("/plain", None)):
        router = APIRouter(route_class=kind) if kind else APIRouter()
        router.get("/told")(echo)
        app.include_router(router, prefix=prefix)
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


def test_the_service_and_the_header_are_passed_on(client: TestClient) -> None:
    body = client.get(f"/direct/told?{RIGHT}", headers={"Accept": "text/x"}).json()
    assert body == {
        "query": repr(Asked.model_validate({"tag": "a", "run": ["b"]})),
        "accept": "text/x",
        "service": 7.0,
    }


def test_both_are_described_alike(client: TestClient) -> None:
    paths = client.get("/openapi.json").json()["paths"]
    direct, plain = paths["/direct/told"]["get"], paths["/plain/told"]["get"]
    assert [parameter["name"] for parameter in direct["parameters"]] == [*Asked.model_fields, "accept"]
    for part in ("parameters", "responses", "description"):
        assert direct[part] == plain[part]
