"""Which node of a run's graph each operator of a dump is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from mindinsight.server.debug.fault_search import OperatorKey
from mindinsight.server.formats.dumps.names import escape_name, resolve_names
from mindinsight.server.formats.dumps.types import Operator
from mindinsight.server.graph.model.graph import OPERATOR, PARAMETER, Graph


@dataclass(frozen=True, slots=True)
class Join:
    """The nodes of the operators and parameters that were found; the others have none.

    ``dumped``, ``found`` and ``by_order`` count operators that left tensors, parameters apart. Those found
    by order have another ``-opN`` in the graph: they were paired with the nodes of the same name by rising N.
    """

    nodes: Mapping[OperatorKey, int]
    dumped: int
    found: int
    by_order: int


def join(operators: Iterable[Operator], graph: Graph) -> Join:
    """Full names first; then the forms of names in files (``formats.dumps.names.look_up``)."""
    listed = list(operators)
    numbers = {name: node for node, name in enumerate(graph.names)}
    nodes = {key_of(each): numbers[each.name] for each in listed if each.name in numbers}
    missing = [each for each in listed if key_of(each) not in nodes]
    loose = set()
    if missing:
        taken = set(nodes.values())
        free = [(name, kind) for node, (name, kind) in enumerate(_kinds(graph)) if node not in taken]
        order, parameters = (
            [name for name, kind in free if kind == wanted] for wanted in (OPERATOR, PARAMETER)
        )
        found = resolve_names((each.recorded for each in missing), order, parameters)
        for each in missing:
            name = found[each.recorded].name
            if name in numbers:
                nodes[key_of(each)] = numbers[name]
                loose |= {key_of(each)} if _renumbered(name, each.recorded) else set()
    dumped = {key_of(each) for each in listed if each.type != "Parameter" and each.sequence >= 0}
    return Join(nodes, len(dumped), len(dumped & nodes.keys()), len(dumped & loose))


def key_of(operator: Operator) -> OperatorKey:
    return operator.graph, operator.recorded


def _kinds(graph: Graph) -> Iterable[tuple[str, int]]:
    return zip(graph.names, graph.kinds.tolist(), strict=True)


def _renumbered(name: str, recorded: str) -> bool:
    """Whether a name was found apart from its number."""
    return escape_name(recorded) not in (escape_name(name), escape_name(name.rpartition("/")[2]))
