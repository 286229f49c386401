"""CSV is made a piece at a time: no piece may know less than the whole."""

import csv

import numpy as np

from mindinsight.server.http.csv import csv_of, segments_of
from mindinsight.server.store.series import Columns

ROWS = 45_000  # three pieces
STARTS = np.array([0, 19_999, 30_000])


def columns():
    steps = np.arange(ROWS)
    return Columns(steps=steps, walls=steps / 8, values=np.sqrt(steps).astype(np.float32), starts=STARTS)


def test_every_piece_tells_the_segments_of_its_own_rows():
    rows = list(csv.DictReader("".join(csv_of([("./run", "loss", columns())])).splitlines()))
    assert [int(row["step"]) for row in rows] == list(range(ROWS))
    assert [int(row["segment"]) for row in rows] == [0] * 19_999 + [1] * 10_001 + [2] * 15_000


def test_segments_of_some_rows_are_those_of_all():
    whole = segments_of(columns())
    for rows in (slice(0, 5), slice(19_990, 30_010), slice(40_000, 60_000)):
        assert segments_of(columns(), rows).tolist() == whole[rows].tolist()
