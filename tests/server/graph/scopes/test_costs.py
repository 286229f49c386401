"""Parameters and operations of scopes. A shared parameter counts once in a scope with both users."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mindinsight.proto.graph_pb2 import GraphProto
from mindinsight.server.formats.graphs.graph_proto import read_graph
from mindinsight.server.graph.model.graph import PARAMETER, Graph
from mindinsight.server.graph.model.simplification import simplify
from mindinsight.server.graph.scopes.costs import base_type, costs_of, count_flops, short_number
from mindinsight.server.graph.scopes.folding import folded_tree
from mindinsight.server.graph.scopes.scope_tree import Tree
from mindinsight.writer import GraphBuilder

DATA = Path(__file__).parents[3] / "data/graph"


def shared_weight() -> Graph:
    """Return a graph with a table of 100 x 8 in half precision, shared by embedding and head, and a bias."""
    proto = GraphProto()
    for name, shape, kind in (("table", (100, 8), 10), ("bias", (100,), 11), ("input_ids", (4, 16), 4)):
        parameter = proto.parameters.add(name=name)
        parameter.type.data_type, parameter.type.tensor_type.elem_type = 14, kind
        for size in shape:
            parameter.type.tensor_type.shape.dim.add(size=size)
    nodes = [("net/wte/Gather", ["table", "input_ids"]), ("net/head/MatMul", ["1", "table", "bias"])]
    for number, (path, inputs) in enumerate(nodes, 1):
        node = proto.node.add(name=str(number), op_type=path.rpartition("/")[2], full_name=f"{path}-op0")
        node.output_type.data_type, node.output_type.tensor_type.elem_type = 14, 11
        for size in ((64, 8), (64, 100))[number - 1]:
            node.output_type.tensor_type.shape.dim.add(size=size)
        for source in inputs:
            node.input.add(name=source)
    return read_graph(proto.SerializeToString())


def test_a_shared_parameter_counts_once_where_both_users_are() -> None:
    tree = folded_tree(shared_weight())
    costs = costs_of(tree)
    rows = {path: (int(costs.parameters[i]), int(costs.bytes[i])) for i, path in enumerate(tree.paths)}
    assert rows["net/wte"] == (800, 1600)
    assert rows["net/head"] == (900, 2000)
    assert rows["net"] == rows[""] == (900, 2000)


def test_operations_add_up_and_inputs_of_the_network_are_no_parameters() -> None:
    tree = folded_tree(shared_weight())
    costs = costs_of(tree)
    assert costs.flops[tree.indices["net"]] == 2 * 64 * 8 * 100
    assert costs.text(tree.indices["net/head"]) == "900 · 102 kFLOP"
    assert costs.text(tree.indices["net/wte"]) == "800"


def distinct_parameters(tree: Tree, index: int) -> int:
    used = set(tree.nodes[tree.leaves(index)].tolist())
    edges = zip(tree.graph.edges.sources.tolist(), tree.graph.edges.targets.tolist(), strict=True)
    return len(
        {source for source, target in edges if target in used and tree.graph.kinds[source] == PARAMETER}
    )


@given(st.data())
def test_every_scope_counts_the_distinct_parameters_in_it(
    written: st.SearchStrategy[Graph], data: st.DataObject
) -> None:
    tree = folded_tree(data.draw(written))
    costs = costs_of(tree)  # the parameters of these graphs are scalars
    for index in range(len(tree.paths)):
        assert costs.parameters[index] == distinct_parameters(tree, index)


def test_lenet_has_the_parameters_it_has() -> None:
    tree = folded_tree(simplify(read_graph((DATA / "lenet.graph").read_bytes()), ordering=False))
    weights = 4 * 25 + 8 * 4 * 25 + 32 * 32 + 32 + 24 * 32 + 24 + 10 * 24 + 10
    assert costs_of(tree).parameters[0] == weights
    assert costs_of(tree).bytes[0] == 4 * weights


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0 "),
        (999, "999 "),
        (1000, "1.00 k"),
        (12_600_000, "12.6 M"),
        (999_600, "1.00 M"),
        (3 * 10**14, "300 T"),
    ],
)
def test_numbers_have_three_digits(value: int, text: str) -> None:
    assert short_number(value) == text


@pytest.mark.parametrize(("name", "counted"), [("pixel_values", 0), ("img", 0), ("src", 0), ("fc.img", 8)])
def test_what_is_named_like_an_input_is_no_parameter(name: str, counted: int) -> None:
    builder = GraphBuilder()
    builder.output(builder.node("ReLU", [builder.parameter(name, (2, 4))], shape=(2, 4)))
    graph = read_graph(builder.model().graph.SerializeToString())
    assert costs_of(folded_tree(graph)).parameters[0] == counted


CASES = [
    ("MatMul", [[8, 32], [32, 10]], [8, 10], 2 * 8 * 32 * 10),
    ("MatMul", [[8, 32], [10, 32]], [8, 10], 2 * 8 * 32 * 10),  # transposed
    ("linear", [[4, 8, 32], [10, 32], [10]], [4, 8, 10], 2 * 4 * 8 * 32 * 10),
    ("addmm", [[10], [8, 32], [32, 10]], [8, 10], 2 * 8 * 32 * 10),
    ("BatchMatMul", [[4, 2, 8, 16], [4, 2, 8, 16]], [4, 2, 8, 8], 2 * 4 * 2 * 8 * 8 * 16),
    ("Conv2D", [[2, 3, 32, 32], [6, 3, 5, 5]], [2, 6, 28, 28], 2 * 2 * 6 * 28 * 28 * 3 * 5 * 5),
    ("Conv2D", [[2, 32, 32, 3], [5, 5, 3, 6]], [2, 28, 28, 6], 2 * 2 * 6 * 28 * 28 * 3 * 5 * 5),
    ("Conv2D", [[2, 8, 32, 32], [8, 1, 3, 3]], [2, 8, 30, 30], 2 * 2 * 8 * 30 * 30 * 9),  # depthwise
    ("Conv2DBackpropInput", [[2, 6, 28, 28], [6, 3, 5, 5]], [2, 3, 32, 32], 2 * 2 * 6 * 28 * 28 * 75),
    ("Conv2DBackpropFilter", [[2, 6, 28, 28], [2, 3, 32, 32]], [6, 3, 5, 5], 2 * 2 * 6 * 28 * 28 * 75),
    ("FlashAttentionScore", [[2, 4, 128, 64]] * 3, [2, 4, 128, 64], 4 * 2 * 4 * 128 * 128 * 64),
    ("conv_transpose2d", [[2, 4, 5, 5], [4, 8, 3, 3], [8]], [2, 8, 7, 7], 2 * 2 * 4 * 25 * 8 * 9),
    ("conv_transpose2d", [[2, 4, 5, 5], [4, 2, 3, 3], [8]], [2, 8, 7, 7], 2 * 2 * 4 * 25 * 2 * 9),  # groups
    ("lstm", [[2, 7, 4], [1, 2, 6], [1, 2, 6], [24, 4], [24, 6], [24], [24]], [], 2 * 2 * 7 * 24 * 10),
    ("lstm", [[14, 4], [1, 2, 6], [24, 4], [24, 6]], [], None),  # packed sequences
    ("LSTM", [[7, 2, 4], [1, 2, 6], [1, 2, 6], [240, 1, 1]], [], None),  # all weights in one
    ("MatMul", [[-1, 32], [32, 10]], [-1, 10], None),  # known only at run time
    ("MatMul", [[8, 32]], [8, 10], None),
    ("MatMul", [[7, 5], [3, 2]], [8, 10], None),  # shapes that fit no product
]


@pytest.mark.parametrize(("kind", "inputs", "output", "flops"), CASES)
def test_operations(kind: str, inputs: list[list[int]], output: list[int], flops: int | None) -> None:
    assert count_flops(kind, inputs, output) == flops


def test_operators_of_unknown_cost_are_counted_beside_the_sum() -> None:
    builder = GraphBuilder()
    x = builder.node("ReLU", [builder.parameter("x", (8, 32))], shape=(8, 32))
    for shape in ((8, 10), (-1, 10)):
        builder.node("MatMul", [x, builder.parameter(f"w{shape}", (32, 10))], shape=shape)
    costs = costs_of(folded_tree(read_graph(builder.model().graph.SerializeToString())))
    assert (costs.flops[0], costs.uncounted[0]) == (2 * 8 * 32 * 10, 1)
    assert costs.text(0) == "640 · ≥ 5.12 kFLOP"


def test_the_recorded_role_decides_and_no_name() -> None:
    builder = GraphBuilder()
    weight = builder.parameter("input_ids", (4, 8), role="weight")
    mean = builder.parameter("running_mean", (8,), role="buffer")
    data = builder.parameter("features", (2, 8), role="input")
    builder.output(builder.node("linear", [data, weight, mean, builder.parameter("y", (8,))], shape=(2, 4)))
    costs = costs_of(folded_tree(read_graph(builder.model().graph.SerializeToString())))
    assert costs.parameters[0] == 32
    assert costs.roles == {"weights": 1, "buffers": 1, "inputs": 2, "guessed": 1}


def test_types_of_pytorch_are_known_by_their_names() -> None:
    assert [base_type(kind) for kind in ("aten.linear.default", "aten::bmm", "MatMul")] == [
        "linear",
        "bmm",
        "MatMul",
    ]
