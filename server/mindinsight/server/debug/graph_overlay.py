"""Overlay of a step of a dump on a graph: operators joined to nodes, and their status for drawings."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from typing import Final, TypeVar

import numpy as np

from mindinsight.server.debug.examine import OperatorKey, TensorResult, finiteness, not_finite, operator_key
from mindinsight.server.debug.fault import find_step_fault
from mindinsight.server.debug.inspection import Listing
from mindinsight.server.debug.recorded_statistics import AnyStatistics
from mindinsight.server.debug.watchpoints import Hit
from mindinsight.server.formats.dumps import list_overflows
from mindinsight.server.formats.dumps.dump_names import escape_name, resolve_names
from mindinsight.server.formats.dumps.dump_types import Operator, TensorEntry
from mindinsight.server.graph.model.graph import OPERATOR, PARAMETER, Graph
from mindinsight.server.graph.scopes.scope_tree import Tree
from mindinsight.server.types import Doubles

Key = TypeVar("Key", bound=Hashable)


class Symptom(IntEnum):
    """Symptom of an operator; larger is worse."""

    UNKNOWN = 0  # nothing was dumped, or nothing is measured yet
    FINE = 1
    ZERO = 2  # all its outputs are zeros
    CAUGHT = 3  # a watchpoint hit one of its tensors
    RECEIVED = 4  # NaN or infinities in its inputs alone
    OVERFLOW = 5  # the device reported it
    LOST = 6  # NaN or infinities in its outputs
    FAULT = 7  # the operator of the first fault


def symptoms(
    results: Iterable[TensorResult],
    overflowed: Collection[str] = (),
    caught: Collection[OperatorKey] = (),
    fault: OperatorKey | None = None,
) -> dict[OperatorKey, Symptom]:
    """Worst symptom of each operator with a measured tensor.

    ``overflowed`` are names, full or as recorded; ``caught`` are operators hit by a watchpoint; ``fault`` is
    the operator of the first fault, where it is known.
    """
    measured = [result for result in results if result.measurement is not None]
    by_key: dict[OperatorKey, Symptom] = {}
    non_zero = {operator_key(result.entry) for result in measured if _not_zero(result)}
    for result in measured:
        key = operator_key(result.entry)
        symptom = _of_tensor(result, key in non_zero, overflowed)
        by_key[key] = max(by_key.get(key, Symptom.UNKNOWN), symptom)
    by_key |= {key: max(by_key.get(key, Symptom.FINE), Symptom.CAUGHT) for key in caught}
    if fault is not None:
        by_key[fault] = Symptom.FAULT
    return by_key


def _of_tensor(result: TensorResult, alive: bool, overflowed: Collection[str]) -> Symptom:
    entry = result.entry
    if not_finite(result):
        return Symptom.RECEIVED if entry.direction == "input" else Symptom.LOST
    if entry.operator in overflowed or entry.recorded in overflowed:
        return Symptom.OVERFLOW
    if finiteness(result) == "unknown":
        return Symptom.UNKNOWN
    return Symptom.ZERO if entry.direction == "output" and not alive else Symptom.FINE


def _not_zero(result: TensorResult) -> bool:
    if result.measurement is None or result.entry.direction != "output":
        return False
    return not _all_zero(result.measurement.statistics)


def _all_zero(statistics: AnyStatistics) -> bool:
    """Whether every element is known to be zero, as in an empty tensor."""
    return (
        statistics.count is not None
        and statistics.zeros is not None
        and statistics.zeros >= max(1, statistics.count)
    )


def magnitudes(
    results: Iterable[TensorResult], statistic: str, key: Callable[[TensorEntry], Key]
) -> dict[Key, float]:
    """Largest known magnitude of a statistic among the outputs with the same key."""
    largest: dict[Key, float] = {}
    for result in results:
        entry = result.entry
        if entry.direction != "output" or result.measurement is None:
            continue
        value = getattr(result.measurement.statistics, statistic)
        if value is not None:
            largest[key(entry)] = max(largest.get(key(entry), 0.0), abs(float(value)))
    return largest


def leaf_column(tree: Tree, nodes: Mapping[OperatorKey, int], values: Mapping[OperatorKey, float]) -> Doubles:
    """Column [t] with the largest value of each leaf of a tree; NaN for other leaves and for scopes."""
    column = np.full(len(tree.paths), np.nan)
    known = [(nodes[key], value) for key, value in values.items() if key in nodes]
    if known:
        numbers, sizes = zip(*known, strict=True)
        leaves = tree.leaf_indices[list(numbers)]
        in_tree = leaves >= 0
        np.fmax.at(column, leaves[in_tree], np.array(sizes, dtype=np.float64)[in_tree])
    return column


def parameter_column(
    tree: Tree, nodes: Mapping[OperatorKey, int], values: Mapping[OperatorKey, float]
) -> Doubles:
    """Column [t] with the symptoms of parameters, which are no leaves, at the operators that take them.

    A non-finite parameter counts as ``RECEIVED`` there: those operators did not make it, and their outputs
    may be finite. ``Load`` passes it on.
    """
    graph, edges = tree.graph, tree.graph.edges
    status = np.full(len(graph), np.nan)
    for key, value in values.items():
        if value > Symptom.FINE and key in nodes and graph.kinds[nodes[key]] == PARAMETER:
            seen = Symptom.RECEIVED if value >= Symptom.OVERFLOW else value  # by the operators that take it
            status[nodes[key]] = np.fmax(status[nodes[key]], seen)
    column = np.full(len(tree.paths), np.nan)
    if np.isnan(status).all():
        return column
    loads = np.array([kind == "Load" for kind in graph.types])
    from_load = loads[edges.targets]
    np.fmax.at(status, edges.targets[from_load], status[edges.sources[from_load]])
    leaves = tree.leaf_indices[edges.targets]
    np.fmax.at(column, leaves[leaves >= 0], status[edges.sources[leaves >= 0]])
    return column


def largest_below(tree: Tree, column: Doubles, index: int) -> float | None:
    """The largest value at and below an index of the tree; None where none is known."""
    inside = column[index : tree.ends[index]]
    known = inside[~np.isnan(inside)]
    return float(known.max()) if len(known) else None


def count_symptoms(tree: Tree, column: Doubles, index: int) -> dict[str, int]:
    """Number of operators at and below an index by symptom worse than fine, worst first."""
    inside = column[index : tree.ends[index]]
    counts = np.bincount(np.nan_to_num(inside).astype(np.int32), minlength=len(Symptom))
    return {
        symptom.name.lower(): int(counts[symptom])
        for symptom in reversed(Symptom)
        if symptom > Symptom.FINE and counts[symptom]
    }


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


SYMPTOMS: Final = "symptoms"


class Overlay:
    """Columns of symptoms and statistics for the nodes of a graph; cached in a session."""

    def __init__(self, tree: Tree, listing: Listing) -> None:
        self.tree = tree
        self.listing = listing
        self._columns: dict[str, tuple[int, Doubles]] = {}  # by colour: number of hits, column

    @cached_property
    def joined(self) -> Join:
        """Nodes of the operators of the dump."""
        return join(self.listing.operators.values(), self.tree.graph)

    @cached_property
    def operators_of(self) -> dict[int, list[Operator]]:
        """Operators of the dump by node of the graph."""
        by_node: dict[int, list[Operator]] = {}
        for key, node in self.joined.nodes.items():
            by_node.setdefault(node, []).append(self.listing.operators[key])
        return by_node

    @cached_property
    def updated(self) -> frozenset[OperatorKey]:
        """Parameters recorded after the operators ran, and not as these received them."""
        entries = self.listing.entries
        ran = [entry.sequence for entry in entries if entry.type != "Parameter"]
        first = min(ran, default=None)
        return frozenset(
            operator_key(entry)
            for entry in entries
            if first is not None and entry.type == "Parameter" and entry.sequence > first
        )

    def column(self, colour: str, hits: Sequence[Hit] = ()) -> Doubles:
        """Column [t] with a symptom, or the size of a statistic, for each leaf of the tree; NaN elsewhere."""
        done = self.listing.done  # read first, so that results are complete
        known = self._columns.get(colour)
        if known is not None and known[0] == len(hits):
            return known[1]
        results = list(self.listing.results)
        values: Mapping[OperatorKey, float] = (
            symptoms(results, self._overflowed, self._caught(hits), step_fault(self.listing, results, done))
            if colour == SYMPTOMS
            else magnitudes(results, colour, operator_key)
        )
        column = leaf_column(self.tree, self.joined.nodes, values)
        if colour == SYMPTOMS:
            timely = {
                key: value for key, value in values.items() if value < Symptom.LOST or key not in self.updated
            }
            column = np.fmax(column, parameter_column(self.tree, self.joined.nodes, timely))
        if done:
            self._columns[colour] = (len(hits), column)
        return column

    def stop(self) -> None:
        """Nothing to stop: no work runs in the background."""

    @cached_property
    def _overflowed(self) -> frozenset[str]:
        listing = list_overflows(self.listing.dump, self.listing.rank, self.listing.step)
        return frozenset(overflow.operator for overflow in listing.items if overflow.status)

    def _caught(self, hits: Iterable[Hit]) -> set[OperatorKey]:
        here = (self.listing.rank, self.listing.step)
        return {
            operator_key(hit.entry)
            for hit in hits
            if hit.verdict.hit and (hit.entry.rank, hit.entry.step) == here
        }


def step_fault(listing: Listing, results: Sequence[TensorResult], done: bool) -> OperatorKey | None:
    """Operator of the first fault; while tensors are being measured, only one that surely made it."""
    if not any(map(not_finite, results)):
        return None
    known = {result.entry.sequence: result for result in results}
    operators = tuple(listing.operators.values())

    def measure(entries: Iterable[TensorEntry]) -> Iterable[TensorResult]:
        return (known.get(entry.sequence) or TensorResult(entry, None) for entry in entries)

    fault = find_step_fault(listing.entries, operators, measure, certain=not done)
    if fault is not None and fault.kind == "unknown":
        return None  # the operator named is only the nearest known point
    candidates = (
        operator
        for operator in operators
        if fault and fault.origin.operator in (operator.recorded, operator.name)
    )
    named = next(candidates, None)
    if named is not None:
        return named.graph, named.recorded
    return operator_key(fault.entry) if fault else None
