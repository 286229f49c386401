"""Prefix decoder: the scalars that many records begin with, read as columns like records of one shape.

A training loop records the same few scalars in every step before whatever else it records in some.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Final

import numpy as np
import numpy.typing as npt

from mindinsight.server.formats.events.chunk import Scalars
from mindinsight.server.formats.events.fields import SUMMARY_VALUE, VALUE_TAG, tag_text
from mindinsight.server.types import Ints

_LONGEST: Final = 1 << 11  # bytes of such scalars
_FEWEST: Final = 64  # records that are worth the set-up
_TRIES: Final = 2  # records whose beginning is looked for in the others
_SAMPLE: Final = 256  # records in which it is found out how many of the values are common
_RARE: Final = 4  # a value is common when one in so many records has it
_LONGEST_TAG: Final = 100  # bytes; the lengths of value and tag take one byte each

_Bytes = npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class _Step:
    """One scalar of a record that serves as the model; offsets from where its values begin."""

    tag: str
    begin: int
    number: int  # offset of its float32
    fixed: bytes  # from begin up to number

    @property
    def end(self) -> int:
        return self.number + 4


def read_prefixes(
    data: bytes, rows: Ints, at: Ints, ends: Ints, scalar_key: int
) -> tuple[list[Scalars], Ints]:
    """Scalars that the records ``rows`` begin with as one of them does, and where each record goes on.

    Their values lie from ``at`` to ``ends``, one of each per row; ``scalar_key`` is that of a float32.
    """
    pieces: list[Scalars] = []
    goes_on = at.copy()
    left = np.flatnonzero(at + _LONGEST <= len(data))
    for _ in range(_TRIES):
        if len(left) < _FEWEST:
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
    """The scalars from ``at``, up to a value that is none, or has a tag that was before."""
    value_at, seen = at, set()
    while value_at < end:
        size = data[value_at + 3]
        tag_end = value_at + 4 + size
        if size > _LONGEST_TAG or tag_end + 5 - at > _LONGEST or data[tag_end] != scalar_key:
            return
        tag = tag_text(data[value_at + 4 : tag_end])
        if data[value_at : value_at + 4] != bytes([SUMMARY_VALUE, size + 7, VALUE_TAG, size]) or tag in seen:
            return
        seen.add(tag)
        yield _Step(tag, value_at - at, tag_end + 1 - at, data[value_at : tag_end + 1])
        value_at = tag_end + 5


def _windows(data: bytes, steps: list[_Step], at: Ints) -> _Bytes:
    """The bytes from each of ``at`` on that all ``steps`` take."""
    size = steps[-1].end
    return np.ndarray((len(data) - size + 1, size), np.uint8, data, 0, (1, 1))[at]


def _counts(matrix: _Bytes, steps: list[_Step], room: Ints) -> Ints:
    """How many of ``steps`` each record goes along with, of which so many bytes are left."""
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
    """Steps that the same records go along with, as one piece."""
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
