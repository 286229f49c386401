"""A width that changes is one sentence, with everything that changes by the same factor."""

from collections.abc import Callable

from mindinsight.server.claims import sentence
from mindinsight.server.formats.graphs.graph_proto import read_graph
from mindinsight.server.graph.comparison.graph_comparison import compare
from mindinsight.server.graph.comparison.graph_verdicts import comparison_claims
from mindinsight.server.graph.scopes.folding import folded_tree
from mindinsight.writer import GraphBuilder


def network(
    hidden: int = 16, classes: int = 4, size: tuple[int, ...] = (2, 16), dtype: str = "float32"
) -> Callable[[], bytes]:
    """Return a generator of two layers with a reshape between them."""

    def generate() -> bytes:
        graph = GraphBuilder("net")
        value = graph.parameter("x", (2, 8), role="input")
        weights = [graph.parameter("up.weight", (hidden, 8)), graph.parameter("up.bias", (hidden,))]
        value = graph.node("linear", [value, *weights], (2, hidden))
        value = graph.node("view", [value], (2, hidden), attributes={"size": size})
        down = graph.parameter("down.weight", (classes, hidden), dtype)
        graph.output(graph.node("linear", [value, down], (2, classes)))
        data: bytes = graph.model().graph.SerializeToString()
        return data

    return generate


def sentences(right: Callable[[], bytes]) -> list[str]:
    trees = [folded_tree(read_graph(make())) for make in (network(), right)]
    return [sentence(claim) for claim in comparison_claims(compare(*trees))]


def test_a_width_is_one_sentence() -> None:
    assert sentences(network(hidden=20, size=(2, 20))) == [
        "Size 16 → 20: 3 parameters, 1 operator with an attribute or constant changed by the same factor "
        "(up.weight, up.bias, down.weight)"
    ]


def test_an_attribute_of_another_factor_is_named_by_itself() -> None:
    assert sentences(network(hidden=20, size=(2, 24))) == [
        "Size 16 → 20: 3 parameters (up.weight, up.bias, down.weight)",
        "view size changed from (2, 16) to (2, 24) in 1 place",
    ]


def test_an_attribute_with_one_number_more_is_named_by_itself() -> None:
    assert "view size changed from (2, 16) to (2, 1, 20) in 1 place" in sentences(
        network(hidden=20, size=(2, 1, 20))
    )


def test_sizes_of_other_factors_are_other_sentences() -> None:
    assert sentences(network(hidden=20, classes=6, size=(2, 20)))[0].startswith("Sizes 16 → 20, 4 → 6: 3")


def test_one_resized_parameter_keeps_its_shape_in_the_sentence() -> None:
    assert sentences(network(classes=6)) == ["1 parameter resized: down.weight from float32 4×16 to 6×16"]


def test_a_parameter_of_another_type_and_shape_is_named_by_itself() -> None:
    texts = sentences(network(hidden=20, size=(2, 20), dtype="float16"))
    assert texts[0].startswith("Size 16 → 20: 2 parameters")
    assert "1 parameter resized: down.weight from float32 4×16 to float16 4×20" in texts
