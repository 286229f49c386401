"""Values delivered inside a forward pass reach whoever records next."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from mindinsight.writer.operators import (
    HistogramSummary,
    ImageSummary,
    OperatorValues,
    ScalarSummary,
    TensorSummary,
    take_operator_values,
)


@pytest.fixture(autouse=True)
def nothing_waits() -> Iterator[Any]:
    take_operator_values()
    yield
    take_operator_values()


class TorchLike:
    """A tensor with what the operators ask of PyTorch's."""

    shape = (2,)

    def __init__(self, values: Any) -> None:
        self.values = values

    def detach(self) -> Any:
        return self

    def clone(self) -> TorchLike:
        return TorchLike(list(self.values))


class MindSporeLike:
    shape = (2,)

    def __init__(self, values: Any) -> None:
        self.values = values

    def asnumpy(self) -> None:
        raise AssertionError("the value must stay on its device")

    def copy(self) -> MindSporeLike:
        return MindSporeLike(list(self.values))


def test_each_operator_names_its_plugin() -> None:
    ScalarSummary()("loss", 0.5)
    ImageSummary()("input", np.zeros((1, 3, 4, 4)))
    TensorSummary()("x", [1, 2])
    HistogramSummary()("x", np.ones(3))
    assert [(plugin, tag) for plugin, tag, _ in take_operator_values()] == [
        ("scalar", "loss"),
        ("image", "input"),
        ("tensor", "x"),
        ("histogram", "x"),
    ]
    assert take_operator_values() == []


def test_the_newest_value_of_a_name_is_kept_in_its_place() -> None:
    for value in (1.0, 2.0):
        ScalarSummary()("a", value)
        ScalarSummary()("b", -value)
    assert take_operator_values() == [("scalar", "a", 2.0), ("scalar", "b", -2.0)]


@pytest.mark.parametrize("kind", [TorchLike, MindSporeLike])
def test_a_tensor_changed_in_place_later_is_recorded_as_it_was(kind: Any) -> None:
    tensor = kind([1, 2])
    TensorSummary()("x", tensor)
    tensor.values[0] = 9
    value: Any
    ((_, _, value),) = take_operator_values()
    assert value.values == [1, 2]


def test_an_array_changed_in_place_later_is_recorded_as_it_was() -> None:
    array = np.ones(3)
    HistogramSummary()("x", array)
    array += 1
    value: Any
    ((_, _, value),) = take_operator_values()
    assert value.tolist() == [1, 1, 1]


@pytest.mark.parametrize(
    ("operator", "value"),
    [
        (ScalarSummary, [1, 2]),
        (ScalarSummary, np.zeros(0)),
        (ImageSummary, np.zeros((3, 4, 4))),
        (ImageSummary, np.zeros((1, 5, 4, 4))),
        (ImageSummary, np.zeros((1, 3, 0, 4))),
        (TensorSummary, 1.0),
        (HistogramSummary, np.float32(1)),
    ],
)
def test_a_shape_the_plugin_cannot_show_is_refused_where_it_happens(operator: Any, value: Any) -> None:
    with pytest.raises(ValueError, match=f"{operator.__name__} 'x' cannot record a value of shape"):
        operator()("x", value)
    assert take_operator_values() == []


def test_a_name_must_be_text() -> None:
    with pytest.raises(TypeError, match="str, got int"):
        ScalarSummary()(3, 0.5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="empty"):
        ScalarSummary()("", 0.5)


def test_one_element_of_any_rank_is_a_scalar() -> None:
    ScalarSummary()("loss", np.full((1, 1), 0.5))
    assert take_operator_values() == [("scalar", "loss", np.full((1, 1), 0.5))]


def test_a_stand_in_of_a_tracer_is_passed_over() -> None:
    proxy = type("Proxy", (), {"__module__": "torch.fx.proxy"})()
    ScalarSummary()("loss", proxy)
    assert take_operator_values() == []


def test_inside_a_compiled_function_the_value_comes_when_it_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    waiting, barriers = [], []
    jax = SimpleNamespace(
        is_traced=lambda value: value == "traced",
        deliver=lambda put, value: waiting.append(lambda: put(3.0)),
        barrier=lambda: barriers.append("waited"),
    )
    monkeypatch.setattr("mindinsight.writer.frameworks.framework_values.framework_of", lambda value: jax)
    values = OperatorValues()
    values.put("scalar", "loss", "traced")
    assert values.take() == []
    waiting[0]()
    assert values.take() == [("scalar", "loss", 3.0)]
    assert barriers == ["waited", "waited"]


def test_values_of_mindspores_own_operators_come_along(monkeypatch: pytest.MonkeyPatch) -> None:
    cache = {"loss[:Scalar]": 1, "odd[:y][:Tensor]": 2, "no plugin": 3}
    module: Any = ModuleType("mindspore.train.summary.summary_record")
    module._record_summary_tensor_data = lambda: cache.update({"late[:Image]": 4})
    module._get_summary_tensor_data = lambda: dict(cache)
    monkeypatch.setitem(sys.modules, "mindspore", SimpleNamespace(nn=SimpleNamespace(Cell=object)))
    monkeypatch.setitem(sys.modules, module.__name__, module)
    # Imported anew with that, and forgotten after the test.
    ours = "mindinsight.writer.frameworks.mindspore"
    monkeypatch.setitem(sys.modules, ours, ModuleType(ours))
    monkeypatch.delitem(sys.modules, ours)
    monkeypatch.setattr("mindinsight.writer.frameworks.mindspore", None, raising=False)
    monkeypatch.delattr("mindinsight.writer.frameworks.mindspore")
    ScalarSummary()("ours", 0.5)
    assert take_operator_values() == [
        ("scalar", "ours", 0.5),
        ("scalar", "loss", 1),
        ("tensor", "odd[:y]", 2),
        ("image", "late", 4),
    ]
