"""A graph of a run with a step of a dump laid over it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Final

import numpy as np

from mindinsight.server.debug.examine import Answer
from mindinsight.server.debug.fault import fault_of, not_finite
from mindinsight.server.debug.fault_search import OperatorKey, operator_key
from mindinsight.server.debug.graph_join import Join, join
from mindinsight.server.debug.inspection import Listing
from mindinsight.server.debug.operator_status import at_places, at_users, magnitudes, symptoms
from mindinsight.server.debug.watchpoints import Hit
from mindinsight.server.formats.dumps import list_overflows
from mindinsight.server.formats.dumps.types import Operator, TensorEntry
from mindinsight.server.graph.scopes.tree import Tree
from mindinsight.server.types import Doubles

SYMPTOMS: Final = "symptoms"


class Overlay:
    """Made once for a graph and a listing, and kept while they are looked at."""

    def __init__(self, tree: Tree, listing: Listing) -> None:
        self.tree = tree
        self.listing = listing
        self._settled: dict[str, tuple[int, Doubles]] = {}  # by colour: hits they are with, and they

    @cached_property
    def joined(self) -> Join:
        """Which node each operator of the dump is."""
        return join(self.listing.operators.values(), self.tree.graph)

    @cached_property
    def operators_of(self) -> dict[int, list[Operator]]:
        """The operators of the dump at each node of the graph."""
        found: dict[int, list[Operator]] = {}
        for key, node in self.joined.nodes.items():
            found.setdefault(node, []).append(self.listing.operators[key])
        return found

    def column(self, colour: str, hits: Sequence[Hit] = ()) -> Doubles:
        """[t] a symptom, or the size of a statistic, at each leaf of the tree; NaN where there is none."""
        done = self.listing.done  # before looking: what is known after this is complete
        known = self._settled.get(colour)
        if known is not None and known[0] == len(hits):
            return known[1]
        answers = list(self.listing.answers)
        values: Mapping[OperatorKey, float] = (
            symptoms(answers, self._overflowed, self._caught(hits), self._fault(answers, done))
            if colour == SYMPTOMS
            else magnitudes(answers, colour, operator_key)
        )
        column = at_places(self.tree, self.joined.nodes, values)
        if colour == SYMPTOMS:
            column = np.fmax(column, at_users(self.tree, self.joined.nodes, values))
        if done:
            self._settled[colour] = (len(hits), column)
        return column

    def stop(self) -> None:
        """Nothing is running."""

    @cached_property
    def _overflowed(self) -> frozenset[str]:
        found = list_overflows(self.listing.dump, self.listing.rank, self.listing.step)
        return frozenset(each.operator for each in found.items if each.status)

    def _fault(self, answers: Sequence[Answer], done: bool) -> OperatorKey | None:
        """The operator of the first fault; while tensors are being measured, only one that surely made it."""
        if not any(map(not_finite, answers)):
            return None
        known = {each.entry.sequence: each for each in answers}
        operators = tuple(self.listing.operators.values())

        def measure(entries: Iterable[TensorEntry]) -> Iterable[Answer]:
            return (known.get(each.sequence) or Answer(each, None) for each in entries)

        fault = fault_of(self.listing.entries, operators, measure, certain=not done)
        named = (each for each in operators if fault and fault.origin.operator in (each.recorded, each.name))
        operator = next(named, None)
        if operator is not None:
            return operator.graph, operator.recorded
        return operator_key(fault.entry) if fault else None

    def _caught(self, hits: Iterable[Hit]) -> set[OperatorKey]:
        here = (self.listing.rank, self.listing.step)
        return {
            operator_key(hit.entry)
            for hit in hits
            if hit.verdict.hit and (hit.entry.rank, hit.entry.step) == here
        }
