"""JSON as v1 writes it."""

import json

from mindinsight.server.api.v1.json_router import encode


def test_numbers_that_are_not_finite_are_null() -> None:
    content = {"b": [float("nan"), 1.5, (float("inf"),)], "a": {"x": -float("inf")}}
    assert encode(content) == '{"a":{"x":null},"b":[null,1.5,[null]]}'


def test_text_of_any_kind_is_ascii() -> None:
    assert json.loads(encode("é\ud800\n")) == "é\ud800\n"
    assert encode("é\ud800").isascii()
