"""File names of a dump."""

from __future__ import annotations

import zlib
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
