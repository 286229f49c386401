"""Capture of MindSpore's operators in PyNative mode: forward, and backward through nodes of autograd."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any, Final, NamedTuple, TypeAlias

import mindspore
from mindspore import utils

from mindinsight.writer.recorders.capture import (
    CodeLine,
    Observer,
    OperatorCall,
    OperatorCapture,
    Phase,
    phase_scope,
)
from mindinsight.writer.recorders.mindspore_values import (
    COMPILERS,
    facts_of,
    host_copy,
    named_cells,
    named_parameters,
    operands_of,
    slot_value,
    tensors_of,
    unseen_regions,
)

__all__ = [
    "NUMBERS_PER_SCOPE",
    "OWN_GRAPH",
    "MindSporeCapture",
    "delegates",
    "device",
    "facts_of",
    "has_compiled",
    "host_copy",
    "make_capture",
    "named_parameters",
    "unseen_regions",
]


# Operator of each gradient of a forward operator: its type, and the positions of the forward inputs it takes
# in addition to the gradient of the output. MindSpore's graph mode differentiates with these operators.
_BY_INPUT: Final[dict[str, dict[int, tuple[str, tuple[int, ...]]]]] = {
    "Conv2D": {0: ("Conv2DBackpropInput", (1,)), 1: ("Conv2DBackpropFilter", (0,))},
    "Conv2DTranspose": {0: ("Conv2D", (1,)), 1: ("Conv2DBackpropFilter", (0,))},
    "BiasAdd": {1: ("BiasAddGrad", ())},
}
_COMPILED: Final = "bprop_builder"  # in the name of the node of a function that ``jit`` compiled


class Mark(NamedTuple):
    """Label of an autograd node: type, scope and call stack of the forward operator that made the node."""

    type: str
    scope: str
    stack: tuple[CodeLine, ...]


class UnseenCall(NamedTuple):
    """Backward operator that ran inside autograd, with its inputs and outputs."""

    type: str
    inputs: Sequence[Any]
    outputs: Sequence[Any]


_Key: TypeAlias = tuple[int, int]


class BackwardNodes:
    """Hooks on the nodes of autograd, set by ``__init__`` and removed by ``clear``.

    ``record`` is called with the mark and the operators of a node that MindSpore differentiates without
    dispatching operators. If the node's forward operator was not captured, its type is added to ``unseen``
    instead.
    """

    def __init__(
        self,
        record: Callable[[Mark, Sequence[UnseenCall]], None],
        guarded: Callable[..., Any],
        unseen: set[str],
    ) -> None:
        self.current: Mark | None = None  # its backward runs
        self.dispatched = 0  # backward operators that were seen
        self._record = record
        self._guarded = guarded
        self._unseen = unseen
        self._marked: set[_Key] = set()
        self._begun: dict[_Key, int] = {}  # ``dispatched`` when the backward of a node began
        self._held: dict[_Key, tuple[Sequence[Any], Sequence[Any]]] = {}  # tensors of the forward operator
        self._last: tuple[Mark, Sequence[Any], Sequence[Any]] | None = None

    def made(self, mark: Mark, operands: Sequence[Any], outputs: Sequence[Any]) -> None:
        """Store the tensors of a forward operator, because its autograd node is visible only at the next
        operator."""
        self.current = mark  # the backward of the last operator may begin before a node says so
        self._last = mark, operands, outputs

    def mark_last(self) -> None:
        """Hook the autograd node of the last forward operator, if its outputs already have a node.
        MindSpore attaches a node immediately if it does not dispatch the operator's backward pass."""
        if self._last is not None:
            (mark, operands, outputs), self._last = self._last, None
            for tensor in outputs:
                if (key := self.mark(tensor._grad_node, mark)) is not None:
                    self._held[key] = operands, outputs

    def mark(self, node: Any, mark: Mark) -> _Key | None:
        """Hook an autograd node and return its key, or None if it needs no hook or already has one."""
        if node is None or node.is_leaf():
            return None
        key = node._unique_id(), node._sequence_nr()  # the id is reused after a node is freed
        if key in self._marked:
            return None
        self._marked.add(key)
        if _COMPILED in str(node.name()):  # its output may have the address of another operator's output
            mark = Mark("jit", mark.scope, mark.stack)
        node.register_prehook(partial(self._guarded, self._arrive, mark, node.next_functions, key))
        node.register_hook(partial(self._guarded, self._depart, mark, key))
        return key

    def clear(self) -> None:
        """Release all tensors and nodes. Hooks that run later do nothing."""
        self.current = self._last = None
        self._held, self._begun = {}, {}

    def _arrive(self, mark: Mark, following: Sequence[Any], key: _Key, *_: Any) -> None:
        self.current = mark
        self._begun[key] = self.dispatched
        for edge in following:  # nodes of operators that were not captured, such as views
            node = edge[0] if isinstance(edge, tuple) else edge
            if node is not None and not node.is_leaf():
                self.mark(node, Mark(str(node.name()), mark.scope, mark.stack))

    def _depart(self, mark: Mark, key: _Key, results: Any, given: Any, *_: Any) -> None:
        """Record the operators of a node's backward pass, unless it has dispatched them itself."""
        begun, held = self._begun.pop(key, None), self._held.pop(key, None)
        if begun != self.dispatched:
            return
        gradients = [*tensors_of(given)]
        known = {facts.key for facts in map(facts_of, gradients) if facts}
        positions = {
            position: tensor
            for position, tensor in enumerate(results if isinstance(results, (list, tuple)) else [results])
            for facts in [facts_of(tensor)]
            if facts is not None and facts.key not in known  # a gradient that is handed on is no operator
        }
        if not positions:
            return
        if held is None:
            self._unseen.add(mark.type)
        else:
            self._record(mark, [*_calls(mark.type, held, gradients, positions)])


