"""What one file holds of one tag: views of arrays that only ever grow behind the view."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np

from mindinsight.server.types import Doubles, Floats, Ints


class ScalarPart(NamedTuple):
    """The rows of one scalar tag in one file; there is at least one."""

    steps: Ints  # [n]
    walls: Doubles  # [n] Unix seconds
    values: Floats  # [n]
    starts: Ints  # [s] rows at which the step went back; the first is 0


@dataclass(frozen=True, slots=True)
class ReferencePart:
    """The rows of one tag of one kind whose payloads stay in the file; there is at least one."""

    path: str  # absolute
    device: int
    inode: int
    steps: Ints  # [n]
    walls: Doubles  # [n] Unix seconds
    offsets: Ints  # [n] first byte of each payload in the file
    sizes: Ints  # [n] bytes
    starts: Ints  # [s] rows at which the step went back; the first is 0


Part: TypeAlias = ScalarPart | ReferencePart


def segment_rows(parts: Sequence[Part]) -> Ints:
    """Row at which each segment starts over files in order, oldest first.

    A file that goes on at or above the step where the one before it ended continues that segment:
    it was rolled over, or a training resumed without repeating anything.
    """
    row = 0
    starts: list[Ints] = []
    for number, part in enumerate(parts):
        continues = number > 0 and part.steps[0] >= parts[number - 1].steps[-1]
        starts.append((part.starts[1:] if continues else part.starts) + row)
        row += len(part.steps)
    return np.concatenate(starts)


def file_rows(parts: Sequence[Part]) -> Ints:
    """Row at which each file's rows start; the first is 0."""
    lengths = np.array([0, *(len(part.steps) for part in parts[:-1])], dtype=np.int64)
    return np.cumsum(lengths)
