from typing import Any

import numpy as np
import pytest

from mindinsight.proto.graph_pb2 import DT_FLOAT64
from mindinsight.writer.landscape import loss_landscape

X, Y = np.array([0.0, 1.0, 2.0]), np.array([0.0, 1.0])
Z = np.arange(6.0).reshape(2, 3)


def test_every_part_is_where_readers_look() -> None:
    message = loss_landscape(
        X, Y, Z, path=([0, 1], [1, 0], [0.5, 0.25]), intervals=[1, 5], convergence=(0, 0, 0.25), unit="epoch",
        step_per_epoch=7,
    )  # fmt: skip
    assert list(message.landscape.x.float_data) == [0, 1, 2]
    assert list(message.landscape.z.dims) == [2, 3]
    assert list(message.landscape.z.float_data) == [0, 1, 2, 3, 4, 5]
    assert message.landscape.y.data_type == DT_FLOAT64
    assert list(message.loss_path.intervals) == [1, 5]
    assert list(message.loss_path.points.z.float_data) == [0.5, 0.25]
    assert list(message.convergence_point.z.float_data) == [0.25]
    assert (message.metadata.decomposition, message.metadata.unit) == ("PCA", "epoch")
    assert message.metadata.step_per_epoch == 7


def test_without_a_way_there_is_none() -> None:
    message = loss_landscape(X, Y, Z)
    assert not message.HasField("loss_path")
    assert not message.HasField("convergence_point")


def test_a_loss_that_is_not_finite_is_kept() -> None:
    message = loss_landscape(X[:1], Y[:1], [[1e300]])
    assert message.landscape.z.float_data[0] == np.inf


@pytest.mark.parametrize(
    "arguments",
    [
        {"x": X, "y": Y, "z": Z.T},
        {"x": Z, "y": Y, "z": Z},
        {"x": X, "y": Y, "z": Z, "path": ([0], [1], [2]), "intervals": [1, 2]},
    ],
)
def test_shapes_that_do_not_fit_are_refused(arguments: Any) -> None:
    with pytest.raises(ValueError, match="must"):
        loss_landscape(**arguments)
