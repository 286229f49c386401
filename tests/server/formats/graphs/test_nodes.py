"""Nodes read side by side are what protobuf reads of each by itself."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from google.protobuf.message import DecodeError
from hypothesis import given
from hypothesis import strategies as st

from mindinsight.proto.graph_pb2 import GraphProto, InputProto, ModelProto, NodeProto
from mindinsight.server.formats.graphs.nodes import read_nodes
from mindinsight.server.formats.wire_format import message_fields

DATA = Path(__file__).parents[3] / "data" / "graph"
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


def known(data: Any) -> Any:
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
    assert read(data) == known(data) != []


def test_names_that_are_not_ascii() -> None:
    data = plain(MANY, scope="默认/网络").SerializeToString()
    assert read(data) == known(data)
    assert {scope for _, _, _, scope, _, _ in read(data)} == {"默认/网络"}


def test_a_name_that_is_no_text_costs_its_node_at_most() -> None:
    data = plain(MANY).SerializeToString() + field(1, field(2, b"\xff\xfe")) + field(1, field(2, b"last"))
    assert read(data) == known(data)
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
    assert read(data) == known(data)
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
    assert read(data) == known(data)
    assert len(read(data)) == 2 * MANY + 1


def test_one_node_with_many_inputs_among_many_with_few() -> None:
    graph = plain(MANY)
    for number in range(1000):
        graph.node[7].input.add(name=str(number))
    data = graph.SerializeToString()
    assert read(data) == known(data)
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
    assert read(data) == known(data)


@given(st.data())
def test_flipped_bytes(data: Any) -> None:
    whole = bytearray(plain(MANY).SerializeToString())
    for _ in range(data.draw(st.integers(1, 3))):
        whole[data.draw(st.integers(0, len(whole) - 1))] ^= data.draw(st.integers(1, 255))
    try:
        spans_of(bytes(whole))
    except ValueError:
        return
    assert read(bytes(whole)) == known(bytes(whole))
