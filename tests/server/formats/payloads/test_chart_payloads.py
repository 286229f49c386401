"""Precision-recall curves: rows, thresholds, and the area under them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from mindinsight.proto.graph_pb2 import TensorProto
from mindinsight.proto.summary_pb2 import LossLandscape, Summary
from mindinsight.server.formats.payloads.chart_payloads import (
    Category,
    Chart,
    Landscape,
    PrCurve,
    landscape,
    layout,
    pr_curve,
)
from mindinsight.server.formats.read_limits import UnreadableError
from mindinsight.writer.encoding import chart_layouts
from mindinsight.writer.encoding.kinds.pr_curve import ENCODER
from tests.narrowing import require


def test_lines_and_margins_come_back() -> None:
    charts = {"both": ["Multiline", ["train/.*", "误差"]], "range": ["Margin", ["mean", "low", "high"]]}
    payload = chart_layouts.encode(chart_layouts.checked({"Loss": charts}))
    expected = (Chart("both", ("train/.*", "误差")), Chart("range", (), (("mean", "low", "high"),)))
    assert layout(payload) == (Category("Loss", expected),)
    assert Summary.Layout.FromString(payload).category[0].chart[1].margin.series[0].upper == "high"


def test_an_empty_layout_has_no_charts() -> None:
    assert layout(b"") == ()


@pytest.mark.parametrize(
    ("payload", "reason"),
    [(b"\x12\xff", "payload.unparsable"), (b"\x12\0" * 1001, "payload.too_large")],
)
def test_what_is_damaged_or_too_much_is_said(payload: bytes, reason: str) -> None:
    with pytest.raises(UnreadableError) as error:
        layout(payload)
    assert error.value.reason == reason


def curve_of(labels: npt.ArrayLike, predictions: npt.ArrayLike) -> PrCurve:
    return pr_curve(ENCODER.serialised((labels, predictions)))


def test_a_curve_has_even_thresholds_and_the_counts_above_them() -> None:
    curve = pr_curve(ENCODER.serialised([[2, 1], [1, 0], [0, 1], [0, 1], [0.5, 1], [1, 0.5]]))
    assert curve.thresholds.tolist() == [0, 1]
    assert curve.rows[0].tolist() == [2, 1]


def test_the_area_is_the_average_precision_of_scikit_learn() -> None:
    """Predictions lie on thresholds, so that counting by them loses nothing."""
    from sklearn.metrics import average_precision_score  # takes a second, also of workers without this test

    rng = np.random.default_rng(3)
    labels = rng.integers(0, 2, 500)
    predictions = np.round(np.clip(labels * 0.3 + rng.random(500) * 0.7, 0, 1) * 126) / 126
    expected = average_precision_score(labels, predictions)
    on_threshold = np.minimum(predictions + 1e-9, 1)  # floor must not fall below it
    assert curve_of(labels, on_threshold).average_precision == pytest.approx(expected, abs=1e-6)


def test_the_roc_area_is_that_of_scikit_learn() -> None:
    from sklearn.metrics import roc_auc_score  # as above

    rng = np.random.default_rng(4)
    labels = rng.integers(0, 2, 500)
    predictions = np.round(np.clip(labels * 0.3 + rng.random(500) * 0.7, 0, 1) * 126) / 126
    curve = curve_of(labels, np.minimum(predictions + 1e-9, 1))
    assert curve.roc_area == pytest.approx(roc_auc_score(labels, predictions), abs=1e-6)
    assert curve_of([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]).roc_area == pytest.approx(0.75)


COUNTS = [[2, 1], [1, 0], [0, 1], [0, 1], [0.67, 1], [1, 0.5]]


@pytest.mark.parametrize(
    ("row", "counts"),
    [(2, [0, 0]), (2, [np.nan, np.nan]), (3, [0, 0]), (3, [-1, 0]), (0, [np.inf, 1]), (1, [1, 1])],
)
def test_a_roc_curve_needs_all_counts(row: int, counts: list[float]) -> None:
    assert PrCurve(np.array(COUNTS)).roc_area == pytest.approx(0.75)
    changed = PrCurve(np.array([*COUNTS[:row], counts, *COUNTS[row + 1 :]]))
    assert changed.roc is None
    assert np.isnan(changed.roc_area)


def test_without_negatives_there_is_no_roc_curve() -> None:
    assert curve_of([1, 1], [0.25, 0.5]).roc is None


def test_a_curve_ends_where_nothing_is_predicted() -> None:
    curve = curve_of([0, 1], [0.25, 0.5])
    assert curve.drawn == 64
    assert curve.rows[0, 63] == 1 and curve.rows[0, 64] == 0
    assert np.isnan(PrCurve(np.zeros((6, 3))).average_precision)


@pytest.mark.parametrize("dims", [[5, 3], [6], [6, 0], [6, 1, 1]])
def test_a_tensor_of_another_shape_is_no_curve(dims: list[int]) -> None:
    count = int(np.prod(dims))
    message = TensorProto(dims=dims, data_type=11, float_data=[0.0] * count)
    with pytest.raises(UnreadableError):
        pr_curve(message.SerializeToString())


@pytest.mark.parametrize("bits", [0x7F800001, 0x7F800000, 0xFF800000])
def test_counts_that_are_not_finite_are_read(bits: int) -> None:
    """A signalling NaN, and infinities: the page shows them, and nothing warns."""
    raw = np.full(12, bits, "<u4").tobytes()
    curve = pr_curve(TensorProto(dims=[6, 2], data_type=11, raw_data=raw).SerializeToString())
    assert not np.isfinite(curve.rows).any()
    assert curve.drawn == (2 if bits == 0x7F800000 else 0)
    assert np.isnan(curve.average_precision)


def test_empty_message() -> None:
    assert landscape(b"") == Landscape(None, None, (), None, "", "", 0)


def test_path_without_one_axis() -> None:
    path = {"intervals": [1, 3], "points": {"x": {"dims": [2], "data_type": 11, "float_data": [0.5, 1.5]}}}
    message = LossLandscape(loss_path=path, metadata={"unit": "epoch", "step_per_epoch": 4})
    result = landscape(message.SerializeToString())
    assert (result.intervals, result.unit, result.step_per_epoch) == ((1, 3), "epoch", 4)
    assert (require(result.path).x.tolist(), require(result.path).y.size) == ([0.5, 1.5], 0)


def test_what_is_no_landscape_is_refused() -> None:
    with pytest.raises(UnreadableError) as caught:
        landscape(b"\x0a\x7f")
    assert caught.value.reason == "payload.unparsable"
