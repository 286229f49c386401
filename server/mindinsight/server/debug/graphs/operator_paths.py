"""Paths of operators in a drawing: scopes as recorded; calls of msprobe by phase, module and function."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from mindinsight.server.formats.dumps.types import Operator

BACKWARD: Final = "Backward"  # scope of the calls of the backward pass

_CALL: Final = re.compile(
    r"(?P<family>[A-Za-z]\w*)\.(?P<name>.+)\.(?P<way>forward|backward|parameters_grad)(?:\.(?P<number>\d+))?"
)
_MODULES: Final = ("Module", "Cell")


@dataclass(frozen=True, slots=True)
class Call:
    """Parts of a name that msprobe gives: Module.fc1.Linear.forward.0, Functional.relu.1.backward."""

    family: str
    name: str
    way: str
    number: str

    @property
    def is_module(self) -> bool:
        return self.family in _MODULES

    @property
    def label(self) -> str:
        """Name without its phase: ``fc1 · Linear``, a later call ``fc1 · Linear #1``; ``Tensor.add_.1``."""
        if not self.is_module:
            return f"{self.family}.{self.name}"
        module, _, kind = self.name.rpartition(".")
        times = f" #{self.number}" if self.number not in ("", "0") else ""
        gradients = " parameters_grad" if self.way == "parameters_grad" else ""
        return f"{module} · {kind}{times}{gradients}" if module else f"{kind}{times}{gradients}"


def call_of(name: str) -> Call | None:
    """Parts of the name of a call; None for names of another form, as scoped names of MindSpore."""
    match = _CALL.fullmatch(name)
    return (
        None if match is None else Call(*(match[part] or "" for part in ("family", "name", "way", "number")))
    )


def paths_of(operators: Sequence[Operator]) -> list[str | None]:
    """Path of each operator, with slashes; None for a module that is drawn as the scope of its functions."""
    paths = [_path(operator) for operator in operators]
    scopes = {path[:depth] for path in paths for depth in range(1, len(path))}
    return [
        None if path in scopes and call_of(operator.name) else "/".join(path)
        for operator, path in zip(operators, paths, strict=True)
    ]


def _path(operator: Operator) -> tuple[str, ...]:
    call = call_of(operator.name)
    if call is None:
        return (*operator.scope, operator.name.rpartition("/")[2])
    phase = (BACKWARD,) if call.way != "forward" else ()
    scopes = [
        label
        for label in map(_scope_label, operator.scope)
        if label and label != call.family  # the family of a function is no place in the network
    ]
    if call.way == "parameters_grad":
        scopes = []  # beside its module
    return (*phase, *scopes, call.label)


def _scope_label(scope: str) -> str:
    call = call_of(scope)
    return call.label if call else scope
