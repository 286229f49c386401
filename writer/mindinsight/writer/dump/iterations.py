"""Which iterations are dumped."""

from __future__ import annotations

import re
from collections.abc import Callable


def contains(text: str) -> Callable[[int], bool]:
    """Whether an iteration is meant by ``text``: "all", or numbers and inclusive ranges, "0|5-9".

    Raises ValueError for anything else.
    """
    if text == "all":
        return lambda number: True
    if not re.fullmatch(r"\d+(-\d+)?(\|\d+(-\d+)?)*", text):
        raise ValueError(f"iterations are 'all' or numbers and ranges as in '0|5-9', got {text!r}")
    ends = [item.partition("-") for item in text.split("|")]
    spans = [range(int(first), int(last or first) + 1) for first, _, last in ends]
    return lambda number: any(number in span for span in spans)
