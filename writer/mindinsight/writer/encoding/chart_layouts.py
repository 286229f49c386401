"""Encoder of chart layouts by category, and the counts of precision-recall curves."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from mindinsight.writer.arrays import to_numpy

TAG: Final = "custom_scalars__config__"  # under which TensorBoard looks for one
# Category -> title -> "Multiline" or "Margin", and tags.
Layout: TypeAlias = Mapping[str, Mapping[str, Sequence[Any]]]


def encode(layout: Layout) -> bytes:
    """Return a validated layout as a serialised Summary.Layout."""
    from mindinsight.proto.summary_pb2 import Summary  # loads protobuf, which scalars do without

    message = Summary.Layout()
    for heading, charts in layout.items():
        category = message.category.add(title=_printable(heading))
        for title, (kind, tags) in charts.items():
            chart = category.chart.add(title=_printable(title))
            names = [_printable(tag) for tag in tags]
            if kind == "Margin":
                chart.margin.series.add(value=names[0], lower=names[1], upper=names[2])
            else:
                chart.multiline.SetInParent()
                chart.multiline.tag.extend(names)
    return bytes(message.SerializeToString())


def _printable(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()


def checked(layout: Any) -> dict[str, dict[str, tuple[str, list[str]]]]:
    """Return a checked copy of ``layout``: category -> title -> ("Multiline" or "Margin", tags). Raises
    TypeError or ValueError with the name of the category or chart."""
    if not isinstance(layout, Mapping):
        raise TypeError(f"a layout is a dict of categories, got {type(layout).__name__}")
    return {str(title): _checked_charts(str(title), charts) for title, charts in layout.items()}


def _checked_charts(category: str, charts: Any) -> dict[str, tuple[str, list[str]]]:
    if not isinstance(charts, Mapping):
        raise TypeError(f"category '{category}' must be a dict of charts, got {type(charts).__name__}")
    checked_charts = {}
    for title, chart in charts.items():
        try:
            kind, tags = chart
        except (TypeError, ValueError):
            kind, tags = None, ()
        if kind not in ("Multiline", "Margin") or isinstance(tags, str):
            raise ValueError(f"chart '{title}' must be ['Multiline' or 'Margin', tags], got {chart!r}")
        if kind == "Margin" and len(tags) != 3:
            raise ValueError(f"chart '{title}' needs three tags: value, lower and upper end; got {len(tags)}")
        checked_charts[str(title)] = (str(kind), [str(tag) for tag in tags])
    return checked_charts


MOST_THRESHOLDS: Final = 127  # TensorBoard's own limit
_ROWS: Final = 6  # of the message, see `curve`
_LEAST: Final = 1e-7  # a divisor that is not zero


def curve(
    labels: object, predictions: object, thresholds: int = MOST_THRESHOLDS, weights: object = None
) -> npt.NDArray[np.float64]:
    """Return the rows [6, thresholds] of a precision-recall curve of binary ``labels`` and ``predictions``.
    Raises ValueError for other predictions, for unequal or zero lengths, also of weights, and for fewer than
    2 thresholds.

    The rows: true positives, false positives, true negatives, false negatives, precision, recall. Predictions
    are within 0..1. The thresholds have equal distances, at most 127 are used. ``weights`` are by default 1.
    """
    count = _thresholds(thresholds)
    truth = to_numpy(labels).values.reshape(-1).astype(np.float64)
    guesses = to_numpy(predictions).values.reshape(-1)
    if truth.shape != guesses.shape or not truth.size:
        raise ValueError(f"labels and predictions must have equal lengths: {truth.size}, {guesses.size}")
    if not ((guesses >= 0) & (guesses <= 1)).all():
        raise ValueError("predictions must be within 0..1")
    weight = np.ones(1) if weights is None else to_numpy(weights).values.reshape(-1)
    if weight.size not in (1, truth.size):
        raise ValueError(f"weights must be as many as labels: {weight.size}, {truth.size}")
    buckets = np.floor(guesses * (count - 1)).astype(np.intp)
    positive = np.bincount(buckets, truth * weight, count)[::-1].cumsum()[::-1]
    negative = np.bincount(buckets, (1.0 - truth) * weight, count)[::-1].cumsum()[::-1]
    missed = positive[0] - positive
    precision = positive / np.maximum(_LEAST, positive + negative)
    recall = positive / np.maximum(_LEAST, positive + missed)
    return np.stack((positive, negative, negative[0] - negative, missed, precision, recall))


def given(rows: list[Any], thresholds: int = MOST_THRESHOLDS) -> npt.NDArray[np.float64]:
    """Return the six given rows of a curve, in the order of `curve`, as one array [6, n]. Raises
    ValueError unless there are six rows of one length above zero, and for ``thresholds`` below 2.
    ``thresholds`` has no other effect."""
    arrays = [to_numpy(row).values.reshape(-1).astype(np.float64) for row in rows]
    sizes = {array.size for array in arrays}
    if len(arrays) != _ROWS or len(sizes) != 1 or sizes == {0}:
        raise ValueError(f"a curve has six rows of equal length, got {[array.size for array in arrays]}")
    _thresholds(thresholds)
    return np.stack(arrays)


def _thresholds(count: Any) -> int:
    if isinstance(count, bool) or not isinstance(count, (int, np.integer)) or count < 2:
        raise ValueError(f"num_thresholds must be an int of at least 2, got {count!r}")
    return min(int(count), MOST_THRESHOLDS)
