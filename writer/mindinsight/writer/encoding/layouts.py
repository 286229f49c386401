"""Layouts: charts of scalars by category (Summary.Layout, and Layout of TensorBoard's custom scalars)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias

from mindinsight.writer.encoding import wire

TAG: Final = "custom_scalars__config__"  # under which TensorBoard looks for one
# Category -> title -> "Multiline" or "Margin", and tags.
Layout: TypeAlias = Mapping[str, Mapping[str, Sequence[Any]]]


def encode(layout: Layout) -> bytes:
    """A layout that was checked, as a message."""
    return b"".join([wire.block(2, _category(title, charts)) for title, charts in layout.items()])


def checked(layout: Any) -> dict[str, dict[str, tuple[str, list[str]]]]:
    """``layout`` if it can be one. Raises TypeError or ValueError that names the chart."""
    if not isinstance(layout, Mapping):
        raise TypeError(f"a layout is a dict of categories, got {type(layout).__name__}")
    return {str(title): _checked_charts(str(title), charts) for title, charts in layout.items()}


def _checked_charts(category: str, charts: Any) -> dict[str, tuple[str, list[str]]]:
    if not isinstance(charts, Mapping):
        raise TypeError(f"category '{category}' must be a dict of charts, got {type(charts).__name__}")
    checked_charts = {}
    for title, chart in charts.items():
        try:
            kind, tags = chart
        except (TypeError, ValueError):
            kind, tags = None, ()
        if kind not in ("Multiline", "Margin") or isinstance(tags, str):
            raise ValueError(f"chart '{title}' must be ['Multiline' or 'Margin', tags], got {chart!r}")
        if kind == "Margin" and len(tags) != 3:
            raise ValueError(f"chart '{title}' needs three tags: value, lower and upper end; got {len(tags)}")
        checked_charts[str(title)] = (str(kind), [str(tag) for tag in tags])
    return checked_charts


def _category(title: str, charts: Mapping[str, Sequence[Any]]) -> bytes:
    encoded = [wire.block(2, _chart(name, *chart)) for name, chart in charts.items()]
    return wire.block(1, _bytes(title)) + b"".join(encoded)


def _chart(title: str, kind: str, tags: Sequence[str]) -> bytes:
    names = [_bytes(tag) for tag in tags]
    if kind == "Margin":  # value, lower, upper
        series = b"".join([wire.block(number, name) for number, name in enumerate(names, 1)])
        content = wire.block(3, wire.block(1, series))
    else:
        content = wire.block(2, b"".join([wire.block(1, name) for name in names]))
    return wire.block(1, _bytes(title)) + content


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "backslashreplace")
