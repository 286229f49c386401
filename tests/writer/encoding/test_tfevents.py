"""Values of TensorBoard's plugins as protobuf reads them."""

import io
from typing import Any

import numpy as np
import pytest
from PIL import Image

from mindinsight.proto import framing
from mindinsight.writer.encoding import tfevents
from mindinsight.writer.encoding.encoder import Item
from mindinsight.writer.encoding.histograms import CountedHistogram
from mindinsight.writer.encoding.media import Sound
from tests.writer.tensorboard_messages import parse


def value(body: bytes) -> Any:
    return parse("Value", tfevents.encode_value("tag", body))


def test_an_event_has_its_step_time_and_values() -> None:
    body = tfevents.encode_summary([tfevents.encode_scalar("a", 0.5), tfevents.encode_scalar("b", 1e300)])
    event = parse("Event", tfevents.encode_event(-3, 12.5, body))
    assert (event.step, event.wall_time) == (-3, 12.5)
    values = event.summary.value
    assert [(entry.tag, entry.simple_value) for entry in values] == [("a", 0.5), ("b", float("inf"))]
    assert not parse("Event", tfevents.encode_event(0, 12.5, body)).HasField("step")


def test_marks_of_sessions_and_graphs() -> None:
    assert parse("Event", tfevents.session_start_record()).session_log.status == 1
    assert parse("Event", tfevents.encode_graph(b"definition")).graph_def == b"definition"


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
    tensor = value(tfevents.encode_tensor_proto(array.T)).tensor
    assert (tensor.dtype, [dim.size for dim in tensor.shape.dim]) == (number, [3, 2])
    assert tensor.content == array.T.tobytes()
    swapped = value(tfevents.encode_tensor_proto(array.astype(array.dtype.newbyteorder(">")))).tensor
    assert swapped.content == array.tobytes()


def test_bfloat16_leaves_as_it_came() -> None:
    tensor = value(tfevents.encode_tensor_proto(np.array([1.0, -3.0], np.float32), "bfloat16")).tensor
    assert (tensor.dtype, tensor.content) == (14, b"\x80\x3f\x40\xc0")


def test_texts_and_the_plugin_that_shows_them() -> None:
    entry = value(tfevents.encode_metadata("text", b"more") + tfevents.encode_strings([b"a", b""], (2,)))
    assert (entry.metadata.plugin_data.plugin_name, entry.metadata.plugin_data.content) == ("text", b"more")
    assert (entry.tensor.dtype, list(entry.tensor.string_val)) == (7, [b"a", b""])


def plugin(entry: Any) -> str:
    return str(entry.metadata.plugin_data.plugin_name)


@pytest.mark.parametrize("channels", [1, 3])
def test_a_picture_is_a_png_and_gray_ones_are_colour(channels: int) -> None:
    batch = np.full((1, channels, 4, 6), 7, np.uint8)
    picture = value(tfevents.image_value(batch)).image
    assert (picture.height, picture.width, picture.colorspace) == (4, 6, 3)
    pixels = np.asarray(Image.open(io.BytesIO(picture.encoded)))
    assert (pixels.shape, int(pixels.min()), int(pixels.max())) == ((4, 6, 3), 7, 7)


def test_a_histogram_has_its_facts_and_buckets() -> None:
    counted = CountedHistogram(-1, 2, 3, 1.5, 5.5, np.array([0.0, 2.0]), np.array([1.0, 2.0]), 0, None)
    histogram = value(tfevents.histogram_value(counted)).histo
    assert (histogram.min, histogram.max, histogram.num) == (-1, 2, 3)
    assert (histogram.sum, histogram.sum_squares) == (1.5, 5.5)
    assert (list(histogram.bucket_limit), list(histogram.bucket)) == ([0.0, 2.0], [1.0, 2.0])


def test_a_sound_is_its_file() -> None:
    audio = value(tfevents.audio_value(Sound(44100, 2, 10, b"RIFF"))).audio
    assert (audio.sample_rate, audio.num_channels, audio.length_frames) == (44100, 2, 10)
    assert (audio.encoded, audio.content_type) == (b"RIFF", "audio/wav")


