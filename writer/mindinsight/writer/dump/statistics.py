"""Statistics of a tensor as a row of MindSpore's ``statistic.csv``."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from mindinsight.writer.arrays import HostArray

FIXED: Final = "Op Type,Op Name,Task ID,Stream ID,Timestamp,IO,Slot,Data Size,Data Type,Shape"
# Category of the configuration file -> column.
COLUMNS: Final = {
    "max": "Max Value",
    "min": "Min Value",
    "avg": "Avg Value",
    "count": "Count",
    "negative zero count": "Negative Zero Count",
    "positive zero count": "Positive Zero Count",
    "nan count": "NaN Count",
    "negative inf count": "Negative Inf Count",
    "positive inf count": "Positive Inf Count",
    "zero count": "Zero Count",
    "md5": "MD5",
    "l2norm": "L2Norm Value",
}


def raw_bytes(host: HostArray) -> bytes:
    """The tensor's bytes in C order, little-endian, in its own type: two for each bfloat16."""
    if host.dtype == "bfloat16":  # held as float32, whose upper half it is
        return (host.values.astype("<f4").view(np.uint32) >> 16).astype("<u2").tobytes()
    return host.values.astype(host.values.dtype.newbyteorder("<"), copy=False).tobytes()


def header(categories: Sequence[str] = tuple(COLUMNS)) -> str:
    """First line of ``statistic.csv`` with the columns of some categories, in their order."""
    return ",".join([FIXED, *(COLUMNS[category] for category in categories)]) + "\n"


def cells(host: HostArray, categories: Sequence[str] = tuple(COLUMNS)) -> str:
    """Size, type, shape and some categories of a tensor that is not empty, as the end of a row.

    ``negative zero count`` counts what is below zero and ``positive zero count`` what is above, as the
    names of MindSpore's columns have it. With a NaN, maximum and minimum are NaN. Raises TypeError for
    complex numbers, which have no order.
    """
    if host.values.dtype.kind == "c":
        raise TypeError("complex numbers have no statistics")
    raw = raw_bytes(host)
    shape = ",".join(map(str, host.values.shape))
    with np.errstate(invalid="ignore", over="ignore"):  # signalling NaN, and norms beyond float64
        values = host.values.astype(np.float64)
        numbers = {category: _MEASURES[category](values) for category in categories if category != "md5"}
    columns = [
        hashlib.md5(raw, usedforsecurity=False).hexdigest() if category == "md5" else _text(numbers[category])
        for category in categories
    ]
    return ",".join([str(len(raw)), host.dtype, f'"[{shape}]"', *columns])


def _norm(values: npt.NDArray[np.float64]) -> Any:
    return np.sqrt(np.square(values).sum())


def _extreme(
    measure: Callable[[npt.NDArray[np.float64]], Any], position: Callable[[npt.NDArray[np.float64]], Any]
) -> Callable[[npt.NDArray[np.float64]], Any]:
    """Maximum or minimum; of zeros with either sign the first, as MindSpore compares them."""

    def measured(values: npt.NDArray[np.float64]) -> Any:
        extreme = measure(values)
        return extreme if extreme else values.flat[position(values)]

    return measured


def _text(number: Any) -> str:
    """A count as it is, another number with six digits, as C++ streams print."""
    return str(int(number)) if isinstance(number, (int, np.integer)) else f"{number:g}"


def _silent(
    measure: Callable[[npt.NDArray[np.float64]], Any],
) -> Callable[[npt.NDArray[np.float64]], Any]:
    """A measure without NumPy's warnings about what is not finite."""

    def measured(values: npt.NDArray[np.float64]) -> Any:
        with np.errstate(invalid="ignore", over="ignore"):
            return measure(values)

    return measured


_MEASURES: Final[Mapping[str, Callable[[npt.NDArray[np.float64]], Any]]] = {
    "max": _silent(_extreme(np.max, np.argmax)),
    "min": _silent(_extreme(np.min, np.argmin)),
    "avg": _silent(np.mean),
    "count": np.size,
    "negative zero count": lambda values: np.count_nonzero(values < 0),
    "positive zero count": lambda values: np.count_nonzero(values > 0),
    "nan count": lambda values: np.count_nonzero(np.isnan(values)),
    "negative inf count": lambda values: np.count_nonzero(np.isneginf(values)),
    "positive inf count": lambda values: np.count_nonzero(np.isposinf(values)),
    "zero count": lambda values: np.count_nonzero(values == 0),
    "l2norm": _silent(_norm),
}
