"""Images: files as they were recorded."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from mindinsight.server.client.kinds import Payload, with_ending
from mindinsight.server.formats.media_types import picture_type
from mindinsight.server.formats.payloads.media_payloads import Image, image


def write(stem: Path, value: Image) -> Path:
    """``<step>.png``: the bytes as they were recorded."""
    kind = picture_type(value.encoded)
    target = with_ending(stem, kind.suffix if kind else ".bin")
    target.write_bytes(value.encoded)
    return target


def rows(value: Image) -> Iterator[dict[str, Any]]:
    """Width and height in pixels, and bytes."""
    yield {"width": value.header.width, "height": value.header.height, "bytes": len(value.encoded)}


PAYLOAD: Final = Payload(image, write, rows)
