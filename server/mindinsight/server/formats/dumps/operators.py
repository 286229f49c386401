"""Builder of the operators of a step from its tensors, the execution order and the graph."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Final

from mindinsight.server.formats.dumps.types import Operator, TensorEntry
from mindinsight.server.formats.graphs.ir import IrNode

Arguments = tuple[tuple[str, str], ...]
_NUMBER: Final = re.compile(r"-op\d+$")
_UNPLANNED: Final = 1 << 62


def assemble_operators(
    graph: str,
    tensors: Iterable[TensorEntry],
    order: Iterable[str],
    nodes: dict[str, IrNode],
    arguments: Callable[[str, str], Arguments],
) -> tuple[Operator, ...]:
    """Operators that left tensors, and those that were only planned, in execution order.

    ``order`` and ``nodes`` are the full names in execution order and the nodes of the graph by full name;
    ``arguments`` returns the recorded scalar arguments of an operator by its type and recorded name.
    """
    dumped: dict[str, list[TensorEntry]] = {}
    for tensor in tensors:
        dumped.setdefault(tensor.recorded, []).append(tensor)
    operators = [_dumped_operator(graph, entries, nodes, arguments) for entries in dumped.values()]
    seen = {operator.name for operator in operators}
    operators += [
        _planned_operator(graph, name, position, nodes.get(name))
        for position, name in enumerate(dict.fromkeys(order))
        if name not in seen
    ]
    operators.sort(
        key=lambda operator: (operator.order if operator.order >= 0 else _UNPLANNED, operator.sequence)
    )
    return tuple(operators)


def _dumped_operator(
    graph: str,
    entries: list[TensorEntry],
    nodes: dict[str, IrNode],
    arguments: Callable[[str, str], Arguments],
) -> Operator:
    first = entries[0]
    node = nodes.get(first.operator)
    inputs = tuple(entry.slot for entry in entries if entry.direction == "input")
    outputs = tuple(entry.slot for entry in entries if entry.direction != "input")
    return Operator(
        name=first.operator,
        recorded=first.recorded,
        type=first.type,
        scope=_scope(first),
        graph=graph,
        sequence=first.sequence,
        order=first.order,
        inputs=inputs,
        outputs=outputs,
        sources=node.sources if node else (),
        stack=node.stacks[0] if node and node.stacks else (),
        other_stacks=node.stacks[1:] if node else (),
        arguments=arguments(first.type, first.recorded),
        inputs_known=_all_inputs(inputs, node),
        outputs_known=bool(outputs),
    )


def _all_inputs(slots: tuple[str, ...], node: IrNode | None) -> bool:
    """Whether every input was dumped: no gap in the slot numbers, and no fewer than the graph has sources."""
    if node is None:
        return bool(slots) and set(slots) == set(map(str, range(len(slots))))
    return set(slots) == set(map(str, range(len(slots)))) and len(slots) >= len(node.sources)


def _planned_operator(graph: str, name: str, position: int, node: IrNode | None) -> Operator:
    scope, _, last = name.rpartition("/")
    return Operator(
        name=name,
        recorded="",
        type=node.op if node else _NUMBER.sub("", last),
        scope=tuple(scope.split("/")) if scope else (),
        graph=graph,
        sequence=-1,
        order=position,
        sources=node.sources if node else (),
        stack=node.stacks[0] if node and node.stacks else (),
        other_stacks=node.stacks[1:] if node else (),
    )


def _scope(entry: TensorEntry) -> tuple[str, ...]:
    """Scope path of an operator; names of parameters are separated by dots, others by slashes."""
    return tuple(entry.operator.split("." if entry.type == "Parameter" else "/")[:-1])
