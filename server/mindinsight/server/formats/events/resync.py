"""Resynchronisation after damage: the next offset where a length and its checksum agree."""

from __future__ import annotations

from functools import cache
from typing import Final

import google_crc32c
import numpy as np
import numpy.typing as npt

from mindinsight.proto.framing import HEADER_SIZE
from mindinsight.server.formats.events.checksums import masked

_FIRST_LOOK: Final = 1 << 12  # bytes; the next record is mostly near
_LONGEST_LOOK: Final = 1 << 20


def find_header(data: bytes, at: int) -> int:
    """First offset from ``at`` on that holds a header with a right checksum, or -1.

    Lengths are below 2^31, so four bytes of a header are zero and one has its top bit clear;
    the checksum is looked at only there.
    """
    look = _FIRST_LOOK
    while at + HEADER_SIZE <= len(data):
        count = min(look, len(data) - at - HEADER_SIZE + 1)
        low, high, crc = (np.ndarray((count,), "<u4", data, at + skip, (1,)) for skip in (0, 4, 8))
        candidates = np.flatnonzero((high == 0) & (low < 1 << 31))
        headers = candidates[masked(_length_crcs(low[candidates])) == crc[candidates]]
        if len(headers):
            return at + int(headers[0])
        at, look = at + count, min(4 * look, _LONGEST_LOOK)
    return -1


def _length_crcs(lengths: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint32]:
    """CRC-32C of each length written as 8 bytes: it is affine over GF(2), so one table entry per byte."""
    crcs = np.full(len(lengths), google_crc32c.value(bytes(8)), np.uint32)
    for position, table in enumerate(_tables()):
        crcs ^= table[(lengths >> np.uint32(8 * position)) & np.uint32(255)]
    return crcs


@cache
def _tables() -> tuple[npt.NDArray[np.uint32], ...]:
    """What each value of each of the four low length bytes changes in the CRC-32C of eight zero bytes."""
    zero = google_crc32c.value(bytes(8))
    tables = []
    for position in range(4):
        crcs = [google_crc32c.value((byte << 8 * position).to_bytes(8, "little")) for byte in range(256)]
        tables.append(np.array(crcs, np.uint32) ^ np.uint32(zero))
    return tuple(tables)
