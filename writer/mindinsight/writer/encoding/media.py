"""Encoder of images as PNG files, grids of images, and sounds as WAV files."""

import io
import logging
import math
import struct
import wave
import zlib
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from mindinsight.writer.arrays import to_numpy

# Channels of a pixel -> colour type of the header: gray, gray+alpha, RGB, RGBA.
COLOUR_TYPES: Final = {1: 0, 2: 4, 3: 2, 4: 6}
_SIGNATURE: Final = b"\x89PNG\r\n\x1a\n"
_UP: Final = 2  # every row is stored as its difference from the row above
_LEVEL: Final = 4  # half the time of zlib's default. Photographs are 3 % larger


def encode(pixels: npt.NDArray[np.uint8]) -> bytes:
    """Return ``pixels`` [height, width, channels] of 1 to 4 channels as the bytes of a PNG file."""
    height, width, channels = pixels.shape
    rows = np.empty((height, 1 + width * channels), np.uint8)
    rows[:, 0] = _UP
    flat = pixels.reshape(height, -1)
    rows[0, 1:] = flat[0]
    np.subtract(flat[1:], flat[:-1], out=rows[1:, 1:])
    header = struct.pack(">IIBBBBB", width, height, 8, COLOUR_TYPES[channels], 0, 0, 0)
    data = zlib.compress(rows.data, _LEVEL)
    return b"".join((_SIGNATURE, _chunk(b"IHDR", header), _chunk(b"IDAT", data), _chunk(b"IEND", b"")))


def _chunk(kind: bytes, data: bytes) -> bytes:
    crc = zlib.crc32(data, zlib.crc32(kind))
    return b"".join((struct.pack(">I", len(data)), kind, data, struct.pack(">I", crc)))


_COLUMNS: Final = 8  # images in a row, as in torch


def check_shape(shape: tuple[int, ...]) -> None:
    """Raise ValueError unless ``shape`` is (images, channels, height, width) without a zero."""
    if len(shape) != 4 or 0 in shape or shape[1] not in COLOUR_TYPES:
        raise ValueError(f"an image is an array (N, C, H, W), C from 1 to 4 and none zero, got shape {shape}")


def canvas(batch: npt.NDArray[Any]) -> npt.NDArray[np.uint8]:
    """Return ``batch`` (N, C, H, W) as one image [rows * H, columns * W, C] with at most 8 columns. uint8
    is kept. Of other types, numbers all within 0..1 are multiplied by 255, integers all within 0..255
    kept, and the rest scaled. NaN and unused cells are 0."""
    samples = _to_bytes(batch)
    count, channels, height, width = samples.shape
    columns = min(count, _COLUMNS)
    rows = -(-count // columns)
    cells = np.zeros((rows * columns, channels, height, width), np.uint8)
    cells[:count] = samples
    grid = cells.reshape(rows, columns, channels, height, width)
    rows_first = np.ascontiguousarray(grid.transpose(0, 3, 1, 4, 2))
    return rows_first.reshape(rows * height, columns * width, channels)


def _to_bytes(values: npt.NDArray[Any]) -> npt.NDArray[np.uint8]:
    """Return pixels converted to uint8, 0 to 255.

    Numbers within 0..1 are multiplied by 255, integers within 0..255 are unchanged, others are scaled to
    0..255.
    """
    if values.dtype == np.uint8:
        return values
    if values.dtype == np.bool_:
        return values.astype(np.uint8) * np.uint8(255)
    numbers = values.astype(np.float64)
    finite = numbers[np.isfinite(numbers)] if values.dtype.kind == "f" else numbers
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 0.0)
    if low >= 0 and high <= 1:
        scaled = numbers * 255
    elif values.dtype.kind in "iu" and low >= 0 and high <= 255:
        scaled = numbers
    else:
        # Halves, so that the range of the largest doubles does not overflow.
        half_range = high / 2 - low / 2
        scaled = (numbers / 2 - low / 2) / half_range * 255 if half_range else numbers * 0
    return np.nan_to_num(scaled, nan=0.0, posinf=255.0, neginf=0.0).clip(0, 255).astype(np.uint8)


_LARGEST: Final = 32767  # sample of 16 bits
_log: Final = logging.getLogger(__name__)


class Sound(NamedTuple):
    """WAV file with its rate, channels and frames."""

    rate: int  # samples a second
    channels: int
    frames: int
    wav: bytes


def sound(value: object, rate: int) -> Sound:
    """Return a WAV file of one channel of 16-bit samples at ``rate`` per second. Raises TypeError for
    values that are no real numbers, ValueError unless they are one row, or if ``rate`` is no whole number
    above zero. Samples beyond -1..1 are clipped, NaN is silence."""
    if isinstance(rate, bool) or not 0 < rate < math.inf or int(rate) != rate:
        raise ValueError(f"sample_rate must be a whole number above zero, got {rate!r}")
    samples = to_numpy(value).values.squeeze()
    if samples.dtype.kind == "c":
        raise TypeError("a sound cannot hold complex numbers")
    if samples.ndim != 1 or not samples.size:
        raise ValueError(f"a sound is one row of samples, got shape {samples.shape}")
    numbers = np.nan_to_num(samples.astype(np.float64), nan=0.0)
    if np.abs(numbers).max() > 1:
        _log.warning("samples of a sound beyond -1..1 are clipped")
    data = (numbers.clip(-1, 1) * _LARGEST).astype("<i2")
    file = io.BytesIO()
    with wave.open(file, "wb") as wav:
        wav.setnchannels(1)
        wav.setsampwidth(2)
        wav.setframerate(int(rate))
        wav.writeframes(data.tobytes())
    return Sound(int(rate), 1, data.size, file.getvalue())
