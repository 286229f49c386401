"""Decoder of LossLandscape: the loss on a grid around the weights, and the way training took over it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from google.protobuf.message import DecodeError

from mindinsight.proto.summary_pb2 import LossLandscape
from mindinsight.server.formats.payloads.tensors import tensor
from mindinsight.server.formats.unreadable import UnreadableError


@dataclass(frozen=True, slots=True)
class Point:
    """Coordinates as recorded; an axis that was not has size 0."""

    x: npt.NDArray[Any]
    y: npt.NDArray[Any]
    z: npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class Landscape:
    """``grid``: x and y are axes [n], [m], z is the loss [m, n]. ``path``: one entry per checkpoint."""

    grid: Point | None
    path: Point | None
    intervals: tuple[int, ...]  # steps or epochs of the path's points
    convergence: Point | None  # the end of the path
    decomposition: str
    unit: str  # of intervals: step or epoch
    step_per_epoch: int


def landscape(payload: bytes) -> Landscape:
    try:
        message = LossLandscape.FromString(payload)
    except DecodeError as error:
        raise UnreadableError("payload.unparsable", f"landscape: {error}") from error
    return Landscape(
        _point(message.landscape) if message.HasField("landscape") else None,
        _point(message.loss_path.points) if message.HasField("loss_path") else None,
        tuple(message.loss_path.intervals),
        _point(message.convergence_point) if message.HasField("convergence_point") else None,
        message.metadata.decomposition,
        message.metadata.unit,
        message.metadata.step_per_epoch,
    )


def _point(message: LossLandscape.Point) -> Point:
    axes = {}
    for axis in ("x", "y", "z"):
        there = message.HasField(axis)
        axes[axis] = tensor(getattr(message, axis).SerializeToString()).values if there else np.empty(0)
    return Point(**axes)
