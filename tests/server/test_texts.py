"""Texts of the locale files with words put in."""

from pathlib import Path

import pytest

from mindinsight.server.texts import language_texts, locale_texts, message


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