def _calls(
    forward: str, held: tuple[Sequence[Any], Sequence[Any]], gradients: Sequence[Any], results: dict[int, Any]
) -> Iterator[UnseenCall]:
    """Yield the backward operators of a forward operator, from its ``held`` tensors and ``results`` by
    position."""
    operands, outputs = held
    by_input = _BY_INPUT.get(forward, {})
    for position in results.keys() & by_input.keys():
        kind, needed = by_input[position]
        taken = [operands[index] for index in needed if index < len(operands)]
        yield UnseenCall(kind, [*gradients, *taken], [results[position]])
    rest = [tensor for position, tensor in results.items() if position not in by_input]
    if rest:  # as a bprop of MindSpore takes them: inputs, outputs and gradients of the outputs
        yield UnseenCall(f"{forward}Grad", [*tensors_of(operands), *outputs, *gradients], rest)


OWN_GRAPH: Final = 1000  # does not collide with the graphs of ``jit``, which MindSpore numbers from 0
NUMBERS_PER_SCOPE: Final = True  # MindSpore counts the operators of a type in each scope

_STACK_DEPTH: Final = 8  # lines of the user's code
_PACKAGE: Final = f"{Path(mindspore.__file__).parent}{os.sep}"
_FOREIGN: Final = (_PACKAGE, f"{Path(__file__).parent}{os.sep}", "<")  # not the user's files
_ENGINE: Final = tuple(f"{_PACKAGE}{file}" for file in COMPILERS)
_RECOMPUTE: Final = f"{_PACKAGE}common{os.sep}recompute.py"
_RECOMPUTED: Final = ("backward", "unpack_hook", "_recompute")
_OWNER: Final = "_mindinsight_capture"  # attribute of a cell that is captured
_DispatchMode: Any = getattr(utils, "MsDispatchMode", object)


