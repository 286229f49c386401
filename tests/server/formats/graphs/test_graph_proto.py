from pathlib import Path
from typing import Any

import numpy as np
import pytest
from google.protobuf.message import DecodeError
from hypothesis import given
from hypothesis import strategies as st

from mindinsight.proto.graph_pb2 import GraphProto, InputProto, ModelProto, NodeProto
from mindinsight.server.formats.graphs.graph_proto import read_graph, read_nodes
from mindinsight.server.formats.read_limits import UnreadableError
from mindinsight.server.formats.wire_format import message_fields
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


MANY = 40  # more than it takes to be read side by side


def spans_of(data: Any) -> Any:
    spans = [(begin, end) for key, begin, end in message_fields(data, 0, len(data)) if key == 10]
    return np.array(spans, np.int64).reshape(-1, 2)


def read(data: Any) -> list[Any]:
    """For each node that can be read: place, name, type, scope, full name, inputs and their edges' kinds."""
    spans = spans_of(data)
    nodes = read_nodes(data, spans[:, 0], spans[:, 1])
    fed: list[Any] = [[] for _ in nodes.names]
    for owner, name, control in zip(nodes.owners, nodes.inputs, nodes.controls, strict=True):
        fed[owner].append((name, bool(control)))
    columns = nodes.rows.tolist(), nodes.names, nodes.types, nodes.scopes, nodes.full_names, fed
    return list(zip(*columns, strict=True))


def known_of_nodes(data: Any) -> Any:
    """The same, one by one. Some versions of protobuf hand out bytes for what is no text, others raise."""
    rows = []
    for row, (begin, end) in enumerate(spans_of(data)):
        try:
            node = NodeProto.FromString(data[begin:end])
            inputs = [(text_of(source.name), source.type == 1) for source in node.input]
            texts = map(text_of, (node.name, node.op_type, node.scope, node.full_name))
            rows.append((row, *texts, inputs))
        except (DecodeError, UnicodeDecodeError):
            continue
    return rows


def text_of(value: Any) -> Any:
    return value if isinstance(value, str) else value.decode("utf-8", "replace")


def field(number: Any, content: Any) -> Any:
    size, prefix = len(content), b""
    while size >= 0x80:
        prefix, size = prefix + bytes([size & 0x7F | 0x80]), size >> 7
    return bytes([number << 3 | 2]) + prefix + bytes([size]) + content


def plain(count: Any, **more: Any) -> Any:
    """A graph of ``count`` nodes, each fed by the one before."""
    graph = GraphProto()
    for number in range(count):
        node = graph.node.add(name=str(number), op_type="Add", full_name=f"Default/Add-op{number}", **more)
        if number:
            node.input.add(name=str(number - 1), type=number % 2)
    return graph


@pytest.mark.parametrize("name", ["lenet.graph", "small.graph", "conv_optimize.pb", "types.pb"])
def test_real_graphs(name: str) -> None:
    data = (DATA / name).read_bytes()
    if name.endswith(".pb"):
        data = ModelProto.FromString(data).graph.SerializeToString()
    assert read(data) == known_of_nodes(data) != []


def test_names_that_are_not_ascii() -> None:
    data = plain(MANY, scope="默认/网络").SerializeToString()
    assert read(data) == known_of_nodes(data)
    assert {scope for _, _, _, scope, _, _ in read(data)} == {"默认/网络"}


def test_a_name_that_is_no_text_costs_its_node_at_most() -> None:
    data = plain(MANY).SerializeToString() + field(1, field(2, b"\xff\xfe")) + field(1, field(2, b"last"))
    assert read(data) == known_of_nodes(data)
    names = [name for _, name, *_ in read(data)]
    assert names[:MANY] == [str(number) for number in range(MANY)] and names[-1] == "last"


@pytest.mark.parametrize(
    "damage",
    [
        b"\x0a\x7f",  # an input that is longer than its node
        b"\x32\x02\x0a\x7f",  # an output type that is longer than its bytes, which is not read here
        b"\x08",  # a number that does not end
        b"\x0e",  # a wire type there is none of
        b"\x00\x00",  # field number 0
    ],
)
def test_a_damaged_node_costs_itself(damage: bytes) -> None:
    whole = plain(MANY).SerializeToString()
    data = whole + field(1, damage) + field(1, field(2, b"last"))
    assert read(data) == known_of_nodes(data)
    assert [row for row, *_ in read(data)] == [*range(MANY), MANY + 1]


@pytest.mark.parametrize(
    "more",
    [
        b"\x80\x01\x05",  # a number of field 16
        b"\xa3\x06\xa4\x06",  # a group
        b"\x39\x01\x02\x03\x04\x05\x06\x07\x08",  # eight bytes where a number is meant
        b"\x3d\x01\x02\x03\x04",  # four bytes
        b"\x10\x05",  # a number where the name is meant
        field(2, b"first") + field(2, b"second"),  # two names: the last counts
        field(
            1, field(1, b"a") + field(1, b"b") + b"\x10\x81\x80\x80\x80\x10"
        ),  # of an input; a type of 5 bytes
        field(1, b""),
        b"",
    ],
)
def test_what_is_written_in_an_unusual_way(more: Any) -> None:
    odd = field(1, field(2, b"odd") + more + field(3, b"Mul"))
    data = odd + plain(MANY).SerializeToString() + odd * MANY
    assert read(data) == known_of_nodes(data)
    assert len(read(data)) == 2 * MANY + 1


def test_one_node_with_many_inputs_among_many_with_few() -> None:
    graph = plain(MANY)
    for number in range(1000):
        graph.node[7].input.add(name=str(number))
    data = graph.SerializeToString()
    assert read(data) == known_of_nodes(data)
    assert len(read(data)[7][-1]) == 1001


texts = st.text(max_size=5)
nodes = st.builds(
    NodeProto, name=texts, op_type=texts, scope=texts, full_name=texts,
    input=st.lists(st.builds(InputProto, name=texts, type=st.integers(-1, 2)), max_size=4),
    output_i=st.integers(0, 2**64 - 1),
)  # fmt: skip


@given(st.lists(nodes, max_size=4), st.integers(1, 12), st.randoms(use_true_random=False))
def test_any_nodes_in_any_order(some: Any, times: Any, order: Any) -> None:
    graph = GraphProto(node=some * times)
    mixed = list(graph.node)
    order.shuffle(mixed)
    data = GraphProto(node=mixed).SerializeToString()
    assert read(data) == known_of_nodes(data)


@given(st.data())
def test_flipped_bytes(data: Any) -> None:
    whole = bytearray(plain(MANY).SerializeToString())
    for _ in range(data.draw(st.integers(1, 3))):
        whole[data.draw(st.integers(0, len(whole) - 1))] ^= data.draw(st.integers(1, 255))
    try:
        spans_of(bytes(whole))
    except ValueError:
        return
    assert read(bytes(whole)) == known_of_nodes(bytes(whole))
