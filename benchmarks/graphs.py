"""A graph of many nodes in nested scopes, as MindSpore and as TensorFlow write it."""

from __future__ import annotations

import struct
from collections.abc import Iterator

from benchmarks import encoding
from benchmarks.encoding import Format
from mindinsight.proto.framing import encode_record
from mindinsight.proto.graph_pb2 import GraphProto
from mindinsight.server.compute.tensor_statistics import Statistics
from mindinsight.server.debug.examine import TensorResult
from mindinsight.server.debug.statistics_cache import Measurement
from mindinsight.server.formats.dumps.dump_names import escape_name
from mindinsight.server.formats.dumps.dump_types import Operator, TensorEntry

OPERATORS = ["Conv2D", "BatchNorm", "ReLU", "MatMul", "Add", "Cast", "Reshape", "Mul", "Load", "Depend"]


def graph_records(form: Format, nodes: int) -> Iterator[bytes]:
    """One event with a graph: stages, blocks and layers of ten operators, each fed by the two before it."""
    content = _mindspore(nodes) if form == "mindspore" else _tensorflow(nodes)
    yield encode_record(b"\x09" + struct.pack("<d", 1_700_000_000.0) + encoding.message(4, content))


def scope_of(node: int) -> str:
    layer = node // 10
    return f"Default/network-Net/stage_{layer // 200}/block_{layer // 10 % 20}/layer_{layer % 10}-Cell"


def name_of(node: int) -> str:
    operator = OPERATORS[node % len(OPERATORS)]
    return f"{scope_of(node)}/{operator}-op{node}"


def dumped(nodes: int) -> tuple[list[Operator], list[TensorResult]]:
    """A dump of all operators of such a graph: an input and an output of each, measured."""
    names = [name_of(node) for node in range(nodes)]
    operators = [
        Operator(name, escape_name(name), OPERATORS[node % len(OPERATORS)], (), "Net/0", node, node)
        for node, name in enumerate(names)
    ]
    fine = Measurement(Statistics(10, 0, 5, 5, 0, 0, 0, -1.0, 1.0, 0.0, 0.5, 0.6, 2.0), (10,), "float32")
    entries = [
        TensorEntry(
            0, 0, operator.graph, operator.name, operator.recorded, operator.type,
            "output" if slot else "input", "0", 2 * operator.order + slot, operator.order, 0, (10,),
            "float32", "", None,
        )
        for operator in operators
        for slot in (0, 1)
    ]  # fmt: skip
    return operators, [TensorResult(entry, fine) for entry in entries]


def _mindspore(nodes: int) -> bytes:
    graph = GraphProto(name="Net_construct")
    shape = {"dim": [{"size": 32}, {"size": 64}, {"size": 56}, {"size": 56}]}
    output = {"data_type": 14, "tensor_type": {"elem_type": 11, "shape": shape}}
    for node in range(nodes):
        added = graph.node.add(
            name=str(node + 1), op_type=OPERATORS[node % len(OPERATORS)], scope=scope_of(node),
            full_name=name_of(node), output_type=output,
        )  # fmt: skip
        added.attribute.add(name="output_names", value={"dtype": 28, "str_vals": ["output"]})
        for before in range(max(node - 2, 0), node):
            added.input.add(name=str(before + 1))
        if node % 10 == 0:
            added.input.add(name=f"layer_{node}.weight")
            graph.parameters.add(name=f"layer_{node}.weight", type=output)
    graph.outputs.add(name=str(nodes), type=output)
    return graph.SerializeToString()


def _tensorflow(nodes: int) -> bytes:
    """GraphDef: nodes with name, op and the names of their inputs."""
    content = []
    for node in range(nodes):
        inputs = [name_of(before) for before in range(max(node - 2, 0), node)]
        fields = [(1, name_of(node)), (2, OPERATORS[node % len(OPERATORS)]), *((3, name) for name in inputs)]
        content.append(b"".join(encoding.message(number, text.encode()) for number, text in fields))
    return b"".join(encoding.message(1, node) for node in content)
