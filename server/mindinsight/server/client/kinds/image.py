"""Images: files as they were recorded."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from mindinsight.server.client.kinds import Payload, write_encoded
from mindinsight.server.formats.media_types import picture_size, picture_type
from mindinsight.server.formats.payloads.media_payloads import Image, image


def write(stem: Path, value: Image) -> Path:
    """Write `<step>.png` with the bytes as recorded. Return the path."""
    return write_encoded(stem, value.encoded, picture_type(value.encoded))


def rows(value: Image) -> Iterator[dict[str, Any]]:
    """Return width and height in pixels, None where the picture does not say, and bytes."""
    width, height = picture_size(value.encoded)
    yield {"width": width or None, "height": height or None, "bytes": len(value.encoded)}


PAYLOAD: Final = Payload(image, write, rows)
