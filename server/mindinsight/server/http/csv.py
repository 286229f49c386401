"""Scalar series as CSV, for downloads and for the command line: every point, a piece of text at a time."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

import numpy as np

from mindinsight.server.store.series import Columns
from mindinsight.server.types import Ints

_ROWS: Final = 20_000  # rows made at a time
_HEAD: Final = "run,tag,segment,step,wall_time,value\r\n"


def csv_of(series: Iterable[tuple[str, str, Columns]]) -> Iterator[str]:
    """A head and one line for each point of every (run, tag, columns), in file order."""
    yield _HEAD
    for run, tag, columns in series:
        label = f"{_quoted(run)},{_quoted(tag)}"
        for start in range(0, len(columns.steps), _ROWS):
            yield _lines(label, columns, start)


def segments_of(columns: Columns, rows: slice = slice(None)) -> Ints:
    """[n] number of the segment of each of these rows, 0 the oldest."""
    places = np.arange(*rows.indices(len(columns.steps)))
    return np.searchsorted(columns.starts, places, side="right") - 1


def _lines(label: str, columns: Columns, start: int) -> str:
    rows = slice(start, start + _ROWS)
    numbers = zip(
        segments_of(columns, rows).tolist(),
        columns.steps[rows].tolist(),
        columns.walls[rows].tolist(),
        _texts(columns, rows),
        strict=True,
    )
    return "".join(f"{label},{part},{step},{wall!r},{value}\r\n" for part, step, wall, value in numbers)


def _texts(columns: Columns, rows: slice) -> list[str]:
    """Shortest decimals that read back as the recorded number, in its own precision."""
    return [str(value) for value in columns.values[rows]]


def _quoted(text: str) -> str:
    """A CSV field; one that a spreadsheet would take for a formula is made plain text."""
    safe = "'" + text if text[:1] in ("=", "+", "-", "@", "\t", "\r") else text
    return '"' + safe.replace('"', '""') + '"' if re.search(r'[",\r\n]', safe) else safe
