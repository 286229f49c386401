"""Overlay of a dump's step on a graph: operators joined to nodes, with their symptom for drawings."""

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from enum import IntEnum
from functools import cached_property
from typing import Final, TypeVar

import numpy as np

from mindinsight.server.claims import Claim, few
from mindinsight.server.debug.conditions.masks import holds_minus_infinity, holds_plus_infinity
from mindinsight.server.debug.examine import (
    OperatorKey,
    TensorResult,
    finiteness,
    is_non_finite,
    operator_key,
)
from mindinsight.server.debug.fault import Fault, find_operator, find_step_fault, gaps_at
from mindinsight.server.debug.fault_search import Measure, OriginSearch
from mindinsight.server.debug.inspection import Listing
from mindinsight.server.debug.operator_links import is_replaced, is_view
from mindinsight.server.debug.overlay.graph_join import Join, join, key_of
from mindinsight.server.debug.recorded_statistics import AnyStatistics
from mindinsight.server.debug.watchpoints import Hit, overflowed_operators
from mindinsight.server.formats.dumps.dump_types import Operator, TensorEntry
from mindinsight.server.graph.model.graph import OPERATOR, PARAMETER
from mindinsight.server.graph.scopes.scope_tree import Tree
from mindinsight.server.types import Doubles

_NAMED: Final = 3  # operators in a sentence

Key = TypeVar("Key", bound=Hashable)


class Symptom(IntEnum):
    """Symptom of an operator. A larger number is worse."""

    UNKNOWN = 0  # nothing was dumped, or nothing is measured yet
    FINE = 1
    MASK = 2  # infinities that were filled in on purpose, as in causal attention: no anomaly
    ZERO = 3  # all outputs are zeros
    CAUGHT = 4  # a watchpoint hit one of its tensors
    RECEIVED = 5  # only inputs are non-finite
    OVERFLOW = 6  # the device reported an overflow
    LOST = 7  # outputs are non-finite
    FAULT = 8  # the operator of the first fault


def symptoms(
    results: Iterable[TensorResult],
    overflowed: Collection[str] = (),
    caught: Collection[OperatorKey] = (),
    fault: OperatorKey | None = None,
    masks: Collection[int] = (),
) -> dict[OperatorKey, Symptom]:
    """Return the worst symptom of each operator with a measured tensor, a hit or the first fault.

    ``overflowed`` are names, full or as recorded. ``caught`` are operators hit by a watchpoint. ``fault`` is
    the operator of the first fault, if known. ``masks`` are the sequence numbers of tensors that are masks.
    """
    measured = [(result, result.measurement) for result in results if result.measurement is not None]
    by_key: dict[OperatorKey, Symptom] = {}
    non_zero = {
        operator_key(result.entry)
        for result, measurement in measured
        if result.entry.direction == "output" and not _all_zero(measurement.statistics)
    }
    for result, _ in measured:
        key = operator_key(result.entry)
        if result.entry.sequence in masks:
            symptom = Symptom.MASK
        else:
            symptom = _of_tensor(result, key in non_zero, overflowed)
        by_key[key] = max(by_key.get(key, Symptom.UNKNOWN), symptom)
    by_key |= {key: max(by_key.get(key, Symptom.FINE), Symptom.CAUGHT) for key in caught}
    if fault is not None:
        by_key[fault] = Symptom.FAULT
    return by_key


def _of_tensor(result: TensorResult, alive: bool, overflowed: Collection[str]) -> Symptom:
    """Return the symptom of one tensor. ``alive`` says that an output of its operator is not all zeros."""
    entry = result.entry
    if is_non_finite(result):
        return Symptom.RECEIVED if entry.direction == "input" else Symptom.LOST
    if entry.operator in overflowed or entry.recorded in overflowed:
        return Symptom.OVERFLOW
    if finiteness(result) == "unknown":
        return Symptom.UNKNOWN
    return Symptom.ZERO if entry.direction == "output" and not alive else Symptom.FINE


def _all_zero(statistics: AnyStatistics) -> bool:
    """Return True if a tensor is known to have elements and all of them are zero."""
    count, zeros = statistics.count, statistics.zeros
    return count is not None and zeros is not None and zeros >= max(1, count)


