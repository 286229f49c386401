"""Scanner of framing: where the records of a piece lie, header checksums, gaps.

Framing: 8 bytes length, 4 bytes masked CRC-32C of them, payload, 4 bytes masked CRC-32C of the payload.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import repeat
from typing import Final

import numpy as np
import numpy.typing as npt

from mindinsight.proto.framing import FOOTER_SIZE, HEADER_SIZE, decode_header, masked_crc
from mindinsight.server.formats.events.resync import find_header
from mindinsight.server.formats.events.rounds.known_rounds import KnownRounds, find
from mindinsight.server.formats.events.rounds.periodic import LONGEST_PERIOD, repeats
from mindinsight.server.formats.events.schema import Schema
from mindinsight.server.types import Damage, Ints

FRAME_SIZE: Final = HEADER_SIZE + FOOTER_SIZE
MAX_PAYLOAD: Final = 2**31 - 1  # bytes; a protobuf message cannot be larger
_FIRST_WALK: Final = 12  # records walked one by one before the first guess
_LONGEST_WALK: Final = 4096
_SHORT: Final = 256  # bytes; records up to that are sooner sought than walked
_FEW: Final = 1024  # records found by a guess; after fewer the next are sought
_SEEKABLE: Final = 1 << 13  # bytes that are worth it
_SOUGHT: Final = 1 << 20  # bytes in which records are sought at a time
_LONGEST_SOUGHT: Final = 1 << 16
_SUCCESS: Final = 4  # times as many records as were walked, which a guess is to find


@dataclass(frozen=True, slots=True)
class Frames:
    """Whole records with a right header checksum, in file order; offsets are inside the piece."""

    starts: Ints  # [n] first header byte
    sizes: Ints  # [n] payload bytes
    gaps: tuple[Damage, ...]
    end: int  # everything before is a record or a gap
    rounds: tuple[KnownRounds, ...]


@lru_cache(maxsize=1 << 14)  # mixed files have a few thousand lengths, and come in many pieces
def payload_size(header: bytes) -> int | None:
    """Payload bytes a header promises, or None when it is damaged or promises more than can be."""
    size = decode_header(header)
    return size if size is not None and size <= MAX_PAYLOAD else None


def scan(data: bytes, at_end: bool, schema: Schema | None = None) -> Frames:
    """Records of ``data``, whose first byte starts a record.

    A header that is wrong is skipped up to the next place where a length and its checksum agree. When
    there is none, everything is given up but the last 11 bytes, in which a header can have begun - unless
    these are the zeros of space that is allocated at the end of a file and not written yet: ``at_end``
    says that the file ends with ``data``, and then such zeros are waited for like a record that is cut.
    With a ``schema``, rounds that another file had are looked for.
    """
    chains, gaps, at = [], [], 0
    rounds: list[KnownRounds] = []
    count = 0
    while True:
        starts, end = _chain(data, at, count, rounds, schema)
        count += len(starts)
        chains.append(np.append(starts, end))
        at = end
        if len(data) - at < HEADER_SIZE or payload_size(data[at : at + HEADER_SIZE]) is not None:
            break  # the end, or a record that is cut
        header = find_header(data, at + 1)
        if header < 0 and at_end and not _begun(data, at):
            break
        at = header if header >= 0 else len(data) - HEADER_SIZE + 1
        gaps.append(Damage(end, at - end, _reason(data[end:at], header >= 0)))
        if header < 0:
            break
    return Frames(
        np.concatenate([chain[:-1] for chain in chains]),
        np.concatenate([np.diff(chain) for chain in chains]) - FRAME_SIZE,
        tuple(gaps),
        at,
        tuple(rounds),
    )


def _begun(data: bytes, at: int) -> bool:
    """Whether a whole header is written at ``at``: the zeros at the end of a file are not written yet."""
    return len(data[at:].rstrip(b"\0")) >= HEADER_SIZE


def _reason(gap: bytes, more: bool) -> str:
    if not any(gap):
        return "damage.zeros"
    if not more:
        return "damage.noise"
    believed = decode_header(gap[:HEADER_SIZE].ljust(HEADER_SIZE)) is not None
    return "damage.length" if believed else "damage.length_crc"


def _chain(
    data: bytes, at: int, row: int, rounds: list[KnownRounds], schema: Schema | None
) -> tuple[Ints, int]:
    """Starts of the records that follow each other from ``at``, record ``row``, and where the chain breaks.

    Lengths repeat in the file of a training loop. So a few records are walked, then the pattern of
    their headers is taken as a guess and checked for all that follow at once; where it does not
    hold, more are walked before the next guess. Rounds that another file had are tried first,
    and added to ``rounds``.
    """
    starts: list[Ints] = []
    sizes: dict[bytes, int] = {}
    limit = 1  # the first record is that of the version
    while True:
        while schema is not None and (stretch := find(data, at, row, schema)):
            rounds.append(stretch)
            starts.append(stretch.model.starts(at, stretch.repeats))
            row, at = row + len(starts[-1]), at + stretch.repeats * stretch.model.stride
            limit = _FIRST_WALK
        walked, at = _walk(data, at, limit, sizes)
        starts.append(np.array(walked, np.int64))
        row += len(walked)
        if len(walked) < limit:
            return np.concatenate(starts), at
        if limit == 1:
            limit = _FIRST_WALK
            continue
        headers = [data[start : start + HEADER_SIZE] for start in walked[-2 * LONGEST_PERIOD :]]
        size = (at - walked[0]) // limit
        guessed, at = repeats(data, at, headers, sizes)
        starts.append(guessed)
        count = len(guessed)
        if count < _FEW and size <= _SHORT and len(data) - at >= _SEEKABLE:
            sought, at = _sought(data, at)
            starts.append(sought)
            count += len(sought)
        row += count
        limit = _FIRST_WALK if count >= _SUCCESS * limit else min(2 * limit, _LONGEST_WALK)


def _sought(data: bytes, at: int) -> tuple[Ints, int]:
    """Starts of some records that follow each other from ``at``, and the offset after them.

    Headers are known by their zeros: at least six bytes of the length of a record below 64 KB. Where all that
    have the right checksum follow each other, they are the records; what is like one in a payload, and any
    other record, ends the search.
    """
    octets = np.frombuffer(data, np.uint8, min(_SOUGHT, len(data) - at), at)
    zeros = octets == 0
    three = zeros[:-2] & zeros[1:-1] & zeros[2:]
    six = three[:-3] & three[3:]
    firsts = np.flatnonzero(six[1:] > six[:-1]) + 1
    firsts = firsts[firsts + HEADER_SIZE <= len(octets)]
    lengths, right = _lengths(octets, firsts - 1)  # of records below 256 bytes, whose length is one byte
    longer = firsts[~right & (firsts > 1)] - 2
    more, good = _lengths(octets, longer)
    heads = np.concatenate([firsts[right] - 1, longer[good]])
    order = np.argsort(heads, kind="stable")
    heads = heads[order]
    ends = heads + np.concatenate([lengths[right], more[good]])[order] + FRAME_SIZE
    if not len(heads) or heads[0]:
        return heads[:0], at
    breaks = np.flatnonzero(ends[:-1] != heads[1:])
    count = int(breaks[0]) + 1 if len(breaks) else len(heads)
    count -= int(ends[count - 1]) > len(data) - at
    return heads[:count] + at, at + int(ends[count - 1]) if count else at


def _lengths(octets: npt.NDArray[np.uint8], heads: Ints) -> tuple[Ints, npt.NDArray[np.bool_]]:
    """The two lower bytes of the lengths at ``heads``, and which of them are lengths with their checksums."""
    longs = np.ndarray((len(octets) - 7,), "<u8", octets, 0, (1,))[heads]
    right = longs < _LONGEST_SOUGHT
    lengths = np.where(right, longs, 0).astype(np.int64)
    crcs = np.zeros(int(lengths.max(initial=0)) + 1, np.uint32)
    for length in np.flatnonzero(np.bincount(lengths)).tolist():
        crcs[length] = _crc_of_length(length)
    stored = np.ndarray((len(octets) - 3,), "<u4", octets, 0, (1,))[heads + 8]
    return lengths, right & (crcs[lengths] == stored)


@lru_cache(maxsize=1 << 14)
def _crc_of_length(length: int) -> int:
    return masked_crc(length.to_bytes(HEADER_SIZE - 4, "little"))


def _walk(data: bytes, at: int, limit: int, known: dict[bytes, int]) -> tuple[list[int], int]:
    """Starts of at most ``limit`` records from ``at``, and the offset after them."""
    starts: list[int] = []
    look_up, add, last = known.get, starts.append, len(data)
    for _ in repeat(None, limit):  # the one loop that Python runs for each record
        header = data[at : at + HEADER_SIZE]
        size = look_up(header)
        if size is None:
            size = _learn(header, known)
        end = at + size
        if size == 0 or end > last:
            break
        add(at)
        at = end
    return starts, at


def _learn(header: bytes, known: dict[bytes, int]) -> int:
    """Size of the record behind a header, framed, which is ``known`` from now on; 0 when it is no header."""
    size = payload_size(header) if len(header) == HEADER_SIZE else None
    if size is None:
        return 0
    known[header] = size + FRAME_SIZE
    return known[header]