class MindSporeCapture(OperatorCapture):
    """Capture of MindSpore's operators in PyNative mode. ``models`` are networks by name.

    Raises RuntimeError for a MindSpore before 2.10, which does not dispatch its operators to Python.
    """

    def __init__(
        self,
        models: Mapping[str, mindspore.nn.Cell],
        observer: Observer,
        on_error: Callable[[Exception], None],
    ) -> None:
        if _DispatchMode is object:
            raise RuntimeError(f"MindSpore {mindspore.__version__} does not expose its operators: use 2.10")
        super().__init__(observer, on_error)
        self._cells = list(named_cells(models))
        self._handles: list[Any] = []
        self._mode: Any = None
        self._origins: dict[Hashable, Mark] = {}  # tensor -> the forward operator that made it
        self.unseen_backward: set[str] = set()  # types of forward operators
        self._nodes = self._new_nodes()

    @property
    def running(self) -> bool:
        """Return True between ``start`` and ``stop``."""
        return self._mode is not None

    def start(self) -> None:
        """Begin to capture. Raises RuntimeError while another recorder captures the same cells."""
        self._handles = []
        self._scopes, self._origins, self._nodes = [], {}, self._new_nodes()
        for cell, segment in self._cells:
            if getattr(cell, _OWNER, None) is not None:
                self._release()
                raise RuntimeError(f"another recorder records {segment or 'this network'}; close it first")
            object.__setattr__(cell, _OWNER, self)
            self._handles += [
                cell.register_forward_pre_hook(partial(self._enter, segment)),
                cell.register_forward_hook(partial(self._leave, segment), always_call=True),
            ]
        self._mode = _Operators(self)
        self._mode.__enter__()

    def stop(self) -> None:
        """End the capture. Recorded operators are kept."""
        if self._mode is not None:
            self._mode.__exit__(None, None, None)
        self._mode = None
        self._release()
        self._scopes, self._origins = [], {}
        self._nodes.clear()

    def operator(self, function: Any, arguments: Sequence[Any], run: Callable[[], Any]) -> Any:
        """Run an operator and return its result. The observer receives inputs and outputs."""
        if self._busy or self._failed or os.getpid() != self._process or not function.name[:1].isupper():
            return run()  # names in small letters are MindSpore's questions about shapes and types
        finish = self._guarded(self._before, function.name, operands_of(arguments))
        outputs = run()
        if finish is not None:
            self._guarded(finish, outputs)
        return outputs

    def _before(self, name: str, operands: Sequence[Any]) -> Callable[[Any], None] | None:
        phase, stack = _caller(sys._getframe(3))
        mark = Mark(name, "/".join(self._scopes), stack)
        self._nodes.mark_last()
        if phase == "backward":
            self._nodes.dispatched += 1
            mark = self._nodes.current or Mark("", "", ())
        else:
            self._mark_nodes(operands, mark)
        scope = _gradient_scope(mark) if phase == "backward" else mark.scope
        call = OperatorCall(name, phase_scope(phase, scope), tuple(map(slot_value, operands)), mark.stack)
        observed = self._observer(call)
        return partial(self._after, observed, None if phase == "backward" else mark, operands)

    def _after(
        self,
        observed: Callable[[Sequence[Any]], None] | None,
        mark: Mark | None,
        operands: Sequence[Any],
        outputs: Any,
    ) -> None:
        tensors = tuple(tensors_of(outputs))
        if mark is not None:
            self._nodes.made(mark, operands, tensors)
            self._origins.update({facts.key: mark for facts in map(facts_of, tensors) if facts})
        if observed is not None:
            observed(tensors)

    def _mark_nodes(self, operands: Sequence[Any], taker: Mark) -> None:
        """Hook the autograd nodes that produced ``operands``. Autograd makes a node only after its
        operator ran. The node of an operator that was not captured gets the scope of ``taker``, the
        operator that receives the tensor."""
        for tensor in tensors_of(operands):
            facts, node = facts_of(tensor), tensor._grad_node
            if node is not None:
                mark = self._origins.get(facts.key) if facts else None
                self._nodes.mark(node, mark or taker._replace(type=str(node.name())))

    def _unseen(self, mark: Mark, calls: Sequence[UnseenCall]) -> None:
        """Record the backward operators of a node that ran inside autograd."""
        for call in calls:
            operator = OperatorCall(
                call.type, phase_scope("backward", _gradient_scope(mark)), tuple(call.inputs), mark.stack
            )
            observed = self._observer(operator)
            if observed is not None:
                observed(call.outputs)

    def _new_nodes(self) -> BackwardNodes:
        return BackwardNodes(self._unseen, self._in_hook, self.unseen_backward)

    def _in_hook(self, action: Callable[..., Any], *arguments: Any) -> None:
        if self.running and not self._busy and not self._failed and os.getpid() == self._process:
            self._guarded(action, *arguments)

    def _enter(self, segment: str, cell: Any, inputs: Any) -> None:
        self._scopes.append(segment)

    def _leave(self, segment: str, cell: Any, inputs: Any, output: Any) -> None:
        while self._scopes and self._scopes.pop() != segment:  # cells that an exception left
            pass

    def _release(self) -> None:
        for handle in self._handles:
            handle.remove()
        self._handles = []
        for cell, _ in self._cells:
            if getattr(cell, _OWNER, None) is self:
                object.__setattr__(cell, _OWNER, None)


class _Operators(_DispatchMode):  # type: ignore[misc]
    """Dispatch mode that passes every operator to the capture."""

    def __init__(self, capture: MindSporeCapture) -> None:
        self._capture = capture

    def __ms_dispatch__(self, func: Any, args: Any, kwargs: Any = None) -> Any:
        named = kwargs or {}
        return self._capture.operator(func, (*args, *named.values()), lambda: func(*args, **named))


make_capture: Final = MindSporeCapture


def delegates() -> bool:
    """Return True in graph mode, in which MindSpore writes a dump itself and no Python code runs."""
    return bool(mindspore.get_context("mode") == mindspore.GRAPH_MODE)


def device() -> str:
    """Return MindSpore's name of the device: CPU, GPU or Ascend."""
    return str(mindspore.get_context("device_target"))


def has_compiled() -> bool:
    """Return True if this process has compiled a graph. MindSpore has then read its dump configuration."""
    from mindspore.common import api

    caches = getattr(api, "cells_compile_cache", {})
    return bool(getattr(api, "ms_compile_cache", ())) or any(caches.values())


def _caller(frame: FrameType | None) -> tuple[Phase, tuple[CodeLine, ...]]:
    """Return the phase of the training at a frame, and lines of the user's code, innermost first."""
    lines: list[CodeLine] = []
    phase: Phase = "forward"
    while frame is not None:
        code = frame.f_code
        if not code.co_filename.startswith(_FOREIGN):
            if len(lines) < _STACK_DEPTH:
                lines.append(CodeLine(code.co_filename, frame.f_lineno, code.co_name))
        elif code.co_filename in _ENGINE and code.co_name == "grad" and phase == "forward":
            phase = "backward"
        elif code.co_filename == _RECOMPUTE and code.co_name in _RECOMPUTED:
            phase = "recompute"
        frame = frame.f_back
    return phase, tuple(lines)


def _gradient_scope(mark: Mark) -> str:
    return "/".join(filter(None, [mark.scope, mark.type and f"Grad_{mark.type}"]))
