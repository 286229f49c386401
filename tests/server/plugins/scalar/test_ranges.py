"""Statistics of a range of a curve."""

from typing import Any

import numpy as np
import pytest

from .runs import WALL, part, run


def test_statistics_of_a_range(ask: Any) -> None:
    client = ask(run("./a", loss=[part([1, 2, 3, 4], [4, 3, 2, 1])]))
    answer = client.get("/statistics", params={"tag": "loss", "run": "./a", "low": 2, "high": 3}).json()
    assert answer["rows"][0]["count"] == 2
    assert answer["rows"][0]["max"] == 3


@pytest.mark.parametrize(("x", "low", "high", "steps"), [
    ("relative", 0.5, 1.0, [2, 3]),
    ("relative", None, 0.0, [1]),
    ("wall", WALL + 1.5, None, [4, 4]),
    ("tag:rate", 20, 30, [2, 3]),
    ("tag:rate", None, None, [1, 4]),
    ("tag:none", 0, 1, []),
    ("step", 9, 10, []),
])  # fmt: skip
def test_statistics_of_a_range_on_any_axis(ask: Any, x: str, low: Any, high: Any, steps: Any) -> None:
    rate = part([1, 2, 3], [10, 20, 30])
    client = ask(run("./a", loss=[part([1, 2, 3, 4], [4, 3, 2, 1])], rate=[rate]))
    params = {"tag": "loss", "run": "./a", "x": x, "low": low, "high": high}
    given = {name: value for name, value in params.items() if value is not None}
    (row,) = client.get("/statistics", params=given).json()["rows"]
    ends = [row["first_step"], row["last_step"]] if row["count"] else []
    assert ends == ([steps[0], steps[-1]] if steps else [])


def test_statistics_of_a_restarted_run_count_time_from_its_first_start(ask: Any) -> None:
    later = part([2, 3], [20, 30])
    again = later._replace(walls=later.walls + 9.5)
    client = ask(run("./a", loss=[part([1, 2, 3], np.arange(3)), again]))
    params = {"tag": "loss", "run": "./a", "x": "relative", "low": 9.9}
    (row,) = client.get("/statistics", params=params).json()["rows"]
    assert (row["count"], row["first_step"]) == (1, 3)


def test_an_axis_without_a_meaning_is_refused_for_statistics_too(ask: Any) -> None:
    client = ask(run("./a", loss=[part([1, 2], [1, 2])]))
    params = {"tag": "loss", "run": "./a", "x": "colour", "low": 0}
    assert client.get("/statistics", params=params).status_code == 422
