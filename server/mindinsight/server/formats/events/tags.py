"""Hash table of tags: each distinct tag gets a number, all tags of a batch at once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from mindinsight.server.formats.events.fields import tag_text
from mindinsight.server.formats.wire_format import unaligned
from mindinsight.server.types import Ints

LONGEST: Final = 512  # bytes of a tag that is compared here; longer ones are left to be read one by one
_LOW_BYTES: Final = np.array([(1 << 8 * size) - 1 for size in range(8)], np.uint64)
_ODD: Final = 0x9E3779B97F4A7C15  # multiplicative hashing, Knuth TAOCP 6.4
_FEWEST: Final = 6  # bits that choose the slot
_MOST: Final = 16
_ROUNDS: Final = 2

_Words = npt.NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class Tags:
    """Where tags lie; eight bytes can be read at each offset."""

    offsets: Ints
    sizes: Ints  # at most LONGEST


class TagNumbers:
    """The numbers of the tags met so far, in a hash table whose slots hold one tag each.

    Two tags that have one slot take it from each other, or are looked up in a dictionary: nothing depends on
    the hash but speed.
    """

    def __init__(self, most: int) -> None:
        """``most`` tags can be met; a table for many would take longer to make than few take to find."""
        self._bits = min(max(most.bit_length(), _FEWEST), _MOST)
        self._texts: dict[str, int] = {}
        self._numbers = np.full(1 << self._bits, -1, np.int64)
        self._words: list[_Words] = []  # of the tag in each slot
        self._owners = np.zeros(1 << self._bits, np.int64)

    @property
    def names(self) -> list[str]:
        """The tags by number."""
        return list(self._texts)

    def of(self, data: bytes, tags: Tags) -> Ints:
        """The number of each tag; new tags get the next numbers."""
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
        """What the slots of some tags say, and which of them hold another tag or none."""
        numbers = self._numbers[slots]
        known = numbers >= 0
        for word, column in zip(words, self._words, strict=False):
            known &= word == column[slots]
        return numbers, np.flatnonzero(~known)

    def _texts_of(self, data: bytes, tags: Tags, places: Ints) -> list[int]:
        """The numbers of the tags at ``places`` by their texts."""
        begins = tags.offsets[places]
        ends = (begins + tags.sizes[places]).tolist()
        texts = (tag_text(data[at:end]) for at, end in zip(begins.tolist(), ends, strict=True))
        return [self._texts.setdefault(text, len(self._texts)) for text in texts]


def _words(data: bytes, tags: Tags) -> Iterator[_Words]:
    """The tags as columns of numbers, the first the size: equal columns, equal tags."""
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
    """Some bits of a hash of each tag: the highest, which a product mixes best."""
    hashes, factor = np.zeros(len(words[0]), np.uint64), _ODD
    for word in words:
        hashes += word * np.uint64(factor)
        factor = factor * _ODD % (1 << 64)
    return (hashes >> np.uint64(64 - bits)).astype(np.int64)
