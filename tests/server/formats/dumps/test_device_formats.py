from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mindinsight.server.formats.dumps.device_formats import format_name, to_host

AXIS = st.integers(1, 35)
SMALL = st.integers(1, 5)


def filled(*shape: Any) -> Any:
    return np.arange(np.prod(shape), dtype=np.int64).reshape(shape)


def padded(array: Any, axis: Any, block: Any) -> Any:
    widths = [(0, 0)] * array.ndim
    widths[axis] = (0, -array.shape[axis] % block)
    return np.pad(array, widths, constant_values=-1)


@given(SMALL, AXIS, SMALL, SMALL, st.sampled_from([16, 32]))
def test_nc1hwc0(n: Any, c: Any, h: Any, w: Any, c0: Any) -> None:
    host = filled(n, c, h, w)
    blocks = padded(host, 1, c0)
    device = blocks.reshape(n, -1, c0, h, w).transpose(0, 1, 3, 4, 2)
    array, name = to_host(device, "NC1HWC0", host.shape)
    assert name == "NCHW"
    np.testing.assert_array_equal(array, host)


@given(SMALL, SMALL, AXIS, SMALL, SMALL)
def test_ndc1hwc0(n: Any, d: Any, c: Any, h: Any, w: Any) -> None:
    host = filled(n, c, d, h, w)
    blocks = padded(host, 1, 16)
    device = blocks.reshape(n, -1, 16, d, h, w).transpose(0, 3, 1, 4, 5, 2)
    array, name = to_host(device, "NDC1HWC0", host.shape)
    assert name == "NCDHW"
    np.testing.assert_array_equal(array, host)


@given(st.lists(SMALL, max_size=2), AXIS, AXIS)
def test_fractal_nz(outer: Any, m: Any, n: Any) -> None:
    host = filled(*outer, m, n)
    blocks = padded(padded(host, -1, 16), -2, 16)
    split = blocks.reshape(*outer, blocks.shape[-2] // 16, 16, blocks.shape[-1] // 16, 16)
    first = len(outer)
    device = split.transpose(*range(first), first + 2, first, first + 1, first + 3)
    array, name = to_host(device, "FRACTAL_NZ", host.shape)
    assert name == ("NCHW" if len(outer) == 2 else "ND")
    np.testing.assert_array_equal(array, host)


@given(AXIS, AXIS, SMALL, SMALL)
def test_fractal_z(n: Any, c: Any, h: Any, w: Any) -> None:
    host = filled(n, c, h, w)
    blocks = padded(padded(host, 1, 16), 0, 16)
    split = blocks.reshape(blocks.shape[0] // 16, 16, blocks.shape[1] // 16, 16, h, w)
    device = split.transpose(2, 4, 5, 0, 1, 3).reshape(-1, blocks.shape[0] // 16, 16, 16)
    array, name = to_host(device, "FRACTAL_Z", host.shape)
    assert name == "NCHW"
    np.testing.assert_array_equal(array, host)


@pytest.mark.parametrize(
    ("layout", "order"), [("NHWC", (0, 2, 3, 1)), ("HWCN", (2, 3, 1, 0)), ("CHWN", (1, 2, 3, 0))]
)
def test_axes_in_another_order(layout: str, order: Any) -> None:
    host = filled(2, 3, 4, 5)
    array, name = to_host(host.transpose(order), layout, host.shape)
    assert name == "NCHW"
    np.testing.assert_array_equal(array, host)


@pytest.mark.parametrize(("layout", "order"), [("NDHWC", (0, 2, 3, 4, 1)), ("DHWCN", (2, 3, 4, 1, 0))])
def test_volumes_in_another_order(layout: str, order: Any) -> None:
    host = filled(2, 3, 4, 5, 6)
    array, name = to_host(host.transpose(order), layout, host.shape)
    assert name == "NCDHW"
    np.testing.assert_array_equal(array, host)


def test_host_formats_take_the_host_shape() -> None:
    assert to_host(filled(6), "ND", (2, 3))[0].shape == (2, 3)
    assert to_host(filled(6), "ND", (2, 4))[0].shape == (6,)
    assert to_host(filled(2, 3, 1, 1), "NCHW", (2, 3, 1, 1))[1] == "NCHW"


def grouped(host: Any, groups: Any, c0: Any) -> Any:
    """Weights in groups as the device has them, element by element; what is not filled is -1."""
    n, c, h, w = host.shape
    outputs = n // groups
    together = 1
    while together < groups and (together * c % c0 or together * outputs % 16):
        together += 1
    c1, rows = -(-together * c // c0), -(-together * outputs // 16) * 16
    device = np.full((-(-groups // together), c1, h, w, rows, c0), -1)
    for group in range(groups):
        for out in range(outputs):
            for into in range(c):
                row, column = group % together * outputs + out, group % together * c + into
                result = (group // together, column // c0, slice(None), slice(None), row, column % c0)
                device[result] = host[group * outputs + out, into]
    return device.reshape(-1, rows // 16, 16, c0)


@given(
    st.sampled_from([(2, 3, 5), (4, 16, 16), (3, 8, 1), (8, 1, 1), (16, 2, 4), (5, 7, 3), (1 << 5, 1, 2)]),
    st.integers(1, 2),
    st.sampled_from([16, 32]),
)
def test_weights_in_groups(sizes: Any, side: Any, c0: Any) -> None:
    groups, c, outputs = sizes
    host = filled(groups * outputs, c, side, side + 1)
    array, name = to_host(grouped(host, groups, c0), "FRACTAL_Z_G", host.shape, groups)
    assert name == "NCHW"
    np.testing.assert_array_equal(array, host)


def test_groups_that_do_not_fit_stay_as_they_are() -> None:
    device = filled(4, 1, 16, 16)
    for shape, groups in (((4, 1, 2, 2), 3), ((64, 16, 2, 2), 2), ((0, 0, 2, 2), 2)):
        array, name = to_host(device, "FRACTAL_Z_G", shape, groups)
        assert name == "FRACTAL_Z_G"
        assert array is device


@pytest.mark.parametrize(
    ("shape", "layout", "host"),
    [
        ((2, 2, 2), "NC1HWC0_C04", (2, 2, 2)),
        ((2, 2), "NC1HWC0", (2, 2)),
        ((1, 1, 2, 2, 16), "NC1HWC0", (1, 17, 2, 2)),  # more channels than there are
        ((1, 1, 16, 16), "FRACTAL_NZ", (3, 3, 3)),
        ((5, 1, 16, 16), "FRACTAL_Z", (3, 3, 2, 2)),
        ((4, 1, 16, 16), "FRACTAL_Z", (3, 3, 0, 2)),
        ((4, 1, 16, 16), "FRACTAL_Z_G", (3, 3, 2, 2)),
        ((3, 3), "NHWC", (3, 3)),
    ],
)
def test_what_does_not_fit_stays_as_it_is(shape: Any, layout: str, host: Any) -> None:
    device = filled(*shape)
    array, name = to_host(device, layout, host)
    assert name == layout
    np.testing.assert_array_equal(array, device)


@pytest.mark.parametrize(
    ("number", "name"),
    [(0, "NCHW"), (3, "NC1HWC0"), (29, "FRACTAL_NZ"), (39, "FRACTAL_Z_G"), (49, "C1HWC0")]
    + [(50, "format(50)"), (-1, "format(-1)"), (255, "format(255)")],
)
def test_numbers_of_formats(number: Any, name: Any) -> None:
    assert format_name(number) == name
