"""The piece of a graph that a report draws: what comes before an operator, and what it feeds."""

from mindinsight.server.formats.dumps.types import Operator
from mindinsight.server.report.graph_piece import MOST, ancestors, graph_piece


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
