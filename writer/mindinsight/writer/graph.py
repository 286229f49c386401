"""Builder of computational graphs in MindSpore's format, with types and attribute values."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Literal

from mindinsight.proto import graph_pb2

__all__ = ["GraphBuilder"]


def data_type(name: str) -> int:
    """Return the DataType of an element type's name ("float32"), or DT_UNDEFINED if it has none."""
    number: int = dict(graph_pb2.DataType.items()).get(f"DT_{name.upper()}", graph_pb2.DT_UNDEFINED)
    return number


def tensor_type(shape: Sequence[int | None] | None, dtype: str) -> graph_pb2.TypeProto:
    """Return the type of a tensor. An axis of unknown length is -1. An unknown shape is omitted."""
    proto = graph_pb2.TypeProto(data_type=graph_pb2.DT_TENSOR)
    proto.tensor_type.elem_type = data_type(dtype)
    if shape is not None:
        proto.tensor_type.shape.SetInParent()
        for length in shape:
            proto.tensor_type.shape.dim.add(size=-1 if length is None else int(length))
    return proto


def tuple_type(elements: Sequence[tuple[Sequence[int | None] | None, str]]) -> graph_pb2.TypeProto:
    """Return the type of several tensors, each given by shape and element type."""
    proto = graph_pb2.TypeProto(data_type=graph_pb2.DT_TUPLE)
    proto.sequence_type.elem_types.extend(tensor_type(shape, dtype) for shape, dtype in elements)
    return proto


def attribute_value(value: object) -> graph_pb2.ValueProto:
    """Return a Python value as MindSpore's graphs store it. Unsupported values become text."""
    if value is None:
        return graph_pb2.ValueProto(dtype=graph_pb2.DT_NONE, str_val="None")
    if isinstance(value, bool):
        return graph_pb2.ValueProto(dtype=graph_pb2.DT_BOOL, bool_val=value)
    if isinstance(value, int) and -(2**63) <= value < 2**63:
        return graph_pb2.ValueProto(dtype=graph_pb2.DT_INT64, int_val=value)
    if isinstance(value, float):
        return graph_pb2.ValueProto(dtype=graph_pb2.DT_FLOAT64, double_val=value)
    if isinstance(value, (list, tuple)):
        dtype = graph_pb2.DT_LIST if isinstance(value, list) else graph_pb2.DT_TUPLE
        return graph_pb2.ValueProto(dtype=dtype, values=map(attribute_value, value))
    if isinstance(value, Mapping):
        message = graph_pb2.ValueProto(dtype=graph_pb2.DT_DICT)
        for key, item in value.items():
            message.dict_val.add(key=str(key), value=attribute_value(item))
        return message
    return graph_pb2.ValueProto(dtype=graph_pb2.DT_STRING, str_val=str(value))


def tensor_constant(shape: Sequence[int], dtype: str) -> graph_pb2.ValueProto:
    """Return a constant tensor: its type without the numbers, as in MindSpore's graphs."""
    tensor = graph_pb2.TensorProto(dims=list(shape), data_type=data_type(dtype))
    return graph_pb2.ValueProto(dtype=graph_pb2.DT_TENSOR, tensor_val=tensor)


Shape = Sequence[int | None] | None
ParameterRole = Literal["weight", "buffer", "input"]


