"""Decoders of charts: custom layouts, precision-recall curves and loss landscapes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from google.protobuf.message import DecodeError

from mindinsight.proto.lazy_pb2 import LazyLayout
from mindinsight.proto.summary_pb2 import LossLandscape
from mindinsight.server.formats.events.event_fields import tag_text
from mindinsight.server.formats.payloads.tensor_payloads import tensor
from mindinsight.server.formats.read_limits import Limits, UnreadableError, unreadable
from mindinsight.server.types import Doubles

_MAX_PARTS: Final = 1000  # charts in a layout, tags in a chart
_MAX_TITLE: Final = 1000  # bytes of a title or tag
# Protobuf may take a hundred bytes of memory for two of a message.
_PAYLOAD: Final = Limits("layout", 8 << 20)


@dataclass(frozen=True, slots=True)
class Chart:
    """Chart of a custom dashboard: of all tags that match a pattern in ``tags``, or of ``margins``.

    A margin names the tags of a value and of its lower and upper end.
    """

    title: str
    tags: tuple[str, ...] = ()
    margins: tuple[tuple[str, str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Category:
    """Category of a custom dashboard: charts under a heading."""

    title: str
    charts: tuple[Chart, ...]


def layout(payload: bytes) -> tuple[Category, ...]:
    """Decode a layout of custom scalars. Raises UnreadableError."""
    _PAYLOAD.check_size(len(payload))
    with unreadable("payload.unparsable", "layout", DecodeError):
        message = LazyLayout.FromString(payload)
    return tuple(
        Category(_text(category.title), tuple(map(_chart, _checked(category.chart))))
        for category in _checked(message.category)
    )


def _chart(chart: LazyLayout.Chart) -> Chart:
    """Return title, tags and margins of a chart message. Raises UnreadableError for too many tags or
    margins."""
    tags = map(_text, _checked(chart.multiline.tag))
    margins = [
        (_text(series.value), _text(series.lower), _text(series.upper))
        for series in _checked(chart.margin.series)
    ]
    return Chart(_text(chart.title), tuple(tags), tuple(margins))


def _text(text: bytes) -> str:
    return tag_text(text[:_MAX_TITLE])


def _checked(parts: Sequence[Any]) -> Sequence[Any]:
    """Return the parts of a layout unchanged. Raises UnreadableError if there are more than
    ``_MAX_PARTS``."""
    if len(parts) > _MAX_PARTS:
        raise UnreadableError("payload.too_large", f"layout of over {_MAX_PARTS} parts")
    return parts


ROWS: Final = (
    "true_positives",
    "false_positives",
    "true_negatives",
    "false_negatives",
    "precision",
    "recall",
)
_MAX_THRESHOLDS: Final = 100_000  # TensorBoard writes at most 127, MindSpore none


@dataclass(frozen=True, slots=True)
class PrCurve:
    """Precision-recall curve of k thresholds, evenly spaced from 0 to 1.

    ``rows`` is [6, k] as in ``ROWS``.
    """

    rows: Doubles

    @property
    def thresholds(self) -> Doubles:
        """Return the thresholds [k], evenly spaced from 0 to 1. A prediction counts as positive from its
        threshold on."""
        return np.linspace(0.0, 1.0, self.rows.shape[1])

    @property
    def drawn(self) -> int:
        """Return the number of thresholds up to the last one with a positive prediction, 0 without one.
        Precision is not defined above it."""
        with np.errstate(invalid="ignore", over="ignore"):  # counts that are not finite
            (positive,) = np.nonzero(self.rows[0] + self.rows[1] > 0)
        return int(positive[-1]) + 1 if len(positive) else 0

    @property
    def average_precision(self) -> float:
        """Return the precisions summed by the recall that each adds, NaN without a positive prediction.
        Source: sklearn.metrics.average_precision_score."""
        count = self.drawn
        precision, recall = self.rows[4, :count], self.rows[5, :count]
        with np.errstate(invalid="ignore", over="ignore"):
            return float(np.sum(precision * -np.diff(recall, append=0.0))) if count else float("nan")

    @property
    def roc(self) -> Doubles | None:
        """Return the false and true positive rates [2, k], or None if the counts do not determine them.
        Counts that writers left out are zero or NaN, or their sums differ between thresholds."""
        true_positives, false_positives, true_negatives, false_negatives = self.rows[:4]
        with np.errstate(invalid="ignore", over="ignore"):
            sums = np.stack([false_positives + true_negatives, true_positives + false_negatives])
            largest = sums.max(axis=1, keepdims=True)
            whole = np.isfinite(largest).all() and (self.rows[:4] >= 0).all() and (largest > 0).all()
            # float32 loses whole counts above 16 million, a ten-millionth of them
            same = whole and (np.abs(sums - largest) <= 1e-6 * largest).all()
        return np.stack([false_positives, true_positives]) / sums if same else None

    @property
    def roc_area(self) -> float:
        """Return the area under the ROC curve by the trapezoidal rule, or NaN if the curve is unknown.
        Source: sklearn.metrics.roc_auc_score."""
        if (rates := self.roc) is None:
            return float("nan")
        ends = np.ones((2, 1)), rates, np.zeros((2, 1))  # everything and nothing is predicted to be positive
        rate, recall = np.concatenate(ends, axis=1)
        return float(np.sum(-np.diff(rate) * (recall[1:] + recall[:-1]) / 2))


def pr_curve(payload: bytes) -> PrCurve:
    """Decode a precision-recall curve. Raises UnreadableError."""
    values = tensor(payload).values
    known = values.ndim == 2 and values.shape[0] == len(ROWS) and 0 < values.shape[1] <= _MAX_THRESHOLDS
    if not known or values.dtype.kind not in "biuf":
        raise UnreadableError("payload.shape", f"precision-recall curve of shape {values.shape}")
    with np.errstate(invalid="ignore"):  # NaN of the signalling kind
        return PrCurve(values.astype(np.float64))


@dataclass(frozen=True, slots=True)
class Point:
    """Points of a loss landscape as arrays of coordinates. An axis that was not recorded has size 0."""

    x: npt.NDArray[Any]
    y: npt.NDArray[Any]
    z: npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class Landscape:
    """Loss landscape: losses on a grid and along the path of the weights.

    ``grid`` has axes x [n] and y [m] and the loss z [m, n], ``path`` one point per checkpoint.
    """

    grid: Point | None
    path: Point | None
    intervals: tuple[int, ...]  # steps or epochs of the path's points
    convergence: Point | None  # the end of the path
    decomposition: str
    unit: str  # of intervals: step or epoch
    step_per_epoch: int


def landscape(payload: bytes) -> Landscape:
    """Decode a loss landscape. Raises UnreadableError."""
    with unreadable("payload.unparsable", "landscape", DecodeError):
        message = LossLandscape.FromString(payload)
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
    """Decode the recorded axes of a point."""
    axes = {}
    for axis in ("x", "y", "z"):
        there = message.HasField(axis)
        axes[axis] = tensor(getattr(message, axis).SerializeToString()).values if there else np.empty(0)
    return Point(**axes)
