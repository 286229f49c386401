"""CSV encoder of scalar series, for downloads and for the command line. Yields a chunk of text at a time."""

import re
from collections.abc import Iterable, Iterator
from itertools import repeat
from typing import Final

from mindinsight.server.store.series import Line, Recorded, ScalarSeries
from mindinsight.server.texts import plain_text

_ROWS: Final = 20_000  # rows of a chunk
_HEAD: Final = "run,tag,step,wall_time,value"


def csv_of(series: Iterable[tuple[str, str, ScalarSeries]], overwritten: bool = False) -> Iterator[str]:
    """Yield a head and one row for each point of the line of every (run, tag, series). With `overwritten`,
    yield every recorded row in file order, with a column `overwritten` that is 1 if a later row replaced
    it."""
    yield f"{_HEAD},overwritten\r\n" if overwritten else f"{_HEAD}\r\n"
    for run, tag, scalars in series:
        label = f"{csv_field(run)},{csv_field(tag)}"
        points = scalars.recorded() if overwritten else scalars.line()
        yield from csv_rows(label, points)


def csv_rows(label: str, points: Line | Recorded) -> Iterator[str]:
    """Yield the rows of one series, which begin with `label`, many in each text."""
    for start in range(0, len(points.steps), _ROWS):
        yield _text(label, points, slice(start, start + _ROWS))


def _text(label: str, points: Line | Recorded, rows: slice) -> str:
    marks = (f",{int(old)}" for old in points.overwritten[rows]) if isinstance(points, Recorded) else None
    numbers = zip(
        points.steps[rows].tolist(),
        points.walls[rows].tolist(),
        map(str, points.values[rows]),  # the shortest decimals that read back, in the recorded precision
        marks or repeat(""),
        strict=False,
    )
    return "".join(f"{label},{step},{wall!r},{value}{mark}\r\n" for step, wall, value, mark in numbers)


def csv_field(text: str) -> str:
    """Return text as a field of CSV."""
    safe = plain_text(text)
    return '"' + safe.replace('"', '""') + '"' if re.search(r'[",\r\n]', safe) else safe