def magnitudes(
    results: Iterable[TensorResult], statistic: str, key: Callable[[TensorEntry], Key]
) -> dict[Key, float]:
    """Return the largest known magnitude of a statistic among the outputs with the same key. ``statistic``
    is a field of `Statistics`. Keys of outputs without a known one are left out."""
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
    """Return a column [indices of the tree] with the largest value at each leaf, NaN elsewhere. ``nodes``
    are the graph's nodes of operators, and ``values`` are the values of operators."""
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
    """Return a column [indices of the tree] with the worst symptom of the parameters that each operator uses,
    NaN where none is above ``FINE``. ``OVERFLOW`` and worse symptoms count as ``RECEIVED``.

    Parameters that are fine or unknown are left out.

    ``nodes`` are the nodes of parameters, and ``values`` their symptoms. A non-finite parameter counts as
    ``RECEIVED`` there: those operators did not make it, and their outputs may be finite. ``Load`` passes it
    on.
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
    """Return the largest value at and below an index of the tree, or None if none is known."""
    inside = column[index : tree.ends[index]]
    known = inside[~np.isnan(inside)]
    return float(known.max()) if len(known) else None


def count_symptoms(tree: Tree, column: Doubles, index: int) -> dict[str, int]:
    """Return the numbers of operators at and below an index by the name of the symptom in lower case, worst
    first. Symptoms that are not worse than fine or do not occur are left out."""
    inside = column[index : tree.ends[index]]
    counts = np.bincount(np.nan_to_num(inside).astype(np.int32), minlength=len(Symptom))
    return {
        symptom.name.lower(): int(counts[symptom])
        for symptom in reversed(Symptom)
        if symptom > Symptom.FINE and counts[symptom]
    }


SYMPTOMS: Final = "symptoms"


class Overlay:
    """Join of a dumped step with a graph, with columns of symptoms and statistics for the graph's nodes."""

    def __init__(self, tree: Tree, listing: Listing) -> None:
        self.tree = tree
        self.listing = listing
        # Of the last column of symptoms.
        self.symptoms: Mapping[OperatorKey, Symptom] = {}
        self.fault: Fault | None = None
        self._columns: dict[str, tuple[int, Doubles]] = {}  # by colour: number of hits, column

    @cached_property
    def joined(self) -> Join:
        """Return the join of the dump's operators with the nodes of the graph."""
        shapes = {
            operator_key(entry): entry.shape
            for entry in reversed(self.listing.entries)
            if entry.direction == "output" and entry.shape is not None
        }
        return join(self.listing.operators.values(), self.tree.graph, shapes)

    @cached_property
    def operators_of(self) -> dict[int, list[Operator]]:
        """Return the operators of the dump by node of the graph."""
        by_node: dict[int, list[Operator]] = {}
        for key, node in self.joined.nodes.items():
            by_node.setdefault(node, []).append(self.listing.operators[key])
        return by_node

    @cached_property
    def updated(self) -> frozenset[OperatorKey]:
        """Return the keys of the parameters that were recorded after the first operator ran. Operators may
        have received other values than the recorded ones."""
        entries = self.listing.entries
        ran = [entry.sequence for entry in entries if entry.type != "Parameter"]
        first = min(ran, default=None)
        return frozenset(
            operator_key(entry)
            for entry in entries
            if first is not None and entry.type == "Parameter" and entry.sequence > first
        )

    def broken_afterwards(self) -> list[str]:
        """Return the names of the parameters in `updated` that are non-finite, among those measured so
        far."""
        return [
            result.entry.operator
            for result in list(self.listing.results)
            if operator_key(result.entry) in self.updated and is_non_finite(result)
        ]

    def column(self, colour: str, hits: Sequence[Hit] = ()) -> Doubles:
        """Return a column with a number for each index of the tree, NaN for scopes and unknown leaves:
        symptoms, or magnitudes of a statistic. For symptoms, also set ``fault`` and ``symptoms``."""
        done = self.listing.done  # read first, so that results are complete
        known = self._columns.get(colour)
        if known is not None and known[0] == len(hits):
            return known[1]
        results = list(self.listing.results)
        values: Mapping[OperatorKey, float]
        if colour == SYMPTOMS:
            self.fault = fault_of(self.listing, results, done)
            fault = None if self.fault is None else fault_key(self.fault)
            masks = step_masks(self.listing, results, done)
            self.symptoms = symptoms(results, self._overflowed, self._caught(hits), fault, masks)
            values = self.symptoms
        else:
            sizes = magnitudes(results, colour, operator_key)
            values = {key: size for key, size in sizes.items() if key not in self._views_beside}
        column = leaf_column(self.tree, self.joined.nodes, values)
        if colour == SYMPTOMS:
            timely = {
                key: value for key, value in values.items() if value < Symptom.LOST or key not in self.updated
            }
            column = np.fmax(column, parameter_column(self.tree, self.joined.nodes, timely))
        if done:
            self._columns[colour] = (len(hits), column)
        return column

    def other_inputs(self, node: int) -> Iterator[Claim]:
        """Yield a claim if an operator received an output that is not in the graph, instead of an input
        that is, as after a change of the code. Nothing is claimed if that input is missing from the dump,
        because it may stand for other operators."""
        graph, nodes = self.tree.graph, self.joined.nodes
        before = graph.edges.sources[graph.edges.targets == node].tolist()
        expected = [source for source in before if graph.kinds[source] == OPERATOR]
        for operator in self.operators_of.get(node, ()):
            received = [self._by_name.get((operator.graph, name)) for name in operator.sources]
            known = [source for source in received if source is not None and source.type != "Parameter"]
            elsewhere = [source for source in known if key_of(source) not in nodes]
            matched = {nodes[key_of(source)] for source in known if key_of(source) in nodes}
            absent = [source for source in expected if source not in matched]
            if elsewhere and absent and all(source in self.operators_of for source in absent):
                about = {
                    "operator": operator.name,
                    "sources": few([source.name for source in elsewhere], _NAMED),
                    "inputs": few([graph.names[source] for source in absent], _NAMED),
                }
                yield Claim("claim.graph.other_input", "note", about)

    @cached_property
    def _views_beside(self) -> frozenset[OperatorKey]:
        """Return the keys of views, as of a module's input, whose node also has operators that are no
        views."""
        return frozenset(
            key_of(operator)
            for operators in self.operators_of.values()
            if not all(is_view(operator.type) for operator in operators)
            for operator in operators
            if is_view(operator.type)
        )

    def computed(self, column: Doubles) -> Doubles:
        """Return a column with NaN for leaves that are only views, such as of a module's input. Their
        values were computed elsewhere."""
        views = [
            node
            for node, known in self.operators_of.items()
            if all(is_view(operator.type) for operator in known)
        ]
        leaves = self.tree.leaf_indices[views]
        shown = column.copy()
        shown[leaves[leaves >= 0]] = np.nan
        return shown

    @cached_property
    def _by_name(self) -> dict[tuple[str, str], Operator]:
        return {(operator.graph, operator.name): operator for operator in self.listing.operators.values()}

    def stop(self) -> None:
        """Do nothing, because no work runs in the background. Sessions call it."""

    @cached_property
    def _overflowed(self) -> frozenset[str]:
        return overflowed_operators(self.listing.dump, self.listing.rank, self.listing.step)

    def _caught(self, hits: Iterable[Hit]) -> set[OperatorKey]:
        here = (self.listing.rank, self.listing.step)
        return {
            operator_key(hit.entry)
            for hit in hits
            if hit.verdict.hit and (hit.entry.rank, hit.entry.step) == here
        }


