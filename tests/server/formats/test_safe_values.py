"""Odd text and numbers become values that JSON in UTF-8 can hold, and still show what they are."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mindinsight.server.formats.safe_values import MAX_TEXT, parse_json, safe_text, safe_value

ANY_TEXT = st.text(st.characters(exclude_categories=()))
VALUES = st.recursive(
    st.one_of(ANY_TEXT, st.binary(), st.integers(), st.integers(10**399, 10**400), st.booleans(), st.none()),
    lambda inner: st.one_of(st.lists(inner), st.dictionaries(ANY_TEXT, inner)),
    max_leaves=20,
)


def test_text_is_kept_and_what_utf8_lacks_is_escaped() -> None:
    assert safe_text("loss \U0001f600 训练\x00") == "loss \U0001f600 训练\x00"
    assert safe_text("a\ud800b") == "a\\ud800b"
    assert safe_text("a\udcffb") == "a\\udcffb"
    assert safe_text(b"a\xffb") == "a\\xffb"
    assert safe_text("x" * (MAX_TEXT + 1)) == "x" * MAX_TEXT + "…"


@pytest.mark.parametrize("value", [0, -1, 2**53 + 1, 2**63 - 1, -(2**63)])
def test_integers_of_64_bits_stay_numbers(value: Any) -> None:
    assert safe_value(value) == value
    assert parse_json(str(value)) == value


def test_longer_integers_show_what_they_are() -> None:
    assert parse_json(f'{{"a": [{2**63}]}}') == {"a": [float(2**63)]}
    assert parse_json("1" + "0" * 399) == "an integer of 400 digits"
    assert parse_json("9" * 5_000) == "an integer of 5000 digits"
    assert safe_value(-(1 << 20_000)) == "an integer of 20001 bits"


def test_json_that_is_not_utf8_is_read() -> None:
    assert parse_json(b'{"a": "\xff"}') == {"a": "\ufffd"}


@given(VALUES)
def test_every_value_can_be_written_as_json_in_utf8(value: Any) -> None:
    safe = safe_value(value)
    assert json.loads(json.dumps(safe, ensure_ascii=False).encode()) == safe
    assert safe_value(safe) == safe
