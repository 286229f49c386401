"""Which operator is which: by map, name, plain name, and order."""

from typing import Any

import pytest

from mindinsight.server.debug.compare.matching import (
    group_by_operator,
    match_operators,
    match_slots,
    plain_name,
)
from mindinsight.server.formats.dumps.types import TensorEntry
from tests.narrowing import require


def entry(
    operator: Any, direction: Any = "output", slot: Any = "0", shape: Any = (2, 2), graph: Any = ""
) -> Any:
    position: dict[str, Any] = {"rank": 0, "step": 0, "sequence": 0, "order": 0, "timestamp": 0, "ref": None}
    names: dict[str, Any] = {"operator": operator, "recorded": operator, "type": "x", "graph": graph}
    return TensorEntry(**position, **names, direction=direction, slot=slot, shape=shape, dtype="", format="")


def matches(targets: Any, references: Any, names: Any = None) -> Any:
    ours, theirs = (
        group_by_operator(entry(*item) if isinstance(item, tuple) else entry(item) for item in side)
        for side in (targets, references)
    )
    pairs = match_operators(ours, theirs, names or {}, lambda item: item.shape)
    return [(m.target and m.target.recorded, m.reference and m.reference.recorded, m.way) for m in pairs]


def test_the_same_names_belong_together_whatever_their_order() -> None:
    assert matches(["a", "b"], ["b", "a"]) == [("a", "a", "name"), ("b", "b", "name")]


def test_a_map_goes_before_names() -> None:
    assert matches(["a", "b"], ["a", "b"], {"a": "b"}) == [("a", "b", "map"), ("b", "a", "order")]


def test_names_that_differ_in_numbers_are_paired_in_order() -> None:
    pairs = matches(["x/TopK-op1", "x/TopK-op2"], ["x/TopK-op0", "x/TopK-op2"])
    assert pairs == [("x/TopK-op1", "x/TopK-op0", "alike"), ("x/TopK-op2", "x/TopK-op2", "alike")]


def test_what_no_name_joins_is_aligned_by_direction_and_shape() -> None:
    ours = [("f", "output", "0", (4, 8)), ("g", "output", "0", (4, 2)), ("g.backward", "output", "0", (4, 2))]
    theirs = [("u", "output", "0", (4, 8)), ("v", "output", "0", (9, 9)), ("w", "output", "0", (4, 2))]
    assert matches(ours, theirs) == [
        ("f", "u", "order"),
        ("g", "w", "order"),
        ("g.backward", None, "none"),
        (None, "v", "none"),
    ]


def test_another_graph_is_another_operator_of_the_same_name() -> None:
    ours = group_by_operator([entry("a", graph="g0"), entry("a", graph="g1")])
    theirs = group_by_operator([entry("a", graph="g1"), entry("a", graph="g0")])
    pairs = match_operators(ours, theirs, {}, lambda item: item.shape)
    assert [(require(m.target).graph, require(m.reference).graph) for m in pairs] == [
        ("g0", "g0"),
        ("g1", "g1"),
    ]


def test_slots_are_paired_by_name_then_by_order_and_none_is_lost() -> None:
    ours = group_by_operator(
        [entry("a", "input", "0"), entry("a", "parameter", "gamma"), entry("a", "output", "0")]
    )
    theirs = group_by_operator(
        [
            entry("a", "input", "x"),
            entry("a", "input", "1"),
            entry("a", "parameter", "weight"),
            entry("a", "output", "0"),
        ]
    )
    (match,) = match_operators(ours, theirs, {}, lambda item: item.shape)
    pairs = [(p.target and p.target.slot, p.reference and p.reference.slot) for p in match_slots(match)]
    assert pairs == [("0", "x"), ("gamma", "weight"), ("0", "0"), (None, "1")]


@pytest.mark.parametrize(
    ("name", "plain"),
    [
        ("Cell.fc1.Dense.forward.0", "fc1.forward.0"),
        ("Module.layers.0.fc1.Linear.parameters_grad.3", "layers.0.fc1.parameters_grad.3"),
        ("Functional.relu.0.forward", ".relu.forward.0"),
        ("Primitive.relu.ReLU.0.forward", ".relu.forward.0"),
        ("Default/network/TopK-op12", "Default/network/TopK"),
        ("conv1.weight", "conv1.weight"),
    ],
)
def test_plain_names(name: Any, plain: Any) -> None:
    assert plain_name(name) == plain