def step_masks(listing: Listing, results: Sequence[TensorResult], done: bool) -> frozenset[int]:
    """Return the sequence numbers of the tensors that are masks, or that an operator fills without
    reading. While tensors are still being measured (not ``done``), every tensor that may turn out to be
    one is returned."""
    replaced = frozenset(result.entry.sequence for result in results if is_replaced(result.entry))
    infinite = [
        result.entry
        for result in results
        if (holds_minus_infinity(result) or holds_plus_infinity(result))
        and result.entry.sequence not in replaced
    ]
    if not infinite or not done:
        return replaced.union(entry.sequence for entry in infinite)
    search = OriginSearch(listing.entries, tuple(listing.operators.values()), _measured(results))
    return replaced.union(entry.sequence for entry in infinite if search.is_mask(entry))


def _measured(results: Sequence[TensorResult]) -> Measure:
    """Return a function that looks up the results of tensors, unknown for tensors that are not in
    ``results``."""
    known = {result.entry.sequence: result for result in results}
    return lambda entries: (known.get(entry.sequence) or TensorResult(entry, None) for entry in entries)


def step_fault(listing: Listing, results: Sequence[TensorResult], done: bool) -> OperatorKey | None:
    """Return the operator of the first fault, or None if there is none or it is unknown, as `fault_of`."""
    fault = fault_of(listing, results, done)
    return None if fault is None else fault_key(fault)


def fault_of(listing: Listing, results: Sequence[TensorResult], done: bool) -> Fault | None:
    """Return the first fault of a step, or None if there is none or its origin is unknown. While tensors
    are still being measured (not ``done``), it is returned only if later measurements cannot change the
    answer."""
    if not any(map(is_non_finite, results)):
        return None
    operators = tuple(listing.operators.values())
    complete = not gaps_at(listing.dump, [listing.rank], [listing.step])
    fault = find_step_fault(listing.entries, operators, _measured(results), not done, complete)
    # The operator of an unknown origin is only the nearest known one.
    return None if fault is None or fault.kind == "unknown" else fault


def fault_key(fault: Fault) -> OperatorKey:
    """Return the key of the operator at fault, or of the first non-finite tensor if the dump does not
    describe it."""
    operator = find_operator(fault.operators, fault.origin.operator)
    return operator_key(fault.entry) if operator is None else key_of(operator)
