"""Any text and any integer of a file becomes something that JSON and columns can hold."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mindinsight.server.formats.sanitizer import (
    MAX_NAME,
    MAX_TEXT,
    encodable,
    parse_integer,
    parse_json,
    safe_text,
    safe_value,
    show_integer,
    show_name,
    show_text,
)


@pytest.mark.parametrize(
    ("value", "expected"),
    [("损失", "损失"), (b"a\xff", "a\\xff"), ("a\udc80", "a\\udc80"), ("a\nb", "a\nb"), (b"", "")],
)
def test_what_is_no_character_is_shown_as_its_escape(value: str | bytes, expected: str) -> None:
    assert show_text(value) == expected


@pytest.mark.parametrize(
    ("value", "expected"), [("a\nb\x7f", "a\\x0ab\\x7f"), (7, "7"), (None, "(NoneType)"), ([1], "(list)")]
)
def test_a_name_is_one_line(value: object, expected: str) -> None:
    assert show_name(value) == expected


def test_a_long_name_is_cut_in_the_middle() -> None:
    name = show_name("a" * MAX_NAME + "b" * MAX_NAME)
    assert len(name) == MAX_NAME + 1
    assert (name[0], name[MAX_NAME // 2], name[-1]) == ("a", "…", "b")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (2**63 - 1, 2**63 - 1),
        (-(2**63), -(2**63)),
        (2**63, 2.0**63),
        (10**400, "an integer of 1329 bits"),
    ],
)
def test_integers_beyond_64_bits_become_floats_and_those_beyond_floats_words(
    value: int, expected: object
) -> None:
    shown = show_integer(value)
    assert (shown, type(shown)) == (expected, type(expected))


def test_digits_of_json_without_end_are_counted_and_not_converted() -> None:
    assert parse_integer("-12") == -12
    assert parse_integer("1" + "0" * 308) == 1e308
    assert parse_integer("-" + "9" * 5000) == "an integer of 5000 digits"


def test_every_text_inside_a_value_is_made_fit_for_json() -> None:
    value = encodable({"\udc80": ["\ud800", {"inner": ["\udfff"]}, 1, None]})
    assert value == {"\\udc80": ["\\ud800", {"inner": ["\\udfff"]}, 1, None]}
    assert json.dumps(value, ensure_ascii=False).encode()
    assert encodable("\udc80") == "\\udc80"


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
