from typing import Any

import pytest

from mindinsight.proto import graph_pb2
from mindinsight.writer.encoding.kinds.graph import ENCODER
from mindinsight.writer.graph import GraphBuilder


def builder() -> Any:
    graph = GraphBuilder("net")
    graph.node("ReLU", [graph.parameter("x")])
    return graph


def test_a_graph_is_taken_from_a_builder_its_bytes_and_its_message() -> None:
    model = graph_pb2.ModelProto.FromString(builder().serialised())
    for value in (builder(), builder().serialised(), model):
        assert graph_pb2.GraphProto.FromString(ENCODER.serialised(value)).name == "net"


@pytest.mark.parametrize(
    ("value", "error", "text"),
    [
        (b"\xff", ValueError, "not a ModelProto"),
        (b"", ValueError, "they contain no graph"),
        (object(), TypeError, "a network with a graph"),
    ],
)
def test_anything_else_is_refused(value: Any, error: Any, text: str) -> None:
    with pytest.raises(error, match=text):
        ENCODER.serialised(value)
