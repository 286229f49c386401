"""Texts of the locale files with words put in."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mindinsight.server.texts import language_texts, locale_texts, message, plain_text


def test_words_take_the_place_of_their_names() -> None:
    assert (
        message("claim.fault.none", {"n": 198}) == "All 198 recorded tensors that were searched are finite."
    )
    assert message("claim.fault.none", {"n": 2}, "zh") != message("claim.fault.none", {"n": 2})


def test_the_form_follows_the_number() -> None:
    key = next(key for key, text in language_texts("en").items() if " | " in text and "{n}" in text)
    singular, plural = language_texts("en")[key].split(" | ")
    assert message(key, {"n": 1}) == singular.replace("{n}", "1")
    assert message(key, {"n": 3}) == plural.replace("{n}", "3")


def test_an_unknown_key_and_a_missing_word_stay_as_they_are() -> None:
    assert message("no.such.text", {}) == "no.such.text"
    assert "{n}" in message("claim.fault.none", {})


def test_words_are_escaped_as_asked() -> None:
    assert message("claim.fault.none", {"n": "<b>"}, escape=repr).startswith("All '<b>'")


def test_a_text_given_twice_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"x.y": "1"}')
    (tmp_path / "b.json").write_text('{"x.y": "2"}')
    with pytest.raises(ValueError, match="second time"):
        locale_texts(tmp_path)


@pytest.mark.parametrize(
    "text", ["=1+1", "+a", "-a", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "-1.5-1", "'=1", "'"]
)
def test_what_a_spreadsheet_would_compute_is_made_text(text: str) -> None:
    assert plain_text(text) == f"'{text}"


@pytest.mark.parametrize("text", ["-1.5", "+2", "-1e-7", "-inf", "loss", "a=b", ""])
def test_numbers_stay_numbers(text: str) -> None:
    assert plain_text(text) == text


@given(st.text(alphabet="'=+-@\t\r\n1.e a") | st.floats().map(repr))
def test_a_reader_has_every_text_again(text: str) -> None:
    assert plain_text(text).removeprefix("'") == text
