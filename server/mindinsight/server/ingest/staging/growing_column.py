"""Columns that grow at their end while readers hold views of them."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from mindinsight.server.types import Doubles, Ints

_SMALLEST: Final = 16  # rows
_LARGE: Final = 65_536  # rows
_MUCH_SPARE: Final = 16  # one row of room for so many rows


class GrowingColumn:
    """One column of which only rows beyond the ones already seen are ever written.

    Room doubles while it is small and later grows by a quarter: a row is copied a few times at most, and
    a large column never has much more room than rows.
    """

    __slots__ = ("_data", "_view", "count")

    def __init__(self, rows: npt.NDArray[Any]) -> None:
        """Take ``rows`` as they are; nobody else may write to them."""
        self._data = rows
        self._view: npt.NDArray[Any] | None = None
        self.count = len(rows)

    def append(self, rows: npt.NDArray[Any]) -> None:
        """Add rows; the column becomes float64 when float64 rows come to a float32 one."""
        end = self.count + len(rows)
        dtype = np.promote_types(self._data.dtype, rows.dtype)
        if end > len(self._data) or dtype != self._data.dtype or not self._data.flags.writeable:
            spare = self.count if self.count < _LARGE else self.count // 4
            grown = np.empty(max(end, self.count + spare, _SMALLEST), dtype)
            grown[: self.count] = self._data[: self.count]
            self._data = grown
        self._data[self.count : end] = rows
        self._view = None
        self.count = end

    def view(self) -> npt.NDArray[Any]:
        """The rows so far; read-only, the same for ever, and the same object until rows are added."""
        if self._view is None:
            self._view = self._data if self.count == len(self._data) else self._data[: self.count]
            if self._view.flags.writeable:
                self._view = self._view.view()
                self._view.flags.writeable = False
        return self._view

    def trim(self) -> bool:
        """Give up spare room when there is much of it; whether the rows lie elsewhere now."""
        spare = len(self._data) - self.count
        if spare * _MUCH_SPARE < self.count:
            return False
        self._data = self._data[: self.count].copy()
        self._view = None
        return True

    def share(self, other: GrowingColumn) -> None:
        """Hold the rows of ``other``, which are equal, in one piece of memory with it.

        Whichever of the two gets more rows first moves away, as neither may write there.
        """
        self._data = other._data = other.view()
        self._view = other._view = None
        self.count = other.count

    def relocate(self, rows: npt.NDArray[Any]) -> None:
        """Hold ``rows``, which are equal and read-only, instead of its own."""
        self._data, self._view = rows, None

    def copy(self) -> GrowingColumn:
        """A column of its own with the same rows."""
        return GrowingColumn(self._data[: self.count].copy())


class Axis:
    """Step and wall time of rows that came together, and where the step went back or a session began.

    Sessions of a training in one file are numbered; ``session`` is that of the last row.
    """

    __slots__ = ("session", "session_rows", "starts", "steps", "walls")

    def __init__(
        self, steps: Ints, walls: Doubles, starts: Ints | None = None, sessions: Ints | None = None
    ) -> None:
        """``sessions`` [n] is the session of each row; None when there is but one."""
        self.steps = GrowingColumn(steps)
        self.walls = GrowingColumn(walls)
        self.starts = GrowingColumn(_starts(steps, None) if starts is None else starts)
        self.session = 0 if sessions is None else int(sessions[0])
        self.session_rows: list[int] = []
        self._note_sessions(0, sessions)

    def append(self, steps: Ints, walls: Doubles, sessions: Ints | None = None) -> None:
        """Add rows; there is at least one."""
        self._note_sessions(self.steps.count, sessions)
        starts = _starts(steps, int(self.steps.view()[-1]))
        if len(starts):
            self.starts.append(starts + self.steps.count)
        self.steps.append(steps)
        self.walls.append(walls)

    def copy(self) -> Axis:
        copied = Axis.__new__(Axis)
        copied.steps, copied.walls, copied.starts = self.steps.copy(), self.walls.copy(), self.starts.copy()
        copied.session, copied.session_rows = self.session, list(self.session_rows)
        return copied

    def _note_sessions(self, row: int, sessions: Ints | None) -> None:
        """Note the rows from ``row`` on at which another session begins."""
        if sessions is not None:
            before = np.concatenate([[self.session], sessions[:-1]])
            self.session_rows += (np.flatnonzero(sessions != before) + row).tolist()
            self.session = int(sessions[-1])


def _starts(steps: Ints, before: int | None) -> Ints:
    """Rows at which a segment starts, given the step of the row before the first, None when there is none."""
    back = np.flatnonzero(steps[1:] < steps[:-1]) + 1
    if before is None or steps[0] < before:
        return np.concatenate([np.zeros(1, np.int64), back])
    return back
