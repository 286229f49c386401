"""The piece of a graph that a report draws: what comes before an operator, and what it feeds."""

import numpy as np
import pytest

from mindinsight.server.formats.dumps.dump_types import Operator
from mindinsight.server.report.report_content import (
    AFTER,
    BEFORE,
    HEIGHT,
    MOST,
    WIDTH,
    Curve,
    ancestors,
    curve_of,
    graph_piece,
)
from mindinsight.server.store.series import Line


def curve(values: list[float], step: int | None = None, first: int = 0) -> Curve:
    steps = np.arange(first, first + len(values), dtype=np.int64)
    result = curve_of("loss", Line(steps, steps.astype(np.float64), np.array(values, np.float32)), step)
    assert result is not None
    return result


def test_values_fill_the_height_and_steps_the_width() -> None:
    result = curve([0.0, 1.0, 0.5])
    assert result.segments == [f"0.0,{HEIGHT}.0 {WIDTH / 2},0.0 {WIDTH}.0,{HEIGHT / 2}"]
    assert (result.low, result.high, result.newest, result.points) == ("0", "1", "0.5", 3)
    assert (result.first, result.last, result.mark, result.broken) == (0, 2, None, [])


def test_a_line_is_broken_where_values_are_not_finite() -> None:
    result = curve([0.0, 1.0, float("nan"), 1.0, float("inf")])
    assert [segment.count(",") for segment in result.segments] == [2, 1]
    assert result.broken == [WIDTH / 2, WIDTH]
    assert (result.low, result.high, result.newest) == ("0", "1", "+Inf")


@pytest.mark.parametrize("values", [[3.0], [3.0, 3.0], [float("nan")] * 2])
def test_what_has_no_extent_lies_in_the_middle(values: list[float]) -> None:
    result = curve(values)
    heights = {point.split(",")[1] for segment in result.segments for point in segment.split()}
    assert heights <= {f"{HEIGHT / 2}"}
    assert bool(result.broken) == bool(np.isnan(values[0]))


def test_of_a_long_curve_the_points_around_the_step_are_drawn() -> None:
    result = curve([float(number) for number in range(1000)], step=500)
    assert (result.first, result.last) == (500 - BEFORE, 500 + AFTER - 1)
    assert result.mark == pytest.approx(WIDTH * BEFORE / (BEFORE + AFTER - 1), abs=0.1)
    assert (result.points, result.extent, result.newest) == (1000, (0, 999), "999")


def test_a_step_outside_the_curve_has_no_mark_and_no_points_no_curve() -> None:
    assert curve([1.0, 2.0], step=50).mark is None
    none = np.zeros(0, np.int64)
    assert curve_of("loss", Line(none, none.astype(np.float64), none.astype(np.float32)), None) is None


def operator(name: str, *sources: str, kind: str = "MatMul") -> Operator:
    return Operator(name, name, kind, tuple(name.split("/")[:-1]), "", 0, 0, sources=sources)


CHAIN = {
    entry.name: entry
    for entry in (
        operator("net/w", kind="Parameter"),
        operator("net/a"),
        operator("net/b", "net/a"),
        operator("net/c", "net/b", "net/w"),
        operator("net/d", "net/c", "absent"),
        operator("loss/e", "net/d"),
        operator("loss/f", "loss/e"),
    )
}


def test_ancestors_are_nearest_first_and_no_parameters() -> None:
    assert [entry.name for entry in ancestors(CHAIN, "loss/e")] == ["net/d", "net/c", "net/b"]
    assert ancestors(CHAIN, "net/a") == []
    assert ancestors(CHAIN, "absent") == []


def test_a_cycle_and_many_inputs_end() -> None:
    cycle = {"a": operator("a", "b"), "b": operator("b", "a")}
    assert [entry.name for entry in ancestors(cycle, "a")] == ["b"]
    sources = [f"s{number}" for number in range(100)]
    wide = {name: operator(name) for name in sources} | {"sum": operator("sum", *sources)}
    assert len(ancestors(wide, "sum")) == MOST


def test_the_drawing_has_scopes_operators_and_marks_the_one_in_question() -> None:
    piece = graph_piece(CHAIN.values(), "net/d")
    assert piece is not None
    assert [box.label for box in piece.boxes if box.fault] == ["d"]
    assert {box.label for box in piece.boxes if box.scope} == {"net", "loss"}
    assert {box.label for box in piece.boxes if not box.scope} == {"a", "b", "c", "d", "e"}
    assert len(piece.lines) >= 3
    for box in piece.boxes:
        assert 0 <= box.x <= box.x + box.width <= piece.width
        assert 0 <= box.y <= box.y + box.height <= piece.height


def test_an_operator_that_is_not_there_has_no_drawing() -> None:
    assert graph_piece(CHAIN.values(), "absent") is None
