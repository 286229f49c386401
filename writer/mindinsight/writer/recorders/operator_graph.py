"""Calls of operators as a capture hands them on, and the graph built of the calls of one step."""

from __future__ import annotations

import linecache
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from mindinsight.writer.graph import GraphBuilder

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


_INPUTS = "inputs"  # MindSpore numbers what a network is given: inputs0, inputs1


class TensorFacts(NamedTuple):
    """A tensor of the running step: its identity while it lives, its shape and element type."""

    key: Hashable
    shape: tuple[int, ...]
    dtype: str


class GraphRecorder:
    """Names for the operators of a step, and their graph.

    An operator is ``<scope>/<type>-op<n>``, n counting the operators of a type in a step, with ``per_scope``
    those in a scope, so an operator has the same name in every step that runs the same operators.
    """

    def __init__(
        self, name: str, parameters: Iterable[tuple[str, TensorFacts]] = (), per_scope: bool = False
    ) -> None:
        self._builder = GraphBuilder(name)
        self._per_scope = per_scope
        self._counts: Counter[str] = Counter()
        self._parameters = {facts.key: (label, facts) for label, facts in parameters}
        self._nodes: dict[Hashable, str] = {}  # what holds a tensor now -> node, parameter or input
        self._unnamed = 0
        self._last = ""

    def operator(
        self, kind: str, scope: str, inputs: Sequence[TensorFacts], stack: Sequence[CodeLine] = ()
    ) -> str:
        """Full name of an operator that is about to run. Its outputs come with ``outputs``."""
        counted = f"{scope}/{kind}" if self._per_scope else kind
        number = self._counts[counted]
        self._counts[counted] += 1
        self._pending = (kind, scope, number, [self._source(facts) for facts in inputs], tuple(stack))
        return f"{scope}/{kind}-op{number}"

    def outputs(self, outputs: Sequence[TensorFacts]) -> None:
        """Add the operator named last to the graph, with what came out."""
        kind, scope, number, sources, stack = self._pending
        types = [(list(facts.shape), facts.dtype) for facts in outputs]
        shape, dtype = types[0] if types else (None, "")
        with self._builder.scope(f"/{scope}"):
            node = self._builder.node(
                kind,
                sources,
                shape,
                dtype,
                several=types if len(types) > 1 else None,
                source_lines=[_text(line) for line in stack],
                number=number,
            )
        for facts in outputs:
            self._nodes[facts.key] = node
        self._last = node

    def serialised(self) -> bytes:
        """The ModelProto as bytes, with parameters no operator took; the one that ran last is the output."""
        for label, facts in self._parameters.values():
            if label not in self._builder:
                self._builder.parameter(label, list(facts.shape), facts.dtype)
        if self._last:
            self._builder.output(self._last)
        return self._builder.serialised()

    def _source(self, facts: TensorFacts) -> str:
        """Name of the node a tensor comes from, or of a parameter or an input that was there before."""
        known = self._nodes.get(facts.key)
        if known is not None:
            return known
        label, origin = self._parameters.get(facts.key, ("", facts))
        if not label:
            label = f"{_INPUTS}{self._unnamed}"
            self._unnamed += 1
        if label not in self._builder:
            self._builder.parameter(label, list(origin.shape), origin.dtype)
        self._nodes[facts.key] = label
        return label


def _text(line: CodeLine) -> str:
    """A line of code as graphs of MindSpore have it."""
    code = linecache.getline(line.file, line.line).strip()
    return f"# In file {line.file}:{line.line}, 0~{len(code)}/{code}/"
