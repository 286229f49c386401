"""Values of TensorBoard's plugins, and graphs with scopes, inputs, shapes and attributes."""

import io
from typing import Any

import numpy as np
import pytest
from PIL import Image

from mindinsight.proto.graph_pb2 import GraphProto, TypeProto, ValueProto
from mindinsight.writer.encoding import tfevents_messages as messages
from mindinsight.writer.encoding.histograms import CountedHistogram
from mindinsight.writer.encoding.media import Sound
from tests.writer.tensorboard_messages import parse


def value(encoded: bytes) -> Any:
    return parse("Value", encoded)


def read_tensor(values: Any, dtype: str = "") -> Any:
    return parse("Tensor", messages.tensor_proto(values, dtype).SerializeToString())


@pytest.mark.parametrize(
    ("dtype", "number"),
    [
        ("float32", 1),
        ("float64", 2),
        ("int8", 6),
        ("int64", 9),
        ("bool", 10),
        ("float16", 19),
        ("uint64", 23),
    ],
)
def test_an_array_keeps_its_type_its_shape_and_every_bit(dtype: str, number: int) -> None:
    array = np.arange(6).reshape(2, 3).astype(dtype)
    tensor = read_tensor(array.T)
    assert (tensor.dtype, [dim.size for dim in tensor.shape.dim]) == (number, [3, 2])
    assert tensor.content == array.T.tobytes()
    swapped = read_tensor(array.astype(array.dtype.newbyteorder(">")))
    assert swapped.content == array.tobytes()


def test_bfloat16_leaves_as_it_came() -> None:
    tensor = read_tensor(np.array([1.0, -3.0], np.float32), "bfloat16")
    assert (tensor.dtype, tensor.content) == (14, b"\x80\x3f\x40\xc0")


def test_texts_and_the_plugin_that_shows_them() -> None:
    entry = value(messages.encode_value("tag", "text", b"more", tensor=messages.strings([b"a", b""], (2,))))
    assert (entry.metadata.plugin_data.plugin_name, entry.metadata.plugin_data.content) == ("text", b"more")
    assert (entry.tensor.dtype, list(entry.tensor.string_val)) == (7, [b"a", b""])


def plugin(entry: Any) -> str:
    return str(entry.metadata.plugin_data.plugin_name)


@pytest.mark.parametrize("channels", [1, 3])
def test_a_picture_is_a_png_and_gray_ones_are_colour(channels: int) -> None:
    batch = np.full((1, channels, 4, 6), 7, np.uint8)
    picture = value(messages.image("tag", batch)).image
    assert (picture.height, picture.width, picture.colorspace) == (4, 6, 3)
    pixels = np.asarray(Image.open(io.BytesIO(picture.encoded)))
    assert (pixels.shape, int(pixels.min()), int(pixels.max())) == ((4, 6, 3), 7, 7)


def test_a_histogram_has_its_facts_and_buckets() -> None:
    counted = CountedHistogram(-1, 2, 3, 1.5, 5.5, np.array([0.0, 2.0]), np.array([1.0, 2.0]), 0, None)
    histogram = value(messages.histogram("tag", counted)).histo
    assert (histogram.min, histogram.max, histogram.num) == (-1, 2, 3)
    assert (histogram.sum, histogram.sum_squares) == (1.5, 5.5)
    assert (list(histogram.bucket_limit), list(histogram.bucket)) == ([0.0, 2.0], [1.0, 2.0])


def test_a_sound_is_its_file() -> None:
    audio = value(messages.audio("tag", Sound(44100, 2, 10, b"RIFF"))).audio
    assert (audio.sample_rate, audio.num_channels, audio.length_frames) == (44100, 2, 10)
    assert (audio.encoded, audio.content_type) == (b"RIFF", "audio/wav")


@pytest.mark.parametrize(("double", "dtype", "content"), [(False, 1, "<f4"), (True, 2, "<f8")])
def test_a_scalar_as_a_tensor_has_no_dimensions(double: bool, dtype: int, content: str) -> None:
    entry = value(messages.tensor_scalar("tag", 0.1, double))
    assert (plugin(entry), entry.tensor.dtype, list(entry.tensor.shape.dim)) == ("scalars", dtype, [])
    assert entry.tensor.content == np.array(0.1, content).tobytes()


