"""Errors of v1: the codes that clients know, statuses, and what errors of the server become."""

import json

import pytest

from mindinsight.server.errors import ApiError
from mindinsight.server.http.security import error_response
from mindinsight.server.v1.v1_responses import Fault, V1Error, encode, v1_error

CODES = {  # of MindInsight 2.3.1
    Fault.UNEXPECTED: "50540000",
    Fault.TYPE: "50540001",
    Fault.VALUE: "50540002",
    Fault.MISSING: "50540003",
    Fault.UNKNOWN_PATH: "50545001",
    Fault.METHOD: "50545002",
    Fault.JOB: "50545005",
    Fault.NODE: "50545009",
    Fault.LINEAGE_VALUE: "50542081",
    Fault.PROFILE: "50546083",
    Fault.DEBUGGER_SESSION: "5054B281",
}


@pytest.mark.parametrize("fault", CODES, ids=lambda fault: fault.name)
def test_codes_are_those_of_mindinsight(fault: Fault) -> None:
    assert fault.code == CODES[fault]


def test_codes_differ() -> None:
    assert len({fault.code for fault in Fault}) == len(Fault)


def test_a_response_has_code_message_and_status() -> None:
    error = V1Error(Fault.UNKNOWN_PATH, "There is no such run.")
    response = error.response()
    assert response.status_code == 404
    body = json.loads(bytes(response.body))
    assert body == {"error_code": "50545001", "error_msg": "There is no such run."}
    assert error.response(503).status_code == 503


@pytest.mark.parametrize(
    ("status", "fault"),
    [
        (400, Fault.VALUE),
        (401, Fault.PERMISSION),
        (403, Fault.PERMISSION),
        (404, Fault.UNKNOWN_PATH),
        (421, Fault.PERMISSION),
        (422, Fault.VALUE),
        (500, Fault.UNEXPECTED),
        (507, Fault.UNEXPECTED),
    ],
)
def test_an_error_of_the_server_becomes_one_of_v1(status: int, fault: Fault) -> None:
    answer = v1_error(ApiError(status, "code", "What is wrong."))
    assert answer.status_code == status
    body = json.loads(bytes(answer.body))
    assert body == {"error_code": fault.code, "error_msg": "What is wrong."}


def test_an_answer_that_is_busy_says_when_to_come_back() -> None:
    assert v1_error(ApiError(503, "busy", "Busy.")).headers["retry-after"] == "2"
    assert error_response(ApiError(503, "busy", "Busy.")).headers["retry-after"] == "2"
    assert "retry-after" not in error_response(ApiError(404, "gone", "Gone.")).headers


def test_numbers_that_are_not_finite_are_null() -> None:
    content = {"b": [float("nan"), 1.5, (float("inf"),)], "a": {"x": -float("inf")}}
    assert encode(content) == '{"a":{"x":null},"b":[null,1.5,[null]]}'


def test_text_of_any_kind_is_ascii() -> None:
    assert json.loads(encode("é\ud800\n")) == "é\ud800\n"
    assert encode("é\ud800").isascii()
