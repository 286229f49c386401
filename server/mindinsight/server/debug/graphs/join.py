"""Join of the operators of a dump with the nodes of a run's graph."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from mindinsight.server.debug.finiteness import OperatorKey
from mindinsight.server.formats.dumps.names import escape_name, resolve_names
from mindinsight.server.formats.dumps.types import Operator
from mindinsight.server.graph.model.graph import OPERATOR, PARAMETER, Graph


@dataclass(frozen=True, slots=True)
class Join:
    """Nodes of operators and parameters by key; those without a match are missing.

    ``dumped``, ``matched`` and ``by_order`` count operators that left tensors, without parameters. Those
    matched by order have another ``-opN`` in the graph: they are paired with nodes of the same name by
    rising N.
    """

    nodes: Mapping[OperatorKey, int]
    dumped: int
    matched: int
    by_order: int


def join(operators: Iterable[Operator], graph: Graph) -> Join:
    """Match full names first, then recorded forms of names (``formats.dumps.names.resolve_names``)."""
    dumped_operators = list(operators)
    numbers = {name: node for node, name in enumerate(graph.names)}
    nodes = {
        key_of(operator): numbers[operator.name] for operator in dumped_operators if operator.name in numbers
    }
    missing = [operator for operator in dumped_operators if key_of(operator) not in nodes]
    renumbered = set()
    if missing:
        taken = set(nodes.values())
        free = [(name, kind) for node, (name, kind) in enumerate(_kinds(graph)) if node not in taken]
        order, parameters = (
            [name for name, kind in free if kind == wanted] for wanted in (OPERATOR, PARAMETER)
        )
        full_names = resolve_names((operator.recorded for operator in missing), order, parameters)
        for operator in missing:
            name = full_names[operator.recorded].name
            if name in numbers:
                nodes[key_of(operator)] = numbers[name]
                renumbered |= {key_of(operator)} if _renumbered(name, operator.recorded) else set()
    dumped_keys = {
        key_of(operator)
        for operator in dumped_operators
        if operator.type != "Parameter" and operator.sequence >= 0
    }
    return Join(nodes, len(dumped_keys), len(dumped_keys & nodes.keys()), len(dumped_keys & renumbered))


def key_of(operator: Operator) -> OperatorKey:
    return operator.graph, operator.recorded


def _kinds(graph: Graph) -> Iterable[tuple[str, int]]:
    return zip(graph.names, graph.kinds.tolist(), strict=True)


def _renumbered(name: str, recorded: str) -> bool:
    """Whether a recorded name differs from a full one by its number."""
    return escape_name(recorded) not in (escape_name(name), escape_name(name.rpartition("/")[2]))
