"""Operators of a dump and the nodes of a graph that they are."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from mindinsight.server.debug.overlay.graph_join import join, key_of
from mindinsight.server.formats.dumps import list_operators
from mindinsight.server.formats.dumps.dump_types import Operator
from mindinsight.server.formats.graphs.graph_proto import read_graph
from mindinsight.writer import GraphBuilder
from tests.server.graph.conftest import write

NET = "Default/network-Net"


def dumped(
    recorded: Any, name: Any = None, kind: str = "MatMul", sequence: int = 0, sources: Sequence[str] = ()
) -> Operator:
    return Operator(name or recorded, recorded, kind, (), "Net/0", sequence, -1, sources=tuple(sources))


def names(joined: Any, graph: Any) -> dict[Any, Any]:
    return {recorded: graph.names[node] for (_, recorded), node in joined.nodes.items()}


def test_every_operator_of_a_real_dump_is_in_the_graph_of_its_training(data: Any, lenet: Any) -> None:
    files = data / "ms_sync_v2_0_names" / "rank_0" / "graphs"
    graph = read_graph((files / "ms_output_trace_code_graph_0.pb").read_bytes())
    operators = list_operators(lenet, 0, 1).items
    joined = join(operators, graph)
    assert (joined.dumped, joined.matched, joined.by_order) == (22, 22, 0)
    joined_names = names(joined, graph)
    assert (
        joined_names["Conv2D-op51"] == "Default/network-WithLossCell/_backbone-Net/conv1-Conv2d/Conv2D-op51"
    )
    assert joined_names["fc1.weight"] == "fc1.weight"
    assert "data-1" not in joined_names


@pytest.mark.parametrize(
    ("recorded", "name"),
    [
        ("MatMul-op7", f"{NET}/fc1-Dense/MatMul-op7"),
        ("Default_network-Net_fc1-Dense_MatMul-op7", None),
        ("MatMul-op7", None),
    ],
    ids=["full name", "escaped name", "last part of it"],
)
def test_all_forms_of_a_name_lead_to_the_node(graph: Any, recorded: str, name: Any) -> None:
    made = graph([(f"{NET}/fc1-Dense/MatMul-op7", []), (f"{NET}/fc2-Dense/MatMul-op8", [])])
    joined = join([dumped(recorded, name)], made)
    assert names(joined, made) == {recorded: f"{NET}/fc1-Dense/MatMul-op7"}
    assert (joined.matched, joined.by_order) == (1, 0)


def test_operators_made_anew_are_paired_by_order_and_said_to_be(graph: Any) -> None:
    made = graph([(f"{NET}/{name}", []) for name in ("TopK-op1", "Cast-op2", "Cast-op4", "Cast-op9")])
    files = ["TopK-op0", "Cast-op4", "Cast-op5", "Cast-op6", "ReLU-op1"]
    operators = [dumped(f"Default_network-Net_{file}") for file in files]
    joined = join(operators, made)
    assert names(joined, made) == {
        "Default_network-Net_TopK-op0": f"{NET}/TopK-op1",
        "Default_network-Net_Cast-op4": f"{NET}/Cast-op2",
        "Default_network-Net_Cast-op5": f"{NET}/Cast-op4",
        "Default_network-Net_Cast-op6": f"{NET}/Cast-op9",
    }
    assert (joined.dumped, joined.matched, joined.by_order) == (5, 4, 4)


def test_a_node_that_is_surely_another_operators_is_not_paired(graph: Any) -> None:
    made = graph([(f"{NET}/Add-op1", [])])
    sure = dumped("Default_network-Net_Add-op1", f"{NET}/Add-op1")
    joined = join([sure, dumped("Default_network-Net_Add-op2")], made)
    assert names(joined, made) == {sure.recorded: f"{NET}/Add-op1"}
    assert (joined.dumped, joined.matched) == (2, 1)


def test_operators_that_ran_in_place_of_the_only_one_of_a_module_are_its_node(graph: Any) -> None:
    """PyTorch's graph has ``linear`` where the dump has ``t`` and ``addmm``."""
    made = graph([(f"{NET}/fc-Linear/linear-op0", []), (f"{NET}/act-ReLU/relu-op0", [])])
    ran = [dumped(name, f"{NET}/fc-Linear/{name}") for name in ("t-op0", "addmm-op0")]
    joined = join(ran, made)
    assert names(joined, made) == dict.fromkeys(["t-op0", "addmm-op0"], f"{NET}/fc-Linear/linear-op0")
    assert (joined.dumped, joined.matched, joined.by_module) == (2, 2, 2)


