"""One call of an operator, as the capture of a framework hands it to a recorder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, Literal, NamedTuple, TypeAlias

Phase: TypeAlias = Literal["forward", "backward", "recompute", "optimizer"]

PREFIXES: Final = {  # outermost scopes, as MindSpore names them
    "forward": "Default",
    "backward": "Gradients/Default",
    "recompute": "recompute_Default",
    "optimizer": "Default",
}


class CodeLine(NamedTuple):
    """A line of the user's code from which an operator was called."""

    file: str
    line: int
    function: str


class OperatorCall(NamedTuple):
    """An operator that is about to run, or has run.

    ``inputs`` are the tensors among its arguments in order, lists flattened; their place is their slot.
    They are the framework's own, and may change when the operator runs in place.
    """

    type: str  # addmm, relu, ...
    scope: str  # "Default/fc1-Linear", "Gradients/Default/fc1-Linear"
    inputs: Sequence[Any]
    stack: tuple[CodeLine, ...] = ()  # innermost first; of a backward operator, that of its forward


# Called before an operator runs; what it returns is called with the outputs afterwards, None skips them.
Observer: TypeAlias = Callable[[OperatorCall], Callable[[Sequence[Any]], None] | None]
