"""Precision-recall curves: rows, thresholds, and the area under them."""

import numpy as np
import numpy.typing as npt
import pytest
from sklearn.metrics import average_precision_score

from mindinsight.proto.graph_pb2 import TensorProto
from mindinsight.server.formats.payloads.pr_curves import PrCurve, pr_curve
from mindinsight.server.formats.unreadable import UnreadableError
from mindinsight.writer.encoding.kinds.pr_curve import ENCODER


def curve_of(labels: npt.ArrayLike, predictions: npt.ArrayLike) -> PrCurve:
    return pr_curve(ENCODER.serialised((labels, predictions)))


def test_a_curve_has_even_thresholds_and_the_counts_above_them() -> None:
    curve = pr_curve(ENCODER.serialised([[2, 1], [1, 0], [0, 1], [0, 1], [0.5, 1], [1, 0.5]]))
    assert curve.thresholds.tolist() == [0, 1]
    assert curve.rows[0].tolist() == [2, 1]


def test_the_area_is_the_average_precision_of_scikit_learn() -> None:
    """Predictions lie on thresholds, so that counting by them loses nothing."""
    rng = np.random.default_rng(3)
    labels = rng.integers(0, 2, 500)
    predictions = np.round(np.clip(labels * 0.3 + rng.random(500) * 0.7, 0, 1) * 126) / 126
    expected = average_precision_score(labels, predictions)
    on_threshold = np.minimum(predictions + 1e-9, 1)  # floor must not fall below it
    assert curve_of(labels, on_threshold).average_precision == pytest.approx(expected, abs=1e-6)


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
