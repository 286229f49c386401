"""What holds for every call: headers, methods, paths, descriptions."""

import json
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from mindinsight.server.app import create_app
from mindinsight.server.settings import Settings
from tests.server.v1.conftest import ROOT, code_of

ONE = "datavisual/train-jobs"
HEADERS = {
    "x-frame-options": "SAMEORIGIN",
    "x-xss-protection": "1; mode=block",
    "x-content-type-options": "nosniff",
    "x-download-options": "noopen",
    "cache-control": "no-store",
    "pragma": "no-cache",
}


@pytest.mark.parametrize("path", [ONE, "datavisual/plugins", "nothing", "datavisual/graphs/nodes"])
def test_headers_are_on_every_answer(v1: Any, path: Any) -> None:
    headers = v1.get(path).headers
    assert {name: headers[name] for name in HEADERS} == HEADERS
    assert set(headers["access-control-allow-methods"].split(", ")) == {"GET", "POST", "PUT", "DELETE"}
    assert "frame-ancestors 'self'" in headers["content-security-policy"]
    assert "access-control-allow-origin" not in headers


@pytest.mark.parametrize("method", ["PATCH", "OPTIONS", "TRACE"])
@pytest.mark.parametrize("path", [ONE, "nothing"])
def test_methods_that_exist_nowhere(v1: Any, method: str, path: Any) -> None:
    assert code_of(v1.client.request(method, f"{ROOT}/{path}")) == (405, "50545002")


def test_head_is_no_method(v1: Any) -> None:
    assert v1.client.head(f"{ROOT}/{ONE}").status_code == 405


@pytest.mark.parametrize(("method", "path"), [("POST", ONE), ("DELETE", ONE), ("POST", "datavisual/scalars")])
def test_methods_of_a_path_that_has_others(v1: Any, method: str, path: Any) -> None:
    assert code_of(v1.client.request(method, f"{ROOT}/{path}")) == (405, "50545002")


@pytest.mark.parametrize("path", ["nothing", "datavisual/nothing", "", "a%0Ab", "%0A"])
def test_unknown_paths_are_json_too(v1: Any, path: str) -> None:
    assert v1.fault(path) == (404, "50545001")


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_pages_of_the_profiler_are_told_that_there_are_no_profiles(v1: Any, method: str) -> None:
    assert code_of(v1.client.request(method, f"{ROOT}/profile/ops/search")) == (400, "50546083")


def test_pages_are_never_offered_a_debugger_of_running_trainings(v1: Any) -> None:
    assert v1.ok("ui-config") == {"enable_debugger": False}


@pytest.mark.parametrize(
    "path",
    [
        ONE,
        "datavisual/plugins?train_id=./lenet",
        "datavisual/graphs/nodes?train_id=./pb",
        "nothing",
        "debugger/sessions",
    ],
)
def test_keys_are_sorted_at_every_depth_and_all_is_ascii(v1: Any, path: Any) -> None:
    text = v1.get(path).text
    assert text == json.dumps(json.loads(text), sort_keys=True, separators=(",", ":")) + "\n"


@pytest.mark.parametrize(
    ("headers", "status"),
    [({"Host": "foreign.example"}, 421), ({"Origin": "http://foreign.example"}, 403)],
)
def test_who_may_not_ask_is_told_in_the_shape_of_all_errors(v1: Any, headers: Any, status: int) -> None:
    answer = v1.client.post(f"{ROOT}/lineagemgr/lineages", headers=headers)
    assert code_of(answer) == (status, "50540008")


def test_a_missing_token_is_told_in_the_shape_of_all_errors(base: Any, tmp_path: Path) -> None:
    chosen = Settings(base, tmp_path, workers=1, token="secret-of-a-test")
    with TestClient(create_app(chosen), base_url="http://127.0.0.1") as client:
        assert code_of(client.get(f"{ROOT}/{ONE}")) == (401, "50540008")
        assert "error" in client.get("/v2/runs").json()


def test_the_description_names_every_status(v1: Any) -> None:
    described = v1.client.get(f"{ROOT}/openapi.json").json()
    assert len(described["paths"]) > 40
    for path in described["paths"].values():
        for operation in path.values():
            assert {"200", "400", "405"} <= set(operation["responses"])
            assert "422" not in operation["responses"]
