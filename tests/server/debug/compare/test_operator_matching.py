"""Matching of operators by map, name, plain name, and order."""

import json
from pathlib import Path
from typing import Any

import pytest

from mindinsight.server.debug.compare.comparison_export import fields
from mindinsight.server.debug.compare.dump_comparison import Side, compare_sides
from mindinsight.server.debug.compare.operator_matching import (
    Difference,
    differences,
    group_by_operator,
    match_operators,
    match_slots,
    plain_name,
)
from mindinsight.server.formats.dumps import open_dump
from mindinsight.server.formats.dumps.dump_types import TensorEntry
from tests.narrowing import require
from tests.server.debug.conftest import DUMPS


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


def test_an_operator_more_on_one_side_shifts_no_other() -> None:
    """One that adds a number was inserted in the first block, so that the numbers behind it differ."""
    ours = [
        *(("a/add-op0", "input", slot) for slot in "01"), "a/add-op0",
        ("a/add-op1", "input", "0"), "a/add-op1",
        *(("a/add-op2", "input", slot) for slot in "01"), "a/add-op2",
        *(("b/add-op3", "input", slot) for slot in "01"), "b/add-op3",
    ]  # fmt: skip
    theirs = [
        *(("a/add-op0", "input", slot) for slot in "01"), "a/add-op0",
        *(("a/add-op1", "input", slot) for slot in "01"), "a/add-op1",
        *(("b/add-op2", "input", slot) for slot in "01"), "b/add-op2",
    ]  # fmt: skip
    pairs = {target: reference for target, reference, _ in matches(ours, theirs)}
    assert pairs == {
        "a/add-op0": "a/add-op0",
        "a/add-op1": None,
        "a/add-op2": "a/add-op1",
        "b/add-op3": "b/add-op2",
    }


def test_a_forward_operator_more_shifts_no_number_of_the_backward_pass() -> None:
    """PyTorch's operators are numbered by type over both passes: the clone in the loop moves all others."""
    ours = ["loop/clone-op0", "a/clone-op1", "Gradients/a/clone-op2", "Gradients/b/clone-op3"]
    theirs = ["a/clone-op0", "Gradients/a/clone-op1", "Gradients/b/clone-op2"]
    pairs = {target: reference for target, reference, _ in matches(ours, theirs)}
    assert pairs == {
        "loop/clone-op0": None,
        "a/clone-op1": "a/clone-op0",
        "Gradients/a/clone-op2": "Gradients/a/clone-op1",
        "Gradients/b/clone-op3": "Gradients/b/clone-op2",
    }


def test_fewer_recorded_operators_keep_their_names() -> None:
    pairs = matches(["a/add-op0", "b/add-op2"], ["a/add-op0", "a/add-op1", "b/add-op2"])
    assert [pair[:2] for pair in pairs] == [
        ("a/add-op0", "a/add-op0"),
        ("b/add-op2", "b/add-op2"),
        (None, "a/add-op1"),
    ]


def test_what_no_name_joins_is_aligned_by_direction_and_shape() -> None:
    ours = [("f", "output", "0", (4, 8)), ("g", "output", "0", (4, 2)), ("g.backward", "output", "0", (4, 2))]
    theirs = [("u", "output", "0", (4, 8)), ("v", "output", "0", (9, 9)), ("w", "output", "0", (4, 2))]
    assert matches(ours, theirs) == [
        ("f", "u", "order"),
        ("g", "w", "order"),
        ("g.backward", None, "none"),
        (None, "v", "none"),
    ]


@pytest.mark.parametrize(
    ("names", "ways"),
    [
        ({}, ["renamed", "renamed", "renamed"]),
        ({"Default/up-Linear/mm-op0": "Default/c-Linear/mm-op2"}, ["map", "order", "order"]),
    ],
    ids=["without a map", "with a map"],
)
def test_modules_of_other_names_are_matched_by_their_tree(names: dict[str, str], ways: list[str]) -> None:
    ours = [f"Default/{name}-Linear/mm-op{number}" for number, name in enumerate(("up", "mid", "down"))]
    theirs = [f"Default/{name}-Linear/mm-op{number}" for number, name in enumerate(("a", "b", "c"))]
    pairs = matches(ours, theirs, names)
    assert [way for *_, way in pairs] == ways
    assert names or [(target, reference) for target, reference, _ in pairs] == list(
        zip(ours, theirs, strict=True)
    )


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


