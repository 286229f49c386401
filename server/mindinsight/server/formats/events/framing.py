"""Framing of event files: positions of records, checksums, and resynchronisation after damage."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import repeat
from operator import attrgetter
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
_MIN_RUN: Final = 8  # records; for fewer, a copy of the bytes costs more than one call for each record
_COPY_SIZE: Final = 1 << 19  # bytes copied at a time; they stay in the processor's cache
_MAX_SIZE_PERIOD: Final = 16  # records; the period of the sizes is searched up to this length
_MIN_PERIODS: Final = 16  # periods; for fewer, indexing is as fast as strided views
_FEW_SIZES: Final = 64  # records; a table of all sizes up to the largest takes longer than as many look-ups
_ZERO: Final = 0xFFFFFFFF  # CRC-32C that the C function returns, and takes, when the register is zero
FRAME_SIZE: Final = HEADER_SIZE + FOOTER_SIZE


def mask_crcs(crcs: Crcs) -> Crcs:
    """Return CRC-32C values in the stored form: rotated right by 15 bits, plus a constant."""
    rotated = (crcs >> np.uint32(15)) | (crcs << np.uint32(17))
    return rotated + _MASK_DELTA


def check_crcs(data: bytes, starts: Ints, sizes: Ints) -> Flags:
    """Return whether the payload of each record matches its checksum, [n] bool. ``starts`` and ``sizes``
    [n] are the offsets of the records and the sizes of their payloads."""
    good = np.ones(len(starts), np.bool_)
    for first, last in _adjacent_runs(starts, starts + sizes + FRAME_SIZE):
        chosen = slice(first, last)
        if last - first < _MIN_RUN or not _are_all_intact(data, starts[chosen], sizes[chosen]):
            good[chosen] = _check_each(data, starts[chosen], sizes[chosen])
    return good


def _adjacent_runs(starts: Ints, ends: Ints) -> Iterator[tuple[int, int]]:
    """Yield start and stop index of each run of records without gaps, split at about ``_COPY_SIZE`` bytes."""
    gaps = np.flatnonzero(starts[1:] != ends[:-1]) + 1
    first = 0
    for stop in [*gaps.tolist(), len(starts)]:
        while first < stop:
            last = int(np.searchsorted(ends[first:stop], starts[first] + _COPY_SIZE, side="right")) + first
            last = max(last, first + 1)
            yield first, last
            first = last


def _are_all_intact(data: bytes, starts: Ints, sizes: Ints) -> bool:
    """Return True if all payloads of a run of adjacent records match their checksums. The headers are set
    to zero and the footers to the checksums that continue the CRC, so one call covers the whole run."""
    begin, end = int(starts[0]), int(starts[-1] + sizes[-1]) + FRAME_SIZE
    octets = np.frombuffer(data, np.uint8)[begin:end].copy()
    quads = np.ndarray((len(octets) - 3,), "<u4", octets, 0, (1,))
    heads = np.ndarray((len(octets) - 7,), "<u8", octets, 0, (1,))
    period = _find_period(sizes)
    rounds = len(sizes) // period if period else 0
    for number in range(period if rounds else 0):  # views, which are faster than indices
        head, size = int(starts[number]) - begin, int(sizes[number])
        stride = int(starts[period]) - begin
        foot, last = head + HEADER_SIZE + size, head + (rounds - 1) * stride
        heads[head : last + 1 : stride] = 0
        quads[head + 8 : last + 9 : stride] = 0
        footers = quads[foot : foot + last - head + 1 : stride]
        footers[:] = _unmask(footers) ^ np.uint32(_crc_of_zeros(size))
    others = slice(rounds * period, None)
    at = starts[others] - begin
    if len(at):
        heads[at], quads[at + 8] = 0, 0
        at += sizes[others] + HEADER_SIZE
        quads[at] = _unmask(quads[at]) ^ _crcs_of_zeros(sizes[others])
    octets.flags.writeable = False
    return bool(google_crc32c.extend(_ZERO, octets) == _ZERO)


def _find_period(sizes: Ints) -> int:
    """Return the period in records with which all sizes repeat, or 0 if they do not."""
    for period in (np.flatnonzero(sizes[1 : _MAX_SIZE_PERIOD + 1] == sizes[0]) + 1).tolist():
        if len(sizes) >= _MIN_PERIODS * period and (sizes[period:] == sizes[:-period]).all():
            return int(period)
    return 0


def _unmask(stored: Crcs) -> Crcs:
    """Return CRC-32C values from their stored form. Inverse of `mask_crcs`."""
    rotated = stored - _MASK_DELTA
    low = rotated >> np.uint32(17)
    rotated <<= np.uint32(15)
    rotated |= low
    return rotated


def _crcs_of_zeros(sizes: Ints) -> Crcs:
    """Return ``_crc_of_zeros`` of each size, computed once for equal sizes."""
    if len(sizes) <= _FEW_SIZES:
        return np.array([*map(_crc_of_zeros, sizes.tolist())], np.uint32)
    table = np.zeros(int(sizes.max()) + 1, np.uint32)
    for size in np.flatnonzero(np.bincount(sizes)).tolist():
        table[size] = _crc_of_zeros(size)
    return table[sizes]


@lru_cache(maxsize=1 << 14)
def _crc_of_zeros(size: int) -> int:
    """Return the CRC-32C of ``size`` zero bytes."""
    crc: int = google_crc32c.value(bytes(size))
    return crc


def _check_each(data: bytes, starts: Ints, sizes: Ints) -> Flags:
    """Return whether each payload matches its checksum, [n] bool, with one call for each record."""
    begins = starts + HEADER_SIZE
    ends = begins + sizes
    spans = zip(begins.tolist(), ends.tolist(), strict=True)
    crcs = np.fromiter((google_crc32c.value(data[at:end]) for at, end in spans), np.uint32, len(starts))
    good: Flags = mask_crcs(crcs) == unaligned(data, "<u4")[ends]
    return good


_FIRST_WINDOW: Final = 1 << 12  # bytes; the next record is usually near
_MAX_WINDOW: Final = 1 << 20  # bytes; the arrays of their offsets take several times as many


def find_header(data: bytes, at: int) -> int:
    """Return the first offset from ``at`` on that holds a valid header, or -1 if there is none. Lengths
    are below 2^31, so four bytes of a header are zero and the top bit of one is clear. Only such offsets
    are checked."""
    look = _FIRST_WINDOW
    while at + HEADER_SIZE <= len(data):
        count = min(look, len(data) - at - HEADER_SIZE + 1)
        low, high, crc = (np.ndarray((count,), "<u4", data, at + skip, (1,)) for skip in (0, 4, 8))
        candidates = np.flatnonzero((high == 0) & (low < 1 << 31) & ((low | crc) != 0))  # not among zeros
        headers = candidates[mask_crcs(_length_crcs(low[candidates])) == crc[candidates]]
        if len(headers):
            return at + int(headers[0])
        at, look = at + count, min(4 * look, _MAX_WINDOW)
    return -1


def _length_crcs(lengths: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint32]:
    """Return the CRC-32C of each length written as 8 bytes. The CRC is affine over GF(2), so one table
    lookup per byte suffices."""
    crcs = np.full(len(lengths), google_crc32c.value(bytes(8)), np.uint32)
    for position, table in enumerate(_crc_tables()):
        crcs ^= table[(lengths >> np.uint32(8 * position)) & np.uint32(255)]
    return crcs


@cache
def _crc_tables() -> tuple[npt.NDArray[np.uint32], ...]:
    """Return how each value of each low length byte changes the CRC-32C of eight zero bytes, 4 x [256]."""
    zero = google_crc32c.value(bytes(8))
    tables = []
    for position in range(4):
        crcs = [google_crc32c.value((byte << 8 * position).to_bytes(8, "little")) for byte in range(256)]
        tables.append(np.array(crcs, np.uint32) ^ np.uint32(zero))
    return tuple(tables)


MAX_PERIOD: Final = 64  # records of a pattern
_EVIDENCE: Final = 24  # last records that a pattern must explain: two repetitions may be chance
_FIRST_ROUNDS: Final = 64  # repetitions compared first: the pattern may end soon
_GROWTH: Final = 8  # factor of the next batch while all of a batch match
_CACHE_SIZE: Final = 1 << 18  # bytes compared at a time; they stay in the processor's cache


def find_repeats(data: bytes, at: int, headers: list[bytes], sizes: dict[bytes, int]) -> tuple[Ints, int]:
    """Return the starts of the records from ``at`` on whose headers repeat the pattern at the end of
    ``headers``, and the end of the last of them: no starts and ``at`` if there is no pattern, or it does not
    continue.

    The pattern is the sequence that the last of ``headers`` repeat. ``sizes`` maps the 12 header bytes to the
    framed size of a record. There are no starts if ``headers`` end in no pattern or the pattern does not
    continue.
    """
    pattern = headers[len(headers) - _shortest_period(headers) :]
    steps = np.cumsum([0] + [sizes[header] for header in pattern])
    rounds = _count_rounds(data, at, pattern, steps) if pattern else 0
    starts = at + int(steps[-1]) * np.arange(rounds)[:, None] + steps[:-1]
    return starts.ravel(), at + rounds * int(steps[-1])


def _count_rounds(data: bytes, at: int, pattern: list[bytes], steps: Ints) -> int:
    """Return how often the pattern repeats from ``at`` on. Batches grow while all of a batch match."""
    stride, rounds, batch = int(steps[-1]), 0, _FIRST_ROUNDS
    while True:
        possible = min(batch, (len(data) - at) // stride - rounds)
        agreeing = _count_matching(data, at + rounds * stride, pattern, steps, possible)
        rounds += agreeing
        if agreeing < batch:
            return rounds
        batch = min(batch * _GROWTH, max(_CACHE_SIZE // stride, _FIRST_ROUNDS))


def _shortest_period(headers: list[bytes]) -> int:
    """Return the length of the pattern that ``headers`` end in, or 0 if there is none.

    This is the shortest pattern that explains the last ``_EVIDENCE`` headers, otherwise the shortest that
    occurs twice at the end. Evidence is required because records of five tags with alternating lengths end in
    pairs that are no pattern.
    """
    shortest = 0
    for period in range(1, min(MAX_PERIOD, len(headers) // 2) + 1):
        if headers[-period:] == headers[-2 * period : -period]:
            shortest = shortest or period
            span = max(period, min(_EVIDENCE, len(headers) - period))
            if headers[-span:] == headers[-span - period : -period]:
                return period
    return shortest


def _count_matching(data: bytes, at: int, pattern: list[bytes], steps: Ints, rounds: int) -> int:
    """Return how many of the first ``rounds`` repetitions from ``at`` on have the headers in ``pattern``."""
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


MAX_PAYLOAD: Final = 2**31 - 1  # bytes; a protobuf message cannot be larger
_FIRST_WALK: Final = 12  # records walked one by one before the first guess
_MAX_WALK: Final = 4096  # the same at most: the walk doubles after each guess that fails
_SHORT_RECORD: Final = 256  # bytes; records of this mean size are found faster by searching than by walking
_FEW_GUESSED: Final = 1024  # records; if a guess found fewer, the next ones are searched
_MIN_SEARCH: Final = 1 << 13  # bytes; a search in fewer costs more than it saves
_SEARCH_SIZE: Final = 1 << 20  # bytes searched at a time
_MAX_SEARCHED_LENGTH: Final = 1 << 16  # bytes; limits the table of the checksums of lengths
_GUESS_SUCCESS: Final = 4  # a guess succeeds if it finds this many times the records walked


@dataclass(frozen=True, slots=True)
class Records:
    """Records of a section in file order, its damage, and the rounds recognized in it.

    Offsets count from the start of the section.
    """

    starts: Ints  # [n] first header byte
    sizes: Ints  # [n] payload bytes
    damage: tuple[Damage, ...]
    end: int  # every byte before it belongs to a record or to damage
    rounds: tuple[KnownRounds, ...] = ()

    def without_last(self, count: int) -> Records:
        """Return the records without the last ``count``, and without the damage after them. ``count`` is 1 or
        more."""
        end = int(self.starts[-count])
        damage = tuple(region for region in self.damage if region.offset < end)
        return Records(self.starts[:-count], self.sizes[:-count], damage, end)

    def payloads(self, data: bytes) -> list[bytes]:
        """Return the payload of each record."""
        begins = self.starts + HEADER_SIZE
        return [data[at:end] for at, end in zip(begins.tolist(), (begins + self.sizes).tolist(), strict=True)]


@lru_cache(maxsize=1 << 14)  # mixed files have a few thousand lengths, and come in many pieces
def payload_size(header: bytes) -> int | None:
    """Return the payload size that a header states, or None if it is damaged or above MAX_PAYLOAD."""
    size = decode_header(header)
    return size if size is not None and size <= MAX_PAYLOAD else None


def scan_records(data: bytes, at_end: bool, schema: Schema | None = None) -> Records:
    """Return the whole records of ``data``, which starts with a record and, ``at_end``, ends its file.

    Payloads are not checked.

    After a damaged header, bytes are skipped up to the next valid header. If there is none, everything except
    the last 11 bytes is damage, because a header can begin there. With ``at_end``, trailing zeros are space
    that is allocated and not written yet, so they stay unread like an incomplete record. With a ``schema``,
    rounds (see `rounds`) that other files had are recognized at once.
    """
    chains, gaps, at = [], [], 0
    rounds: list[KnownRounds] = []
    count = 0
    while True:
        starts, end = _follow_chain(data, at, count, rounds, schema)
        count += len(starts)
        chains.append(np.append(starts, end))
        at = end
        if len(data) - at < HEADER_SIZE or payload_size(data[at : at + HEADER_SIZE]) is not None:
            break  # the end, or a record that is cut
        header = find_header(data, at + 1)
        if header < 0 and at_end and not _has_whole_header(data, at):
            break
        at = header if header >= 0 else len(data) - HEADER_SIZE + 1
        gaps.append(Damage(end, at - end, _name_damage(data[end:at], header >= 0)))
        if header < 0:
            break
    return Records(
        np.concatenate([chain[:-1] for chain in chains]),
        np.concatenate([np.diff(chain) for chain in chains]) - FRAME_SIZE,
        tuple(gaps),
        at,
        tuple(rounds),
    )


def _has_whole_header(data: bytes, at: int) -> bool:
    """Return True if a whole header is written at ``at``. Trailing zeros count as not written yet."""
    return len(data[at:].rstrip(b"\0")) >= HEADER_SIZE


def _name_damage(gap: bytes, more: bool) -> str:
    """Return the reason for a gap between records. ``more`` says that a record follows."""
    if not any(gap):
        return "damage.zeros"
    if not more:
        return "damage.noise"
    believed = decode_header(gap[:HEADER_SIZE].ljust(HEADER_SIZE)) is not None
    return "damage.length" if believed else "damage.length_crc"


def _follow_chain(
    data: bytes, at: int, row: int, rounds: list[KnownRounds], schema: Schema | None
) -> tuple[Ints, int]:
    """Return the starts of the adjacent records from ``at`` and the offset where the chain breaks.

    ``row`` is the number of the first record. Lengths repeat in the file of a training loop. Therefore a few
    records are walked, and the pattern of their headers is a guess that is checked for all following records
    at once. Where it does not hold, more records are walked before the next guess. Known rounds are tried
    first and are added to ``rounds``.
    """
    starts: list[Ints] = []
    sizes: dict[bytes, int] = {}
    limit = 1  # the first record holds the version
    while True:
        while schema is not None and (section := find(data, at, row, schema)):
            rounds.append(section)
            starts.append(section.model.starts(at, section.repeats))
            row, at = row + len(starts[-1]), at + section.repeats * section.model.stride
            limit = _FIRST_WALK
        walked, at = _walk(data, at, limit, sizes)
        starts.append(np.array(walked, np.int64))
        row += len(walked)
        if len(walked) < limit:
            return np.concatenate(starts), at
        if limit == 1:
            limit = _FIRST_WALK
            continue
        headers = [data[start : start + HEADER_SIZE] for start in walked[-2 * MAX_PERIOD :]]
        size = (at - walked[0]) // limit
        guessed, at = find_repeats(data, at, headers, sizes)
        starts.append(guessed)
        count = len(guessed)
        if count < _FEW_GUESSED and size <= _SHORT_RECORD and len(data) - at >= _MIN_SEARCH:
            sought, at = _search_headers(data, at)
            starts.append(sought)
            count += len(sought)
        row += count
        limit = _FIRST_WALK if count >= _GUESS_SUCCESS * limit else min(2 * limit, _MAX_WALK)


def _search_headers(data: bytes, at: int) -> tuple[Ints, int]:
    """Return the starts of some adjacent records from ``at`` on, found by their bytes, and the offset after
    them.

    A header of a record below 64 KiB is recognised by at least six zero bytes of its length. Candidates with
    a valid checksum are records as long as they are adjacent. A similar pattern in a payload ends the search.
    """
    octets = np.frombuffer(data, np.uint8, min(_SEARCH_SIZE, len(data) - at), at)
    zeros = octets == 0
    three = zeros[:-2] & zeros[1:-1] & zeros[2:]
    six = three[:-3] & three[3:]
    firsts = np.flatnonzero(six[1:] > six[:-1]) + 1
    firsts = firsts[firsts + HEADER_SIZE <= len(octets)]
    lengths, right = _read_lengths(octets, firsts - 1)  # records below 256 bytes have a length of one byte
    longer = firsts[~right & (firsts > 1)] - 2
    more, good = _read_lengths(octets, longer)
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


def _read_lengths(octets: npt.NDArray[np.uint8], heads: Ints) -> tuple[Ints, npt.NDArray[np.bool_]]:
    """Return the low two bytes of the lengths at ``heads``, and which of them match their checksums."""
    longs = np.ndarray((len(octets) - 7,), "<u8", octets, 0, (1,))[heads]
    right = longs < _MAX_SEARCHED_LENGTH
    lengths = np.where(right, longs, 0).astype(np.int64)
    crcs = np.zeros(int(lengths.max(initial=0)) + 1, np.uint32)
    for length in np.flatnonzero(np.bincount(lengths)).tolist():
        crcs[length] = _crc_of_length(length)
    stored = np.ndarray((len(octets) - 3,), "<u4", octets, 0, (1,))[heads + 8]
    return lengths, right & (crcs[lengths] == stored)


@lru_cache(maxsize=1 << 14)
def _crc_of_length(length: int) -> int:
    """Return the masked CRC-32C of a length field."""
    return masked_crc(length.to_bytes(HEADER_SIZE - 4, "little"))


def _walk(data: bytes, at: int, limit: int, known: dict[bytes, int]) -> tuple[list[int], int]:
    """Return the starts of at most ``limit`` records from ``at`` on, found one by one, and the offset after
    them."""
    starts: list[int] = []
    look_up, add, last = known.get, starts.append, len(data)
    for _ in repeat(None, limit):  # the one loop that Python runs for each record
        header = data[at : at + HEADER_SIZE]
        size = look_up(header)
        if size is None:
            size = _learn_size(header, known)
        end = at + size
        if size == 0 or end > last:
            break
        add(at)
        at = end
    return starts, at


def _learn_size(header: bytes, known: dict[bytes, int]) -> int:
    """Return the framed size of a record by its header, and store it in ``known``. 0 for an invalid
    header."""
    size = payload_size(header) if len(header) == HEADER_SIZE else None
    if size is None:
        return 0
    known[header] = size + FRAME_SIZE
    return known[header]


def verified_records(data: bytes, at_end: bool, schema: Schema | None = None) -> Records:
    """Return the intact records of ``data``, which begins with a record and, ``at_end``, ends its file.

    Everything from ``end`` on is an incomplete record or not written yet. That includes zeros at the end of a
    file, which a crashed machine or a network file system allocated. Only a valid header announces a record,
    so after a damaged header only the last 11 bytes are kept. With a ``schema``, rounds (see `rounds`) that
    other files had are recognized at once. They are returned only if every record is intact.
    """
    frames = scan_records(data, at_end, schema)
    starts, sizes, end = frames.starts, frames.sizes, frames.end
    good = check_crcs(data, starts, sizes)
    if at_end and len(good) and not good[-1] and not any(data[int(starts[-1] + sizes[-1]) + HEADER_SIZE :]):
        starts, sizes, good, end = starts[:-1], sizes[:-1], good[:-1], int(starts[-1])
    bad = zip(starts[~good].tolist(), (sizes[~good] + FRAME_SIZE).tolist(), strict=True)
    damage = [*frames.damage, *(Damage(at, size, "damage.body_crc") for at, size in bad)]
    damage.sort(key=attrgetter("offset"))
    if len(good) == len(frames.starts) and good.all():
        return Records(starts, sizes, tuple(damage), end, frames.rounds)
    return Records(starts[good], sizes[good], tuple(damage), end)
