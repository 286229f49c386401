"""Encoder of computational graphs (GraphProto in graph.proto)."""

from typing import Any, Final

from mindinsight.writer.encoding.encoder import MessageEncoder


class GraphEncoder(MessageEncoder):
    """Encoder of networks, graph builders and ModelProto messages."""

    def serialised(self, value: Any) -> bytes:
        """Return the serialised GraphProto of a ModelProto or its bytes, a network or a GraphBuilder. Raises
        TypeError for a value without a graph, ValueError for bytes of anything else."""
        from google.protobuf.message import DecodeError  # protobuf, which scalars do without

        from mindinsight.proto.graph_pb2 import ModelProto
        from mindinsight.writer.network import graph_of

        if hasattr(value, "SerializeToString"):
            value = value.SerializeToString()
        elif not isinstance(value, (bytes, bytearray, memoryview)):
            value = graph_of(value)
        if value is None:
            raise TypeError("expected the bytes of a ModelProto, or a network with a graph")
        model = ModelProto()
        try:
            model.ParseFromString(bytes(value))
        except DecodeError as error:
            raise ValueError(f"the bytes are not a ModelProto: {error}") from error
        if not model.HasField("graph"):
            raise ValueError("the bytes are not a ModelProto: they contain no graph")
        return bytes(model.graph.SerializeToString())


ENCODER: Final = GraphEncoder("graph")
