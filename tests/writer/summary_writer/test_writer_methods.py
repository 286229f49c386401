"""Pictures of any layout as bytes: scaling, order of axes, frames side by side, boxes."""

from typing import Any

import numpy as np
import pytest

from mindinsight.writer.summary_writer.writer_methods import (
    picture_batch,
    pictures_of_figures,
    video_frames,
    with_boxes,
)


@pytest.mark.parametrize("layout", ["CHW", "HWC", "hwc", "NHWC", "WHNC", "HW"])
def test_axes_are_put_in_order(layout: str) -> None:
    sizes = {"N": 2, "C": 3, "H": 4, "W": 5}
    letters = layout.upper()
    values = np.arange(np.prod([sizes[axis] for axis in letters]), dtype=np.uint8)
    array = values.reshape([sizes[axis] for axis in letters])
    result = picture_batch(array, layout)
    assert result.shape == tuple(sizes[axis] if axis in letters else 1 for axis in "NCHW")
    index = {axis: size - 1 for axis, size in sizes.items()}
    assert result[-1, -1, -1, 0] == array[tuple(0 if axis == "W" else index[axis] for axis in letters)]


def test_bytes_stay_and_all_else_is_scaled_and_cut() -> None:
    values = np.array([[0.0, 0.5, 1.0, 2.0, -1.0, np.nan, np.inf]])
    assert picture_batch(values, "HW").ravel().tolist() == [0, 127, 255, 255, 0, 0, 255]
    assert picture_batch(np.array([[0, 128]], np.uint8), "HW").ravel().tolist() == [0, 128]


@pytest.mark.parametrize(
    ("array", "layout", "error"),
    [
        (np.zeros((2, 2)), "CHW", ValueError),
        (np.zeros((2, 2)), "HH", ValueError),
        (np.zeros((2, 2)), "NC", ValueError),
        (np.zeros((2, 2, 2)), "HWX", ValueError),
        (np.zeros((2, 2), complex), "HW", TypeError),
    ],
)
def test_a_layout_that_does_not_fit_is_refused(array: Any, layout: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        picture_batch(array, layout)


def test_videos_lie_side_by_side_in_each_frame() -> None:
    video = np.zeros((2, 3, 1, 4, 5), np.uint8)  # (N, T, C, H, W)
    video[1] = 9
    pictures = video_frames(video)
    assert pictures.shape == (3, 1, 4, 10)
    assert (pictures[..., :5].max(), pictures[..., 5:].min()) == (0, 9)
    for shape in ((3, 1, 4, 5), (1, 0, 1, 4, 5)):
        with pytest.raises(ValueError, match="a video is an array"):
            video_frames(np.zeros(shape))


def test_boxes_are_red_and_the_picture_is_scaled() -> None:
    black = np.zeros((1, 1, 20, 30), np.uint8)
    picture = with_boxes(black, np.array([[5, 5, 15, 15]]), None, 1)[0]
    assert picture.shape == (3, 20, 30)
    assert picture[:, 5, 10].tolist() == [255, 0, 0]
    assert picture[:, 10, 10].tolist() == [0, 0, 0]
    assert with_boxes(black, np.zeros((0, 4)), None, 0.5).shape == (1, 3, 10, 15)
    with pytest.raises(ValueError, match="leaves nothing"):
        with_boxes(black, np.zeros((0, 4)), None, 0.01)
    with pytest.raises(ValueError, match="boxes are an array"):
        with_boxes(black, np.zeros(4), None, 1)


def test_no_figures_and_what_is_no_figure_are_refused() -> None:
    with pytest.raises(ValueError, match="at least one"):
        pictures_of_figures([], close=False)
    with pytest.raises(TypeError, match="got int"):
        pictures_of_figures([1], close=False)
