"""One value (Summary.Value) of each of many records, read at once."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from mindinsight.server.formats.events.fields import (
    EXACT,
    SCALAR,
    SUMMARY_VALUE,
    VALUE_EXACT,
    VALUE_KINDS,
    VALUE_SCALAR,
    VALUE_TAG,
)
from mindinsight.server.formats.events.pieces import Entries, numbers_at
from mindinsight.server.formats.events.tags import LONGEST, TagNumbers, Tags
from mindinsight.server.formats.wire_format import FAR, unaligned, varints
from mindinsight.server.types import Ints

LOOK_AHEAD: Final = 16  # bytes read at most behind the end of a record that is not what it seems
# A value of usual length begins: key, length below 128, tag key, length below 128.
_USUAL: Final = np.uint32(SUMMARY_VALUE | VALUE_TAG << 16)
_USUAL_MASK: Final = np.uint32(0x80FF80FF)
_EXACT_KEY: Final = bytes([VALUE_EXACT & 0x7F | 0x80, VALUE_EXACT >> 7])
_PAYLOADS: Final = np.array([VALUE_KINDS.get(key, 0) * (key != VALUE_SCALAR) for key in range(256)], np.uint8)

_Bytes = npt.NDArray[np.uint8]


def next_values(data: bytes, rows: Ints, at: Ints, ends: Ints, known_tags: TagNumbers) -> Entries:
    """The values of the records ``rows`` that begin at ``at``; the records' summaries end at ``ends``.

    Kind 0 stands for a value that is not written the usual way. ``known_tags`` numbers the tags.
    """
    octets = np.frombuffer(data, np.uint8)
    words = np.asarray(unaligned(data, "<u4")[at], np.uint32)
    after = at + 2 + ((words >> np.uint32(8)) & np.uint32(0x7F))
    tag_sizes = (words >> np.uint32(24)).astype(np.int64)
    tags = at + 4
    unusual = np.flatnonzero((words & _USUAL_MASK) != _USUAL)
    if len(unusual):
        after[unusual], tags[unusual], tag_sizes[unusual] = _long_value(octets, at[unusual])
    offsets = tags + tag_sizes
    fits = (after <= ends) & (offsets < after)
    if not fits.all():
        offsets[~fits] = 0
    scalar = fits & (octets[offsets] == VALUE_SCALAR)
    kinds = (scalar & (after - offsets == 5)) * np.uint8(SCALAR)
    offsets += 1
    sizes = np.full(len(rows), 4, np.int64)
    for others, read in ((scalar & (kinds == 0), _exact), (fits & ~scalar, _payload)):
        places = np.flatnonzero(others)
        if len(places):
            kinds[places], offsets[places], sizes[places] = read(octets, offsets[places], after[places])
    strange = np.flatnonzero(kinds == 0)
    tags[strange], tag_sizes[strange], offsets[strange] = 0, 0, 0
    numbers = known_tags.of(data, Tags(tags, tag_sizes))
    return Entries(rows, kinds, numbers, offsets, sizes, numbers_at(data, kinds, offsets))


def _long_value(octets: _Bytes, at: Ints) -> tuple[Ints, Ints, Ints]:
    """End of the value, offset and length of its tag, when a length takes more than one byte."""
    last = len(octets) - 1
    length, inner = varints(octets, at + 1)
    inner = np.minimum(inner, last)
    tag_sizes, tags = varints(octets, np.minimum(inner + 1, last))
    fits = (octets[at] == SUMMARY_VALUE) & (octets[inner] == VALUE_TAG)
    fits &= (length >= 0) & (length < FAR) & (tag_sizes >= 0) & (tag_sizes <= LONGEST)
    return np.where(fits, inner + length, FAR), tags, tag_sizes


def _exact(octets: _Bytes, at: Ints, after: Ints) -> tuple[_Bytes, Ints, Ints]:
    """A float32 and behind it the same number as float64."""
    fits = (after - at == 14) & (octets[at + 4] == _EXACT_KEY[0]) & (octets[at + 5] == _EXACT_KEY[1])
    return fits * np.uint8(EXACT), at + 6, np.full(len(at), 8, np.int64)


def _payload(octets: _Bytes, at: Ints, after: Ints) -> tuple[_Bytes, Ints, Ints]:
    lengths, offsets = varints(octets, at)
    fits = (lengths >= 0) & (offsets + lengths == after)
    return fits * _PAYLOADS[octets[at - 1]], offsets, lengths
