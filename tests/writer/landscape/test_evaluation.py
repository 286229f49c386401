"""Losses at points of a plane, from the function that a setup answers."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from mindinsight.writer.landscape.evaluation import Evaluation, loss_of
from mindinsight.writer.landscape.plane import Plane


def squares(weights: Mapping[str, Any]) -> float:
    return float(sum(np.square(value).sum() for value in weights.values()))


WEIGHTS = {"w": np.array([3.0, 4.0])}
PLANE = Plane(WEIGHTS, {"w": np.array([1.0, 0.0])}, {"w": np.array([0.0, 1.0])})


def test_the_loss_is_that_of_the_weights_at_each_point() -> None:
    with Evaluation(lambda: squares, 1) as evaluation:
        assert evaluation.losses(PLANE, [(0.0, 0.0), (-3.0, 0.0), (-3.0, -4.0)]) == [25.0, 16.0, 0.0]
        assert evaluation.losses(PLANE, []) == []
        assert evaluation.loss_of_weights(WEIGHTS) == 25.0


@pytest.mark.parametrize(
    ("setup", "words"),
    [
        (lambda: None, "must return a loss function"),
        (lambda: (1, 2, 3), "must return a loss function"),
        (lambda: (1, 2, 3, 4), "must be a Cell of MindSpore, got int"),
    ],
)
def test_what_is_no_loss_is_refused_at_once(setup: Any, words: str) -> None:
    with pytest.raises(TypeError, match=words):
        loss_of(setup, 1)
