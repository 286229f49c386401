"""Encoders of the kinds that TensorBoard's plugins show: the fields of a Summary.Value beside its tag."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from mindinsight.writer.encoding import image_grid, png, wire
from mindinsight.writer.encoding.counted_histogram import CountedHistogram
from mindinsight.writer.encoding.sounds import Sound
from mindinsight.writer.encoding.tfevents import messages

_IMAGE, _HISTOGRAM, _AUDIO = 4, 5, 6  # fields of Summary.Value


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


def layout(charts: bytes) -> bytes:
    """The charts of the custom scalars page, as layouts.py encodes them."""
    return messages.metadata("custom_scalars") + messages.strings([charts], ())
