"""Encoder of LossLandscape messages (summary.proto)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from mindinsight.proto.graph_pb2 import DT_FLOAT64, TensorProto
from mindinsight.proto.summary_pb2 import LossLandscape

Numbers = npt.ArrayLike


def loss_landscape(
    x: Numbers,
    y: Numbers,
    z: Numbers,
    *,
    path: tuple[Numbers, Numbers, Numbers] | None = None,
    intervals: Sequence[int] = (),
    convergence: tuple[float, float, float] | None = None,
    decomposition: str = "PCA",
    unit: str = "step",
    step_per_epoch: int = 0,
) -> LossLandscape:
    """A landscape for ``add_value("landscape", ...)``.

    Args:
        x, y: coordinates along the two directions, shapes [columns] and [rows].
        z: the loss, shape [rows, columns].
        path: coordinates and loss of each point of the way, shape [points] each.
        intervals: the step or epoch of each of those points.
        convergence: x, y and loss where the way ends.
        decomposition: how the directions were found: PCA or Random.
        unit: what ``intervals`` counts: step or epoch.
        step_per_epoch: steps of an epoch.

    Raises ValueError when shapes do not fit together.
    """
    message = LossLandscape()
    across, down, height = (np.asarray(numbers, np.float64) for numbers in (x, y, z))
    if across.ndim != 1 or down.ndim != 1 or height.shape != (down.size, across.size):
        raise ValueError(f"z must be [len(y), len(x)], got {height.shape}, {down.shape} and {across.shape}")
    _point(message.landscape, (across, down, height))
    if path is not None:
        points = [np.asarray(numbers, np.float64) for numbers in path]
        if any(numbers.shape != (len(intervals),) for numbers in points):
            raise ValueError(f"the path must have a point for each of {len(intervals)} intervals")
        _point(message.loss_path.points, points)
        message.loss_path.intervals.extend(intervals)
    if convergence is not None:
        _point(message.convergence_point, [np.array([number]) for number in convergence])
    message.metadata.decomposition = decomposition
    message.metadata.unit = unit
    message.metadata.step_per_epoch = step_per_epoch
    return message


def _point(point: LossLandscape.Point, arrays: Sequence[npt.NDArray[np.float64]]) -> None:
    for tensor, numbers in zip((point.x, point.y, point.z), arrays, strict=True):
        _fill(tensor, numbers)


def _fill(tensor: TensorProto, numbers: npt.NDArray[np.float64]) -> None:
    tensor.dims.extend(numbers.shape)
    tensor.data_type = DT_FLOAT64
    with np.errstate(over="ignore"):
        tensor.float_data.extend(numbers.astype(np.float32).reshape(-1).tolist())