class GraphBuilder:
    """Builder of one network's graph: nodes, parameters and constants in the order of computation.

    ``parameter``, ``constant`` and ``node`` return a name, which is passed to later nodes as input::

        graph = GraphBuilder("MLP")
        x = graph.parameter("x", (32, 4))
        with graph.scope("fc1-Dense"):
            h = graph.node("MatMul", [x, graph.parameter("fc1.weight", (4, 8))], shape=(32, 8))
        graph.output(h)
        record.add_value("graph", "mlp", graph.serialised())

    A scope is named ``<attribute>-<Class>``. The full name of a node is ``<scope>/<type>-op<n>``.
    """

    def __init__(self, name: str = "network") -> None:
        self._graph = graph_pb2.GraphProto(name=name)
        self._names: set[str] = set()
        self._scope = ["Default"]
        self._counts: Counter[str] = Counter()

    def __contains__(self, name: object) -> bool:
        """Return True if a node may take this name as input."""
        return name in self._names

    @contextmanager
    def scope(self, name: str) -> Iterator[None]:
        """Put nodes made inside the context into the scope ``name`` below the current scope. "a/b" is two
        scopes. A leading slash makes a top-level scope next to Default, as in
        "/Gradients/Default/fc1-Dense"."""
        outer = self._scope
        self._scope = name[1:].split("/") if name.startswith("/") else [*outer, *name.split("/")]
        try:
            yield
        finally:
            self._scope = outer

    def parameter(
        self, name: str, shape: Shape = None, dtype: str = "float32", role: ParameterRole | None = None
    ) -> str:
        """Add an input of the network, a weight or a buffer, as its ``role`` says, and return ``name``.
        Raises ValueError for a used name. Without a role viewers guess it from the name. A shape of None
        is unknown."""
        if name in self._names:
            raise ValueError(f"the graph has {name!r} already")
        parameter = self._graph.parameters.add(name=name, type=tensor_type(shape, dtype))
        if role:
            parameter.role = graph_pb2.ParameterProto.Role.Value(role.upper())
        return self._known(name)

    def constant(self, value: object) -> str:
        """Add a constant number, text or tuple, and return its name."""
        return self._constant(attribute_value(value))

    def constant_tensor(self, shape: Sequence[int], dtype: str = "float32") -> str:
        """Add a constant tensor and return its name. The graph holds its type, not its numbers."""
        return self._constant(tensor_constant(shape, dtype))

    def node(
        self,
        op_type: str,
        inputs: Sequence[str] = (),
        shape: Shape = None,
        dtype: str = "float32",
        attributes: Mapping[str, object] | None = None,
        several: Sequence[tuple[Shape, str]] | None = None,
        source_lines: Sequence[str] = (),
        number: int | None = None,
    ) -> str:
        """Add an operator with its inputs and the type of its output, and return its name. Raises ValueError
        for an input that is not in the graph yet.

        ``several`` has shape and type of each output if there are several. ``source_lines`` is the code,
        innermost first, as "# In file net.py:11, 0~15/x = self.fc(x)/". ``number`` is the ``n`` of the full
        name, by default the number of earlier nodes of this type.
        """
        if unknown := [name for name in inputs if name not in self._names]:
            raise ValueError(f"inputs of {op_type} that are not in the graph: {', '.join(unknown)}")
        scope = "/".join(self._scope)
        name = str(len(self._graph.node) + 1)
        node = self._graph.node.add(name=name, op_type=op_type, scope=scope)
        node.full_name = f"{scope}/{op_type}-op{self._counts[op_type] if number is None else number}"
        self._counts[op_type] += 1
        node.output_type.CopyFrom(tensor_type(shape, dtype) if several is None else tuple_type(several))
        for source in inputs:
            node.input.add(name=source, type=graph_pb2.InputProto.DATA_EDGE)
        node.source_address.extend(source_lines)
        for key, value in (attributes or {}).items():
            node.attribute.add(name=key, value=attribute_value(value))
        return self._known(name)

    def output(self, name: str) -> None:
        """Mark a node as an output of the network. Raises ValueError if the graph has no such name."""
        if name not in self._names:
            raise ValueError(f"the graph has no {name!r}")
        output = self._graph.outputs.add(name=name)
        for node in self._graph.node:
            if node.name == name:
                output.type.CopyFrom(node.output_type)

    def model(self) -> graph_pb2.ModelProto:
        """Return the graph as the message of an event or a ``.pb`` file."""
        return graph_pb2.ModelProto(ir_version=graph_pb2.IR_VERSION, graph=self._graph)

    def serialised(self) -> bytes:
        """Return the ModelProto as bytes, for ``add_value("graph", name, ...)``."""
        content: bytes = self.model().SerializeToString()
        return content

    def _constant(self, value: graph_pb2.ValueProto) -> str:
        key = f"cst{len(self._graph.const_vals) + 1}"
        self._graph.const_vals.add(key=key, value=value)
        return self._known(key)

    def _known(self, name: str) -> str:
        self._names.add(name)
        return name
