"""CSV is made a piece at a time: no piece may know less than the whole."""

import csv
from typing import Any

import numpy as np

from mindinsight.server.http.scalar_csv import csv_of
from mindinsight.server.store.series import ScalarPart, ScalarSeries

ROWS = 45_000  # three pieces
BACK = 30_000  # row at which steps go back to 1


def rows_of(overwritten: Any) -> list[Any]:
    steps = np.concatenate((np.arange(BACK), np.arange(1, ROWS - BACK + 1)))
    rows = np.arange(ROWS, dtype=np.float64)
    part = ScalarPart(steps, rows / 8, rows.astype(np.float32), np.array([0, BACK]))
    text = "".join(csv_of([("./run", "loss", ScalarSeries("loss", [part], 1))], overwritten))
    return list(csv.DictReader(text.splitlines()))


def test_the_line_is_written_in_the_order_of_steps() -> None:
    rows = rows_of(overwritten=False)
    assert list(rows[0]) == ["run", "tag", "step", "wall_time", "value"]
    assert [int(row["step"]) for row in rows] == list(range(BACK))
    assert [float(row["value"]) for row in rows] == [0, *range(BACK, ROWS), *range(ROWS - BACK + 1, BACK)]


def test_overwritten_rows_are_marked_in_every_piece() -> None:
    rows = rows_of(overwritten=True)
    assert [float(row["value"]) for row in rows] == list(range(ROWS))
    assert [int(row["overwritten"]) for row in rows] == [0] + [1] * (ROWS - BACK) + [0] * (BACK - 1)
