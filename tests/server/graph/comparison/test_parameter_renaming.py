"""Parameters of other names are matched by what uses them, layer by layer."""

from collections.abc import Callable, Sequence

from mindinsight.server.formats.graphs.graph_proto import read_graph
from mindinsight.server.graph.comparison.node_labels import node_columns
from mindinsight.server.graph.comparison.parameter_renaming import rename_by_use
from mindinsight.server.graph.model.graph import PARAMETER, Graph
from mindinsight.writer import GraphBuilder
from tests.claims.situations.graph_edits import norms


def names_of(graph: Graph, offset: int) -> dict[str, int]:
    return {name: offset + node for node, name in enumerate(graph.names) if graph.kinds[node] == PARAMETER}


def renamed(left: Callable[[], bytes], right: Callable[[], bytes]) -> dict[str, str]:
    graphs = read_graph(left()), read_graph(right())
    columns = node_columns(*graphs)
    return rename_by_use(columns, names_of(graphs[0], 0), names_of(graphs[1], columns.left_count))


def stack(*layers: int, prefix: str = "a", types: Sequence[str] = ("matmul",)) -> Callable[[], bytes]:
    """Return a generator of layers of the given numbers, each with one weight for each type."""

    def generate() -> bytes:
        graph = GraphBuilder("net")
        value = graph.parameter("x", (4, 4), role="input")
        for number in layers:
            for i, kind in enumerate(types):
                weight = graph.parameter(f"{prefix}.{number}.w_{prefix}{i}", (4, 4))
                value = graph.node(kind, [value, weight], (4, 4))
        graph.output(value)
        data: bytes = graph.model().graph.SerializeToString()
        return data

    return generate


def test_norms_that_move_are_told_from_products() -> None:
    names = renamed(norms(), norms(0, 1, 2, 3, other=True))
    assert names["2.ln2.weight"] == "2.mid.weight"
    assert names["0.attn.in.weight"] == "0.mixer.first.weight"
    assert names["3.mlp.out.weight"] == "3.ffn.second.weight"
    assert len(names) == len(set(names.values())) == 4 * 6 + 2


def test_shapes_come_before_the_order_and_do_not_have_to_agree() -> None:
    assert renamed(norms(), norms(width=10, other=True)) == renamed(norms(), norms(other=True))


def test_layers_of_one_number_are_matched_if_all_numbers_of_a_graph_are_in_the_other() -> None:
    weights = {number: f"b.{number}.w_b0" for number in range(6)}
    names = renamed(stack(0, 1, 3), stack(*weights, prefix="b"))
    assert names == {"x": "x", **{f"a.{number}.w_a0": weights[number] for number in (0, 1, 3)}}


def test_layers_counted_from_another_number_are_matched_in_order() -> None:
    names = renamed(stack(0, 1), stack(1, 2, prefix="b"))
    assert names == {"x": "x", "a.0.w_a0": "b.1.w_b0", "a.1.w_a0": "b.2.w_b0"}


def test_one_weight_more_of_a_use_leaves_all_of_that_use_unmatched() -> None:
    names = renamed(stack(0, 1), stack(0, 1, prefix="b", types=("matmul", "matmul")))
    assert names == {"x": "x"}
