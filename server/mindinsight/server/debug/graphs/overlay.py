"""Overlay of a step of a dump on a graph of a run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Final

import numpy as np

from mindinsight.server.debug.examine import TensorResult
from mindinsight.server.debug.fault import find_step_fault
from mindinsight.server.debug.finiteness import OperatorKey, not_finite, operator_key
from mindinsight.server.debug.graphs.join import Join, join
from mindinsight.server.debug.graphs.operator_status import (
    Symptom,
    leaf_column,
    magnitudes,
    parameter_column,
    symptoms,
)
from mindinsight.server.debug.inspection import Listing
from mindinsight.server.debug.watchpoints import Hit
from mindinsight.server.formats.dumps import list_overflows
from mindinsight.server.formats.dumps.types import Operator, TensorEntry
from mindinsight.server.graph.scopes.tree import Tree
from mindinsight.server.types import Doubles

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
