"""Conversion of a data pipeline from a lineage file to a graph, sources first."""

from typing import Any, Final, NamedTuple

from mindinsight.proto.graph_pb2 import DataType, GraphProto
from mindinsight.server.formats.graphs.graph_proto import read_graph
from mindinsight.server.graph.model.graph import Graph

_INNER: Final = ("children", "operations", "sampler")


class Step(NamedTuple):
    """Step of a data pipeline: its name, its path in the graph, and the steps it takes data from."""

    name: str
    path: str
    inputs: tuple["Step", ...]


def pipeline_steps(pipeline: dict[str, Any]) -> Step:
    """Return the last step of a data pipeline, with the steps before it."""
    return _add_step(GraphProto(), pipeline)[1]


def pipeline_graph(pipeline: dict[str, Any]) -> Graph:
    """Convert a data pipeline in MindInsight's JSON form (lineage.py) to a graph. Settings become
    attributes. A step with operations or a sampler becomes a scope that contains them."""
    proto = GraphProto(name="dataset")
    proto.outputs.add(name=_add_step(proto, pipeline)[0])
    return read_graph(proto.SerializeToString())


def _add_step(proto: GraphProto, step: dict[str, Any]) -> tuple[str, Step]:
    """Add a step after its sources, and return the name of its node and the step."""
    added = [_add_step(proto, child) for child in step.get("children") or []]
    sources = [source for source, _ in added]
    name = str(step.get("op_type") or "Dataset")
    operations = step.get("operations") or []
    sampler = step.get("sampler")
    scope = f"{name}-{len(proto.node)}" if operations or sampler else ""
    if sampler:
        sources.append(_add_node(proto, scope, _title(sampler, "sampler_name", "Sampler"), [], sampler))
    for operation in operations:
        title = _title(operation, "tensor_op_name", "Operation")
        sources = [_add_node(proto, scope, title, sources, operation)]
    node = _add_node(proto, scope, name, sources, step)
    if scope:  # the step itself, with no number that differs from the one of its scope
        proto.node[-1].full_name = f"{scope}/{name}"
    return node, Step(name, scope or proto.node[-1].full_name, tuple(before for _, before in added))


def _title(settings: dict[str, Any], key: str, otherwise: str) -> str:
    """Return the name of an operation or sampler."""
    return str(settings.get(key) or otherwise)


def _add_node(proto: GraphProto, scope: str, name: str, sources: list[str], settings: dict[str, Any]) -> str:
    """Add a node with its settings as attributes, and return its name."""
    number = str(len(proto.node))
    node = proto.node.add(name=number, op_type=name, full_name=f"{scope}/{name}-{number}".lstrip("/"))
    for source in sources:
        node.input.add(name=source)
    for key, value in settings.items():
        if key not in _INNER and value is not None:
            attribute = node.attribute.add(name=key)
            _set_value(attribute.value, value)
    return number


def _set_value(proto: Any, value: Any) -> None:
    """Fill a ValueProto with a setting. Elements of lists keep their types, and None becomes "None"."""
    if isinstance(value, bool):
        proto.dtype, proto.bool_val = DataType.DT_BOOL, value
    elif isinstance(value, int):
        proto.dtype, proto.int_val = DataType.DT_INT64, value
    elif isinstance(value, float):
        proto.dtype, proto.double_val = DataType.DT_FLOAT64, value
    elif isinstance(value, list):
        proto.dtype = DataType.DT_LIST
        for element in value:
            _set_value(proto.values.add(), "None" if element is None else element)
    else:
        proto.dtype, proto.str_val = DataType.DT_STRING, str(value)