@pytest.mark.parametrize(("double", "dtype", "content"), [(False, 1, "<f4"), (True, 2, "<f8")])
def test_a_scalar_as_a_tensor_has_no_dimensions(double: bool, dtype: int, content: str) -> None:
    entry = value(tfevents.tensor_scalar(0.1, double))
    assert (plugin(entry), entry.tensor.dtype, list(entry.tensor.shape.dim)) == ("scalars", dtype, [])
    assert entry.tensor.content == np.array(0.1, content).tobytes()


def test_a_curve_says_how_many_thresholds_it_has() -> None:
    rows = np.arange(18.0).reshape(6, 3)
    entry = value(tfevents.pr_curve_value(rows))
    assert (plugin(entry), entry.metadata.plugin_data.content) == ("pr_curves", b"\x10\x03")
    assert [dim.size for dim in entry.tensor.shape.dim] == [6, 3]
    assert entry.tensor.content == rows.astype("<f4").tobytes()


def test_texts_arrays_and_layouts_name_their_plugin() -> None:
    text, layout = value(tfevents.text_value("词".encode())), value(tfevents.layout_value(b"charts"))
    assert (plugin(text), list(text.tensor.string_val)) == ("text", ["词".encode()])
    assert (plugin(layout), list(layout.tensor.string_val)) == ("custom_scalars", [b"charts"])
    assert plugin(value(tfevents.tensor_value(np.zeros(2), ""))) == "tensor"


def content(entry: bytes, tag: str) -> Any:
    value = parse("Value", entry)
    plugin = value.metadata.plugin_data
    assert (value.tag, plugin.plugin_name) == (f"_hparams_/{tag}", "hparams")
    return parse("HParams", plugin.content)


def test_an_experiment_declares_types_domains_and_metrics() -> None:
    message = tfevents.encode_experiment(
        {"lr": 0.1, "bn": True, "opt": "sgd"}, ["acc"], {"opt": ["sgd", "adam"]}
    )
    experiment = content(message, "experiment").experiment
    assert [(info.name, info.type) for info in experiment.hparam_infos] == [("lr", 3), ("bn", 2), ("opt", 1)]
    domains = [[choice.string for choice in info.domain.values] for info in experiment.hparam_infos]
    assert domains == [[], [], ["sgd", "adam"]]
    assert [info.name.tag for info in experiment.metric_infos] == ["acc"]


def test_a_session_has_its_values_and_ends_well() -> None:
    start = content(tfevents.encode_session_start({"n": 3, "bn": False, "opt": "sgd"}), "session_start_info")
    values = {entry.key: entry.value for entry in start.session_start_info.hparams}
    assert values["n"].number == 3.0
    assert values["bn"].HasField("bool") and not values["bn"].bool
    assert values["opt"].string == "sgd"
    assert content(tfevents.encode_session_end(), "session_end_info").session_end_info.status == 1


def events(records: Any) -> list[Any]:
    return [parse("Event", framing.decode_payload(record[framing.HEADER_SIZE :])) for record in records]


def refuse(error: Any, item: Any, step: Any) -> None:
    raise AssertionError((error, item, step))


def test_scalars_and_arrays_of_a_step_are_one_event() -> None:
    items = (Item("tensor", "x", np.ones(2, np.float32), "float32"), Item(tfevents.FIELDS, "raw", b""))
    (event,) = events(tfevents.encode_jobs([(7, 1.5, ["loss", 0.5, "rate", 2.0], items, 0)], refuse))
    assert (event.step, event.wall_time) == (7, 1.5)
    assert [value.tag for value in event.summary.value] == ["loss", "rate", "x", "raw"]


def test_a_value_that_cannot_be_encoded_costs_no_other() -> None:
    failed = []
    bad = Item("image", "bad", np.zeros((2, 2), np.uint8))
    records = tfevents.encode_jobs(
        [(1, 0.0, ["loss", 0.5], (bad,), 0), (2, 0.0, [], (bad,), 0)],
        lambda error, item, step: failed.append((item.tag, step)),
    )
    assert failed == [("bad", 1), ("bad", 2)]
    (event,) = events(records[:1])
    assert [value.tag for value in event.summary.value] == ["loss"]
    assert records[1] == b""


def test_an_event_that_is_larger_than_any_message_is_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tfevents, "LARGEST_EVENT", 100)
    failed = []
    item = Item("tensor", "x", np.ones(200, np.float32), "float32")
    records = tfevents.encode_jobs(
        [(3, 0.0, [], (item,), 0)], lambda error, item, step: failed.append((item.tag, step))
    )
    assert (records, failed) == ([b""], [("x", 3)])
