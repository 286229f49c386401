"""Answers without FastAPI are those of its routes; an unknown parameter makes a request theirs."""

from typing import Any

import pytest

from mindinsight.server.http.responses import COLUMNS

THEIRS = "unknown=1"

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
    "/v2/scalar/series?tag=a&tag=b&run=./lenet",
    "/v2/scalar/series?tag=a&run=./lenet" + "&also=b" * 17,
    "/v2/tags?brief=2",
]

ALLOWED = (STRANGE[9],)  # FastAPI takes the last of repeated parameters


def without_clock(body: Any) -> dict[Any, Any]:
    return {key: value for key, value in body.items() if key not in ("now", "scanned")}


@pytest.mark.parametrize("path", PLAIN)
def test_a_plain_request_is_answered_as_fastapi_answers(shared_samples: Any, path: Any) -> None:
    client = shared_samples("lenet")
    ours = client.get(path)
    theirs = client.get(f"{path}{'&' if '?' in path else '?'}{THEIRS}")
    assert ours.status_code == theirs.status_code == 200
    assert without_clock(ours.json()) == without_clock(theirs.json())
    for name in ("content-type", "content-encoding", "cache-control", "content-security-policy"):
        assert ours.headers.get(name) == theirs.headers.get(name), name


@pytest.mark.parametrize("path", STRANGE)
def test_errors_are_those_of_fastapi(shared_samples: Any, path: Any) -> None:
    client = shared_samples("lenet")
    ours, theirs = client.get(path), client.get(f"{path}&{THEIRS}")
    assert ours.status_code == theirs.status_code
    assert ours.json() == theirs.json()
    assert (ours.status_code == 422) == (path not in ALLOWED)


def test_columns_are_the_same_bytes(shared_samples: Any) -> None:
    client, path = shared_samples("lenet"), PLAIN[6]
    accept = {"Accept": COLUMNS}
    first, again = (client.get(path, headers=accept) for _ in range(2))
    theirs = client.get(f"{path}&{THEIRS}", headers=accept)
    assert first.content == again.content == theirs.content
    assert first.headers["content-type"] == COLUMNS


def test_an_unchanged_list_costs_no_body(shared_samples: Any) -> None:
    client = shared_samples("lenet")
    etag = client.get("/v2/runs").headers["etag"]
    assert client.get("/v2/runs", headers={"If-None-Match": etag}).status_code == 304


def test_other_methods_are_refused_as_before(shared_samples: Any) -> None:
    client = shared_samples("lenet")
    assert client.post("/v2/runs").status_code == 405
    assert client.get("/v2/nothing").status_code == 404
