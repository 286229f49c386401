"""Operators of the backward pass and of the optimizer, by MindInsight 2.3.1's rules."""

from __future__ import annotations

from typing import Final

import numpy as np

from mindinsight.proto.graph_pb2 import NodeProto
from mindinsight.server.graph.model.graph import OPERATOR, Flags, Graph

BACKWARD: Final = "Gradients"  # begin of the paths of the backward pass


def training_operators(graph: Graph) -> Flags:
    """[n] flags of operators of the backward pass and of the optimizer."""
    return np.array(
        [
            kind == OPERATOR
            and (name.startswith(BACKWARD) or "optimizer" in name or _is_optimizer(graph, node))
            for node, (name, kind) in enumerate(zip(graph.names, graph.kinds.tolist(), strict=True))
        ],
        dtype=np.bool_,
    )


def has_training(graph: Graph) -> bool:
    """Whether a graph holds a backward pass, and a forward pass besides."""
    operators = [
        name for name, kind in zip(graph.names, graph.kinds.tolist(), strict=True) if kind == OPERATOR
    ]
    backward = sum(name.startswith(BACKWARD) for name in operators)
    return 0 < backward < len(operators)


def _is_optimizer(graph: Graph, node: int) -> bool:
    message = graph.message(node)
    return b"opt" in message and "opt" in NodeProto.FromString(message).instance_name
