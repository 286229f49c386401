"""A stand-in for MindSpore, with the behaviour of MindSpore 2.10 that the writer depends on."""

import importlib
import sys
from types import ModuleType
from typing import Any

import pytest


class Handle:
    def __init__(self, hooks: Any, hook: Any) -> None:
        self.hooks, self.hook = hooks, hook

    def remove(self) -> None:
        self.hooks.remove(self.hook)


class Parameter:
    """Hooks are given the gradient in a backward pass and must return one."""

    def __init__(self, name: Any, shape: Any) -> None:
        self.name, self.shape = name, shape
        self.hooks: list[Any] = []

    def register_hook(self, hook: Any) -> Any:
        self.hooks.append(hook)
        return Handle(self.hooks, hook)

    def backward(self, gradient: Any) -> None:
        for hook in self.hooks:
            assert hook(gradient) is not None


class Cell:
    def __init__(self, *parameters: Any) -> None:
        self.parameters, self.graph = parameters, b""

    def trainable_params(self) -> Any:
        return list(self.parameters)

    def get_func_graph_proto(self) -> Any:
        return self.graph


class MindSpore(ModuleType):
    GRAPH_MODE, PYNATIVE_MODE = 0, 1
    Parameter = Parameter

    def __init__(self) -> None:
        super().__init__("mindspore")
        self.context = {"mode": self.PYNATIVE_MODE, "env_config_path": ""}
        self.nn = ModuleType("mindspore.nn")
        self.nn.Cell = type("Cell", (Cell,), {"__module__": "mindspore.nn.cell"})  # type: ignore[attr-defined]

    def get_context(self, name: Any) -> Any:
        if name not in self.context:
            raise ValueError(f"'{name}' is not a context of this MindSpore")
        return self.context[name]


@pytest.fixture
def mindspore(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The stand-in in place of MindSpore; our module for MindSpore is imported anew with it."""
    stand_in = MindSpore()
    monkeypatch.setitem(sys.modules, "mindspore", stand_in)
    package = importlib.import_module("mindinsight.writer.frameworks")
    monkeypatch.setitem(sys.modules, "mindinsight.writer.frameworks.mindspore", None)
    monkeypatch.delitem(sys.modules, "mindinsight.writer.frameworks.mindspore")
    monkeypatch.setattr(package, "mindspore", None, raising=False)
    monkeypatch.delattr(package, "mindspore")
    return stand_in
