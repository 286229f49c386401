"""What a step of a dump tells of its operators, for a picture: the worst of each, and how large it is."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping
from enum import IntEnum
from typing import TypeVar

import numpy as np

from mindinsight.server.debug.examine import Answer
from mindinsight.server.debug.fault import not_finite
from mindinsight.server.debug.fault_search import OperatorKey, finiteness, operator_key
from mindinsight.server.debug.recorded import AnyStatistics
from mindinsight.server.formats.dumps.types import TensorEntry
from mindinsight.server.graph.model.graph import PARAMETER
from mindinsight.server.graph.scopes.tree import Tree
from mindinsight.server.types import Doubles

Key = TypeVar("Key", bound=Hashable)


class Symptom(IntEnum):
    """The worse, the larger."""

    UNKNOWN = 0  # nothing was dumped, or nothing is measured yet
    FINE = 1
    ZERO = 2  # all its outputs are zeros
    CAUGHT = 3  # a watchpoint hit one of its tensors
    OVERFLOW = 4  # the device reported it
    LOST = 5  # NaN or infinities in what it took or gave
    FAULT = 6  # where they are first


def symptoms(
    answers: Iterable[Answer],
    overflowed: Collection[str] = (),
    caught: Collection[OperatorKey] = (),
    fault: OperatorKey | None = None,
) -> dict[OperatorKey, Symptom]:
    """The symptom of each operator that has a measured tensor.

    ``answers`` are in the order the tensors were written; ``fault`` is the operator where the first fault
    is known to be. ``overflowed`` are names, full or as recorded.
    """
    measured = [each for each in answers if each.measured is not None]
    found: dict[OperatorKey, Symptom] = {}
    alive = {operator_key(each.entry) for each in measured if _not_zero(each)}
    for answer in measured:
        key = operator_key(answer.entry)
        worst = _of_tensor(answer, key in alive, overflowed)
        found[key] = max(found.get(key, Symptom.UNKNOWN), worst)
    found |= {key: max(found.get(key, Symptom.FINE), Symptom.CAUGHT) for key in caught}
    if fault is not None:
        found[fault] = Symptom.FAULT
    return found


def _of_tensor(answer: Answer, alive: bool, overflowed: Collection[str]) -> Symptom:
    entry = answer.entry
    if not_finite(answer):
        return Symptom.LOST
    if entry.operator in overflowed or entry.recorded in overflowed:
        return Symptom.OVERFLOW
    if finiteness(answer) == "unknown":
        return Symptom.UNKNOWN
    return Symptom.ZERO if entry.direction == "output" and not alive else Symptom.FINE


def _not_zero(answer: Answer) -> bool:
    found = answer.measured
    return answer.entry.direction == "output" and found is not None and not _all_zero(found.statistics)


def _all_zero(found: AnyStatistics) -> bool:
    """Whether every element is known to be zero, as in an empty tensor."""
    return found.count is not None and found.zeros is not None and found.zeros >= max(1, found.count)


def magnitudes(
    answers: Iterable[Answer], statistic: str, key: Callable[[TensorEntry], Key]
) -> dict[Key, float]:
    """The largest magnitude of a statistic among the outputs that have the same key, as far as known."""
    found: dict[Key, float] = {}
    for answer in answers:
        entry = answer.entry
        if entry.direction != "output" or answer.measured is None:
            continue
        value = getattr(answer.measured.statistics, statistic)
        if value is not None:
            found[key(entry)] = max(found.get(key(entry), 0.0), abs(float(value)))
    return found


def at_places(tree: Tree, nodes: Mapping[OperatorKey, int], values: Mapping[OperatorKey, float]) -> Doubles:
    """[t] the largest value of each leaf of a tree; NaN where there is none, and for scopes."""
    column = np.full(len(tree.paths), np.nan)
    known = [(nodes[key], value) for key, value in values.items() if key in nodes]
    if known:
        numbers, sizes = zip(*known, strict=True)
        places = tree.leaf_indices[list(numbers)]
        drawn = places >= 0
        np.fmax.at(column, places[drawn], np.array(sizes, dtype=np.float64)[drawn])
    return column


def at_users(tree: Tree, nodes: Mapping[OperatorKey, int], values: Mapping[OperatorKey, float]) -> Doubles:
    """[t] what is wrong with parameters, which have no place, at the operators that take them.

    A fault of a parameter is none of those operators: they lost by it. A ``Load`` hands on what it takes.
    """
    graph, edges = tree.graph, tree.graph.edges
    ill = np.full(len(graph), np.nan)
    for key, value in values.items():
        if value > Symptom.FINE and key in nodes and graph.kinds[nodes[key]] == PARAMETER:
            ill[nodes[key]] = np.fmax(ill[nodes[key]], min(value, Symptom.LOST))
    column = np.full(len(tree.paths), np.nan)
    if np.isnan(ill).all():
        return column
    loads = np.array([kind == "Load" for kind in graph.types])
    handed = loads[edges.targets]
    np.fmax.at(ill, edges.targets[handed], ill[edges.sources[handed]])
    places = tree.leaf_indices[edges.targets]
    np.fmax.at(column, places[places >= 0], ill[edges.sources[places >= 0]])
    return column


def worst(tree: Tree, column: Doubles, place: int) -> float | None:
    """The largest value at and below a place; None where nothing is known."""
    inside = column[place : tree.ends[place]]
    known = inside[~np.isnan(inside)]
    return float(known.max()) if len(known) else None


def counted(tree: Tree, column: Doubles, place: int) -> dict[str, int]:
    """How many operators at and below a place have each symptom that is more than fine, worst first."""
    inside = column[place : tree.ends[place]]
    counts = np.bincount(np.nan_to_num(inside).astype(np.int32), minlength=len(Symptom))
    return {
        each.name.lower(): int(counts[each])
        for each in reversed(Symptom)
        if each > Symptom.FINE and counts[each]
    }
