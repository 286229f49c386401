"""Precision-recall curves: the message, and what add_value refuses."""

import numpy as np
import pytest

from mindinsight.proto.graph_pb2 import TensorProto
from mindinsight.writer.encoding.kinds.pr_curve import ENCODER


def test_labels_and_predictions_become_counts() -> None:
    message = TensorProto.FromString(ENCODER.serialised(([0, 1, 1], [0.2, 0.4, 1.0])))
    rows = np.array(message.float_data).reshape(message.dims)
    assert rows.shape == (6, 127)
    assert rows[:, 0].tolist() == pytest.approx([2, 1, 0, 0, 2 / 3, 1], rel=1e-6)
    assert rows[:4, -1].tolist() == [1, 0, 1, 1]
    assert ENCODER.facts(message) == {"thresholds": 127}


def test_six_rows_are_kept() -> None:
    rows = np.arange(12.0).reshape(6, 2)
    message = TensorProto.FromString(ENCODER.serialised(rows))
    assert list(message.float_data) == rows.ravel().tolist()


@pytest.mark.parametrize("rows", [np.zeros((5, 3)), [[1], [1], [1], [1], [1], [1, 2]], np.zeros((6, 0))])
def test_other_shapes_are_refused(rows: object) -> None:
    with pytest.raises(ValueError, match="six rows of equal length"):
        ENCODER.serialised(rows)
