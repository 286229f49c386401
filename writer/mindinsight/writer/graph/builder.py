"""Builder of a computational graph, in the form of MindSpore's."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from mindinsight.proto import graph_pb2
from mindinsight.writer.graph.values import attribute_value, tensor_constant, tensor_type, tuple_type

Shape = Sequence[int | None] | None


class GraphBuilder:
    """Nodes, parameters and constants of one network, in the order of computation.

    ``parameter``, ``constant`` and ``node`` return the name by which a later node takes them as input::

        graph = GraphBuilder("MLP")
        x = graph.parameter("x", (32, 4))
        with graph.scope("fc1-Dense"):
            h = graph.node("MatMul", [x, graph.parameter("fc1.weight", (4, 8))], shape=(32, 8))
        graph.output(h)
        record.add_value("graph", "mlp", graph.serialised())

    A scope is named ``<attribute>-<Class>``; a node's full name is ``<scope>/<type>-op<n>``.
    """

    def __init__(self, name: str = "network") -> None:
        self._graph = graph_pb2.GraphProto(name=name)
        self._names: set[str] = set()
        self._scope = ["Default"]
        self._counts: Counter[str] = Counter()

    def __contains__(self, name: object) -> bool:
        """Whether a node may take this name as input."""
        return name in self._names

    @contextmanager
    def scope(self, name: str) -> Iterator[None]:
        """Nodes made inside belong to ``name`` below the current scope; "a/b" goes down two.

        With a leading slash it is a scope of its own beside Default, as in "/Gradients/Default/fc1-Dense".
        """
        outer = self._scope
        self._scope = name[1:].split("/") if name.startswith("/") else [*outer, *name.split("/")]
        try:
            yield
        finally:
            self._scope = outer

    def parameter(self, name: str, shape: Shape = None, dtype: str = "float32") -> str:
        """An input of the network or a weight. Raises ValueError when the name is taken."""
        if name in self._names:
            raise ValueError(f"the graph has {name!r} already")
        self._graph.parameters.add(name=name, type=tensor_type(shape, dtype))
        return self._known(name)

    def constant(self, value: object) -> str:
        """A value that never changes: a number, text, a tuple of them."""
        return self._constant(attribute_value(value))

    def constant_tensor(self, shape: Sequence[int], dtype: str = "float32") -> str:
        """A tensor that never changes; the graph holds its type, not its numbers."""
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
        """An operator with its inputs and the type of its output; returns its name.

        ``several`` gives shape and type of each output when there is more than one; ``source_lines`` the code
        it comes from, innermost first, as "# In file net.py:11, 0~15/x = self.fc(x)/"; ``number`` the ``n``
        of the full name, by default the count of nodes of this type before.
        Raises ValueError for an input that is not in the graph yet.
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
        """Say that this node's value leaves the network."""
        if name not in self._names:
            raise ValueError(f"the graph has no {name!r}")
        output = self._graph.outputs.add(name=name)
        for node in self._graph.node:
            if node.name == name:
                output.type.CopyFrom(node.output_type)

    def model(self) -> graph_pb2.ModelProto:
        """The graph as the message an event and a ``.pb`` file hold."""
        return graph_pb2.ModelProto(ir_version=graph_pb2.IR_VERSION, graph=self._graph)

    def serialised(self) -> bytes:
        """The ModelProto as bytes, for ``add_value("graph", name, ...)``."""
        content: bytes = self.model().SerializeToString()
        return content

    def _constant(self, value: graph_pb2.ValueProto) -> str:
        key = f"cst{len(self._graph.const_vals) + 1}"
        self._graph.const_vals.add(key=key, value=value)
        return self._known(key)

    def _known(self, name: str) -> str:
        self._names.add(name)
        return name
