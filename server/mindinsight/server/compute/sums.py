"""Sums of an array and of products of two, in double precision, on one core.

``np.dot`` is BLAS: several times as fast as a product and its sum, but OpenBLAS wakes threads for more than
10 000 elements, which would take the cores of other workers. So rows are given to it one after the other.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

_ROW: Final = 1 << 13  # elements


def total(numbers: Array) -> float:
    """Sum of [n] float64; for pieces of some 100 000, as rounding errors are added up, too."""
    return float(np.einsum("i->", numbers))  # two thirds of the time of ``sum``


def product(left: Array, right: Array) -> float:
    """Sum of ``left * conj(right)`` of two [n] float64 or complex128, its real part."""
    rows = range(0, left.size, _ROW)
    return float(sum(np.vdot(right[start : start + _ROW], left[start : start + _ROW]).real for start in rows))