RULES = json.loads((DUMPS / "compare" / "msprobe_rules.json").read_text())
ONLY_OURS = {  # msprobe does not look into slices, and takes a size for a shape
    "Functional.case13.0.forward.input.1": ("argument",),
    "Functional.case18.0.forward.input.1": ("argument",),
}
# msprobe compares a result that is a plain number like a tensor, lets ``empty`` go only if it was given
# something, and takes a module of that name for the function.
NOT_SO = {
    "Functional.case11.0.forward.output.0",
    "Torch.empty.1.forward.output.0",
    "Module.empty.Linear.forward.0.output.0",
}


def side(root: Any, data: Any) -> Any:
    folder = root / "step0" / "rank0"
    folder.mkdir(parents=True)
    top = {"task": "statistics", "level": "mix", "framework": "pytorch", "dump_data_dir": None}
    (folder / "dump.json").write_text(json.dumps({**top, "data": data}))
    return Side(open_dump(root), 0, 0)


@pytest.fixture
def rows(tmp_path: Path) -> Any:
    sides = [side(tmp_path / name, RULES[name]) for name in ("target", "reference")]
    return {name_of(row): row for row in compare_sides(*sides) if row.compared.pair.target}


def name_of(row: Any) -> Any:
    entry = row.compared.pair.target
    return f"{entry.recorded}.{entry.direction.replace('parameter', 'parameters')}.{entry.slot}"


def test_the_levels_of_msprobe_come_out(rows: Any) -> None:
    checked = 0
    for name, result in RULES["results"].items():
        row = rows.get(name)
        if row is None:  # arguments have a row where they differ
            assert result == "pass"
        elif name in ONLY_OURS:
            assert row.codes == ONLY_OURS[name]
        elif name not in NOT_SO:
            assert row.level == result, name
            checked += 1
    assert checked > 40
    assert set(rows) <= set(RULES["results"])


def test_where_msprobe_goes_by_a_word_the_kind_of_call_decides(rows: Any) -> None:
    assert rows["Torch.empty.1.forward.output.0"].codes == ()
    assert rows["Module.empty.Linear.forward.0.output.0"].codes == ("norm", "norm_growth")


def test_an_argument_that_differs_has_a_row_of_its_own(rows: Any) -> None:
    row = rows["Functional.case8.0.forward.input.dim"]
    columns = fields(row)
    assert (row.level, row.codes) == ("error", ("argument",))
    assert (columns["target_argument"], columns["reference_argument"]) == ("1", "2")
    assert (columns["cosine"], columns["target_shape"]) == (None, "[]")
    assert "argument" in columns["messages"]
    assert "Functional.case14.0.forward.input.1" not in rows  # the same on both sides


@pytest.mark.parametrize(
    ("target", "reference", "expected"),
    [
        ([("input.1", "2")], [("input.1", "3")], [Difference("1", "2", "3")]),
        ([("input.1", "2")], [("input.1", "2")], []),
        ([("input.1", "2")], [("input.1", "2.5")], []),
        ([("input.1", "true")], [("input.1", "1")], []),
        ([("input.1", "null")], [("input.1", "3")], []),
        ([("input.1", "2")], [("input.2", "3")], []),
        ([("output.1", "2")], [("output.1", "3")], []),
        ([("input.p", "[1, 2]")], [("input.p", "[1, 3]")], [Difference("p", "[1, 2]", "[1, 3]")]),
        ([("input.p", '"a')], [("input.p", '"b')], [Difference("p", '"a', '"b')]),
        ([("input.1", "NaN")], [("input.1", "NaN")], []),
    ],
)
def test_what_counts_as_another_argument(target: Any, reference: Any, expected: Any) -> None:
    assert list(differences(target, reference)) == expected
