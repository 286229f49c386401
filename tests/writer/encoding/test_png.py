"""PNG files hold exactly the pixels they were made from."""

import io
from typing import Any

import hypothesis.extra.numpy as hnp
import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from mindinsight.writer.encoding import png


def decoded(data: Any) -> Any:
    with Image.open(io.BytesIO(data)) as picture:
        pixels = np.asarray(picture)
    return pixels if pixels.ndim == 3 else pixels[:, :, None]


@given(hnp.arrays(np.uint8, st.tuples(st.integers(1, 20), st.integers(1, 20), st.integers(1, 4))))
def test_a_png_holds_exactly_the_pixels(pixels: Any) -> None:
    np.testing.assert_array_equal(decoded(png.encode(pixels)), pixels)
