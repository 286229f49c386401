"""Encoders of Summary.Value (summary.proto), one function per kind."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from mindinsight.proto.kinds import EXACT_SCALAR, FIELD_NUMBERS
from mindinsight.writer.encoding import images, png, wire
from mindinsight.writer.encoding.histograms import Histogram
from mindinsight.writer.encoding.histograms import histogram as count_values

_TAG: Final = 1
_SCALAR, _IMAGE, _TENSOR, _HISTOGRAM, _LANDSCAPE = (
    FIELD_NUMBERS[kind] for kind in ("scalar", "image", "tensor", "histogram", "landscape")
)
_FLOAT_DATA, _RAW_DATA = 3, 8

# What float32 keeps to the eye: beyond, neighbouring integers merge; below, digits fade and vanish.
LARGEST: Final = float(1 << 24)
SMALLEST: Final = 2.0**-126

# graph.proto DataType; a type it has no number for is stored as the type that holds its values.
_DATA_TYPES: Final = {
    "bool": 1, "int8": 2, "int16": 3, "int32": 4, "int64": 5, "uint8": 6, "uint16": 7, "uint32": 8,
    "uint64": 9, "float16": 10, "float32": 11, "float64": 12, "bfloat16": 46,
}  # fmt: skip
_HELD_BY_FLOAT32: Final = frozenset({"bool", "int8", "int16", "uint8", "uint16", "float16", "float32"})
# PNG colour -> colorspace of Summary.Image: gray, gray and alpha, RGB, RGBA.
_COLORSPACES: Final = {1: 1, 2: 2, 3: 3, 4: 4}


def scalar(tag: str, number: float) -> bytes:
    """A float32 that every reader shows, and the float64 itself when float32 would visibly change it.

    Visibly: a finite magnitude above 2**24, or below the smallest normal float32, that float32 does not hold.
    """
    if math.isfinite(number) and (abs(number) > LARGEST or 0 < abs(number) < SMALLEST):
        narrow = _narrow(number)
        exact = wire.double(EXACT_SCALAR, number) if narrow != number else b""
        return _text_tag(tag) + wire.single(_SCALAR, narrow) + exact
    return _text_tag(tag) + wire.single(_SCALAR, number)


def tensor(tag: str, values: npt.NDArray[Any], dtype: str) -> bytes:
    """``values`` of any shape as ``float_data``; bit-exact in ``raw_data`` too if float32 changes one.

    ``dtype`` is the name of the type the values had, which NumPy may not know ("bfloat16").
    """
    floats = _as_float32(values)
    parts = [
        wire.packed_integers(1, values.shape) if values.shape else b"",
        wire.integer(2, _DATA_TYPES.get(dtype) or _DATA_TYPES[values.dtype.name]),
        wire.block(_FLOAT_DATA, _bytes(floats)),
    ]
    if not _same(values, floats):
        parts.append(wire.block(_RAW_DATA, _bytes(values)))
    return _text_tag(tag) + wire.block(_TENSOR, b"".join(parts))


def image(tag: str, batch: npt.NDArray[Any]) -> bytes:
    """``batch`` (N, C, H, W) as one PNG; layout and scaling as told in images.py."""
    picture = images.canvas(batch)
    height, width, channels = picture.shape
    fields = (wire.integer(1, height), wire.integer(2, width), wire.integer(3, _COLORSPACES[channels]))
    return _text_tag(tag) + wire.block(_IMAGE, b"".join((*fields, wire.block(4, png.encode(picture)))))


def histogram(tag: str, values: npt.NDArray[Any]) -> bytes:
    """Distribution of bool, integer or float ``values`` of any shape."""
    return _text_tag(tag) + wire.block(_HISTOGRAM, _histogram_message(count_values(values)))


def landscape(tag: str, message: bytes) -> bytes:
    """A serialised LossLandscape."""
    return _text_tag(tag) + wire.block(_LANDSCAPE, message)


def wire_size(values: npt.NDArray[Any]) -> int:
    """Upper bound in bytes of ``values`` stored as a tensor."""
    exact = 0 if values.dtype.name in _HELD_BY_FLOAT32 else values.nbytes
    return 4 * values.size + exact + 64 + 10 * values.ndim


def _text_tag(tag: str) -> bytes:
    return wire.block(_TAG, tag.encode())


def _narrow(number: float) -> float:
    with np.errstate(over="ignore"):
        return float(np.float32(number))


def _as_float32(values: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
    with np.errstate(over="ignore"):
        return values.astype("<f4", copy=False)


def _same(values: npt.NDArray[Any], floats: npt.NDArray[np.float32]) -> bool:
    """True when every element of ``values`` can be told from ``floats``."""
    if values.dtype.name in _HELD_BY_FLOAT32:
        return True
    if values.dtype.kind == "f":
        return bool(np.array_equal(values, floats, equal_nan=True))
    # 2**24 bounds the integers that float32 holds without gaps; comparing after a cast could wrap around.
    return not values.size or (values.max() <= LARGEST and values.min() >= -LARGEST)


def _bytes(values: npt.NDArray[Any]) -> memoryview:
    little = np.ascontiguousarray(values, values.dtype.newbyteorder("<"))
    return memoryview(little.reshape(-1).view(np.uint8).data)


def _histogram_message(counted: Histogram) -> bytes:
    left, width = counted.edges[:-1], np.diff(counted.edges)
    parts = [
        wire.block(1, wire.double(1, start) + wire.double(2, size) + wire.integer(3, count))
        for start, size, count in zip(left.tolist(), width.tolist(), counted.counts.tolist(), strict=True)
    ]
    parts += (
        wire.integer(2, counted.nan),
        wire.integer(3, counted.positive_infinity),
        wire.integer(4, counted.negative_infinity),
    )
    if counted.low is not None and counted.high is not None and counted.total is not None:
        parts += (wire.double(5, counted.high), wire.double(6, counted.low), wire.double(7, counted.total))
    parts.append(wire.integer(8, counted.count))
    return b"".join(parts)
