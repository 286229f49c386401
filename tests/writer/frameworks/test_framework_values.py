"""Operators of ours are MindSpore's primitives once MindSpore is loaded; a stand-in refuses what it would.

The stand-in has the three properties that matter, seen in MindSpore 2.10: its classes have a metaclass of
their own (pybind11's), ``object.__new__`` cannot make their instances, and a network that calls anything
but a primitive fails to compile, ``KeyError: '__input_0__'``. tests/interop/in_mindspore.py uses MindSpore.
"""

import copy
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from mindinsight.writer import HistogramSummary, ImageSummary, Print, ScalarSummary, TensorSummary
from mindinsight.writer.frameworks.framework_values import is_symbolic, with_numbers
from mindinsight.writer.operators import take_operator_values


def instance(module: Any, base: Any = object) -> Any:
    return type("Thing", (base,), {"__module__": module})()


def test_numbers_are_put_at_once() -> None:
    got: list[Any] = []
    assert with_numbers(3.0, got.append) is None
    assert got == [3.0]


@pytest.mark.parametrize("module", ["torch.fx.proxy", "torch._subclasses.fake_tensor"])
def test_a_stand_in_is_never_put(module: str) -> None:
    got: list[Any] = []
    stand_in = instance(module)
    assert is_symbolic(stand_in)
    assert with_numbers(stand_in, got.append) is None
    assert got == []


class Pybind11Type(type):
    pass


class Primitive(bytearray, metaclass=Pybind11Type):
    """Base of MindSpore's operators, an extension type; its name is that of the node in a graph."""

    __hash__ = object.__hash__  # type: ignore[assignment]

    def __init__(self) -> None:
        super().__init__()
        self.name = type(self).__name__

    def __call__(self, *arguments: Any) -> None:
        raise AssertionError("only a compiled graph executes the primitive itself")

    def __deepcopy__(self, memo: Any) -> Any:
        return type(self)()


NAMES = ("ScalarSummary", "ImageSummary", "TensorSummary", "HistogramSummary", "Print")


@pytest.fixture
def ops(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    module = ModuleType("mindspore.ops")
    for name in NAMES:
        setattr(module, name, Pybind11Type(name, (Primitive,), {}))
    monkeypatch.setitem(sys.modules, "mindspore.ops", module)
    take_operator_values()
    yield module
    take_operator_values()


def compiled(operator: Any) -> Any:
    """The name of the node that MindSpore makes of a call of ``operator`` in ``construct``."""
    if not isinstance(operator, Primitive):
        raise KeyError("__input_0__")
    return operator.name


@pytest.mark.parametrize("operator", [ScalarSummary, ImageSummary, TensorSummary, HistogramSummary, Print])
def test_graph_mode_compiles_mindspores_own_primitive(ops: Any, operator: Any) -> None:
    made = operator()
    assert compiled(made) == operator.__name__
    assert isinstance(made, getattr(ops, operator.__name__))
    assert isinstance(made, operator)
    assert compiled(copy.deepcopy(made)) == operator.__name__


def test_a_class_derived_from_an_operator_is_compiled_as_that_operator(ops: Any) -> None:
    class Named(ScalarSummary):
        pass

    assert compiled(Named()) == "ScalarSummary"


def test_where_python_runs_the_value_is_delivered_and_printed(
    ops: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    ScalarSummary()("loss", np.float32(0.5))
    Print()("loss", np.array([1, 2], np.int32))
    assert take_operator_values() == [("scalar", "loss", 0.5)]
    assert capsys.readouterr().out == "loss\nTensor(shape=[2], dtype=Int32, value=[1 2])\n"
    with pytest.raises(ValueError, match="ScalarSummary 'loss' cannot record a value of shape"):
        ScalarSummary()("loss", np.ones(2))


def test_without_mindspore_an_operator_is_a_plain_object() -> None:
    assert type(ScalarSummary()) is ScalarSummary
    assert type(Print()) is Print
