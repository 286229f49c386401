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
    decode,
    encode,
    encoded,
    encoded_response,
    json_response,
    pack,
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


def unpack(data: Any) -> tuple[Any, Any]:
    """The head, and a function that gives the array that an entry of it stands for."""
    size = int.from_bytes(data[:4], "little")
    assert (4 + size) % 8 == 0

    def array(entry: Any) -> list[Any]:
        if "stride" in entry:
            return [entry["start"] + entry["stride"] * row for row in range(entry["length"])]
        assert entry["at"] % 8 == 0
        dtype = np.dtype("<" + entry["dtype"])
        return np.frombuffer(data, dtype, entry["length"], 4 + size + entry["at"]).tolist()

    return json.loads(data[4 : 4 + size]), array


@pytest.mark.parametrize("dtype", ["f8", "f4", "i4", "i2", "i1", "u4", "u2", "u1"])
def test_arrays_come_back_as_they_were(dtype: str) -> None:
    array = np.array([0, 1, 2, 100], dtype=dtype)
    column = encode(array)
    assert column["dtype"] == dtype
    assert decode(column).dtype == array.dtype
    assert decode(column).tolist() == array.tolist()


def test_long_integers_go_as_doubles_and_stay_exact() -> None:
    column = encode(np.array([0, 2**53, -5], dtype=np.int64))
    assert column["dtype"] == "f8"
    assert decode(column).tolist() == [0, 2**53, -5]


def test_integers_that_are_no_doubles_stay_apart() -> None:
    steps = np.array([2**53, 2**53 + 1, 2**62 + 3], dtype=np.int64)
    assert encode(steps)["dtype"] == "i8"
    assert decode(encode(steps)).tolist() == steps.tolist()
    head, array = unpack(pack({"step": steps}))
    assert array(head["step"]) == steps.tolist()
    assert encode(np.array([-(2**63)]))["dtype"] == "i8"
    assert decode(encode(np.array([2**64 - 1], np.uint64))).tolist() == [2**64 - 1]


def test_big_endian_and_strided_arrays_are_put_right() -> None:
    assert decode(encode(np.arange(6, dtype=">f4")[::2])).tolist() == [0, 2, 4]


def test_what_is_not_a_number_survives() -> None:
    values = decode(encode(np.array([np.nan, np.inf, -np.inf])))
    assert np.isnan(values[0])
    assert values[1:].tolist() == [np.inf, -np.inf]


def test_truth_goes_as_bytes() -> None:
    assert encode(np.array([True, False]))["dtype"] == "u1"


def test_nothing_is_a_column_too() -> None:
    assert decode(encode(np.zeros(0))).tolist() == []


def test_a_pack_holds_what_it_was_given() -> None:
    columns = {"step": np.array([1, 2, 5]), "value": np.array([0.5, 1, 2], np.float32)}
    head, array = unpack(pack({"tag": "ä", "series": [columns]}))
    (series,) = head["series"]
    assert head["tag"] == "ä"
    assert array(series["step"]) == [1, 2, 5]
    assert array(series["value"]) == [0.5, 1, 2]


@pytest.mark.parametrize("start", [0, -7, 2**40])
@pytest.mark.parametrize("stride", [1, 10, -3, 0])
def test_evenly_spaced_numbers_are_told_by_three(start: Any, stride: int) -> None:
    steps = start + stride * np.arange(1000)
    head, array = unpack(pack({"step": steps}))
    assert head["step"] == {"start": start, "stride": stride, "length": 1000}
    assert array(head["step"]) == steps.tolist()


@pytest.mark.parametrize(
    "values",
    [
        np.array([2, 1, 0], np.uint8),
        np.array([-100, 100, 44], np.int8),
        np.array([-(2**63), 0, -(2**63)], np.int64),
        np.array([7, 7], np.int64),
        np.array([1, 2, 4], np.int32),
        np.zeros(0, np.int64),
    ],
    ids=str,
)
def test_no_numbers_come_back_as_others(values: Any) -> None:
    head, array = unpack(pack([values]))
    assert array(head[0]) == values.tolist()
