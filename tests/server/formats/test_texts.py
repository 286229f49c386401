"""Any text and any integer of a file becomes something that JSON and columns can hold."""

import json

import pytest

from mindinsight.server.formats.texts import (
    MAX_NAME,
    encodable,
    parse_integer,
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
