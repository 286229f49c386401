"""Encoders of types and attribute values to the messages of graph.proto."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mindinsight.proto import graph_pb2

_DATA_TYPES = {
    "bool": graph_pb2.DT_BOOL,
    "int8": graph_pb2.DT_INT8,
    "int16": graph_pb2.DT_INT16,
    "int32": graph_pb2.DT_INT32,
    "int64": graph_pb2.DT_INT64,
    "uint8": graph_pb2.DT_UINT8,
    "uint16": graph_pb2.DT_UINT16,
    "uint32": graph_pb2.DT_UINT32,
    "uint64": graph_pb2.DT_UINT64,
    "float16": graph_pb2.DT_FLOAT16,
    "float32": graph_pb2.DT_FLOAT32,
    "float64": graph_pb2.DT_FLOAT64,
    "bfloat16": graph_pb2.DT_BFLOAT16,
    "complex64": graph_pb2.DT_COMPLEX64,
    "complex128": graph_pb2.DT_COMPLEX128,
    "string": graph_pb2.DT_STRING,
}


def data_type(name: str) -> int:
    """The DataType of an element type's name ("float32"); DT_UNDEFINED when it has none."""
    return int(_DATA_TYPES.get(name, graph_pb2.DT_UNDEFINED))


def tensor_type(shape: Sequence[int | None] | None, dtype: str) -> graph_pb2.TypeProto:
    """The type of a tensor. An unknown length of an axis is -1; an unknown shape is left out."""
    proto = graph_pb2.TypeProto(data_type=graph_pb2.DT_TENSOR)
    proto.tensor_type.elem_type = data_type(dtype)
    if shape is not None:
        proto.tensor_type.shape.SetInParent()
        for length in shape:
            proto.tensor_type.shape.dim.add(size=-1 if length is None else int(length))
    return proto


def tuple_type(elements: Sequence[tuple[Sequence[int | None] | None, str]]) -> graph_pb2.TypeProto:
    """The type of several tensors, given by shape and element type."""
    proto = graph_pb2.TypeProto(data_type=graph_pb2.DT_TUPLE)
    proto.sequence_type.elem_types.extend(tensor_type(shape, dtype) for shape, dtype in elements)
    return proto


def attribute_value(value: object) -> graph_pb2.ValueProto:
    """A Python value as MindSpore writes it into a graph; of what has no form there, its text."""
    simple = _number_or_text(value)
    if simple is not None:
        return simple
    if value is None:
        return graph_pb2.ValueProto(dtype=graph_pb2.DT_NONE, str_val="None")
    if isinstance(value, (list, tuple)):
        dtype = graph_pb2.DT_LIST if isinstance(value, list) else graph_pb2.DT_TUPLE
        return graph_pb2.ValueProto(dtype=dtype, values=[attribute_value(item) for item in value])
    if isinstance(value, Mapping):
        return _dictionary(value)
    return graph_pb2.ValueProto(dtype=graph_pb2.DT_STRING, str_val=str(value))


def tensor_constant(shape: Sequence[int], dtype: str) -> graph_pb2.ValueProto:
    """A constant tensor: its type, without the numbers, as in MindSpore's graphs."""
    tensor = graph_pb2.TensorProto(dims=list(shape), data_type=data_type(dtype))
    return graph_pb2.ValueProto(dtype=graph_pb2.DT_TENSOR, tensor_val=tensor)


def _number_or_text(value: object) -> graph_pb2.ValueProto | None:
    if isinstance(value, bool):
        return graph_pb2.ValueProto(dtype=graph_pb2.DT_BOOL, bool_val=value)
    if isinstance(value, int) and -(2**63) <= value < 2**63:
        return graph_pb2.ValueProto(dtype=graph_pb2.DT_INT64, int_val=value)
    if isinstance(value, float):
        return graph_pb2.ValueProto(dtype=graph_pb2.DT_FLOAT64, double_val=value)
    if isinstance(value, str):
        return graph_pb2.ValueProto(dtype=graph_pb2.DT_STRING, str_val=value)
    return None


def _dictionary(value: Mapping[object, object]) -> graph_pb2.ValueProto:
    entries = [
        graph_pb2.NamedValueProto(key=str(key), value=attribute_value(item)) for key, item in value.items()
    ]
    return graph_pb2.ValueProto(dtype=graph_pb2.DT_DICT, dict_val=entries)
