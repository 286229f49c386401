"""Nodes of MindSpore's autograd: the forward operator of each, and the backward that runs unseen.

``MsDispatchMode`` does not show the backward of convolution, pooling, normalisation and ``BiasAdd``, which
run inside autograd. Hooks before and after their nodes see their gradients.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, Final, NamedTuple, TypeAlias

from mindinsight.writer.capture.mindspore.values import facts_of, tensors_of
from mindinsight.writer.capture.operator_call import CodeLine

# Operator of each gradient of a forward operator: its type, and the positions of the forward inputs it takes
# beside the gradient of the output. In graph mode MindSpore differentiates by these operators.
_BY_INPUT: Final[dict[str, dict[int, tuple[str, tuple[int, ...]]]]] = {
    "Conv2D": {0: ("Conv2DBackpropInput", (1,)), 1: ("Conv2DBackpropFilter", (0,))},
    "Conv2DTranspose": {0: ("Conv2D", (1,)), 1: ("Conv2DBackpropFilter", (0,))},
    "BiasAdd": {1: ("BiasAddGrad", ())},
}
_COMPILED: Final = "bprop_builder"  # in the name of the node of a function that ``jit`` compiled


class Mark(NamedTuple):
    """The forward operator that made a node of autograd."""

    type: str
    scope: str
    stack: tuple[CodeLine, ...]


class UnseenCall(NamedTuple):
    """A backward operator that ran inside autograd."""

    type: str
    inputs: Sequence[Any]
    outputs: Sequence[Any]


_Key: TypeAlias = tuple[int, int]


class BackwardNodes:
    """Hooks on the nodes of autograd between ``__init__`` and ``clear``.

    ``record`` is called with the mark and the operators of a node whose backward was not dispatched. If its
    forward operator was not seen, the type of that is added to ``unseen`` instead.
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
        """Take the tensors of a forward operator. Its node can be seen only when the next operator runs."""
        self.current = mark  # the backward of the last operator may begin before a node says so
        self._last = mark, operands, outputs

    def mark_last(self) -> None:
        """Hook the node of the last forward operator, where its outputs have one already.

        MindSpore attaches the node at once to the operators whose backward it does not dispatch.
        """
        if self._last is not None:
            (mark, operands, outputs), self._last = self._last, None
            for tensor in outputs:
                if (key := self.mark(tensor._grad_node, mark)) is not None:
                    self._held[key] = operands, outputs

    def mark(self, node: Any, mark: Mark) -> _Key | None:
        """Hook a node, and return its key. Return None if it needs no hook or has one."""
        if node is None or node.is_leaf():
            return None
        key = node._unique_id(), node._sequence_nr()  # the first alone is used again after a node is freed
        if key in self._marked:
            return None
        self._marked.add(key)
        if _COMPILED in str(node.name()):  # its output may lie where that of another operator was
            mark = Mark("jit", mark.scope, mark.stack)
        node.register_prehook(partial(self._guarded, self._arrive, mark, node.next_functions, key))
        node.register_hook(partial(self._guarded, self._depart, mark, key))
        return key

    def clear(self) -> None:
        """Forget all tensors and nodes; hooks that run later do nothing."""
        self.current = self._last = None
        self._held, self._begun = {}, {}

    def _arrive(self, mark: Mark, following: Sequence[Any], key: _Key, *_: Any) -> None:
        self.current = mark
        self._begun[key] = self.dispatched
        for edge in following:  # nodes of operators that were not seen, such as views
            node = edge[0] if isinstance(edge, tuple) else edge
            if node is not None and not node.is_leaf():
                self.mark(node, Mark(str(node.name()), mark.scope, mark.stack))

    def _depart(self, mark: Mark, key: _Key, results: Any, given: Any, *_: Any) -> None:
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
    """Yield the backward operators of a forward operator, from its tensors and its gradients by position."""
    operands, outputs = held
    by_input = _BY_INPUT.get(forward, {})
    for position in results.keys() & by_input.keys():
        kind, needed = by_input[position]
        taken = [operands[index] for index in needed if index < len(operands)]
        yield UnseenCall(kind, [*gradients, *taken], [results[position]])
    rest = [tensor for position, tensor in results.items() if position not in by_input]
    if rest:  # as a bprop of MindSpore takes them: inputs, outputs and gradients of the outputs
        yield UnseenCall(f"{forward}Grad", [*tensors_of(operands), *outputs, *gradients], rest)
