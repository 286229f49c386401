"""Whole series as CSV and Arrow."""

import csv
import io
from typing import Any

import numpy as np
import pyarrow as pa

from .runs import WALL, part, run


def test_a_download_holds_every_point(ask: Any) -> None:
    values = np.random.default_rng(3).standard_normal(45_000).astype(np.float32)
    values[7] = np.nan
    steps = np.concatenate((np.arange(30_000), np.arange(15_000)))
    client = ask(
        run("./a", loss=[part(steps, values)], **{'t,"x"': [part([1], [2])], "=cmd()": [part([1], [2])]})
    )
    whole = {"run": "./a", "tag": ["loss", 't,"x"', "=cmd()"], "overwritten": True}
    answer = client.get("/download", params=whole)
    assert "attachment" in answer.headers["content-disposition"]
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    assert len(rows) == 45_002
    np.testing.assert_array_equal(np.array([row["value"] for row in rows[:45_000]], np.float32), values)
    assert [row["overwritten"] for row in rows].count("1") == 15_000
    assert (rows[14_999]["overwritten"], rows[15_000]["overwritten"]) == ("1", "0")
    assert float(rows[1]["wall_time"]) == WALL + 0.5
    assert rows[-2]["tag"] == 't,"x"'
    assert rows[-1]["tag"] == "'=cmd()"
    line = list(
        csv.DictReader(io.StringIO(client.get("/download", params={**whole, "overwritten": False}).text))
    )
    assert [int(row["step"]) for row in line] == [*range(30_000), 1, 1]
    stream = client.get("/download", params={**whole, "tag": ["loss", "=cmd()"], "format": "arrow"})
    table = pa.ipc.open_stream(stream.content).read_all()
    assert table.num_rows == 45_001
    assert table.column("overwritten").to_pylist().count(True) == 15_000
    assert table.column("tag")[-1].as_py() == "=cmd()"
    np.testing.assert_array_equal(table.column("value").to_numpy()[:45_000], values.astype(np.float64))
