"""The rule for steps that go back: which recorded rows make the line of a series, and which were overwritten.

The line has its steps in order, and for each step the value that was written last. A newer file that begins
at step s overwrites every row of the older files from s on, as a training resumed from a checkpoint means it.
Within one file a step that goes back takes its place in the order. This is also MindInsight's rule.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from mindinsight.server.types import Doubles, Floats, Ints


@dataclass(frozen=True, slots=True)
class Line:
    """Points of a scalar series with strictly ascending steps."""

    steps: Ints  # [n]
    walls: Doubles  # [n] Unix seconds
    values: Floats  # [n]

    def rows(self, rows: Any) -> Line:
        return Line(self.steps[rows], self.walls[rows], self.values[rows])


def line_rows(steps: Ints, files: Ints) -> Ints | None:
    """Rows of the line in the order of their steps; None when that is every row as recorded.

    ``steps`` [n] are those of all files, oldest first; ``files`` [f] the row at which each file begins.
    """
    if bool(np.all(steps[1:] > steps[:-1])):
        return None
    valid = np.flatnonzero(_below_newer_files(steps, files))
    order = valid[np.argsort(steps[valid], kind="stable")]
    ordered = steps[order]
    line: Ints = order[np.append(ordered[1:] != ordered[:-1], True)]
    return line


def _below_newer_files(steps: Ints, files: Ints) -> npt.NDArray[np.bool_]:
    """[n] whether a row lies below the first step of every newer file."""
    below = np.ones(len(steps), dtype=np.bool_)
    bound = steps[files[-1] :].min()
    for first, end in zip(files[-2::-1], files[:0:-1], strict=True):
        of_file = steps[first:end]
        below[first:end] = of_file < bound
        bound = min(bound, of_file.min())
    return below


def overwritten_stretches(steps: Ints, starts: Ints, rows: Ints) -> list[Ints]:
    """Rows that are not in the line, as stretches of neighbouring rows with ascending steps, oldest first.

    ``starts`` [s] are the rows at which steps go back, the first is 0; ``rows`` those of the line. A step
    that was recorded twice in a row is no stretch: its later value has taken its place.
    """
    lost = np.ones(len(steps), dtype=np.bool_)
    lost[rows] = False
    begins = np.zeros(len(steps), dtype=np.bool_)
    begins[starts] = True
    last_of_step = np.ones(len(steps), dtype=np.bool_)
    last_of_step[:-1] = (steps[1:] != steps[:-1]) | begins[1:]
    distinct = np.flatnonzero(last_of_step)
    segment = np.searchsorted(starts, distinct, side="right")
    places = np.flatnonzero(lost[distinct])
    if not len(places):
        return []
    cuts = np.flatnonzero((np.diff(places) != 1) | (np.diff(segment[places]) != 0)) + 1
    return [distinct[part] for part in np.split(places, cuts)]
