import numpy as np
import pytest

from mindinsight.proto.summary_pb2 import Summary
from mindinsight.writer.buffer_pool import BufferPool
from mindinsight.writer.encoding.kinds.image import ENCODER


def test_an_image_says_its_size_and_colours() -> None:
    image = Summary.Image.FromString(ENCODER.array_message(np.zeros((3, 1, 4, 5), np.uint8), "uint8"))
    assert (image.height, image.width, image.colorspace) == (4, 15, 1)
    assert image.encoded_image.startswith(b"\x89PNG")
    assert ENCODER.facts(image) == {"width": 15, "height": 4}


def test_an_image_without_a_finite_pixel_is_warned_of_once(caplog: pytest.LogCaptureFixture) -> None:
    for tag, pixel in (("blank", np.nan), ("blank", np.inf), ("dark", 0.0), ("other", np.nan)):
        ENCODER.message(ENCODER.item(tag, np.full((1, 3, 2, 2), pixel), 1 << 20, BufferPool()))
    some = np.full((1, 1, 1, 2), np.nan)
    some[0, 0, 0, 0] = 1
    ENCODER.message(ENCODER.item("some", some, 1 << 20, BufferPool()))
    assert [record.args for record in caplog.records] == [("blank",), ("other",)]


def test_an_array_without_batch_is_refused() -> None:
    with pytest.raises(ValueError, match=r"\(N, C, H, W\)"):
        ENCODER.item("i", np.zeros((4, 5)), 1 << 20, BufferPool())