@pytest.mark.parametrize(
    "inside", [["linear-op0", "mul-op1"], ["t-op0"], []], ids=["two", "matched by name", "none"]
)
def test_operators_of_a_module_with_other_operators_are_not_taken_for_them(graph: Any, inside: Any) -> None:
    made = graph([(f"{NET}/fc-Linear/{name}", []) for name in inside] + [(f"{NET}/sum-op9", [])])
    ran = [dumped(name, f"{NET}/fc-Linear/{name}") for name in ("t-op0", "addmm-op0")]
    joined = join(ran, made)
    assert joined.by_module == 0
    assert joined.ambiguous == (2 if len(inside) > 1 else 0)
    assert ("Net/0", "addmm-op0") not in joined.nodes


@pytest.mark.parametrize(
    ("recorded", "ambiguous"), [([], 1), (["linear-op0"], 0), (["linear-op0", "mul-op1"], 0)]
)
def test_an_operator_may_have_run_only_for_those_that_nothing_matches(
    graph: Any, recorded: list[str], ambiguous: int
) -> None:
    made = graph([(f"{NET}/fc-Linear/{name}", []) for name in ("linear-op0", "mul-op1")])
    ran = [dumped(name, f"{NET}/fc-Linear/{name}") for name in (*recorded, "sub-op0")]
    joined = join(ran, made)
    assert (joined.dumped, joined.matched) == (len(recorded) + 1, len(recorded))
    assert joined.ambiguous == ambiguous


def test_operators_of_two_graphs_of_a_dump_may_be_one_node(graph: Any) -> None:
    made = graph([(f"{NET}/Add-op1", [])])
    operator = dumped("Add-op1")
    joined = join([operator, replace(operator, graph="Net/1")], made)
    assert set(joined.nodes) == {("Net/0", "Add-op1"), ("Net/1", "Add-op1")}
    assert joined.matched == 2


def test_only_operators_that_left_tensors_are_counted(graph: Any) -> None:
    made = read_graph(write([(f"{NET}/Add-op1", []), (f"{NET}/Mul-op2", [])], parameters=["w"]))
    never_run = dumped("x", f"{NET}/Add-op1", sequence=-1)
    joined = join([never_run, dumped("y", f"{NET}/Mul-op2"), dumped("w", kind="Parameter")], made)
    assert (joined.dumped, joined.matched) == (1, 1)
    assert len(joined.nodes) == 3


def test_another_network_has_nothing_in_common(graph: Any, lenet: Any) -> None:
    joined = join(list_operators(lenet, 0, 0).items, graph([("Default/other/Sin-op1", [])]))
    assert (joined.dumped, joined.matched, joined.nodes) == (22, 0, {})


BLOCK = f"{NET}/1-Block"
BLOCK_OPERATORS = [
    (f"{NET}/embed-op0", []),
    (f"{BLOCK}/o-Linear/linear-op0", [f"{NET}/embed-op0"]),
    (f"{BLOCK}/add-op2", [f"{NET}/embed-op0", f"{BLOCK}/o-Linear/linear-op0"]),
    (f"{BLOCK}/log-op0", [f"{BLOCK}/add-op2"]),
    (f"{BLOCK}/add-op3", [f"{BLOCK}/add-op2", f"{BLOCK}/log-op0"]),
]


