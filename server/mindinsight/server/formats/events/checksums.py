"""Verifier of payload checksums: many neighbouring records in one call of the C function.

CRC-32C is linear over GF(2), and a payload followed by its own checksum is a codeword: started at zero, the
checksum of the two together is zero. So a copy of neighbouring records, in which the headers are zeros and
each stored checksum is brought into that form, has the checksum zero as a whole when every record is right.
Each record's deviation goes into the whole by an invertible map: one wrong record is always noticed, and
several cancel each other as seldom as one record fits a random checksum, once in 2**32. Where the whole is
not zero, the records of that copy are verified one by one.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Final, TypeAlias

import google_crc32c
import numpy as np
import numpy.typing as npt

from mindinsight.proto.framing import FOOTER_SIZE, HEADER_SIZE
from mindinsight.server.formats.wire_format import unaligned
from mindinsight.server.types import Ints

Crcs: TypeAlias = npt.NDArray[np.uint32]
Flags: TypeAlias = npt.NDArray[np.bool_]

_MASK_DELTA: Final = np.uint32(0xA282EAD8)
_FEWEST: Final = 8  # records that are worth the copy
_COPIED: Final = 1 << 19  # bytes copied at a time, to stay in the processor's cache
_LONGEST: Final = 16  # records of a period
_ROUNDS: Final = 16  # periods for which views are worth it
_ZERO: Final = 0xFFFFFFFF  # the checksum as the C function gives it, and takes it, when the register is zero
_FRAME: Final = HEADER_SIZE + FOOTER_SIZE


def masked(crcs: Crcs) -> Crcs:
    """CRC-32C values as they are stored: rotated right by 15 bits and offset."""
    rotated = (crcs >> np.uint32(15)) | (crcs << np.uint32(17))
    return rotated + _MASK_DELTA


def intact(data: bytes, starts: Ints, sizes: Ints) -> Flags:
    """[n] whether the payloads of the records at ``starts``, ``sizes`` bytes each, have their checksums."""
    good = np.ones(len(starts), np.bool_)
    for first, last in _neighbours(starts, starts + sizes + _FRAME):
        chosen = slice(first, last)
        if last - first < _FEWEST or not _all_intact(data, starts[chosen], sizes[chosen]):
            good[chosen] = _by_calls(data, starts[chosen], sizes[chosen])
    return good


def _neighbours(starts: Ints, ends: Ints) -> Iterator[tuple[int, int]]:
    """First record of each piece, and the one after its last: records without gaps, of so many bytes."""
    gaps = np.flatnonzero(starts[1:] != ends[:-1]) + 1
    first = 0
    for stop in [*gaps.tolist(), len(starts)]:
        while first < stop:
            last = int(np.searchsorted(ends[first:stop], starts[first] + _COPIED, side="right")) + first
            last = max(last, first + 1)
            yield first, last
            first = last


def _all_intact(data: bytes, starts: Ints, sizes: Ints) -> bool:
    """Whether neighbouring records all have their checksums."""
    begin, end = int(starts[0]), int(starts[-1] + sizes[-1]) + _FRAME
    octets = np.frombuffer(data, np.uint8)[begin:end].copy()
    quads = np.ndarray((len(octets) - 3,), "<u4", octets, 0, (1,))
    heads = np.ndarray((len(octets) - 7,), "<u8", octets, 0, (1,))
    period = _period(sizes)
    rounds = len(sizes) // period if period else 0
    for number in range(period if rounds else 0):  # views, which are faster than indices
        head, size = int(starts[number]) - begin, int(sizes[number])
        stride = int(starts[period]) - begin
        foot, last = head + HEADER_SIZE + size, head + (rounds - 1) * stride
        heads[head : last + 1 : stride] = 0
        quads[head + 8 : last + 9 : stride] = 0
        footers = quads[foot : foot + last - head + 1 : stride]
        footers[:] = _unmasked(footers) ^ np.uint32(_crc_of_zeros(size))
    others = slice(rounds * period, None)
    at = starts[others] - begin
    if len(at):
        heads[at], quads[at + 8] = 0, 0
        at += sizes[others] + HEADER_SIZE
        quads[at] = _unmasked(quads[at]) ^ _crcs_of_zeros(sizes[others])
    octets.flags.writeable = False
    return bool(google_crc32c.extend(_ZERO, octets) == _ZERO)


def _period(sizes: Ints) -> int:
    """After how many records their sizes repeat, up to the end; 0 when not soon enough."""
    for period in (np.flatnonzero(sizes[1 : _LONGEST + 1] == sizes[0]) + 1).tolist():
        if len(sizes) >= _ROUNDS * period and (sizes[period:] == sizes[:-period]).all():
            return int(period)
    return 0


def _unmasked(stored: Crcs) -> Crcs:
    rotated = stored - _MASK_DELTA
    low = rotated >> np.uint32(17)
    rotated <<= np.uint32(15)
    rotated |= low
    return rotated


def _crcs_of_zeros(sizes: Ints) -> Crcs:
    """What a checksum that is started with ones differs by from one that is started at zero, by length."""
    table = np.zeros(int(sizes.max()) + 1, np.uint32)
    for size in np.flatnonzero(np.bincount(sizes)).tolist():
        table[size] = _crc_of_zeros(size)
    return table[sizes]


@lru_cache(maxsize=1 << 14)
def _crc_of_zeros(size: int) -> int:
    crc: int = google_crc32c.value(bytes(size))
    return crc


def _by_calls(data: bytes, starts: Ints, sizes: Ints) -> Flags:
    begins = starts + HEADER_SIZE
    ends = begins + sizes
    spans = zip(begins.tolist(), ends.tolist(), strict=True)
    crcs = np.fromiter((google_crc32c.value(data[at:end]) for at, end in spans), np.uint32, len(starts))
    good: Flags = masked(crcs) == unaligned(data, "<u4")[ends]
    return good
