"""Iterations are chosen by the text that MindSpore's dump configuration takes."""

from typing import Any

import pytest

from mindinsight.writer.dump.layout import iteration_filter


@pytest.mark.parametrize(
    ("text", "meant"), [("all", range(12)), ("3", [3]), ("0|10-11", [0, 10, 11]), ("4-4", [4])]
)
def test_iterations_are_numbers_and_ranges(text: str, meant: Any) -> None:
    assert [number for number in range(12) if iteration_filter(text)(number)] == list(meant)


@pytest.mark.parametrize("text", ["5-3", "0|9-8", "1,2", "", "-3", "three"])
def test_a_text_that_selects_nothing_or_is_no_list_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="iterations"):
        iteration_filter(text)
