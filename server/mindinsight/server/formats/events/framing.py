"""Framing of event files: where records lie, their checksums, and resynchronisation after damage."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import repeat
from typing import Final, TypeAlias

import google_crc32c
import numpy as np
import numpy.typing as npt

from mindinsight.proto.framing import FOOTER_SIZE, HEADER_SIZE, decode_header, masked_crc
from mindinsight.server.formats.events.event_fields import Schema
from mindinsight.server.formats.events.rounds import KnownRounds, find
from mindinsight.server.formats.wire_format import unaligned
from mindinsight.server.types import Damage, Ints

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


LONGEST_PERIOD: Final = 64  # records
_EVIDENCE: Final = 24  # records
_FIRST_ROUNDS: Final = 64
_GROWTH: Final = 8
_CACHED: Final = 1 << 18  # bytes looked through at a time, to stay in the processor's cache


def repeats(data: bytes, at: int, headers: list[bytes], sizes: dict[bytes, int]) -> tuple[Ints, int]:
    """Starts of the whole records from ``at`` that go on with the end of ``headers``.

    ``sizes`` gives the framed size of a record by its 12 header bytes. Returns the offset after them, too;
    there are none when ``headers`` end in no pattern, or it does not go on.
    """
    pattern = headers[len(headers) - _shortest_period(headers) :]
    steps = np.cumsum([0] + [sizes[header] for header in pattern])
    rounds = _rounds(data, at, pattern, steps) if pattern else 0
    starts = at + int(steps[-1]) * np.arange(rounds)[:, None] + steps[:-1]
    return starts.ravel(), at + rounds * int(steps[-1])


def _rounds(data: bytes, at: int, pattern: list[bytes], steps: Ints) -> int:
    """How many times the pattern goes on; more are tried each time that all of some did."""
    stride, rounds, batch = int(steps[-1]), 0, _FIRST_ROUNDS
    while True:
        possible = min(batch, (len(data) - at) // stride - rounds)
        agreeing = _agreeing(data, at + rounds * stride, pattern, steps, possible)
        rounds += agreeing
        if agreeing < batch:
            return rounds
        batch = min(batch * _GROWTH, max(_CACHED // stride, _FIRST_ROUNDS))


def _shortest_period(headers: list[bytes]) -> int:
    """Length of the pattern that ``headers`` end in, or 0.

    That is the shortest one that goes back over the last ``_EVIDENCE`` headers, else the shortest that ends
    them twice: records of five tags, long and short in turns, end in pairs that are no pattern.
    """
    shortest = 0
    for period in range(1, min(LONGEST_PERIOD, len(headers) // 2) + 1):
        if headers[-period:] == headers[-2 * period : -period]:
            shortest = shortest or period
            span = max(period, min(_EVIDENCE, len(headers) - period))
            if headers[-span:] == headers[-span - period : -period]:
                return period
    return shortest


def _agreeing(data: bytes, at: int, pattern: list[bytes], steps: Ints, rounds: int) -> int:
    """How many of ``rounds`` repetitions of the pattern from ``at`` have exactly its headers."""
    stride = int(steps[-1])
    for header, step in zip(pattern, steps[:-1].tolist(), strict=True):
        for offset, dtype in ((0, "<u8"), (8, "<u4")):
            if not rounds:
                return 0
            words = np.ndarray((rounds,), np.dtype(dtype), data, at + step + offset, (stride,))
            wrong = words != np.frombuffer(header, dtype, 1, offset)
            if wrong.any():
                rounds = int(wrong.argmax())
    return rounds


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


@dataclass(frozen=True, slots=True)
class Records:
    """Intact records in file order; offsets count from the start of the piece."""

    starts: Ints  # [n] first header byte
    sizes: Ints  # [n] payload bytes
    damage: tuple[Damage, ...]
    end: int  # everything before is a record or damaged
    rounds: tuple[KnownRounds, ...] = ()

    def without_last(self, count: int) -> Records:
        """All but the last ``count`` records, and nothing that lies behind them."""
        end = int(self.starts[-count])
        damage = tuple(region for region in self.damage if region.offset < end)
        return Records(self.starts[:-count], self.sizes[:-count], damage, end)

    def payloads(self, data: bytes) -> list[bytes]:
        begins = self.starts + HEADER_SIZE
        return [data[at:end] for at, end in zip(begins.tolist(), (begins + self.sizes).tolist(), strict=True)]


def verified_records(data: bytes, at_end: bool, schema: Schema | None = None) -> Records:
    """Records of ``data``, which begins with one; ``at_end`` says that the file ends with ``data``.

    Nothing is waited for for ever unseen: everything from ``end`` on is a record that is cut, or has not
    been written yet. That is said of zeros at the end of a file too (space that a crashed machine or a
    network file system has allocated); but only a header whose checksum is right is believed to announce
    a record, so after a damaged one only the last 11 bytes are kept, in which a header can have begun.
    With a ``schema``, rounds that another file had are looked for; they are given where all is intact.
    """
    frames = scan(data, at_end, schema)
    starts, sizes, end = frames.starts, frames.sizes, frames.end
    good = intact(data, starts, sizes)
    if at_end and len(good) and not good[-1] and not any(data[int(starts[-1] + sizes[-1]) + HEADER_SIZE :]):
        starts, sizes, good, end = starts[:-1], sizes[:-1], good[:-1], int(starts[-1])
    bad = zip(starts[~good].tolist(), (sizes[~good] + FRAME_SIZE).tolist(), strict=True)
    damage = [*frames.gaps, *(Damage(at, size, "damage.body_crc") for at, size in bad)]
    if len(good) == len(frames.starts) and good.all():
        return Records(starts, sizes, tuple(sorted(damage, key=_offset)), end, frames.rounds)
    return Records(starts[good], sizes[good], tuple(sorted(damage, key=_offset)), end)


def _offset(damage: Damage) -> int:
    return damage.offset
