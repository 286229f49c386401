"""Tensor formats of Ascend devices: names by number, and the conversion of common formats to host order.

Devices split axes into blocks of 16 (32 for elements of one byte) and pad the last block. Padding is removed
here. Formats without a known conversion stay as they are.
"""

import math
from typing import Final

import numpy as np

from mindinsight.server.formats.arrays.element_types import Array

_NAMES_BY_NUMBER: Final = (
    "NCHW NHWC ND NC1HWC0 FRACTAL_Z NC1C0HWPAD NHWC1C0 FSR_NCHW FRACTAL_DECONV C1HWNC0 "
    "FRACTAL_DECONV_TRANSPOSE FRACTAL_DECONV_SP_STRIDE_TRANS NC1HWC0_C04 FRACTAL_Z_C04 CHWN "
    "FRACTAL_DECONV_SP_STRIDE8_TRANS HWCN NC1KHKWHWC0 BN_WEIGHT FILTER_HWCK "
    "HASHTABLE_LOOKUP_LOOKUPS HASHTABLE_LOOKUP_KEYS HASHTABLE_LOOKUP_VALUE "
    "HASHTABLE_LOOKUP_OUTPUT HASHTABLE_LOOKUP_HITS C1HWNCoC0 MD NDHWC FRACTAL_ZZ FRACTAL_NZ NCDHW "
    "DHWCN NDC1HWC0 FRACTAL_Z_3D CN NC DHWNC FRACTAL_Z_3D_TRANSPOSE FRACTAL_ZN_LSTM FRACTAL_Z_G "
    "RESERVED ALL NULL ND_RNN_BIAS FRACTAL_ZN_RNN YUV YUV_A NCL FRACTAL_Z_WINO C1HWC0"
)
_NAMES: Final = tuple(_NAMES_BY_NUMBER.split())
_AXES: Final = {  # for formats that only permute axes: the device axis at each position in host order
    "NHWC": (0, 3, 1, 2),
    "HWCN": (3, 2, 0, 1),
    "CHWN": (3, 0, 1, 2),
    "NDHWC": (0, 4, 1, 2, 3),
    "DHWCN": (4, 3, 0, 1, 2),
}
BLOCK: Final = 16  # elements of a block along one axis
_HOST: Final = frozenset(("NCHW", "ND", "NCDHW", "NCL", "NC"))


def format_name(number: int) -> str:
    """Return the name of a format, or ``format(42)`` for an unknown number."""
    return _NAMES[number] if 0 <= number < len(_NAMES) else f"format({number})"


def is_host(layout: str) -> bool:
    """Return True if a format has its elements in host order."""
    return layout in _HOST


def host_format(layout: str, axes: int) -> str:
    """Return the format of a tensor after its conversion to host order, by its number of axes."""
    return layout if layout in _HOST else {4: "NCHW", 5: "NCDHW"}.get(axes, "ND")


def to_host(array: Array, layout: str, shape: tuple[int, ...], groups: int = 1) -> tuple[Array, str]:
    """Return a device array of format ``layout`` in host order and ``shape``, and its new format. Return
    both unchanged if no conversion fits. ``groups`` is the number of groups of a convolution's weights."""
    if layout in _HOST:
        return (array.reshape(shape) if array.size == math.prod(shape) else array), layout
    permuted = _permuted(array, layout, shape, groups)
    if permuted is None or permuted.ndim != len(shape):
        return array, layout
    if any(have < want for have, want in zip(permuted.shape, shape, strict=True)):
        return array, layout
    unpadded = permuted[tuple(slice(0, axis) for axis in shape)]
    return unpadded, host_format(layout, len(shape))


def _permuted(array: Array, layout: str, shape: tuple[int, ...], groups: int) -> Array | None:
    """Return the array with its axes in host order, still padded, or None for an unknown format."""
    if layout in _AXES and array.ndim == len(_AXES[layout]):
        return array.transpose(_AXES[layout])
    if layout == "NC1HWC0" and array.ndim == 5:
        n, blocks, h, w, c0 = array.shape
        return array.transpose(0, 1, 4, 2, 3).reshape(n, blocks * c0, h, w)
    if layout == "NDC1HWC0" and array.ndim == 6:
        n, d, blocks, h, w, c0 = array.shape
        return array.transpose(0, 2, 5, 1, 3, 4).reshape(n, blocks * c0, d, h, w)
    if layout == "FRACTAL_NZ" and array.ndim >= 4:
        return _from_fractal_nz(array)
    if layout in ("FRACTAL_Z", "FRACTAL_Z_G") and groups > 1 and array.ndim == 4 and len(shape) == 4:
        return _from_grouped_fractal_z(array, shape, groups)
    if layout == "FRACTAL_Z" and array.ndim == 4 and len(shape) == 4:
        return _from_fractal_z(array, shape[2], shape[3])
    return None


def _from_fractal_nz(array: Array) -> Array:
    """Convert (..., n1, m1, m0, n0) to (..., m, n)."""
    *outer, n1, m1, m0, n0 = array.shape
    first = len(outer)
    transposed = array.transpose(*range(first), first + 1, first + 2, first, first + 3)
    return transposed.reshape(*outer, m1 * m0, n1 * n0)


def _from_fractal_z(array: Array, h: int, w: int) -> Array | None:
    """Return (c1 * h * w, n1, n0, c0) as (n, c, h, w), or None if the shape does not fit."""
    c1hw, n1, n0, c0 = array.shape
    if h * w == 0 or c1hw % (h * w):
        return None
    c1 = c1hw // (h * w)
    split = array.reshape(c1, h, w, n1 * n0, c0)
    return split.transpose(3, 0, 4, 1, 2).reshape(n1 * n0, c1 * c0, h, w)


def _from_grouped_fractal_z(array: Array, shape: tuple[int, ...], groups: int) -> Array | None:
    """Return grouped convolution weights as (n, c of one group, h, w), or None if the shape does not fit.
    Several groups share a block, each at its own place on the diagonal: the smallest number that fills
    blocks of c0 and of 16 without a remainder, or all groups."""
    n, c, h, w = shape
    if n % groups or array.shape[3] == 0:
        return None
    c0, outputs = array.shape[3], n // groups
    groups_per_block = min(
        math.lcm(math.lcm(c, c0) // c, math.lcm(outputs, BLOCK) // outputs) if c and outputs else 1, groups
    )
    c1 = -(-groups_per_block * c // c0)
    rows = -(-groups_per_block * outputs // BLOCK) * BLOCK
    block_count = -(-groups // groups_per_block)
    if array.size != block_count * c1 * h * w * rows * c0:
        return None
    blocks = array.reshape(block_count, c1, h, w, rows, c0).transpose(0, 4, 1, 5, 2, 3)
    blocks = blocks.reshape(block_count, rows, c1 * c0, h, w)
    parts = []
    for group in range(groups):
        block, corner = divmod(group, groups_per_block)
        out, into = corner * outputs, corner * c
        parts.append(blocks[block, out : out + outputs, into : into + c])
    return np.concatenate(parts)
