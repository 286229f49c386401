import io
from typing import Any

import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from mindinsight.writer.encoding import media
from mindinsight.writer.encoding.media import sound


@given(hnp.arrays(np.uint8, st.tuples(st.integers(1, 20), st.integers(1, 4), st.just(2), st.just(3))))
def test_every_picture_of_a_batch_is_in_its_cell_unchanged(batch: Any) -> None:
    canvas = media.canvas(batch)
    columns = min(len(batch), 8)
    for index, picture in enumerate(batch):
        row, column = divmod(index, columns)
        cell = canvas[row * 2 : row * 2 + 2, column * 3 : column * 3 + 3]
        np.testing.assert_array_equal(cell, picture.transpose(1, 2, 0))
    assert canvas.shape == (-(-len(batch) // columns) * 2, columns * 3, batch.shape[1])


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (np.array([0, 7, 255], np.uint8), [0, 7, 255]),
        (np.array([False, True]), [0, 255]),
        (np.array([0.0, 0.5, 1.0]), [0, 127, 255]),
        (np.array([0, 1]), [0, 255]),
        (np.array([0, 100, 255]), [0, 100, 255]),
        (np.array([-1.0, 0.0, 1.0, 3.0]), [0, 63, 127, 255]),
        (np.array([-1000, 1000]), [0, 255]),
        (np.array([7.0, 7.0]), [0, 0]),
        (np.array([np.nan, 0.5, np.inf, -np.inf], np.float32), [0, 127, 255, 0]),
        (np.array([np.nan]), [0]),
        (np.array([-1.7e308, 1.7e308]), [0, 255]),
        (np.array([-1e-310, 0.0, 1e-310]), [0, 127, 255]),
    ],
)
def test_values_are_scaled_by_the_first_rule_that_fits(values: Any, expected: Any) -> None:
    batch = values.reshape(1, 1, 1, -1)
    assert media.canvas(batch)[0, :, 0].tolist() == expected


@pytest.mark.parametrize("shape", [(2, 2), (3, 4, 4), (1, 5, 4, 4), (0, 3, 4, 4), (1, 3, 0, 4), (1, 0, 4, 4)])
def test_what_is_no_batch_of_pictures_is_refused(shape: Any) -> None:
    with pytest.raises(ValueError, match="shape"):
        media.check_shape(shape)


def decoded(data: Any) -> Any:
    with Image.open(io.BytesIO(data)) as picture:
        pixels = np.asarray(picture)
    return pixels if pixels.ndim == 3 else pixels[:, :, None]


@given(hnp.arrays(np.uint8, st.tuples(st.integers(1, 20), st.integers(1, 20), st.integers(1, 4))))
def test_a_png_holds_exactly_the_pixels(pixels: Any) -> None:
    np.testing.assert_array_equal(decoded(media.encode(pixels)), pixels)


def test_a_row_in_a_batch_is_a_sound_and_nan_is_silence() -> None:
    made = sound(np.array([[0.0, np.nan, 1.0]]), 8000)
    assert (made.rate, made.channels, made.frames) == (8000, 1, 3)
    assert np.frombuffer(made.wav[-6:], "<i2").tolist() == [0, 0, 32767]


@pytest.mark.parametrize("rate", [0, -1, 0.5, True, float("inf"), float("nan")])
def test_a_rate_is_a_whole_number_above_zero(rate: int) -> None:
    with pytest.raises(ValueError, match="sample_rate"):
        sound([0.0], rate)
