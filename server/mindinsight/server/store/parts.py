"""Parts of a series: the rows of one tag in one file, as views of arrays that grow behind them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

import numpy as np

from mindinsight.server.types import Doubles, Floats, Ints, Kind

Transcode: TypeAlias = Callable[[Kind, bytes], bytes]
NO_ROWS: Ints = np.empty(0, np.int64)
NO_ROWS.flags.writeable = False


def _no_rows() -> Ints:
    return NO_ROWS


class ScalarPart(NamedTuple):
    """The rows of one scalar tag in one file; there is at least one."""

    steps: Ints  # [n]
    walls: Doubles  # [n] Unix seconds
    values: Floats  # [n]
    starts: Ints  # [s] rows at which the step went back; the first is 0
    sessions: Ints = NO_ROWS  # [t] rows at which a later session begins


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
    sessions: Ints = field(default_factory=_no_rows)  # [t] rows at which a later session begins
    transcode: Transcode | None = None  # makes our message of a payload in another format


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
    """Row at which each file's rows start, or those of a later session in it; the first is 0."""
    lengths = np.array([0, *(len(part.steps) for part in parts[:-1])], dtype=np.int64)
    begins = np.cumsum(lengths)
    if not any(len(part.sessions) for part in parts):
        return begins
    sessions = [part.sessions + begin for part, begin in zip(parts, begins.tolist(), strict=True)]
    return np.unique(np.concatenate([begins, *sessions]))
