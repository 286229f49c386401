"""Graphs in JSON of Model Explorer, as its adapters write them."""

from typing import Any

import pytest

from mindinsight.server.formats.graphs.graph_proto import read_graph
from mindinsight.server.formats.graphs.model_explorer import graphs_of
from mindinsight.server.formats.read_limits import UnreadableError
from mindinsight.server.graph.model.graph import Graph
from mindinsight.server.graph.model.node_details import attribute_summaries, output_of


def output(key: str, value: str, **more: str) -> list[dict[str, Any]]:
    attributes = [{"key": name, "value": text} for name, text in {key: value, **more}.items()]
    return [{"id": "0", "attrs": attributes}]


NODES: list[dict[str, Any]] = [
    {"id": "in", "label": "placeholder", "namespace": "", "outputsMetadata": output("shape", "[8, 3]")},
    {
        "id": "dense",
        "label": "aten.linear.default",
        "namespace": "MLP/fc1",
        "incomingEdges": [
            {"sourceNodeId": "w", "sourceNodeOutputId": "0", "targetNodeInputId": "1"},
            {"sourceNodeId": "in", "sourceNodeOutputId": "0", "targetNodeInputId": "0"},
        ],
        "attrs": [
            {"key": "strides", "value": "2"},
            {"key": "uses", "value": {"type": "node_ids", "nodeIds": ["in"]}},
        ],
        "outputsMetadata": output("tensor_shape", "(8, 4)", dtype="torch.float16"),
    },
    {"id": "w", "label": "weight", "namespace": "MLP/fc1", "outputsMetadata": output("type", "f32[4,3]")},
]
GRAPH = {"id": "main", "nodes": NODES}


def read(content: Any) -> Graph:
    ((name, data),) = graphs_of(content)
    assert name == "main"
    return read_graph(data)


@pytest.mark.parametrize(
    "content",
    [
        GRAPH,
        [GRAPH],
        {"label": "net", "graphs": [GRAPH]},
        [{"label": "net", "graphs": [GRAPH]}],
        {"graphCollections": [{"label": "net", "graphs": [GRAPH]}]},
    ],
)
def test_whatever_is_around_a_graph_its_nodes_and_edges_are_read(content: Any) -> None:
    graph = read(content)
    assert graph.names == ("placeholder", "MLP/fc1/aten.linear.default", "MLP/fc1/weight")
    assert graph.edges.sources.tolist() == [0, 2]  # in the order of the inputs
    assert graph.edges.targets.tolist() == [1, 1]


def test_types_and_attributes_are_read() -> None:
    graph = read(GRAPH)
    assert [output_of(graph, node).text for node in range(3)] == [
        "[8, 3]",
        "float16 [8, 4]",
        "float32 [4, 3]",
    ]
    assert attribute_summaries(graph, 1) == [("strides", '"2"')]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("float32[1,224,?]", "float32 [1, 224, -1]"),
        ("tensor<2x3xbf16>", "bfloat16 [2, 3]"),
        ("tensor<2xsi8>", "int8 [2]"),
        ("ui8[4]", "uint8 [4]"),
        ("int64[]", "int64 []"),
        ("anything", "[]"),
    ],
)
def test_shapes_in_many_ways_of_writing(text: str, expected: str) -> None:
    graph = read({"id": "main", "nodes": [{"id": "a", "outputsMetadata": output("tensor_shape", text)}]})
    assert output_of(graph, 0).text == expected


def test_slashes_in_labels_make_no_scopes_and_unknown_sources_are_counted() -> None:
    edges = [{"sourceNodeId": "gone"}]
    graph = read(
        {"id": "main", "nodes": [{"id": "a", "label": "x/y", "namespace": "n", "incomingEdges": edges}]}
    )
    assert graph.names == ("n/x\N{DIVISION SLASH}y",)
    assert graph.losses.dangling == 1


@pytest.mark.parametrize(
    "content", [{}, [], 7, {"nodes": {}}, {"graphs": [{"id": "x"}]}, [[[[[[[[GRAPH]]]]]]]]]
)
def test_anything_else_is_no_graph(content: Any) -> None:
    with pytest.raises(UnreadableError, match="no graph of Model Explorer"):
        graphs_of(content)
