"""Responses to range requests: part of a body, as players of sound ask for it (RFC 9110, section 14)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from starlette.responses import Response

_SINGLE: Final = re.compile(r"bytes=(\d{0,18})-(\d{0,18})")


def ranged_response(body: bytes, requested: str, media_type: str, headers: Mapping[str, str]) -> Response:
    """``body``, or the one range of it that the header ``Range`` asks for; several are answered as a whole.

    206 for a part, 416 for one that begins behind the end.
    """
    headers = {**headers, "Accept-Ranges": "bytes"}
    span = _span(requested, len(body))
    if span is None:
        return Response(body, media_type=media_type, headers=headers)
    start, stop = span
    if start >= stop:
        return Response(status_code=416, headers={**headers, "Content-Range": f"bytes */{len(body)}"})
    headers["Content-Range"] = f"bytes {start}-{stop - 1}/{len(body)}"
    return Response(body[start:stop], 206, media_type=media_type, headers=headers)


def _span(requested: str, size: int) -> tuple[int, int] | None:
    """First byte and end of the range; None where there is none that is understood."""
    match = _SINGLE.fullmatch(requested.replace(" ", ""))
    if match is None or match[0] == "bytes=-":
        return None
    first, last = match[1], match[2]
    if not first:  # the last so many bytes
        return max(0, size - int(last)), size
    if last and int(last) < int(first):
        return None
    return int(first), min(size, int(last) + 1) if last else size
