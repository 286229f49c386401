"""Status of operators for drawings: the worst symptom, or the largest magnitude, of their tensors."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping
from enum import IntEnum
from typing import TypeVar

import numpy as np

from mindinsight.server.debug.examine import TensorResult
from mindinsight.server.debug.finiteness import OperatorKey, finiteness, not_finite, operator_key
from mindinsight.server.debug.recorded_statistics import AnyStatistics
from mindinsight.server.formats.dumps.types import TensorEntry
from mindinsight.server.graph.model.graph import PARAMETER
from mindinsight.server.graph.scopes.tree import Tree
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

    A parameter's fault counts as ``LOST`` there, as those operators did not make it. ``Load`` passes it on.
    """
    graph, edges = tree.graph, tree.graph.edges
    status = np.full(len(graph), np.nan)
    for key, value in values.items():
        if value > Symptom.FINE and key in nodes and graph.kinds[nodes[key]] == PARAMETER:
            status[nodes[key]] = np.fmax(status[nodes[key]], min(value, Symptom.LOST))
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
