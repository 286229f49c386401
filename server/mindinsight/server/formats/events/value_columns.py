"""Decoder of values (Summary.Value) of many records at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from mindinsight.server.formats.events.chunk import Entries, numbers_at
from mindinsight.server.formats.events.fields import (
    EXACT,
    SCALAR,
    SUMMARY_VALUE,
    VALUE_TAG,
)
from mindinsight.server.formats.events.schema import Schema
from mindinsight.server.formats.events.tags import LONGEST, TagNumbers, Tags
from mindinsight.server.formats.wire_format import FAR, unaligned, varints
from mindinsight.server.types import Ints

LOOK_AHEAD: Final = 16  # bytes read at most behind the end of a record that is not what it seems
_MORE: Final = np.uint32(0x80)  # set in a byte of a varint that another one follows
_SEVEN: Final = np.uint32(0x7F)
_TAG_MASK: Final = np.uint16(0x80FF)  # of a tag's key and length: the key, and whether the length goes on

_Bytes = npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class ValueSpans:
    """Values that have not been looked into."""

    rows: Ints  # [m] the record each is in
    begins: Ints  # [m] offset of the message
    ends: Ints  # [m] offset after it, FAR where there is no value


def next_value_spans(data: bytes, rows: Ints, at: Ints) -> ValueSpans:
    """The values of the records ``rows`` whose keys lie at ``at``; most lengths take one byte or two."""
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
            lengths, begins[longest] = varints(np.frombuffer(data, np.uint8), at[longest] + 1)
            known = (lengths >= 0) & (lengths < FAR)
            ends[longest] = np.where(known, begins[longest] + lengths, FAR)
    wrong = (words & np.uint32(0xFF)) != SUMMARY_VALUE
    if wrong.any():
        ends[wrong] = FAR
    return ValueSpans(rows, begins, ends)


def read_values(data: bytes, spans: ValueSpans, known_tags: TagNumbers, schema: Schema) -> Entries:
    """What lies in ``spans``, all of which end inside their records; ``known_tags`` numbers the tags.

    Kind 0 stands for a value that is not written the usual way.
    """
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
    return Entries(spans.rows, kinds, numbers, offsets, sizes, numbers_at(data, kinds, offsets))


def _long_tag(octets: _Bytes, begins: Ints) -> tuple[Ints, Ints]:
    """Length and offset of tags whose length takes more than one byte; FAR where there is no tag."""
    tag_sizes, tags = varints(octets, np.minimum(begins + 1, len(octets) - 1))
    fits = (octets[begins] == VALUE_TAG) & (tag_sizes >= 0) & (tag_sizes <= LONGEST)
    return np.where(fits, tag_sizes, FAR), tags


def _exact(octets: _Bytes, at: Ints, after: Ints, schema: Schema) -> tuple[_Bytes, Ints, Ints]:
    """A float32 and behind it the same number as float64."""
    low, high = schema.exact_key & 0x7F | 0x80, schema.exact_key >> 7
    fits = (after - at == 14) & (octets[at + 4] == low) & (octets[at + 5] == high) & (high > 0)
    return fits * np.uint8(EXACT), at + 6, np.full(len(at), 8, np.int64)


def _payload(octets: _Bytes, at: Ints, after: Ints, schema: Schema) -> tuple[_Bytes, Ints, Ints]:
    lengths, offsets = varints(octets, at)
    fits = (lengths >= 0) & (offsets + lengths == after)
    return fits * schema.payload_codes[octets[at - 1]], offsets, lengths
