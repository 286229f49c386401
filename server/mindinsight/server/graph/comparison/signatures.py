"""Signatures of operators: hashable keys that are equal for equal operators of two graphs."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from mindinsight.proto.graph_pb2 import NodeProto
from mindinsight.server.graph.model.graph import PARAMETER, Graph

Content: TypeAlias = tuple[bytes, tuple[bytes, ...]]  # the type of its output; its attributes
Inputs: TypeAlias = tuple[str, ...]


class Signatures:
    """Signatures of the operators of one graph, computed when asked for and cached."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self._read: dict[int, Content] = {}
        targets = graph.edges.targets
        self._begins = np.searchsorted(targets, np.arange(len(graph) + 1)).tolist()

    def content(self, node: int) -> Content:
        """Content signature: output type and attributes as serialized; not names, numbers or inputs."""
        signature = self._read.get(node)
        if signature is None:
            proto = NodeProto.FromString(self.graph.message(node))
            attributes = sorted(
                attribute.SerializeToString(deterministic=True) for attribute in proto.attribute
            )
            signature = proto.output_type.SerializeToString(deterministic=True), tuple(attributes)
            self._read[node] = signature
        return signature

    def inputs(self, node: int) -> Inputs:
        """Input signature of an operator, in order: the type of an operator, the name of a parameter."""
        graph = self.graph
        sources = graph.edges.sources[self._begins[node] : self._begins[node + 1]].tolist()
        return tuple(
            graph.names[source] if graph.kinds[source] == PARAMETER else graph.types[source]
            for source in sources
        )
