"""Model of a round: records that follow each other again and again, as one row of a matrix of bytes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np
import numpy.typing as npt

from mindinsight.proto.framing import FOOTER_SIZE, HEADER_SIZE, masked_crc
from mindinsight.server.formats.events.record_shape import RecordShape
from mindinsight.server.types import Ints

CACHED: Final = 1 << 18  # bytes of a matrix worked on at a time, to stay in the processor's cache
_WIDE: Final = 1 << 11  # bytes of a row that is compared at once, at least: several short rounds
_WORD: Final = 8  # bytes compared as one number, several times as fast as one by one
_HEADER_MASK: Final = np.full(HEADER_SIZE, 0xFF, np.uint8)
_FOOTER_MASK: Final = np.zeros(FOOTER_SIZE, np.uint8)


@dataclass(frozen=True, slots=True, eq=False)
class Round:
    """The records of a round; offsets count from the first header."""

    shapes: tuple[RecordShape, ...]
    begins: tuple[int, ...]  # of the payloads
    stride: int  # bytes
    several: int  # rounds that are compared as one row, of whole words
    mask: npt.NDArray[np.uint8]  # [several * stride] which bits are the same in all rounds
    fixed: npt.NDArray[np.uint8]  # [several * stride] these bits

    def starts(self, at: int, count: int) -> Ints:
        """Starts of the records of ``count`` rounds from ``at`` on."""
        heads = np.array(self.begins, np.int64) - HEADER_SIZE
        return (at + self.stride * np.arange(count)[:, None] + heads).ravel()

    def count(self, data: bytes, start: int, most: int) -> int:
        """How many of at most ``most`` rounds follow each other from ``start``, headers and tags alike."""
        batch = max(CACHED // (self.several * self.stride), 1) * self.several
        for first in range(0, most, batch):
            tried = min(batch, most - first)
            agreeing = self._alike(data, start + first * self.stride, tried)
            if agreeing < tried:
                return first + agreeing
        return most

    def _alike(self, data: bytes, start: int, rounds: int) -> int:
        """How many of ``rounds`` from ``start`` on are like the model, up to the first that is not."""
        octets = np.frombuffer(data, np.uint8, rounds * self.stride, start)
        row = self.several * self.stride
        at = len(octets) - len(octets) % row
        words = octets[:at].reshape(-1, row).view(np.uint64)
        same = (words & self.mask.view(np.uint64)) == self.fixed.view(np.uint64)
        if not same.all():
            at = int(same.argmin()) * _WORD // row * row
        last = octets[at : at + row]
        alike = (last & self.mask[: len(last)]) == self.fixed[: len(last)]
        return rounds if alike.all() else (at + int(alike.argmin())) // self.stride


@lru_cache(maxsize=64)  # shapes are the same objects in all files that record the same tags
def joined(shapes: tuple[RecordShape, ...]) -> Round:
    """The round of records of these shapes."""
    masks, fixed, begins, at = [], [], [], 0
    for shape in shapes:
        masks += [_HEADER_MASK, shape.mask, _FOOTER_MASK]
        length = len(shape.mask).to_bytes(HEADER_SIZE - 4, "little")
        header = length + masked_crc(length).to_bytes(4, "little")
        fixed += [np.frombuffer(header, np.uint8), shape.fixed, _FOOTER_MASK]
        begins.append(at + HEADER_SIZE)
        at += HEADER_SIZE + len(shape.mask) + FOOTER_SIZE
    unit = _WORD // math.gcd(_WORD, at)
    several = math.ceil(_WIDE / at / unit) * unit
    columns = [np.tile(np.concatenate(arrays), several) for arrays in (masks, fixed)]
    return Round(shapes, tuple(begins), at, several, *columns)
