"""Encoder of images: a batch as one PNG (Summary.Image)."""

import logging
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from mindinsight.writer.encoding import media, wire
from mindinsight.writer.encoding.encoder import ArrayEncoder, Item

_log: Final = logging.getLogger(__name__)

# PNG colour -> colorspace of Summary.Image: gray, gray and alpha, RGB, RGBA.
_COLORSPACES: Final = {1: 1, 2: 2, 3: 3, 4: 4}


class ImageEncoder(ArrayEncoder):
    """Encoder of batches of images (N, C, H, W) as one PNG."""

    def __init__(self, kind: str) -> None:
        super().__init__(kind)
        self._blank: set[str] = set()  # tags of images without a finite pixel

    def message(self, item: Item) -> bytes:
        """Return the serialised message of the images. Warn once per tag if no pixel is finite."""
        values = item.payload
        assert not isinstance(values, bytes)
        if values.dtype.kind == "f" and item.tag not in self._blank and not np.isfinite(values).any():
            self._blank.add(item.tag)
            _log.warning("image '%s' has no finite pixel: NaN is recorded as black, +Inf as white", item.tag)
        return super().message(item)

    def check_shape(self, tag: str, shape: tuple[int, ...]) -> None:
        """Raise ValueError unless ``shape`` is (images, channels, height, width) without a zero."""
        media.check_shape(shape)

    def array_message(self, values: npt.NDArray[Any], dtype: str) -> bytes:
        """Return the serialised message of a batch as one PNG, with its size in pixels and its channels."""
        picture = media.canvas(values)
        height, width, channels = picture.shape
        fields = (wire.integer(1, height), wire.integer(2, width), wire.integer(3, _COLORSPACES[channels]))
        return b"".join((*fields, wire.block(4, media.encode(picture))))

    def facts(self, message: Any) -> dict[str, Any]:
        """Return ``width`` and ``height`` in pixels."""
        return {"width": message.width, "height": message.height}


ENCODER: Final = ImageEncoder("image")
