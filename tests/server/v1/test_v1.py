"""What v1 says of itself is how it answers."""

from typing import Any

import pytest
from starlette.datastructures import State

from mindinsight.server.v1 import create_v1
from tests.server.v1.conftest import ROOT, code_of

DESCRIPTION = create_v1(State()).openapi()
MISSING = 400, "50540003"
ROUTES = [
    (method, path, route)
    for path, methods in DESCRIPTION["paths"].items()
    for method, route in methods.items()
]


def needed(route: Any) -> list[Any]:
    return [
        parameter["name"]
        for parameter in route.get("parameters", ())
        if parameter["required"] and parameter["in"] == "query"
    ]


def test_no_status_is_described_that_v1_never_answers() -> None:
    assert all("422" not in route["responses"] for _, _, route in ROUTES)


@pytest.mark.parametrize(
    ("method", "path"),
    [(method, path) for method, path, route in ROUTES if needed(route) and "{" not in path],
)
def test_a_parameter_said_to_be_needed_is_missed(v1: Any, method: Any, path: Any) -> None:
    answer = v1.client.request(method, ROOT + path, json={})
    assert code_of(answer) == MISSING


@pytest.mark.parametrize(
    "path",
    [path for method, path, route in ROUTES if method == "get" and not needed(route) and "{" not in path],
)
def test_a_route_that_needs_nothing_answers_without_parameters(v1: Any, path: Any) -> None:
    assert v1.client.get(ROOT + path).status_code == 200


def test_no_mark_of_ours_is_left_in_the_description() -> None:
    assert "x-needed" not in str(DESCRIPTION)
