"""Encoder of TensorBoard's messages: values of each kind, hyper-parameters and graphs."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from google.protobuf import struct_pb2

from mindinsight.proto.graph_pb2 import GraphProto, TypeProto, ValueProto
from mindinsight.proto.tensorboard_pb2 import (
    Audio,
    GraphDef,
    HistogramProto,
    HParamsPluginData,
    Image,
    TensorProto,
    TensorShapeProto,
    Value,
)
from mindinsight.writer.configuration import Fact
from mindinsight.writer.encoding import media, wire
from mindinsight.writer.encoding.histograms import CountedHistogram
from mindinsight.writer.encoding.media import Sound

# DataType of types.proto by the name of an element type.
_STRING: Final = 7
_DATA_TYPES: Final = {
    "float32": 1, "float64": 2, "int32": 3, "uint8": 4, "int16": 5, "int8": 6, "complex64": 8, "int64": 9,
    "bool": 10, "bfloat16": 14, "uint16": 17, "complex128": 18, "float16": 19, "uint32": 22, "uint64": 23,
}  # fmt: skip
_TEXT, _BOOLEAN, _NUMBER = 1, 2, 3  # DataType of the plugin for hyper-parameters
_SUCCESS: Final = 1  # status of a session
_PRODUCER: Final = 22  # version of TensorFlow's graphs that all of TensorBoard's readers know


def encode_value(tag: str, plugin: str = "", content: bytes = b"", **body: Any) -> bytes:
    """Return a serialised Summary.Value with the fields ``body``, and its plugin's name and ``content``."""
    message = Value(tag=tag, **body)
    if plugin:
        message.metadata.plugin_data.plugin_name = plugin
    if content:
        message.metadata.plugin_data.content = content
    return bytes(message.SerializeToString())


def image(tag: str, batch: npt.NDArray[np.uint8]) -> bytes:
    """Return a serialised Summary.Value with ``batch`` (N, C, H, W) as one PNG, eight images a row. Gray
    images become RGB, as in torch."""
    pixels = media.canvas(batch)
    if pixels.shape[2] == 1:
        pixels = np.repeat(pixels, 3, axis=2)
    height, width, channels = pixels.shape
    encoded = media.encode(pixels)
    return encode_value(
        tag, image=Image(height=height, width=width, colorspace=channels, encoded_image_string=encoded)
    )


def histogram(tag: str, counted: CountedHistogram) -> bytes:
    """Return a serialised Summary.Value with a histogram."""
    histo = HistogramProto(min=counted.low, max=counted.high, num=counted.count, sum=counted.total)
    histo.sum_squares = counted.squares
    histo.bucket_limit.extend(counted.limits.tolist())
    histo.bucket.extend(counted.counts.tolist())
    return encode_value(tag, histo=histo)


def audio(tag: str, sound: Sound) -> bytes:
    """Return a serialised Summary.Value with a WAV file."""
    sizes = {"sample_rate": sound.rate, "num_channels": sound.channels, "length_frames": sound.frames}
    return encode_value(tag, audio=Audio(**sizes, encoded_audio_string=sound.wav, content_type="audio/wav"))


def text(tag: str, words: bytes) -> bytes:
    """Return a serialised Summary.Value with Markdown in UTF-8."""
    return encode_value(tag, "text", tensor=strings([words], (1,)))


def tensor_scalar(tag: str, number: float, double: bool) -> bytes:
    """Return a serialised Summary.Value with a scalar in TensorFlow 2's form: a tensor without dimensions, of
    float64 or float32."""
    with np.errstate(over="ignore"):
        return encode_value(tag, "scalars", tensor=tensor_proto(np.asarray(number, "f8" if double else "f4")))


def tensor(tag: str, values: npt.NDArray[Any], dtype: str) -> bytes:
    """Return a serialised Summary.Value with an array of any shape, bit-exact. ``dtype`` is the array's
    original type."""
    return encode_value(tag, "tensor", tensor=tensor_proto(values, dtype))


def pr_curve(tag: str, rows: npt.NDArray[Any]) -> bytes:
    """Return a serialised Summary.Value with a precision-recall curve. ``rows`` [6, thresholds]: true and
    false positives, true and false negatives, precision, recall."""
    thresholds = wire.integer(2, rows.shape[1])
    return encode_value(tag, "pr_curves", thresholds, tensor=tensor_proto(rows.astype("<f4")))


def layout(tag: str, charts: bytes) -> bytes:
    """Return a serialised Summary.Value with the charts of the custom scalars page, encoded by
    ``chart_layouts.encode``."""
    return encode_value(tag, "custom_scalars", tensor=strings([charts], ()))


