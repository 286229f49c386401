"""Image grid: a batch of pictures as one array of bytes. The layout is MindSpore's, the scaling is ours.

Values become 8-bit samples by the first rule that fits; minimum and maximum are those of the whole batch,
over finite values:

* uint8: unchanged;
* bool: 0 and 255;
* all within 0..1: times 255, rounded down;
* integers within 0..255: unchanged;
* anything else: stretched so that the minimum becomes 0 and the maximum 255 (equal: 0).

NaN becomes 0; minus infinity and plus infinity become 0 and 255.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from mindinsight.writer.encoding import png

_COLUMNS: Final = 8


def check_shape(shape: tuple[int, ...]) -> None:
    """Raise ValueError unless ``shape`` is (pictures, channels, height, width), none of them zero."""
    if len(shape) != 4 or 0 in shape or shape[1] not in png.COLOUR_TYPES:
        raise ValueError(f"an image is an array (N, C, H, W), C from 1 to 4 and none zero, got shape {shape}")


def canvas(batch: npt.NDArray[Any]) -> npt.NDArray[np.uint8]:
    """``batch`` (N, C, H, W) as one picture [rows * H, columns * W, C]: at most 8 columns, unused cells 0."""
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
