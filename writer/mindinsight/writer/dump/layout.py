"""Names of files and lists of iterations in MindSpore's dump layout."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Final

ESCAPES: Final = str.maketrans("/\\. ", "____")
_LONGEST: Final = 255  # bytes of a file name


def operator_type(operator: str) -> str:
    """``MatMul`` of "Default/fc1-Dense/MatMul-op0"."""
    return operator.rpartition("/")[2].rpartition("-")[0] or operator.rpartition("/")[2]


def file_name(folder: Path, name: str) -> str:
    """``name``, or a number when a file cannot have it; ``mapping.csv`` in ``folder`` then tells which."""
    if len(name.encode()) <= _LONGEST:
        return name
    short = f"{zlib.crc32(name.encode()) & 0x7FFFFFFF}.npy"
    with (folder / "mapping.csv").open("a", encoding="utf-8") as file:
        file.write(f"{short},{name}\n")
    return short


def iteration_filter(text: str) -> Callable[[int], bool]:
    """Predicate of the iterations in ``text``: "all", or numbers and inclusive ranges, "0|5-9".

    Raises ValueError for anything else, and for a range that ends before it begins.
    """
    if text == "all":
        return lambda number: True
    if not re.fullmatch(r"\d+(-\d+)?(\|\d+(-\d+)?)*", text):
        raise ValueError(f"iterations are 'all' or numbers and ranges as in '0|5-9', got {text!r}")
    ends = [item.partition("-") for item in text.split("|")]
    spans = [range(int(first), int(last or first) + 1) for first, _, last in ends]
    if not all(spans):
        raise ValueError(f"a range of iterations ends before it begins: {text!r}")
    return lambda number: any(number in span for span in spans)
