"""Operators of a training's own code whose results the training does not use: metrics, for example."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from mindinsight.server.debug.operator_links import canonical, module_of, shares_memory
from mindinsight.server.debug.tensor_targets import is_backward, is_optimizer

if TYPE_CHECKING:
    from mindinsight.server.formats.dumps.dump_types import Operator

_Key: TypeAlias = tuple[str, str]  # graph and full name


def side_results(operators: Sequence[Operator]) -> frozenset[_Key]:
    """Return graph and recorded name of the operators of one step whose results reach no module, gradient,
    optimizer or weight, and that follow from no gradient. Return none if the step has no backward pass that
    begins at a recorded loss, as in dumps by other recorders: what reads a result is unknown there.

    ``operators`` are all that ran, with their sources: whoever knows that some were not recorded must not
    ask.
    """
    named = {(operator.graph, operator.name): operator for operator in operators}
    if not any(_begins_backward(operator, named) for operator in operators):
        return frozenset()
    written = _Writes(operators, named)
    used = {key for key, operator in named.items() if _uses(operator) or key in written.lasting}
    waiting = list(used)
    while waiting:
        graph, name = waiting.pop()
        for source in named[graph, name].sources:
            for key in ((graph, source), *written.writers.get((graph, source), ())):
                if key in named and key not in used:
                    used.add(key)
                    waiting.append(key)
    derived = _derived(operators, written.lasting)
    return frozenset(
        (operator.graph, operator.recorded)
        for key, operator in named.items()
        if key not in used and key not in derived and operator.type != "Parameter"
    )


def _uses(operator: Operator) -> bool:
    """Return True if a training uses what an operator receives: in a module, a gradient or an optimizer."""
    return bool(
        is_backward(operator.name) or any(map(is_optimizer, operator.scope)) or module_of(operator.scope)
    )


def _begins_backward(operator: Operator, named: Mapping[_Key, Operator]) -> bool:
    """Return True for a backward operator that takes PyTorch's gradient of the loss by itself, of ones."""
    sources = (named.get((operator.graph, source)) for source in operator.sources)
    return is_backward(operator.name) and any(
        source is not None and canonical(source.type) == "oneslike" for source in sources
    )


class _Writes:
    """Operators in place: what they write, and those that write to memory from before the step."""

    def __init__(self, operators: Sequence[Operator], named: Mapping[_Key, Operator]) -> None:
        self.writers: dict[_Key, list[_Key]] = {}  # by the operators and parameters whose memory they change
        self.lasting: set[_Key] = set()
        for operator in operators:
            if not operator.type.endswith("_"):
                continue
            key = (operator.graph, operator.name)
            chain = list(_memory(operator, named))
            root = named.get((operator.graph, chain[-1])) if chain else None
            if root is None or root.type == "Parameter" or operator.type.startswith("_foreach"):
                self.lasting.add(key)
            for name in chain:
                self.writers.setdefault((operator.graph, name), []).append(key)


def _memory(operator: Operator, named: Mapping[_Key, Operator]) -> Iterator[str]:
    """Yield the names of the operators and parameters whose memory an operator in place changes."""
    current: Operator | None = operator
    while current is not None and current.sources and shares_memory(current.type):
        yield current.sources[0]
        current = named.get((current.graph, current.sources[0]))


def _derived(operators: Sequence[Operator], writers: Collection[_Key]) -> set[_Key]:
    """Return the operators that follow from a gradient, but not by way of a weight that one of the
    ``writers`` updated."""
    derived: set[_Key] = set()
    for operator in operators:  # in execution order
        key, sources = (operator.graph, operator.name), [(operator.graph, name) for name in operator.sources]
        ends = key in writers or any(map(is_optimizer, operator.scope))
        if is_backward(operator.name) or (not ends and not derived.isdisjoint(sources)):
            derived.add(key)
    return derived
