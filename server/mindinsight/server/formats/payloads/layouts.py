"""Decoder of Summary.Layout: charts of scalars by category, as TensorBoard's custom scalars have them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from mindinsight.server.formats.events.fields import tag_text
from mindinsight.server.formats.unreadable import UnreadableError
from mindinsight.server.formats.wire_format import UnparsableError, message_fields

_CATEGORY, _TITLE, _CHART, _MULTILINE, _MARGIN = (number << 3 | 2 for number in (2, 1, 2, 2, 3))
_TAG, _SERIES, _ENDS = 1 << 3 | 2, 1 << 3 | 2, (1 << 3 | 2, 2 << 3 | 2, 3 << 3 | 2)
_MOST: Final = 1000  # charts in a layout, tags in a chart
_LONGEST: Final = 1000  # bytes of a title or tag


@dataclass(frozen=True, slots=True)
class Chart:
    """Lines of tags that match an expression of ``tags``; or ``margins``, tags of value and both ends."""

    title: str
    tags: tuple[str, ...] = ()
    margins: tuple[tuple[str, str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Category:
    """Charts under a heading."""

    title: str
    charts: tuple[Chart, ...]


def layout(payload: bytes) -> tuple[Category, ...]:
    """Decode a layout. Raises UnreadableError."""
    try:
        return tuple(
            _category(payload, start, stop) for start, stop in _fields(payload, 0, len(payload), _CATEGORY)
        )
    except UnparsableError as error:
        raise UnreadableError("payload.unparsable", f"layout: {error}") from error


def _category(data: bytes, at: int, end: int) -> Category:
    charts = tuple(_chart(data, start, stop) for start, stop in _fields(data, at, end, _CHART))
    return Category(_last(data, at, end, _TITLE), charts)


def _chart(data: bytes, at: int, end: int) -> Chart:
    tags = tuple(
        tag_text(data[first:last])
        for start, stop in _fields(data, at, end, _MULTILINE)
        for first, last in _fields(data, start, stop, _TAG)
    )
    margins = tuple(
        _margin(data, first, last)
        for start, stop in _fields(data, at, end, _MARGIN)
        for first, last in _fields(data, start, stop, _SERIES)
    )
    return Chart(_last(data, at, end, _TITLE), tags, margins)


def _margin(data: bytes, at: int, end: int) -> tuple[str, str, str]:
    value, lower, upper = (_last(data, at, end, key) for key in _ENDS)
    return value, lower, upper


def _fields(data: bytes, at: int, end: int, wanted: int) -> Iterator[tuple[int, int]]:
    """Spans of the fields with the key ``wanted``, of which there may be many."""
    count = 0
    for key, start, stop in message_fields(data, at, end):
        if key == wanted:
            count += 1
            if count > _MOST:
                raise UnreadableError("payload.too_large", f"layout of over {_MOST} parts")
            yield start, stop


def _last(data: bytes, at: int, end: int, wanted: int) -> str:
    spans = list(_fields(data, at, end, wanted))
    start, stop = spans[-1] if spans else (0, 0)
    return tag_text(data[start : min(stop, start + _LONGEST)])
