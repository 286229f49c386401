"""Metrics of one's own, and as MindSpore takes them."""

import sys
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from mindinsight.writer.metrics import (
    Accuracy,
    Loss,
    Metric,
    rearrange_inputs,
)

SCORES, CLASSES = [[0.2, 0.5], [0.3, 0.1], [0.9, 0.6]], [1, 0, 1]


def test_chosen_inputs_in_a_chosen_order() -> None:
    accuracy = Accuracy().set_indexes([2, 0])
    assert accuracy(CLASSES, "the loss", SCORES) == pytest.approx(2 / 3)
    for wrong in ((0, 1), [0, "1"], [True]):
        with pytest.raises(ValueError, match="list of int"):
            accuracy.set_indexes(wrong)  # type: ignore[arg-type]


class Largest(Metric):
    """A metric of a user's."""

    def clear(self) -> None:
        self.largest = -np.inf

    @rearrange_inputs
    def update(self, value: Any) -> None:
        self.largest = max(self.largest, value)

    def eval(self) -> Any:
        return self.largest


def test_a_metric_of_ones_own() -> None:
    largest = Largest().set_indexes([1])
    largest.update(9, 1)
    largest.update(9, 3)
    assert largest.eval() == 3
    assert largest(9, 2) == 2


def test_mindspores_model_takes_them_as_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    module: Any = ModuleType("mindspore.train.metrics")
    module.Metric = type("Metric", (), {})
    module.Loss = type("Loss", (module.Metric,), {})
    monkeypatch.setitem(sys.modules, module.__name__, module)
    assert isinstance(Largest(), module.Metric)
    assert isinstance(Loss(), module.Loss)
    assert not isinstance(Accuracy(), module.Loss)
