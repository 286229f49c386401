"""Graphs to compare: LeNet with edits, and the claims about them."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mindinsight.proto.graph_pb2 import GraphProto
from mindinsight.server.formats.graphs.graph_proto import read_graph
from mindinsight.server.graph.comparison.graph_comparison import LEFT
from mindinsight.server.graph.encoders.comparison_json import pair_json
from mindinsight.server.graph.scopes.folding import folded_tree

DATA = Path(__file__).parents[2] / "data/graph"
LENET = (DATA / "lenet.graph").read_bytes()
BACKBONE = "Default/network-WithLossCell/_backbone-LeNet"


def lenet(edit: Any = lambda proto: None) -> Any:
    proto = GraphProto.FromString(LENET)
    edit(proto)
    return folded_tree(read_graph(proto.SerializeToString()))


def operator(proto: Any, name: Any) -> Any:
    return next(node for node in proto.node if node.full_name.endswith(name))


def states(comparison: Any, side: Any = LEFT) -> dict[Any, Any]:
    """Return the paths of the operators that are not the same."""
    paths = comparison.trees[side].paths
    return {path: int(state) for path, state in zip(paths, comparison.states[side], strict=True) if state}


def rows(comparison: Any, path: Any) -> list[Any]:
    index = comparison.trees[LEFT].indices[path]
    details = pair_json(comparison, (index, int(comparison.partners[LEFT][index])))
    return [(row["what"], row["name"], row["left"], row["right"]) for row in details["differences"]]


def widen(proto: Any) -> None:
    operator(proto, "fc1-Dense/MatMul-op0").output_type.tensor_type.shape.dim[1].size = 64


def constants(*values: Any) -> Iterator[Any]:
    for value in values:
        proto = GraphProto(name="constant")
        proto.node.add(name="1", op_type="Add", full_name="net/Add-op0").input.add(name="cst")
        constant = proto.const_vals.add(key="cst").value
        constant.dtype, constant.int_val = 5, value
        yield folded_tree(read_graph(proto.SerializeToString()))
