"""Floating point operations of an operator, from the shapes of its inputs and its output.

A multiplication and an addition count as two. Only matrix products, convolutions and attention are counted:
next to them the rest is nothing. Layouts of weights: output channels first, or last as in TensorFlow.
"""

from __future__ import annotations

from math import isqrt, prod
from typing import Final

Shape = list[int]

_PRODUCTS: Final = frozenset(
    {"MatMul", "BatchMatMul", "BatchMatMulV2", "MatMulV2", "MatMulExt", "BatchMatMulExt", "Dense", "Linear"}
    | {"Gemm", "FullyConnected", "matmul", "mm", "bmm", "addmm", "baddbmm", "linear", "dot_general", "einsum"}
)
_CONVOLUTIONS: Final = frozenset(
    {"Conv", "Conv1D", "Conv2D", "Conv3D", "Convolution", "DepthwiseConv2dNative"}
    | {"conv1d", "conv2d", "conv3d", "convolution", "conv_general_dilated"}
)
_ATTENTION: Final = frozenset({"FlashAttentionScore", "scaled_dot_product_attention"})
_INPUT_GRADIENTS: Final = frozenset({"Conv2DBackpropInput", "Conv3DBackpropInput"})
_FILTER_GRADIENTS: Final = frozenset({"Conv2DBackpropFilter", "Conv3DBackpropFilter"})
COUNTED: Final = _PRODUCTS | _CONVOLUTIONS | _ATTENTION | _INPUT_GRADIENTS | _FILTER_GRADIENTS


def base_type(kind: str) -> str:
    """Type of an operator without what PyTorch adds: ``aten.linear.default`` is ``linear``."""
    parts = kind.replace("::", ".").split(".")
    return parts[1] if len(parts) > 1 and parts[0] in {"aten", "torch"} else parts[0]


def count_flops(kind: str, inputs: list[Shape], output: Shape) -> int:
    """Operations of an operator of a ``base_type``; 0 where a shape is unknown or the type is not counted."""
    tensors = [shape for shape in inputs if len(shape) >= 2]
    if len(tensors) < 2 or any(size < 0 for shape in (*tensors, output) for size in shape):
        return 0
    first, second = tensors[:2]
    if kind in _PRODUCTS:
        return _product(first, second, output)
    if kind in _CONVOLUTIONS and len(output) > 1:
        channels = second[0] if second[0] == output[1] else second[-1]
        return 2 * prod(output) * prod(second) // max(1, channels)
    if kind in _ATTENTION:
        return 4 * prod(first) * second[-2 if len(second) == 4 else 1 if len(second) == 3 else 0]
    if kind in _INPUT_GRADIENTS:
        return 2 * prod(first) * prod(second) // max(1, second[0])
    if kind in _FILTER_GRADIENTS and output:
        return 2 * prod(first) * prod(output) // max(1, output[0])
    return 0


def _product(first: Shape, second: Shape, output: Shape) -> int:
    """Operations of a matrix product, whichever operand is transposed.

    With sizes b·m·k, b·k·n and b·m·n, the length k of the sums is the root of their quotient.
    """
    elements, batches = prod(output), prod(second[:-2])
    if not elements or not batches:
        return 0
    square, rest = divmod(prod(first) * prod(second), elements * batches)
    length = isqrt(square)
    return 2 * elements * length if not rest and length * length == square else 0