def test_a_curve_says_how_many_thresholds_it_has() -> None:
    rows = np.arange(18.0).reshape(6, 3)
    entry = value(messages.pr_curve("tag", rows))
    assert (plugin(entry), entry.metadata.plugin_data.content) == ("pr_curves", b"\x10\x03")
    assert [dim.size for dim in entry.tensor.shape.dim] == [6, 3]
    assert entry.tensor.content == rows.astype("<f4").tobytes()


def test_texts_arrays_and_layouts_name_their_plugin() -> None:
    text, layout = value(messages.text("tag", "词".encode())), value(messages.layout("tag", b"charts"))
    assert (plugin(text), list(text.tensor.string_val)) == ("text", ["词".encode()])
    assert (plugin(layout), list(layout.tensor.string_val)) == ("custom_scalars", [b"charts"])
    assert plugin(value(messages.tensor("tag", np.zeros(2), ""))) == "tensor"


def content(entry: bytes, tag: str) -> Any:
    value = parse("Value", entry)
    plugin = value.metadata.plugin_data
    assert (value.tag, plugin.plugin_name) == (f"_hparams_/{tag}", "hparams")
    return parse("HParams", plugin.content)


def test_an_experiment_declares_types_domains_and_metrics() -> None:
    message = messages.experiment({"lr": 0.1, "bn": True, "opt": "sgd"}, ["acc"], {"opt": ["sgd", "adam"]})
    experiment = content(message, "experiment").experiment
    assert [(info.name, info.type) for info in experiment.hparam_infos] == [("lr", 3), ("bn", 2), ("opt", 1)]
    domains = [[choice.string for choice in info.domain.values] for info in experiment.hparam_infos]
    assert domains == [[], [], ["sgd", "adam"]]
    assert [info.name.tag for info in experiment.metric_infos] == ["acc"]


def test_a_session_has_its_values_and_ends_well() -> None:
    start = content(messages.session_start({"n": 3, "bn": False, "opt": "sgd"}), "session_start_info")
    values = {entry.key: entry.value for entry in start.session_start_info.hparams}
    assert values["n"].number == 3.0
    assert values["bn"].HasField("bool") and not values["bn"].bool
    assert values["opt"].string == "sgd"
    assert content(messages.session_end(), "session_end_info").session_end_info.status == 1


def shape(*sizes: int) -> TypeProto:
    return TypeProto(tensor_type={"shape": {"dim": [{"size": size} for size in sizes]}})


def nodes_of(graph: GraphProto) -> dict[str, Any]:
    parsed = parse("GraphDef", messages.graph_definition(graph))
    assert parsed.versions.producer == 22
    return {node.name: node for node in parsed.node}


def test_nodes_have_scopes_inputs_and_shapes() -> None:
    graph = GraphProto()
    graph.parameters.add(name="fc.1.weight", type=shape(3, 4))
    graph.const_vals.add(key="cst1")
    operator = graph.node.add(name="1", full_name="Default/fc/MatMul-op0", op_type="MatMul")
    operator.output_type.CopyFrom(shape(2, 4))
    for name in ("fc.1.weight", "cst1", "unknown"):
        operator.input.add(name=name)
    graph.node.add(name="2", op_type="Return").input.add(name="1")
    nodes = nodes_of(graph)
    kinds = {name: node.op for name, node in nodes.items()}
    assert kinds == {
        "fc/1/weight": "Parameter", "cst1": "Const", "Default/fc/MatMul-op0": "MatMul", "2": "Return",
    }  # fmt: skip
    assert list(nodes["Default/fc/MatMul-op0"].input) == ["fc/1/weight", "cst1", "unknown"]
    assert list(nodes["2"].input) == ["Default/fc/MatMul-op0"]
    (attribute,) = nodes["Default/fc/MatMul-op0"].attr
    (dims,) = attribute.value.list.shape
    assert (attribute.key, [dim.size for dim in dims.dim]) == ("_output_shapes", [2, 4])


def test_attributes_are_one_text() -> None:
    graph = GraphProto()
    operator = graph.node.add(name="op", op_type="Op")
    for name, value in (
        ("axis", ValueProto(int_val=1)),
        ("pads", ValueProto(int_vals=[0, 2])),
        ("list", ValueProto(values=[ValueProto(str_val="a"), ValueProto(bool_val=True)])),
    ):
        operator.attribute.add(name=name).value.CopyFrom(value)
    attributes = {attribute.key: attribute.value.s for attribute in nodes_of(graph)["op"].attr}
    assert attributes == {"attr": b"axis: 1, pads: [0, 2], list: [a, True]"}
