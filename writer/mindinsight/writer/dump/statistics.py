"""Statistics of a tensor as a row of MindSpore's ``statistic.csv``."""

from __future__ import annotations

import hashlib
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
HEADER: Final = ",".join([FIXED, *COLUMNS.values()]) + "\n"


def raw_bytes(host: HostArray) -> bytes:
    """The tensor's bytes in C order, little-endian, in its own type: two for each bfloat16."""
    if host.dtype == "bfloat16":  # held as float32, whose upper half it is
        return (host.values.astype("<f4").view(np.uint32) >> 16).astype("<u2").tobytes()
    return host.values.astype(host.values.dtype.newbyteorder("<"), copy=False).tobytes()


def cells(host: HostArray) -> str:
    """Size, type, shape and every category of a tensor that is not empty, as the end of a row.

    ``Negative Zero Count`` counts what is below zero and ``Positive Zero Count`` what is above, as the
    names of MindSpore's columns have it. With a NaN, maximum and minimum are NaN.
    """
    raw = raw_bytes(host)
    shape = ",".join(map(str, host.values.shape))
    values = host.values.astype(np.float64)
    columns = [_number(value) for value in _extremes(values)]
    columns += [str(int(count)) for count in _counts(values)]
    columns += [hashlib.md5(raw, usedforsecurity=False).hexdigest(), _number(_norm(values))]
    return ",".join([str(len(raw)), host.dtype, f'"[{shape}]"', *columns])


def _extremes(values: npt.NDArray[np.float64]) -> tuple[Any, Any, Any]:
    with np.errstate(invalid="ignore", over="ignore"):
        return values.max(), values.min(), values.mean()


def _counts(values: npt.NDArray[np.float64]) -> tuple[Any, ...]:
    return (
        values.size,
        (values < 0).sum(),
        (values > 0).sum(),
        np.isnan(values).sum(),
        np.isneginf(values).sum(),
        np.isposinf(values).sum(),
        (values == 0).sum(),
    )


def _norm(values: npt.NDArray[np.float64]) -> Any:
    with np.errstate(over="ignore"):
        return np.sqrt(np.square(values).sum())


def _number(value: float) -> str:
    return f"{value:g}"  # six digits, as C++ streams print