def block(first: int, second: int, *more: Operator) -> list[Operator]:
    """The operators of the block with other numbers of its two additions, and ``addmm`` for ``linear``."""
    ran = [
        (f"{NET}/embed-op0", []),
        (f"{BLOCK}/o-Linear/addmm-op0", [f"{NET}/embed-op0"]),
        (f"{BLOCK}/add-op{first}", [f"{NET}/embed-op0", f"{BLOCK}/o-Linear/addmm-op0"]),
        (f"{BLOCK}/log-op0", [f"{BLOCK}/add-op{first}"]),
        (f"{BLOCK}/add-op{second}", [f"{BLOCK}/add-op{first}", f"{BLOCK}/log-op0"]),
    ]
    return [dumped(name, sequence=i, sources=sources) for i, (name, sources) in enumerate(ran)] + [*more]


def additions(operators: Any, graph: Any) -> dict[str, str]:
    """The additions of the graph by those of the dump, by the end of their names."""
    matched = names(join(operators, graph), graph)
    return {name[-7:]: node[-7:] for name, node in matched.items() if "/add-" in name}


@pytest.mark.parametrize(
    ("first", "second", "more", "matched"),
    [
        (3, 4, (), {"add-op3": "add-op2", "add-op4": "add-op3"}),  # one ran outside the model before
        (2, 3, (), {"add-op2": "add-op2", "add-op3": "add-op3"}),
        (3, 2, (), {"add-op3": "add-op2", "add-op2": "add-op3"}),  # only the inputs can say so
        (3, 4, (dumped(f"{BLOCK}/add-op5", sources=[f"{BLOCK}/log-op0"]),),
         {"add-op3": "add-op2", "add-op4": "add-op3"}),
    ],
    ids=["later numbers", "equal numbers", "swapped", "another between"],
)  # fmt: skip
def test_operators_are_matched_by_what_feeds_them(
    graph: Any, first: int, second: int, more: tuple[Operator, ...], matched: dict[str, str]
) -> None:
    assert additions(block(first, second, *more), graph(BLOCK_OPERATORS)) == matched


def test_numbers_that_the_inputs_confirm_are_not_said_to_be_matched_by_order(graph: Any) -> None:
    joined = join(block(3, 4), graph(BLOCK_OPERATORS))
    assert (joined.dumped, joined.matched, joined.by_order, joined.by_module) == (5, 5, 0, 1)


def test_every_run_of_a_module_is_at_its_nodes(graph: Any) -> None:
    again = [
        replace(operator, name=operator.name.replace("add-op", "add-op1"), recorded=f"{operator.name}+")
        for operator in block(3, 4)
        if "/add-" in operator.name
    ]
    again = [replace(operator, sources=tuple(map(renamed, operator.sources))) for operator in again]
    joined = join(block(3, 4) + again, graph(BLOCK_OPERATORS))
    assert (joined.matched, joined.ambiguous) == (7, 0)


def renamed(source: str) -> str:
    return source.replace("add-op", "add-op1")


def test_without_inputs_more_or_fewer_operators_of_a_name_match_none(graph: Any) -> None:
    made = graph([(name, []) for name, _ in BLOCK_OPERATORS])
    joined = join([dumped(f"{BLOCK}/add-op3")], made)
    assert (joined.matched, joined.ambiguous) == (0, 1)
    joined = join([dumped(f"{BLOCK}/add-op{number}") for number in (3, 4, 5)], made)
    assert (joined.matched, joined.ambiguous) == (0, 3)


def test_numbers_of_a_part_are_those_of_the_graph_if_another_scope_agrees(graph: Any) -> None:
    made = graph([(f"{NET}/{name}", []) for name in ("a/Mul-op3", "a/Mul-op5", "b/Mul-op8")])
    part = [dumped(f"{NET}/a/Mul-op5")]
    assert not join(part, made).nodes
    assert names(join([*part, dumped(f"{NET}/b/Mul-op8")], made), made)[f"{NET}/a/Mul-op5"].endswith("op5")
    assert not {"op5"} & set(names(join([*part, dumped(f"{NET}/b/Mul-op9")], made), made))


