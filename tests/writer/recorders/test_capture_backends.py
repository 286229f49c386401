"""Networks of either framework, told apart without importing one."""

import importlib.util
import sys
from types import SimpleNamespace

import pytest

from mindinsight.writer.recorders.capture import backend_of, is_cell, models_of


class Module:
    def named_modules(self) -> list[object]:
        return []


class Base:
    """A cell of MindSpore's."""

    __module__ = "mindspore.nn.cell"

    def cells_and_names(self) -> list[object]:
        return []


class Cell(Base):
    """A cell of the user's own."""


def test_a_single_network_has_no_name_and_several_keep_theirs() -> None:
    module, cell = Module(), Cell()
    assert models_of(module) == {"": module}
    assert models_of({"a": cell}) == {"a": cell}
    assert (is_cell(cell), is_cell(module), is_cell(3)) == (True, False, False)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (3, "a model is a torch.nn.Module or a mindspore.nn.Cell, got builtins.int"),
        ({}, "there is no model to record"),
        ({"a": Module(), "b": Cell()}, "two frameworks"),
    ],
)
def test_anything_else_is_refused(model: object, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        models_of(model)


@pytest.mark.parametrize(
    ("network", "name"), [(Module(), "torch_operators"), (Cell(), "mindspore_operators")]
)
def test_the_capture_module_is_that_of_the_framework(
    network: object, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert importlib.util.find_spec(f"mindinsight.writer.recorders.{name}")
    module = SimpleNamespace()
    monkeypatch.setitem(sys.modules, f"mindinsight.writer.recorders.{name}", module)
    assert backend_of({"": network}) is module
