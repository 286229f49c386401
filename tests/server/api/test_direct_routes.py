"""The requests with which a page begins are answered, refused and described without routes of FastAPI."""

from typing import Any

import pytest
from starlette.datastructures import State

from mindinsight.server.api.direct_routes import ROUTES
from mindinsight.server.api.v2 import create_interface
from mindinsight.server.http.responses import COLUMNS

PLAIN = [
    "/v2/runs",
    "/v2/tags",
    "/v2/tags?kind=scalar&brief=true",
    "/v2/tags?kind=image",
    "/v2/tags?kind=scalar&run=./lenet&run=./nothing",
    "/v2/tags?kind=none&job=./lenet",
    "/v2/scalar/series?tag=loss/auto&run=./lenet",
    "/v2/scalar/series?tag=loss/auto&run=.%2Flenet&px=40&x=relative&low=0&high=12.5",
    "/v2/scalar/series?tag=loss/auto&run=./lenet&px=0&smooth=0.6&least=2&overwritten=true&log_x=true",
    "/v2/alert/list",
    "/v2/alert/list?run=./lenet&since=-5&skip=1&limit=20",
    "/v2/scalar/series?tag=none&run=./lenet",
    "/v2/scalar/series?tag=loss/auto&run=./lenet&also=none&also=loss/auto",
]
STRANGE = [
    "/v2/alert/list?limit=1001",
    "/v2/alert/list?since=x",
    "/v2/scalar/series?tag=loss/auto",
    "/v2/scalar/series?run=./lenet",
    "/v2/scalar/series?tag=a&run=./lenet&px=4001",
    "/v2/scalar/series?tag=a&run=./lenet&px=-1",
    "/v2/scalar/series?tag=a&run=./lenet&smooth=1",
    "/v2/scalar/series?tag=a&run=./lenet&low=x",
    "/v2/scalar/series?tag=loss/auto&run=./lenet&x=none",
    "/v2/scalar/series?tag=a&run=./lenet" + "&also=b" * 17,
    "/v2/tags?brief=2",
]

ALLOWED = ["/v2/scalar/series?tag=a&tag=b&run=./lenet"]  # the last of repeated ones, as FastAPI does


@pytest.mark.parametrize("path", [*PLAIN, *ALLOWED])
def test_a_valid_request_is_answered(shared_samples: Any, path: Any) -> None:
    client = shared_samples("lenet")
    answer, more = client.get(path), client.get(f"{path}{'&' if '?' in path else '?'}unknown=1")
    assert answer.status_code == more.status_code == 200
    assert answer.headers["content-type"] == "application/json"
    assert answer.json().keys() == more.json().keys()


@pytest.mark.parametrize("path", STRANGE)
def test_an_invalid_request_is_refused_with_the_parameter(shared_samples: Any, path: Any) -> None:
    answer = shared_samples("lenet").get(path)
    assert answer.status_code == 422
    details = answer.json().get("detail", [])
    assert all(detail["loc"][0] == "query" and detail["msg"] for detail in details)


def test_no_route_is_also_one_of_fastapi() -> None:
    app = create_interface(State())
    paths = {route.path for route in ROUTES}
    assert not paths & {getattr(route, "path", "") for route in app.routes}
    assert paths <= app.openapi()["paths"].keys()


def test_columns_are_the_same_bytes(shared_samples: Any) -> None:
    client, path = shared_samples("lenet"), PLAIN[6]
    first, again = (client.get(path, headers={"Accept": COLUMNS}) for _ in range(2))
    assert first.content == again.content
    assert first.headers["content-type"] == COLUMNS


def test_an_unchanged_list_costs_no_body(shared_samples: Any) -> None:
    client = shared_samples("lenet")
    etag = client.get("/v2/runs").headers["etag"]
    assert client.get("/v2/runs", headers={"If-None-Match": etag}).status_code == 304


def test_other_methods_are_refused_as_before(shared_samples: Any) -> None:
    client = shared_samples("lenet")
    assert client.post("/v2/runs").status_code == 405
    assert client.get("/v2/nothing").status_code == 404
