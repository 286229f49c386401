"""Rows of a range, and the columns that a chart of one line needs."""

import math
from typing import Any

import numpy as np
import pytest

from mindinsight.server.errors import ApiError
from mindinsight.server.plugins.scalar.lines import (
    View,
    drawn_line,
    drawn_series,
    gone_rows,
    inside,
    line_between,
    newest_rows,
)
from tests.server.plugins.scalar.runs import part, run

X = np.array([1.0, 2.0, 4.0, 8.0])


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (None, None, [1, 2, 4, 8]),
        (2, 4, [1, 2, 4, 8]),  # a neighbour on each side
        (4, None, [2, 4, 8]),
        (None, 1, [1, 2]),
        (5, 6, [4, 8]),  # between two points
        (9, 10, [8]),
        (-2, 0, [1]),
    ],
)
def test_a_range_has_one_neighbour_on_each_side(
    low: float | None, high: float | None, expected: list[float]
) -> None:
    assert X[inside(X, low, high)].tolist() == expected


def test_of_no_points_none_are_in_a_range() -> None:
    assert X[:0][inside(X[:0], 1, 2)].tolist() == []


def columns(answer: dict[str, Any], *names: str) -> list[list[float]]:
    return [answer[name].tolist() for name in names]


def test_columns_on_each_axis() -> None:
    entry = run("./a", loss=[part([1, 2, 4], [10.0, 20.0, 40.0])], lr=[part([2, 4], [0.5, 0.25])])
    line = entry.scalars["loss"].line()
    start = float(line.walls[0])
    assert columns(drawn_line(entry, line, View(0), start), "step", "value") == [[1, 2, 4], [10, 20, 40]]
    relative = drawn_line(entry, line, View(0, "relative"), start)
    assert relative["x"].tolist() == (line.walls - start).tolist()
    assert columns(drawn_line(entry, line, View(0, "tag:lr"), start), "x", "value") == [[0.5, 0.25], [20, 40]]
    assert columns(drawn_line(entry, line, View(0, "tag:none"), start), "step") == [[]]
    with pytest.raises(ApiError, match="not 'epoch'"):
        drawn_line(entry, line, View(0, "epoch"), start)


def test_a_range_of_a_line_has_its_ends_and_nothing_beside_them() -> None:
    entry = run("./a", loss=[part([1, 2, 4, 8], [1.0, 2.0, 3.0, 4.0])])
    line = line_between(entry, "loss", View(0, low=2, high=4))
    assert line is not None
    assert line.steps.tolist() == [2, 4]
    assert line_between(entry, "none", View(0)) is None


def test_a_line_of_fewer_points_is_not_smoothed() -> None:
    entry = run("./a", loss=[part([1, 2, 3], [0.0, 1.0, 0.0])])
    assert "smooth" in drawn_series(entry, "loss", View(0, weight=0.5, least=3), False)
    assert "smooth" not in drawn_series(entry, "loss", View(0, weight=0.5, least=4), False)


def test_the_last_value_is_json_whatever_it_is() -> None:
    entry = run("./a", loss=[part([1, 2], [1.0, math.inf])])
    assert drawn_series(entry, "loss", View(0), False)["last"][2] == "inf"


def test_newest_rows_follow_or_the_whole_is_asked_for() -> None:
    entry = run("./a", loss=[part([1, 2, 3], [1.0, 2.0, 3.0])])
    generation = entry.scalars["loss"].generation
    tail = newest_rows(entry, "loss", 2, generation, View(0))
    assert (tail["whole"], tail["step"].tolist(), tail["count"]) == (False, [3], 3)
    for since, known in ((0, generation), (4, generation), (2, generation + 1)):
        assert newest_rows(entry, "loss", since, known, View(0))["whole"]
    restarted = run("./a", loss=[part([1, 2, 3], [1.0, 2.0, 3.0]), part([2], [9.0])])
    generation = restarted.scalars["loss"].generation
    assert newest_rows(restarted, "loss", 3, generation, View(0))["whole"]
    assert newest_rows(entry, "none", 2, generation, View(0)).keys() == gone_rows("./a").keys()
