"""Decoder of graphs for Google's Model Explorer (JSON), transcoded to our ModelProto.

A file holds graph collections, one collection, a list of graphs or one graph; a graph is a list of nodes with
id, label, namespace, incoming edges, attributes and metadata of outputs. Source: the data structures of
``ai-edge-model-explorer-adapter`` (``Graph``, ``GraphNode``, ``IncomingEdge``, ``MetadataItem``).
"""

import re
from collections.abc import Iterator
from typing import Any, Final

from mindinsight.proto.graph_pb2 import IR_VERSION, DataType, GraphProto, ModelProto
from mindinsight.server.formats.read_limits import GRAPH, UnreadableError

_TENSOR: Final = int(DataType.DT_TENSOR)
_STRING: Final = int(DataType.DT_STRING)
_TYPE: Final = re.compile(r"bfloat16|float\d*|uint\d+|int\d+|complex\d+|bool|bf16|f16|f32|f64|[su]?i\d+|i1")
_SHORT: Final = {"bf16": "bfloat16", "f16": "float16", "f32": "float32", "f64": "float64", "i1": "bool"}
_DIMENSIONS: Final = re.compile(r"[\[(<]([^\])>]*)")
_DEPTH: Final = 6  # lists and dictionaries around a graph
_MAX_TEXT: Final = 1000  # characters of an attribute; weights may be written out as text


def graphs_of(content: Any) -> list[tuple[str, bytes]]:
    """Return name and serialized ModelProto of each graph in the parsed JSON of a file. Raises
    UnreadableError if the file has no graph, or a graph with too many nodes."""
    graphs = [(str(graph.get("id") or "graph"), _model(graph)) for graph in _graphs(content)]
    if not graphs:
        raise UnreadableError("graph.unreadable", "it contains no graph of Model Explorer")
    return graphs


def _graphs(content: Any, depth: int = 0) -> Iterator[dict[str, Any]]:
    """Yield the graphs of collections, of a collection, of a list, or the graph itself."""
    if depth > _DEPTH:
        return
    if isinstance(content, list):
        for item in content:
            yield from _graphs(item, depth + 1)
    elif isinstance(content, dict):
        if isinstance(content.get("nodes"), list):
            yield content
        for key in ("graphCollections", "graphs"):
            yield from _graphs(content.get(key), depth + 1)


def _model(graph: dict[str, Any]) -> bytes:
    """Return the serialized ModelProto of a graph. Raises UnreadableError for too many nodes."""
    nodes = [node for node in graph["nodes"] if isinstance(node, dict) and "id" in node]
    GRAPH.check_items(len(nodes))
    proto = GraphProto(name=str(graph.get("id") or "graph"))
    names = {str(node["id"]): str(number) for number, node in enumerate(nodes, 1)}
    for number, node in enumerate(nodes, 1):
        _add_node(proto, node, str(number), names)
    data: bytes = ModelProto(ir_version=IR_VERSION, graph=proto).SerializeToString()
    return data


def _add_node(proto: GraphProto, node: dict[str, Any], name: str, names: dict[str, str]) -> None:
    """Add one node to the graph."""
    label = str(node.get("label") or node["id"])
    namespace = str(node.get("namespace") or "").split(";")[0].strip("/")
    last = label.replace("/", "\N{DIVISION SLASH}")
    added = proto.node.add(name=name, op_type=label, scope=namespace)
    added.full_name = f"{namespace}/{last}" if namespace else last
    for edge in sorted(_items(node, "incomingEdges"), key=_position):
        source = str(edge.get("sourceNodeId", ""))
        added.input.add(name=names.get(source, source))
    for key, text in _pairs(node.get("attrs")):
        attribute = added.attribute.add(name=key)
        attribute.value.dtype, attribute.value.str_val = _STRING, text[:_MAX_TEXT]
    outputs = sorted(_items(node, "outputsMetadata"), key=lambda item: str(item.get("id", "")))
    if outputs:
        _set_type(added.output_type, dict(_pairs(outputs[0].get("attrs"))))


def _items(node: dict[str, Any], key: str) -> list[dict[str, Any]]:
    """Return the objects in the list ``key``, or an empty list."""
    items = node.get(key)
    return [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []


def _position(edge: dict[str, Any]) -> tuple[int, str]:
    """Return the sort key of an edge among the inputs: numbers by value, then other names."""
    text = str(edge.get("targetNodeInputId", ""))
    return (int(text), "") if text.isdecimal() and len(text) < 10 else (1 << 31, text)


def _pairs(attributes: Any) -> Iterator[tuple[str, str]]:
    """Yield names and texts of attributes, without references to other nodes."""
    for item in attributes if isinstance(attributes, list) else ():
        if isinstance(item, dict) and isinstance(item.get("value"), str | int | float):
            yield str(item.get("key", "")), str(item["value"])


def _set_type(proto: Any, attributes: dict[str, str]) -> None:
    """Set a type from texts such as ``float32[1,2,3]``, ``(1, 2)`` with ``dtype``, ``tensor<1x2xf32>``."""
    lower = {key.lower(): value for key, value in attributes.items()}
    shape = next((lower[key] for key in ("tensor_shape", "shape", "type") if key in lower), "")
    element = _TYPE.search(lower.get("dtype") or lower.get("tensor_dtype") or shape)
    proto.data_type = _TENSOR
    if element:
        proto.tensor_type.elem_type = _data_type(element[0])
    dimensions = _DIMENSIONS.search(shape)
    for text in re.split(r"[,x×]", dimensions[1]) if dimensions else ():
        length = text.strip()
        if length.lstrip("-").isdecimal() and len(length) < 18:
            proto.tensor_type.shape.dim.add(size=int(length))
        elif length in {"?", "None"}:
            proto.tensor_type.shape.dim.add(size=-1)


def _data_type(name: str) -> int:
    """Return the number of a data type by any of its names, or 0 if it is unknown."""
    full = _SHORT.get(name) or re.sub(r"^s?i(?=\d+$)", "int", re.sub(r"^ui(?=\d+$)", "uint", name))
    return int(dict(DataType.items()).get(f"DT_{full.upper()}", 0))
