"""Pictures of any layout as batches of bytes, the way ``torch.utils.tensorboard`` scales them."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from mindinsight.writer.arrays import to_numpy
from mindinsight.writer.encoding import image_grid

Batch = npt.NDArray[np.uint8]  # (N, C, H, W)
_AXES: Final = "NCHW"


def batch(value: object, layout: str) -> Batch:
    """``value`` as bytes (N, C, H, W); ``layout`` names its axes by letters of NCHW, in any case and order.

    uint8 stays as it is; all else is multiplied by 255 and cut to 0..255, NaN is 0. Raises TypeError for what
    is no numbers, ValueError for a layout that does not fit.
    """
    values = to_numpy(value).values
    letters = str(layout).upper()
    if len(set(letters)) != len(letters) or not {"H", "W"} <= set(letters) <= set(_AXES):
        raise ValueError(f"dataformats are letters of NCHW, each once, H and W among them; got {layout!r}")
    if values.ndim != len(letters):
        raise ValueError(f"dataformats {layout!r} does not fit an array of shape {values.shape}")
    missing = [axis for axis in _AXES if axis not in letters]
    order = [(*missing, *letters).index(axis) for axis in _AXES]
    ordered = values.reshape((1,) * len(missing) + values.shape).transpose(order)
    image_grid.check_shape(ordered.shape)
    return _to_bytes(ordered)


def frames(video: object) -> Batch:
    """The frames of videos (N, T, C, H, W) as T pictures; several videos lie side by side in each."""
    values = to_numpy(video).values
    if values.ndim != 5 or 0 in values.shape:
        raise ValueError(f"a video is an array (N, T, C, H, W), none of them zero, got shape {values.shape}")
    count, time, channels, height, width = values.shape
    beside = values.transpose(1, 2, 3, 0, 4).reshape(time, channels, height, count * width)
    return batch(beside, _AXES)


def with_boxes(pictures: Batch, boxes: object, labels: Sequence[str] | None, rescale: float) -> Batch:
    """The first of ``pictures`` with red rectangles around ``boxes`` [n, (left, top, right, bottom)].

    ``rescale`` is a factor for both sides of the picture. Needs Pillow.
    """
    corners = to_numpy(boxes).values
    if corners.ndim != 2 or corners.shape[1] != 4:
        raise ValueError(f"boxes are an array [n, 4], got shape {corners.shape}")
    drawing, picture = _pillow("ImageDraw"), _picture(pictures)
    draw = drawing.Draw(picture)
    names = labels if labels is not None and len(labels) == len(corners) else [""] * len(corners)
    for (left, top, right, bottom), name in zip(corners.tolist(), names, strict=True):
        outline = [(left, top), (left, bottom), (right, bottom), (right, top), (left, top)]
        draw.line(outline, width=2, fill="Red")
        if name:
            _draw_label(draw, str(name), left, bottom)
    width, height = int(picture.width * rescale), int(picture.height * rescale)
    if width < 1 or height < 1:
        raise ValueError(f"rescale {rescale} leaves nothing of {picture.width} x {picture.height} pixels")
    scaled = picture.resize((width, height), _pillow("Image").Resampling.LANCZOS)
    return batch(np.asarray(scaled), "HWC")


def of_figures(figures: Sequence[Any], close: bool) -> Batch:
    """Figures of matplotlib, drawn without a window; ``close`` lets matplotlib forget them."""
    drawn = [_drawn(figure) for figure in figures]
    if len({pixels.shape for pixels in drawn}) != 1:
        raise ValueError("expected figures of one size, at least one")
    if close:
        from matplotlib import pyplot

        for figure in figures:
            pyplot.close(figure)
    return batch(np.stack(drawn), "NHWC")


def _drawn(figure: Any) -> Batch:
    if not hasattr(figure, "canvas"):
        raise TypeError(f"expected a figure of matplotlib, got {type(figure).__name__}")
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    pixels: Batch = np.asarray(canvas.buffer_rgba())[:, :, :3]
    return pixels


def _to_bytes(values: npt.NDArray[Any]) -> Batch:
    if values.dtype == np.uint8:
        return values
    if values.dtype.kind == "c":
        raise TypeError("a picture cannot hold complex numbers; record its parts or its magnitude")
    with np.errstate(over="ignore", invalid="ignore"):
        scaled = values.astype(np.float32) * np.float32(255)
    samples: Batch = np.nan_to_num(scaled, copy=False, nan=0.0).clip(0, 255).astype(np.uint8)
    return samples


def _picture(pictures: Batch) -> Any:
    pixels = pictures[0].transpose(1, 2, 0)
    coloured = np.repeat(pixels, 3, 2) if pixels.shape[2] == 1 else pixels
    return _pillow("Image").fromarray(np.ascontiguousarray(coloured))


def _draw_label(draw: Any, name: str, left: float, bottom: float) -> None:
    """Black letters on red at the lower left corner of a box."""
    font = _pillow("ImageFont").load_default()
    x0, y0, x1, y1 = font.getbbox(name)
    width, height = x1 - x0, y1 - y0
    margin = np.ceil(0.05 * height)
    draw.rectangle([(left, bottom - height - 2 * margin), (left + width, bottom)], fill="Red")
    draw.text((left + margin, bottom - height - margin), name, fill="black", font=font)


def _pillow(module: str) -> ModuleType:
    from importlib import import_module

    try:
        return import_module(f"PIL.{module}")
    except ImportError as error:
        raise ImportError("add_image_with_boxes draws with Pillow: pip install pillow") from error
