"""Encoders of the kinds that TensorBoard's plugins show: the fields of a Summary.Value beside its tag."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from mindinsight.writer.encoding import image_grid, png, wire
from mindinsight.writer.encoding.counted_histogram import CountedHistogram
from mindinsight.writer.encoding.tfevents import messages

LAYOUT_TAG: Final = "custom_scalars__config__"
_IMAGE, _HISTOGRAM, _AUDIO = 4, 5, 6  # fields of Summary.Value


class Sound(NamedTuple):
    """A WAV file and what is in it."""

    rate: int  # samples a second
    channels: int
    frames: int
    wav: bytes


def image(batch: npt.NDArray[np.uint8]) -> bytes:
    """``batch`` (N, C, H, W) as one PNG, eight pictures a row; gray ones as RGB, as torch writes them."""
    pixels = image_grid.canvas(batch)
    if pixels.shape[2] == 1:
        pixels = np.repeat(pixels, 3, axis=2)
    height, width, channels = pixels.shape
    fields = (wire.integer(1, height), wire.integer(2, width), wire.integer(3, channels))
    return wire.block(_IMAGE, b"".join((*fields, wire.block(4, png.encode(pixels)))))


def histogram(counted: CountedHistogram) -> bytes:
    """A distribution (HistogramProto)."""
    fields = (
        wire.double(1, counted.low),
        wire.double(2, counted.high),
        wire.double(3, counted.count),
        wire.double(4, counted.total),
        wire.double(5, counted.squares),
        wire.block(6, counted.limits.astype("<f8").tobytes()),
        wire.block(7, counted.counts.astype("<f8").tobytes()),
    )
    return wire.block(_HISTOGRAM, b"".join(fields))


def audio(sound: Sound) -> bytes:
    """A WAV file."""
    fields = (
        wire.single(1, sound.rate),
        wire.integer(2, sound.channels),
        wire.integer(3, sound.frames),
        wire.block(4, sound.wav),
        wire.block(5, b"audio/wav"),
    )
    return wire.block(_AUDIO, b"".join(fields))


def text(words: bytes) -> bytes:
    """Markdown in UTF-8, as a tensor of one string."""
    return messages.metadata("text") + messages.strings([words], (1,))


def tensor_scalar(number: float, double: bool) -> bytes:
    """A scalar as TensorFlow 2 writes it: a tensor without dimensions."""
    with np.errstate(over="ignore"):
        return messages.metadata("scalars") + messages.tensor(np.asarray(number, "f8" if double else "f4"))


def tensor(values: npt.NDArray[Any], dtype: str) -> bytes:
    """An array of any shape."""
    return messages.metadata("tensor") + messages.tensor(values, dtype)


def pr_curve(rows: npt.NDArray[Any]) -> bytes:
    """A precision-recall curve.

    ``rows`` [6, thresholds]: true and false positives, true and false negatives, precision, recall.
    """
    content = wire.integer(2, rows.shape[1])
    return messages.metadata("pr_curves", content) + messages.tensor(rows.astype("<f4"))


def layout(categories: Mapping[str, Mapping[str, Sequence[Any]]]) -> bytes:
    """The charts of the custom scalars page: category -> title -> ["Multiline" or "Margin", tags]."""
    content = b"".join(
        [wire.block(2, _category(title, charts)) for title, charts in categories.items()]
    )  # fmt: skip
    return messages.metadata("custom_scalars") + messages.strings([content], ())


def checked_layout(categories: Any) -> dict[str, dict[str, tuple[str, list[str]]]]:
    """``categories`` if it can be a layout. Raises TypeError or ValueError that names the chart."""
    if not isinstance(categories, Mapping):
        raise TypeError(f"a layout is a dict of categories, got {type(categories).__name__}")
    return {str(title): _checked_charts(str(title), charts) for title, charts in categories.items()}


def _checked_charts(category: str, charts: Any) -> dict[str, tuple[str, list[str]]]:
    if not isinstance(charts, Mapping):
        raise TypeError(f"category '{category}' must be a dict of charts, got {type(charts).__name__}")
    checked = {}
    for title, chart in charts.items():
        try:
            kind, tags = chart
        except (TypeError, ValueError):
            kind, tags = None, ()
        if kind not in ("Multiline", "Margin") or isinstance(tags, str):
            raise ValueError(f"chart '{title}' must be ['Multiline' or 'Margin', tags], got {chart!r}")
        if kind == "Margin" and len(tags) != 3:
            raise ValueError(f"chart '{title}' needs three tags: value, lower and upper end; got {len(tags)}")
        checked[str(title)] = (str(kind), [str(tag) for tag in tags])
    return checked


def _category(title: str, charts: Mapping[str, Sequence[Any]]) -> bytes:
    encoded = [wire.block(2, _chart(name, *chart)) for name, chart in charts.items()]
    return wire.block(1, title.encode()) + b"".join(encoded)


def _chart(title: str, kind: str, tags: Sequence[str]) -> bytes:
    names = [tag.encode() for tag in tags]
    if kind == "Margin":  # value, lower, upper
        series = b"".join([wire.block(number, name) for number, name in enumerate(names, 1)])
        content = wire.block(3, wire.block(1, series))
    else:
        content = wire.block(2, b"".join([wire.block(1, name) for name in names]))
    return wire.block(1, title.encode()) + content
