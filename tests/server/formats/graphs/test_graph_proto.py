from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mindinsight.proto.graph_pb2 import GraphProto, ModelProto
from mindinsight.server.formats.graphs.graph_proto import read_graph
from mindinsight.server.formats.unreadable import UnreadableError
from mindinsight.server.graph.model.graph import CONSTANT, OPERATOR, PARAMETER
from mindinsight.server.graph.model.node_details import attribute_summaries, output_of, source_lines

DATA = Path(__file__).parents[3] / "data" / "graph"


def known(name: Any) -> Any:
    """The same file by the plain protobuf classes."""
    data = (DATA / name).read_bytes()
    return GraphProto.FromString(data) if name.endswith(".graph") else ModelProto.FromString(data).graph


@pytest.mark.parametrize("name", ["lenet.graph", "small.graph", "conv_optimize.pb", "types.pb"])
def test_all_nodes_parameters_constants_and_edges_are_there(name: str) -> None:
    graph, proto = read_graph((DATA / name).read_bytes()), known(name)
    assert [int((graph.kinds == kind).sum()) for kind in (OPERATOR, PARAMETER, CONSTANT)] == [
        len(proto.node),
        len(proto.parameters),
        len(proto.const_vals),
    ]
    assert graph.names[: len(proto.node)] == tuple(node.full_name for node in proto.node)
    ids = {name: node for node, name in enumerate(graph.names)}
    ids |= {node.name: number for number, node in enumerate(proto.node)}
    expected = [(ids[source.name], number) for number, node in enumerate(proto.node) for source in node.input]
    assert list(zip(graph.edges.sources, graph.edges.targets, strict=True)) == expected
    assert [graph.types[node] for node in graph.outputs] == [proto.node[-1].op_type]


def test_details_are_read_from_the_bytes() -> None:
    graph = read_graph((DATA / "lenet.graph").read_bytes())
    node = next(number for number, kind in enumerate(graph.types) if kind == "Conv2D")
    assert output_of(graph, node).text == "float32 [10, 4, 16, 16]"
    assert dict(attribute_summaries(graph, node))["kernel_size"] == "(5, 5)"


def test_source_lines() -> None:
    proto = GraphProto()
    proto.node.add(name="1", op_type="Add", source_address=["# In file net.py:11, 1~9/x + y/\n", "b.py"])
    assert source_lines(read_graph(proto.SerializeToString()), 0) == [
        "# In file net.py:11, 1~9/x + y/",
        "b.py",
    ]


def test_nameless_nodes_and_inputs_that_name_nothing_are_counted() -> None:
    proto = GraphProto()
    proto.node.add(name="1", op_type="Add", scope="Default").input.add(name="nowhere")
    proto.node.add().input.add(name="1")
    graph = read_graph(proto.SerializeToString())
    assert (graph.losses.nameless, graph.losses.dangling, graph.losses.unreadable) == (1, 1, 0)
    assert graph.names[0] == "Default/Add-op1" and graph.types[1] == ""


def test_a_node_that_cannot_be_read_is_left_out_and_counted() -> None:
    good = GraphProto()
    good.node.add(name="1", op_type="Add", scope="Default")
    broken = good.SerializeToString() + b"\x0a\x03\x0a\xff\x01" + b"\x0a\x04\x12\x02\xff\xfe"
    graph = read_graph(broken)
    assert graph.names[0] == "Default/Add-op1"
    assert graph.losses.unreadable >= 1
    assert all(isinstance(name, str) for name in (*graph.names, *graph.types))


@pytest.mark.parametrize(
    "data", [b"", b"\x08\x01", b"text, not bytes of a graph", b"\x12\x05hello", b"\x0a\x7f"]
)
def test_what_is_no_graph_is_said_to_be_none(data: bytes) -> None:
    with pytest.raises(UnreadableError):
        read_graph(data)


@given(st.data())
def test_flipped_bytes_give_a_graph_or_a_clear_error(data: Any) -> None:
    whole = bytearray((DATA / "small.graph").read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        whole[data.draw(st.integers(0, len(whole) - 1))] ^= data.draw(st.integers(1, 255))
    try:
        graph = read_graph(bytes(whole))
    except UnreadableError:
        return
    assert len(graph.names) == len(graph.types) == len(graph.kinds) == len(graph.starts)
