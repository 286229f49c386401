"""Graphs written by hand in a few words."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import strategies as st

from mindinsight.proto.graph_pb2 import GraphProto
from mindinsight.server.formats.graphs.graph_proto import read_graph


def write(nodes: Any, parameters: Any = (), constants: Any = ()) -> bytes:
    """Return the bytes of a graph. ``nodes`` are (path, inputs by path, parameter or constant) in file
    order."""
    proto = GraphProto(name="hand")
    ids = {}
    for number, (path, inputs) in enumerate(nodes):
        ids[path] = str(number)
        name = path.rpartition("/")[2]
        node = proto.node.add(name=str(number), full_name=path, op_type=name.partition("-")[0])
        node.output_type.data_type = 14
        node.output_type.tensor_type.elem_type = 11
        for size in (2, 3):
            node.output_type.tensor_type.shape.dim.add(size=size)
        for source in inputs:
            node.input.add(name=ids.get(source, source))
    for name in parameters:
        proto.parameters.add(name=name).type.data_type = 14
    for key, number in dict(constants).items():
        value = proto.const_vals.add(key=key).value
        value.dtype, value.int_val = 5, number
    return proto.SerializeToString()


@pytest.fixture
def graph() -> Callable[..., Any]:
    return lambda *args, **more: read_graph(write(*args, **more))


@pytest.fixture
def blocks() -> Any:
    """Return a function: blocks(12) -> the nodes of a chain of numbered scopes of equal structure."""
    return layers_of_blocks


def layers_of_blocks(count: Any, scope: str = "Default/net") -> list[Any]:
    nodes: list[Any] = [(f"{scope}/In-op0", [])]
    for number in range(count):
        before = nodes[-1][0]
        block = f"{scope}/{number}-Block"
        nodes += [
            (f"{block}/MatMul-op{number}", [before]),
            (f"{block}/act/ReLU-op{number}", [f"{block}/MatMul-op{number}"]),
        ]
    return [*nodes, (f"{scope}/Out-op0", [nodes[-1][0]])]


@st.composite
def graphs(draw: Any) -> Any:
    """Draw operators in a few scopes, each fed by earlier ones, parameters and a constant."""
    nodes: list[Any] = []
    for number in range(draw(st.integers(1, 24))):
        scope = "/".join(draw(st.lists(st.sampled_from("abc"), max_size=3)))
        kind = draw(st.sampled_from(["Add", "Mul", "Load", "UpdateState"]))
        path = f"{scope}/{kind}-op{number}".lstrip("/")
        sources = st.sampled_from(["w", "b", "cst1", *(source for source, _ in nodes)])
        nodes.append((path, draw(st.lists(sources, max_size=3))))
    return read_graph(write(nodes, ["w", "b"], {"cst1": 1}))


@pytest.fixture(scope="session")
def written() -> Any:
    """Return a strategy for random graphs."""
    return graphs()