@pytest.mark.parametrize(
    ("shapes", "matched"), [([(2, 4), (2, 8)], 2), ([(2, 8), (2, 4)], 0), ([(6, 8), (6, 4)], 2)]
)
def test_shapes_in_another_order_match_none(graph: Any, shapes: Any, matched: int) -> None:
    """Other sizes may be of another batch."""
    builder = GraphBuilder("Net")
    with builder.scope("/Default"):
        for number, shape in ((2, (2, 4)), (3, (2, 8))):
            builder.node("add", shape=shape, number=number)
    made = read_graph(builder.model().graph.SerializeToString())
    ran = [dumped(f"Default/add-op{number}") for number in (4, 5)]
    outputs = dict(zip(map(key_of, ran), shapes, strict=True))
    joined = join(ran, made, outputs)
    assert (joined.matched, joined.by_order, joined.ambiguous) == (matched, matched, 2 - matched)


def test_operators_of_renamed_modules_are_matched_and_counted(graph: Any) -> None:
    made = graph([(f"{NET}/fc{i}-Dense/MatMul-op{i}", []) for i in range(3)])
    ran = [dumped(f"Default/model-Net/layer{i}-Dense/MatMul-op{i}", sequence=i) for i in range(3)]
    joined = join(ran, made)
    assert names(joined, made) == {own.recorded: made.names[i] for i, own in enumerate(ran)}
    assert (joined.dumped, joined.matched, joined.renamed) == (3, 3, 3)
    same = [dumped(name, sequence=i) for i, name in enumerate(made.names)]
    assert join(same, made).renamed == 0


def test_a_name_may_differ_in_leading_underscores(graph: Any) -> None:
    made = graph([(f"{NET}/softmax-op0", []), (f"{NET}/softmax-op1", [])])
    ran = [dumped(name, f"{NET}/{name}") for name in ("_softmax-op0", "_softmax-op1")]
    joined = join(ran, made)
    assert names(joined, made) == {f"_softmax-op{n}": f"{NET}/softmax-op{n}" for n in (0, 1)}
    assert (joined.matched, joined.by_module, joined.ambiguous) == (2, 0, 0)


def test_underscores_tell_names_apart_that_both_ran(graph: Any) -> None:
    made = graph([(f"{NET}/softmax-op0", []), (f"{NET}/tanh-op0", [])])
    ran = [dumped(name, f"{NET}/{name}") for name in ("_softmax-op0", "softmax-op0")]
    assert names(join(ran, made), made) == {"softmax-op0": f"{NET}/softmax-op0"}


@pytest.mark.parametrize(
    ("ran", "by_module"),
    [
        (["native_layer_norm-op4", "native_layer_norm-op7"], 2),
        (["t-op1", "mm-op1", "t-op2", "mm-op2"], 4),
        (["native_layer_norm-op4"], 0),
        (["t-op1", "mm-op1", "mm-op2"], 0),
    ],
    ids=[
        "one operator a call",
        "two operators a call",
        "a call is missing",
        "an operator of a call is missing",
    ],
)
def test_calls_of_a_module_are_paired_in_order_if_all_are_there(
    graph: Any, ran: list[str], by_module: int
) -> None:
    made = graph([(f"{NET}/norm-LayerNorm/layer_norm-op{number}", []) for number in (2, 5)])
    operators = [dumped(name, f"{NET}/norm-LayerNorm/{name}") for name in ran]
    joined = join(operators, made)
    assert (joined.by_module, joined.ambiguous) == (by_module, 0 if by_module else len(ran))
    for name, node in names(joined, made).items():
        first = name in ("native_layer_norm-op4", "t-op1", "mm-op1")
        assert node.endswith("layer_norm-op2" if first else "layer_norm-op5")


def test_calls_whose_shapes_are_in_another_order_are_not_paired() -> None:
    builder = GraphBuilder("net")
    value = builder.parameter("x", (2,), role="input")
    with builder.scope(f"{NET}/norm-LayerNorm"):
        for length in (4, 8):
            value = builder.node("layer_norm", [value], (2, length))
    made = read_graph(builder.model().graph.SerializeToString())
    scope = made.names[0].rpartition("/")[0]
    ran = [dumped(f"native-op{number}", f"{scope}/native-op{number}") for number in (0, 1)]
    shapes = {key_of(operator): (2, length) for operator, length in zip(ran, (8, 4), strict=True)}
    assert join(ran, made, shapes).by_module == 0
    assert join(ran, made, {key: (2, 12 - length) for key, (_, length) in shapes.items()}).by_module == 2