def tensor_proto(values: npt.NDArray[Any], dtype: str = "") -> TensorProto:
    """Return an array as a message, bit-exact. ``dtype`` is the original type of the values: "bfloat16"
    arrives as float32 and is written as bfloat16. Other types unknown to NumPy are written as float32 with
    the same values."""
    kind = values.dtype.name
    if dtype == "bfloat16":
        kind = dtype
        values = (np.ascontiguousarray(values, "<f4").view("<u4") >> np.uint32(16)).astype("<u2")
    content = np.ascontiguousarray(values, values.dtype.newbyteorder("<")).tobytes()
    return TensorProto(dtype=_DATA_TYPES[kind], tensor_shape=_shape(values.shape), tensor_content=content)


def strings(texts: Sequence[bytes], shape: Sequence[int]) -> TensorProto:
    """Return a tensor of byte strings as a message."""
    return TensorProto(dtype=_STRING, tensor_shape=_shape(shape), string_val=texts)


def _shape(sizes: Iterable[int]) -> TensorShapeProto:
    return TensorShapeProto(dim=[TensorShapeProto.Dim(size=size) for size in sizes])


def experiment(
    parameters: Mapping[str, Fact], metrics: Iterable[str], domains: Mapping[str, Sequence[Fact]]
) -> bytes:
    """Return a serialised Summary.Value that declares hyper-parameters, their domains, and metrics."""
    message = HParamsPluginData()
    for name, value in parameters.items():
        kind = _BOOLEAN if isinstance(value, bool) else _TEXT if isinstance(value, str) else _NUMBER
        info = message.experiment.hparam_infos.add(name=name, type=kind)
        if name in domains:
            info.domain_discrete.SetInParent()
            info.domain_discrete.values.extend(map(_hparam_value, domains[name]))
    for metric in metrics:
        message.experiment.metric_infos.add().name.tag = metric
    message.experiment.SetInParent()
    return _hparams("experiment", message)


def session_start(parameters: Mapping[str, Fact]) -> bytes:
    """Return a serialised Summary.Value with the hyper-parameters of a session."""
    message = HParamsPluginData()
    message.session_start_info.SetInParent()
    for name, value in parameters.items():
        message.session_start_info.hparams.add(key=name, value=_hparam_value(value))
    return _hparams("session_start_info", message)


def session_end() -> bytes:
    """Return a serialised Summary.Value for the successful end of a session."""
    return _hparams("session_end_info", HParamsPluginData(session_end_info={"status": _SUCCESS}))


def _hparams(name: str, message: HParamsPluginData) -> bytes:
    return encode_value(f"_hparams_/{name}", "hparams", message.SerializeToString())


def _hparam_value(value: Fact) -> struct_pb2.Value:
    if isinstance(value, bool):
        return struct_pb2.Value(bool_value=value)
    return struct_pb2.Value(**{"string_value" if isinstance(value, str) else "number_value": value})


def graph_definition(graph: GraphProto) -> bytes:
    """Return a GraphProto of MindSpore as a serialised GraphDef with scopes, shapes and attributes. A
    parameter ``layers.0.weight`` is in the scopes ``layers/0``."""
    names = {parameter.name: parameter.name.replace(".", "/") for parameter in graph.parameters}
    names |= {node.name: node.full_name or node.name for node in graph.node}
    definition = GraphDef(versions={"producer": _PRODUCER})
    for parameter in graph.parameters:
        _add_shape(definition.node.add(name=names[parameter.name], op="Parameter"), parameter.type)
    for constant in graph.const_vals:
        definition.node.add(name=constant.key, op="Const")
    for node in graph.node:
        inputs = [names.get(source.name, source.name) for source in node.input]
        added = definition.node.add(name=names[node.name], op=node.op_type, input=inputs)
        _add_shape(added, node.output_type)
        texts = [f"{attribute.name}: {_attribute_text(attribute.value)}" for attribute in node.attribute]
        if texts:
            added.attr.add(key="attr", value={"s": ", ".join(texts).encode()})
    return bytes(definition.SerializeToString())


def _add_shape(node: Any, kind: TypeProto) -> None:
    """Add the shape of a node's output, if it is a tensor."""
    if kind.HasField("tensor_type"):
        shape = _shape(dim.size for dim in kind.tensor_type.shape.dim)
        node.attr.add(key="_output_shapes").value.list.shape.append(shape)


def _attribute_text(value: ValueProto) -> str:
    """Return the set field of a value as text, a list as its elements."""
    texts: list[str] = []
    for field, content in value.ListFields():
        if field.name == "values":
            texts.append(f"[{', '.join(map(_attribute_text, content))}]")
        elif field.name == "dict_val":
            texts.append(", ".join(f"{entry.key}: {_attribute_text(entry.value)}" for entry in content))
        elif field.name.endswith("_vals"):
            texts.append(str(list(content)))
        elif field.name.endswith("_val") and field.name != "tensor_val":
            texts.append(str(content))
    return " ".join(texts)
