"""Print operator: shows values inside a forward pass, as ``mindspore.ops.Print`` does in graph mode."""

from __future__ import annotations

import sys

import numpy as np
import numpy.typing as npt

from mindinsight.writer.arrays import mindspore_dtype, to_numpy
from mindinsight.writer.frameworks.tracing import with_numbers
from mindinsight.writer.operators import Operator


class Print(Operator):
    """``Print()("x", tensor, "y")`` prints its arguments in order, each on lines of its own.

    Text, Python numbers and tensors without dimensions are printed as they are; another tensor, of any
    framework, as ``Tensor(shape=[2, 1], dtype=Int32, value=``, its values without commas and ``)``. Inside a
    function that JAX compiles the values are printed when it runs. Raises TypeError for an object without
    numbers.
    """

    _primitive = "Print"

    def __call__(self, *values: object) -> None:
        for value in values:
            with_numbers(value, _show)


def tensor_text(value: object) -> str:
    """A tensor as MindSpore's Print writes it: more than 1000 elements are abridged.

    Floating values have 8 digits after the point, float16 has 4; a tensor without dimensions is its number
    with 6 digits. Raises TypeError when there are no numbers.
    """
    host = to_numpy(value)
    values, shape = host.values, list(host.values.shape)
    if values.ndim == 0:
        return f"{values[()]:g}" if values.dtype.kind == "f" else str(values[()])
    start = f"Tensor(shape={shape}, dtype={mindspore_dtype(host.dtype)}, value="
    if values.size == 0:
        return f"{start}\n)"
    line = "\n" if values.ndim > 1 else ""
    return f"{start}{line}{_numbers(values)})"


def _show(value: object) -> None:
    plain = isinstance(value, (str, bool, int, float, tuple, list)) and not isinstance(value, np.generic)
    print(value if plain else tensor_text(value), flush=True)


def _numbers(values: npt.NDArray[np.generic]) -> str:
    digits = 4 if values.dtype == np.float16 else 8

    def scientific(value: float) -> str:
        return f"{value: {digits + 7}.{digits}e}"

    text = np.array2string(
        values,
        separator=" ",
        max_line_width=sys.maxsize,
        threshold=1000,
        formatter={"float_kind": scientific},  # type: ignore[arg-type]
    )
    while "\n\n" in text:  # NumPy parts blocks by empty lines
        text = text.replace("\n\n", "\n")
    return text
