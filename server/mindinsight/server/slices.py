"""Which part of a tensor is asked for: ``[0, 1:3, :]``, one entry for each dimension."""

from __future__ import annotations

import re
from typing import Final

_ENTRY: Final = re.compile(r"\s*(?:(-?\d+)|(-?\d*)\s*:\s*(-?\d*)\s*(?::\s*(-?\d*))?)\s*\Z")
_LONGEST: Final = 1000  # characters
MOST_SLICES: Final = 2


def parse_slice(text: str, shape: tuple[int, ...]) -> tuple[int | slice, ...]:
    """The index that ``text`` names in an array of ``shape``; entries mean what they mean in Python.

    Raises:
        ValueError: no brackets, an entry that is neither integer nor slice, a slice step of 0, more
            than two slices, another number of entries than dimensions, or an index out of range.
    """
    stripped = text.strip()
    if not (stripped.startswith("[") and stripped.endswith("]")) or len(stripped) > _LONGEST:
        raise ValueError("must be written in brackets")
    inside = stripped[1:-1].strip()
    entries = [_entry(part) for part in inside.split(",")] if inside else []
    if len(entries) != len(shape):
        raise ValueError(f"has {len(entries)} entries, the tensor has {len(shape)} dimensions")
    if sum(isinstance(entry, slice) for entry in entries) > MOST_SLICES:
        raise ValueError("has more than two slices")
    for entry, size in zip(entries, shape, strict=True):
        if isinstance(entry, int) and not -size <= entry < size:
            raise ValueError(f"index {entry} is out of range for a dimension of {size}")
    return tuple(entries)


def first_slice(shape: tuple[int, ...]) -> str:
    """What is looked at first: the last two dimensions, index 0 of all others."""
    return "[" + ",".join(["0"] * (len(shape) - MOST_SLICES) + [":"] * min(len(shape), MOST_SLICES)) + "]"


def _entry(part: str) -> int | slice:
    match = _ENTRY.match(part)
    if match is None:
        raise ValueError(f"{part.strip()!r} is neither an integer nor a slice")
    if match[1] is not None:
        return int(match[1])
    start, stop, step = (int(text) if text else None for text in match.group(2, 3, 4))
    if step == 0:
        raise ValueError("a slice step must not be 0")
    return slice(start, stop, step)
