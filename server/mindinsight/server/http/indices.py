"""Parser of indices in a request: ``7``, or several with commas."""

from __future__ import annotations


def index_of(text: str, count: int) -> int | None:
    """The index that decimal digits name among ``count`` items; None for all else, however long."""
    if not (text.isascii() and text.isdecimal()) or len(text) > len(str(count)):
        return None
    index = int(text)
    return index if index < count else None


def indices_of(text: str | None, count: int) -> list[int]:
    """The indices in a text with commas; what names none is left out, as in a link to an older graph."""
    indices = (index_of(part, count) for part in (text or "").split(","))
    return [index for index in indices if index is not None]
