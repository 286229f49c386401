"""Values of TensorBoard's plugins as protobuf reads them."""

import io
from typing import Any

import numpy as np
import pytest
from PIL import Image

from mindinsight.writer.encoding.counted_histogram import CountedHistogram
from mindinsight.writer.encoding.sounds import Sound
from mindinsight.writer.encoding.tfevents import messages, values
from tests.writer.tensorboard_messages import parse


def value(body: bytes) -> Any:
    return parse("Value", messages.value("tag", body))


def plugin(entry: Any) -> str:
    return str(entry.metadata.plugin_data.plugin_name)


@pytest.mark.parametrize("channels", [1, 3])
def test_a_picture_is_a_png_and_gray_ones_are_colour(channels: int) -> None:
    batch = np.full((1, channels, 4, 6), 7, np.uint8)
    picture = value(values.image(batch)).image
    assert (picture.height, picture.width, picture.colorspace) == (4, 6, 3)
    pixels = np.asarray(Image.open(io.BytesIO(picture.encoded)))
    assert (pixels.shape, int(pixels.min()), int(pixels.max())) == ((4, 6, 3), 7, 7)


def test_a_histogram_has_its_facts_and_buckets() -> None:
    counted = CountedHistogram(-1, 2, 3, 1.5, 5.5, np.array([0.0, 2.0]), np.array([1.0, 2.0]), 0, None)
    histogram = value(values.histogram(counted)).histo
    assert (histogram.min, histogram.max, histogram.num) == (-1, 2, 3)
    assert (histogram.sum, histogram.sum_squares) == (1.5, 5.5)
    assert (list(histogram.bucket_limit), list(histogram.bucket)) == ([0.0, 2.0], [1.0, 2.0])


def test_a_sound_is_its_file() -> None:
    audio = value(values.audio(Sound(44100, 2, 10, b"RIFF"))).audio
    assert (audio.sample_rate, audio.num_channels, audio.length_frames) == (44100, 2, 10)
    assert (audio.encoded, audio.content_type) == (b"RIFF", "audio/wav")


@pytest.mark.parametrize(("double", "dtype", "content"), [(False, 1, "<f4"), (True, 2, "<f8")])
def test_a_scalar_as_a_tensor_has_no_dimensions(double: bool, dtype: int, content: str) -> None:
    entry = value(values.tensor_scalar(0.1, double))
    assert (plugin(entry), entry.tensor.dtype, list(entry.tensor.shape.dim)) == ("scalars", dtype, [])
    assert entry.tensor.content == np.array(0.1, content).tobytes()


def test_a_curve_says_how_many_thresholds_it_has() -> None:
    rows = np.arange(18.0).reshape(6, 3)
    entry = value(values.pr_curve(rows))
    assert (plugin(entry), entry.metadata.plugin_data.content) == ("pr_curves", b"\x10\x03")
    assert [dim.size for dim in entry.tensor.shape.dim] == [6, 3]
    assert entry.tensor.content == rows.astype("<f4").tobytes()


def test_texts_arrays_and_layouts_name_their_plugin() -> None:
    text, layout = value(values.text("词".encode())), value(values.layout(b"charts"))
    assert (plugin(text), list(text.tensor.string_val)) == ("text", ["词".encode()])
    assert (plugin(layout), list(layout.tensor.string_val)) == ("custom_scalars", [b"charts"])
    assert plugin(value(values.tensor(np.zeros(2), ""))) == "tensor"
