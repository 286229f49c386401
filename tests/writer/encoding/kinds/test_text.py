"""Texts in Markdown: the message, and what add_value refuses."""

from typing import Any

import pytest

from mindinsight.proto.summary_pb2 import Summary
from mindinsight.writer.encoding.kinds.text import ENCODER


@pytest.mark.parametrize("text", ["", "# Überschrift\n\n中文 🙂", "a\0b"])
def test_a_text_is_written_as_it_is(text: str) -> None:
    assert Summary.Text.FromString(ENCODER.serialised(text)).content == text


def test_half_of_a_surrogate_pair_is_written_as_its_escape() -> None:
    assert Summary.Text.FromString(ENCODER.serialised("a\ud83d")).content == "a\\ud83d"


@pytest.mark.parametrize("value", [b"bytes", 1, None, ["a"]])
def test_what_is_no_text_is_refused(value: Any) -> None:
    with pytest.raises(TypeError, match="text takes a str"):
        ENCODER.serialised(value)


def test_facts() -> None:
    assert ENCODER.facts(Summary.Text(content="abc")) == {"length": 3}
