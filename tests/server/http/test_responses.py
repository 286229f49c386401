"""One content in two forms: columns for pages, JSON for scripts; JSON of whatever files hold."""

import asyncio
import base64
import json
from collections.abc import MutableMapping
from typing import Any

import numpy as np
import pytest

from mindinsight.server.http.responses import (
    COLUMNS,
    PartsResponse,
    answer,
    encoded,
    encoded_response,
    json_response,
)

CONTENT = {"step": np.array([1, 2]), "value": np.array([0.5, np.nan], np.float32), "tag": "损失"}


def test_a_script_gets_json_with_columns_bit_for_bit() -> None:
    response = answer(CONTENT, "*/*")
    content = json.loads(bytes(response.body), parse_constant=pytest.fail)
    value = content["value"]
    column = np.frombuffer(base64.b64decode(value["bdata"]), value["dtype"])
    np.testing.assert_array_equal(column, CONTENT["value"])
    assert content["tag"] == "损失"
    assert response.media_type == "application/json"
    assert "content-encoding" not in response.headers


def test_a_page_gets_columns_that_nothing_compresses_again() -> None:
    accept = f"{COLUMNS}, application/json"
    body = encoded(CONTENT, accept)
    response = encoded_response(body, accept)
    assert response.body == body != encoded(CONTENT, "")
    assert (response.media_type, response.headers["content-encoding"]) == (COLUMNS, "identity")


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ({"loss": float("nan"), "best": float("-inf")}, b'{"loss":null,"best":null}'),
        ({"name": "\ud800"}, b'{"name":"\\ud800"}'),
        ({"name": "\ud800", "loss": [float("inf")]}, b'{"name":"\\ud800","loss":[null]}'),
    ],
)
def test_json_has_neither_infinities_nor_halves_of_characters(content: Any, expected: bytes) -> None:
    response = json_response(content, 201)
    assert (response.body, response.status_code) == (expected, 201)
    json.loads(bytes(response.body))


@pytest.mark.parametrize("size", [0, 1, 1 << 16, (1 << 17) + 1])
def test_a_large_body_is_sent_in_parts(size: int) -> None:
    body = bytes(range(256)) * (size // 256) + bytes(size % 256)
    sent: list[MutableMapping[str, Any]] = []

    async def send(message: MutableMapping[str, Any]) -> None:
        sent.append(message)

    async def receive() -> MutableMapping[str, Any]:
        raise AssertionError("nothing is waited for")

    asyncio.run(PartsResponse(body)({"type": "http"}, receive, send))
    start, *parts = sent
    assert (start["type"], start["status"]) == ("http.response.start", 200)
    assert b"".join(part["body"] for part in parts) == body
    assert [part["more_body"] for part in parts] == [True] * (len(parts) - 1) + [False]
    assert max(len(part["body"]) for part in parts) <= 1 << 16
