"""Columnar decoder of records of many shapes: values, prefixes and tags of many records at once."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Final

import numpy as np
import numpy.typing as npt

from mindinsight.proto.framing import HEADER_SIZE
from mindinsight.server.formats.events.decoder_results import (
    EMPTY_TABLE,
    RecordBatch,
    Scalars,
    ValueTable,
    group_by_tag,
    join_columns,
    read_numbers,
    select_rows,
)
from mindinsight.server.formats.events.event_fields import (
    EVENT_STEP,
    EVENT_SUMMARY,
    EVENT_WALL,
    EXACT,
    SCALAR,
    SUMMARY_VALUE,
    VALUE_TAG,
    Schema,
    tag_text,
)
from mindinsight.server.formats.wire_format import FAR, MAX_SIZE, unaligned, varints
from mindinsight.server.types import Doubles, Ints

_MAX_PREFIX: Final = 1 << 11  # bytes of a prefix
_MIN_PREFIXED: Final = 64  # records that pay for the set-up
_TRIES: Final = 2  # sample records whose prefix is compared with the others
_SAMPLE: Final = 256  # records that decide how many values of the prefix are common
_RARE: Final = 4  # a value is common if one in 4 records has it
_MAX_PREFIX_TAG: Final = 100  # bytes; then the lengths of value and tag take one byte each

_Bytes = npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class _Step:
    """One of the leading scalars of records, as in a sample record. Offsets count from the first value."""

    tag: str
    begin: int
    number: int  # offset of its float32
    fixed: bytes  # from begin up to number

    @property
    def end(self) -> int:
        """Return the offset after the value."""
        return self.number + 4


def read_prefixes(
    data: bytes, rows: Ints, at: Ints, ends: Ints, scalar_key: int
) -> tuple[list[Scalars], Ints]:
    """Return the leading scalars of records, as in sample records, and [n] the offset after those of each
    record.

    Each item holds the records with the same tags. The offset is ``at`` if no scalar was read. The values of
    ``rows`` lie from ``at`` to ``ends``, one pair for each row. ``scalar_key`` is the key of a float32.
    """
    pieces: list[Scalars] = []
    goes_on = at.copy()
    left = np.flatnonzero(at + _MAX_PREFIX <= len(data))
    for _ in range(_TRIES):
        if len(left) < _MIN_PREFIXED:
            break
        steps = list(_steps(data, int(at[left[0]]), int(ends[left[0]]), scalar_key))
        some = left[:_SAMPLE]
        if steps:
            counts = _counts(_windows(data, steps, at[some]), steps, ends[some] - at[some])
            steps = steps[: int(np.sort(counts)[-(len(some) // _RARE) - 1])]
        if not steps:
            break
        matrix = _windows(data, steps, at[left])
        counts = _counts(matrix, steps, ends[left] - at[left])
        pieces += _pieces(matrix, steps, counts, rows[left])
        goes_on[left] += np.array([0, *(step.end for step in steps)])[counts]
        left = left[counts == 0]
    return pieces, goes_on


def _steps(data: bytes, at: int, end: int, scalar_key: int) -> Iterator[_Step]:
    """Yield the scalars of a sample record from ``at`` on, up to a value of another kind or a repeated
    tag."""
    value_at, seen = at, set()
    while value_at < end:
        size = data[value_at + 3]
        tag_end = value_at + 4 + size
        if size > _MAX_PREFIX_TAG or tag_end + 5 - at > _MAX_PREFIX or data[tag_end] != scalar_key:
            return
        tag = tag_text(data[value_at + 4 : tag_end])
        if data[value_at : value_at + 4] != bytes([SUMMARY_VALUE, size + 7, VALUE_TAG, size]) or tag in seen:
            return
        seen.add(tag)
        yield _Step(tag, value_at - at, tag_end + 1 - at, data[value_at : tag_end + 1])
        value_at = tag_end + 5


def _windows(data: bytes, steps: list[_Step], at: Ints) -> _Bytes:
    """Return the bytes that the scalars ``steps`` take from each offset in ``at`` on, [n, size]."""
    size = steps[-1].end
    return np.ndarray((len(data) - size + 1, size), np.uint8, data, 0, (1, 1))[at]


def _counts(matrix: _Bytes, steps: list[_Step], room: Ints) -> Ints:
    """Return how many of the scalars ``steps`` each record begins with. ``room`` is the size of each
    record."""
    size = steps[-1].end
    mask, fixed = np.zeros(size, np.uint8), np.zeros(size, np.uint8)
    for step in steps:
        mask[step.begin : step.number] = 0xFF
        fixed[step.begin : step.number] = np.frombuffer(step.fixed, np.uint8)
    different = (matrix & mask) != fixed
    first = different.argmax(axis=1)
    first[~different[np.arange(len(first)), first]] = size  # nothing differs
    counts: Ints = np.searchsorted([step.end for step in steps], np.minimum(first, room), side="right")
    return counts


def _pieces(matrix: _Bytes, steps: list[_Step], counts: Ints, rows: Ints) -> list[Scalars]:
    """Return the leading scalars of the records ``rows``, with one item for all scalars that occur in the
    same records."""
    reached = [int(np.count_nonzero(counts > index)) for index in range(int(counts.max(initial=0)))]
    pieces = []
    for _, group in groupby(range(len(reached)), key=reached.__getitem__):
        indices = list(group)
        alive = np.flatnonzero(counts > indices[0])
        values = np.empty((len(indices), len(alive)), np.float32)
        every = len(alive) == len(matrix)
        for row, index in zip(values, indices, strict=True):
            column = matrix[:, steps[index].number : steps[index].end].view("<f4")[:, 0]
            row[:] = column if every else column[alive]
        pieces.append(Scalars(tuple(steps[index].tag for index in indices), rows[alive], values))
    return pieces


MAX_COMPARED_TAG: Final = 512  # bytes; longer tags are read by the sequential decoder
_LOW_BYTES: Final = np.array([(1 << 8 * size) - 1 for size in range(8)], np.uint64)
_ODD: Final = 0x9E3779B97F4A7C15  # multiplicative hashing, Knuth TAOCP 6.4
_MIN_SLOT_BITS: Final = 6  # bits of a slot number
_MAX_SLOT_BITS: Final = 16  # the same at most: each array of the table takes half a megabyte then
_ROUNDS: Final = 2  # attempts to give unknown tags a slot, before they are looked up in the dictionary

_Words = npt.NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class Tags:
    """Offset and size in bytes of each tag in the data.

    Eight bytes can be read at each offset.
    """

    offsets: Ints
    sizes: Ints  # at most MAX_COMPARED_TAG


class TagNumbers:
    """Table that numbers tags in order of first use: a hash table with one tag in each slot.

    Tags with the same slot replace each other or are looked up in a dictionary. Only the speed depends on the
    hash.
    """

    def __init__(self, most: int) -> None:
        """Create a table for ``most`` tags. A larger table would take longer to create than it saves."""
        self._bits = min(max(most.bit_length(), _MIN_SLOT_BITS), _MAX_SLOT_BITS)
        self._texts: dict[str, int] = {}
        self._numbers = np.full(1 << self._bits, -1, np.int64)
        self._words: list[_Words] = []  # of the tag in each slot
        self._owners = np.zeros(1 << self._bits, np.int64)

    @property
    def names(self) -> list[str]:
        """Return the tags by number."""
        return list(self._texts)

    def of(self, data: bytes, tags: Tags) -> Ints:
        """Return the number of each tag. New tags get the next numbers."""
        words = list(_words(data, tags))
        slots = _slots(words, self._bits)
        self._words += [np.zeros(1 << self._bits, np.uint64) for _ in words[len(self._words) :]]
        numbers, unknown = self._look_up(words, slots)
        for _ in range(_ROUNDS):
            if not len(unknown):
                return numbers
            self._owners[slots[unknown]] = unknown
            firsts = unknown[self._owners[slots[unknown]] == unknown]  # one tag for each slot
            self._numbers[slots[firsts]] = self._texts_of(data, tags, firsts)
            for word, column in zip(words, self._words, strict=False):
                column[slots[firsts]] = word[firsts]
            matches, left = self._look_up([word[unknown] for word in words], slots[unknown])
            numbers[unknown], unknown = matches, unknown[left]
        numbers[unknown] = self._texts_of(data, tags, unknown)
        return numbers

    def _look_up(self, words: list[_Words], slots: Ints) -> tuple[Ints, Ints]:
        """Return the number in the slot of each tag, and the rows whose slot holds another tag or none."""
        numbers = self._numbers[slots]
        known = numbers >= 0
        for word, column in zip(words, self._words, strict=False):
            known &= word == column[slots]
        return numbers, np.flatnonzero(~known)

    def _texts_of(self, data: bytes, tags: Tags, places: Ints) -> list[int]:
        """Return the numbers of the tags at the rows ``places``, looked up by text."""
        begins = tags.offsets[places]
        ends = (begins + tags.sizes[places]).tolist()
        texts = (tag_text(data[at:end]) for at, end in zip(begins.tolist(), ends, strict=True))
        return [self._texts.setdefault(text, len(self._texts)) for text in texts]


def _words(data: bytes, tags: Tags) -> Iterator[_Words]:
    """Yield the tags as columns of integers, sizes first. Tags are equal if all of their integers are
    equal."""
    yield tags.sizes.view(np.uint64)
    source = unaligned(data, "<u8")
    last = np.maximum(tags.sizes - 8, 0)  # the last eight bytes overlap those before
    first = source[tags.offsets].astype(np.uint64, copy=False)
    short = np.flatnonzero(tags.sizes < 8)
    first[short] &= _LOW_BYTES[tags.sizes[short]]
    yield first
    shortest = int(tags.sizes.min(initial=0))
    for offset in range(8, int(tags.sizes.max(initial=0)), 8):
        word = source[tags.offsets + np.minimum(last, offset)].astype(np.uint64, copy=False)
        if offset >= shortest:
            word[tags.sizes <= offset] = 0
        yield word


def _slots(words: list[_Words], bits: int) -> Ints:
    """Return the highest bits of a hash of each tag. A product mixes the highest bits best."""
    hashes, factor = np.zeros(len(words[0]), np.uint64), _ODD
    for word in words:
        hashes += word * np.uint64(factor)
        factor = factor * _ODD % (1 << 64)
    return (hashes >> np.uint64(64 - bits)).astype(np.int64)


LOOK_AHEAD: Final = 16  # bytes that may be read after the end of a record whose lengths are wrong
_MORE: Final = np.uint32(0x80)  # set in a byte of a varint that another one follows
_SEVEN: Final = np.uint32(0x7F)
_TAG_MASK: Final = np.uint16(0x80FF)  # of a tag's key and length: the key, and whether the length goes on


@dataclass(frozen=True, slots=True)
class ValueSpans:
    """Byte ranges of Summary.Value messages that have not been decoded."""

    rows: Ints  # [m] record of the value
    begins: Ints  # [m] offset of the message
    ends: Ints  # [m] offset after it, FAR where there is no value


def next_value_spans(data: bytes, rows: Ints, at: Ints) -> ValueSpans:
    """Return the spans of the values of ``rows`` with keys at the offsets ``at``. Most lengths take one or
    two bytes."""
    words = np.asarray(unaligned(data, "<u4")[at], np.uint32)
    first = (words >> np.uint32(8)) & np.uint32(0xFF)
    longer = first >= _MORE
    begins = at + 2
    if not longer.any():
        ends = begins + first
    else:
        second = (words >> np.uint32(16)) & np.uint32(0xFF)
        begins += longer
        ends = begins + np.where(longer, first & _SEVEN | second << np.uint32(7), first)
        longest = np.flatnonzero(longer & (second >= _MORE))
        if len(longest):
            lengths, begins[longest] = varints(np.frombuffer(data, np.uint8), at[longest] + 1, MAX_SIZE)
            known = (lengths >= 0) & (lengths < FAR)
            ends[longest] = np.where(known, begins[longest] + lengths, FAR)
    wrong = (words & np.uint32(0xFF)) != SUMMARY_VALUE
    if wrong.any():
        ends[wrong] = FAR
    return ValueSpans(rows, begins, ends)


def read_values(data: bytes, spans: ValueSpans, known_tags: TagNumbers, schema: Schema) -> ValueTable:
    """Decode the values in ``spans``, all of which end inside their records. Tags are numbered by
    ``known_tags``. Kind 0 means that a value is not encoded in the usual way."""
    octets, ends = np.frombuffer(data, np.uint8), spans.ends
    words = np.asarray(unaligned(data, "<u2")[spans.begins], np.uint16)
    tag_sizes = (words >> np.uint16(8)).astype(np.int64)
    tags = spans.begins + 2
    unusual = np.flatnonzero((words & _TAG_MASK) != VALUE_TAG)
    if len(unusual):
        tag_sizes[unusual], tags[unusual] = _long_tag(octets, spans.begins[unusual])
    offsets = tags + tag_sizes
    fits = offsets < ends
    if not fits.all():
        offsets[~fits] = 0
    scalar = fits & (octets[offsets] == schema.scalar_key)
    kinds = (scalar & (ends - offsets == 5)) * np.uint8(SCALAR)
    offsets += 1
    sizes = np.full(len(ends), 4, np.int64)
    for others, read in ((scalar & (kinds == 0), _exact), (fits & ~scalar, _payload)):
        places = np.flatnonzero(others)
        if len(places):
            kinds[places], offsets[places], sizes[places] = read(
                octets, offsets[places], ends[places], schema
            )
    for code in schema.whole:
        whole = np.flatnonzero(kinds == code)
        offsets[whole], sizes[whole] = spans.begins[whole], ends[whole] - spans.begins[whole]
    strange = np.flatnonzero(kinds == 0)
    tags[strange], tag_sizes[strange], offsets[strange] = 0, 0, 0
    numbers = known_tags.of(data, Tags(tags, tag_sizes))
    return ValueTable(spans.rows, kinds, numbers, offsets, sizes, read_numbers(data, kinds, offsets))


def _long_tag(octets: _Bytes, begins: Ints) -> tuple[Ints, Ints]:
    """Return size and offset of tags with a length of several bytes. The size is FAR if there is no tag."""
    tag_sizes, tags = varints(octets, np.minimum(begins + 1, len(octets) - 1), MAX_SIZE)
    fits = (octets[begins] == VALUE_TAG) & (tag_sizes >= 0) & (tag_sizes <= MAX_COMPARED_TAG)
    return np.where(fits, tag_sizes, FAR), tags


def _exact(octets: _Bytes, at: Ints, after: Ints, schema: Schema) -> tuple[_Bytes, Ints, Ints]:
    """Decode values that hold a float32 and the same number as float64. Return kinds, offsets and sizes."""
    low, high = schema.exact_key & 0x7F | 0x80, schema.exact_key >> 7
    fits = (after - at == 14) & (octets[at + 4] == low) & (octets[at + 5] == high) & (high > 0)
    return fits * np.uint8(EXACT), at + 6, np.full(len(at), 8, np.int64)


def _payload(octets: _Bytes, at: Ints, after: Ints, schema: Schema) -> tuple[_Bytes, Ints, Ints]:
    """Decode the position of payload messages in values. Return kinds, offsets and sizes."""
    lengths, offsets = varints(octets, at, MAX_SIZE)
    fits = (lengths >= 0) & (offsets + lengths == after)
    return fits * schema.payload_codes[octets[at - 1]], offsets, lengths


_MIN_RECORDS: Final = 16  # records from which a step in NumPy costs less than the values in Python
_SHORT: Final = 20_000  # bytes; fewer records than _MIN_RECORDS are still read here if their ends are nearer
_LAST_STEP: Final = 18  # bytes of a payload up to the end of a step of at most eight bytes
_CHUNK: Final = 1 << 14  # records and values read at a time; the columns stay in the processor's cache


@dataclass(frozen=True, slots=True)
class _Heads:
    """Fields of records before their values: wall times, steps and offsets."""

    fits: npt.NDArray[np.bool_]
    walls: Doubles
    steps: Ints
    step_ends: Ints  # offset after the step, or after the wall time if there is no step
    values: Ints  # offset of the first value


def read_columnar(
    data: bytes, starts: Ints, sizes: Ints, rows: Ints, schema: Schema
) -> tuple[list[RecordBatch], Ints]:
    """Decode those of the records ``rows`` with the usual encoding, and return batches and the rows left
    over."""
    begins = starts[rows] + HEADER_SIZE
    ends = begins + sizes[rows]
    inside = np.flatnonzero(ends + LOOK_AHEAD <= len(data))
    if len(inside) < _MIN_RECORDS:
        return [], rows
    begins, ends, numbers = begins[inside], ends[inside], rows[inside]
    heads = _heads(data, begins, ends)
    tags = TagNumbers(len(data) // 16)  # bytes a tagged value takes, about
    steps, prefixes = [EMPTY_TABLE], []
    fitting = np.flatnonzero(heads.fits)
    for chunk in np.split(fitting, range(_CHUNK, len(fitting), _CHUNK)):
        pieces, at = read_prefixes(data, chunk, heads.values[chunk], ends[chunk], schema.scalar_key)
        prefixes += pieces
        steps += _values(data, heads, at, ends, chunk, tags, schema)
    table, good = join_columns(steps), heads.fits
    if not good[table.rows].all():
        table = select_rows(table, good[table.rows])
    scalars, payloads, ragged = group_by_tag(replace(table, rows=numbers[table.rows]), tags.names)
    common = tuple(_only(piece, good, numbers) for piece in prefixes)
    part = RecordBatch(
        numbers[good],
        heads.steps[good],
        heads.walls[good],
        common + scalars,
        payloads,
        ragged,
    )
    return [part], np.setdiff1d(rows, part.rows, assume_unique=True)


def read_layout(
    data: bytes, begins: Ints, ends: Ints, schema: Schema
) -> tuple[_Heads, ValueTable, list[str]] | None:
    """Return heads, values in file order and tags of records with many distinct scalars, one value per
    tag, or None if any record has an unusual encoding. Their payloads are from ``begins`` to ``ends``."""
    if ends[-1] + LOOK_AHEAD > len(data):
        return None
    heads, tags, every = _heads(data, begins, ends), TagNumbers(len(begins)), np.arange(len(begins))
    table = join_columns([EMPTY_TABLE, *_values(data, heads, heads.values, ends, every, tags, schema)])
    plain = heads.fits.all() and (table.kinds <= EXACT).all() and len(tags.names) == len(table.tags)
    return (heads, table, tags.names) if plain and (heads.step_ends - begins <= _LAST_STEP).all() else None


def _only(piece: Scalars, good: npt.NDArray[np.bool_], numbers: Ints) -> Scalars:
    """Return the scalars of the rows that are ``good``, with the record numbers of these rows."""
    chosen = good[piece.rows]
    if chosen.all():
        return replace(piece, rows=numbers[piece.rows])
    return Scalars(piece.tags, numbers[piece.rows[chosen]], piece.values[:, chosen])


def _values(
    data: bytes, heads: _Heads, at: Ints, ends: Ints, rows: Ints, tags: TagNumbers, schema: Schema
) -> Iterator[ValueTable]:
    """Yield tables of the values of the records ``rows``, which begin at the offsets ``at``. Clears
    ``heads.fits`` for records that cannot be decoded here."""
    waiting: list[ValueSpans] = []
    count = 0
    rows, at = rows[at < ends[rows]], at[at < ends[rows]]
    while len(rows) >= _MIN_RECORDS or (len(rows) and int((ends[rows] - at).max()) < _SHORT):
        spans = next_value_spans(data, rows, at)
        inside = spans.ends <= ends[rows]
        if not inside.all():
            heads.fits[rows[~inside]] = False
            spans = select_rows(spans, inside)
        waiting.append(spans)
        count += len(spans.rows)
        if count >= _CHUNK:
            yield _read(data, heads, waiting, tags, schema)
            waiting, count = [], 0
        going = spans.ends < ends[spans.rows]
        rows, at = spans.rows[going], spans.ends[going]
    heads.fits[rows] = False
    if waiting:
        yield _read(data, heads, waiting, tags, schema)


def _read(
    data: bytes, heads: _Heads, spans: list[ValueSpans], tags: TagNumbers, schema: Schema
) -> ValueTable:
    """Decode the values in ``spans``. Clears ``heads.fits`` for records with a value of kind 0."""
    table = read_values(data, join_columns(spans) if len(spans) > 1 else spans[0], tags, schema)
    if table.kinds.all():
        return table
    heads.fits[table.rows[table.kinds == 0]] = False
    return select_rows(table, table.kinds != 0)


def _heads(data: bytes, at: Ints, ends: Ints) -> _Heads:
    """Decode wall time, step and the offset of the first value of each record."""
    octets, last = np.frombuffer(data, np.uint8), len(data) - 1
    fits = (ends - at >= 11) & (octets[at] == EVENT_WALL)
    walls = unaligned(data, "<f8")[at + 1].astype(np.float64)
    at = at + 9
    has_step = octets[at] == EVENT_STEP
    steps, after = varints(octets, at + 1)
    steps[~has_step] = 0
    step_ends = at = np.minimum(np.where(has_step, after, at), last)
    fits &= octets[at] == EVENT_SUMMARY
    length, values = varints(octets, np.minimum(at + 1, last), MAX_SIZE)
    fits &= (values + length == ends) & (length >= 0)
    return _Heads(fits, walls, steps, step_ends, values)
