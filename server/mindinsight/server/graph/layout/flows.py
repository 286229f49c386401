"""Flows between the children of a scope: edges between leaves, aggregated to the boxes that hold them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from mindinsight.server.graph.model.graph import Edges, Numbers, Offsets
from mindinsight.server.graph.scopes.tree import ROOT, Tree

_HALF: Final = 32
_LOW: Final = (1 << _HALF) - 1


@dataclass(frozen=True, slots=True)
class Flow:
    """All edges from one child to another."""

    source: int  # index in the tree
    target: int  # index in the tree
    values: int  # distinct source leaves
    control: bool  # whether all are control edges
    leaf: int = -1  # the one leaf whose value flows; -1 when there are several


@dataclass(frozen=True, slots=True)
class Flows:
    """Flows inside a scope, and the number of values that cross its border at each child."""

    inside: tuple[Flow, ...]
    enters: dict[int, int]  # values from outside, by the child that takes them
    leaves: dict[int, int]  # values to the outside, by the child that gives them


def flows_of(tree: Tree, index: int, children: Sequence[int]) -> Flows:
    """Aggregate the edges of a scope to flows between its children."""
    starts = np.array(sorted(children), dtype=np.int32)
    if index == ROOT:
        return Flows(_aggregate(tree.edges, starts), {}, {})
    entering, leaving = tree.boundary_edges(index)
    return Flows(
        _aggregate(tree.inner_edges(index), starts),
        _crossing_counts(entering, starts, into=True),
        _crossing_counts(leaving, starts, into=False),
    )


def child_of(starts: Numbers, leaves: Numbers) -> Numbers:
    """[l] the child that holds each leaf; ``starts`` are all children of a scope, sorted."""
    return starts[np.searchsorted(starts, leaves, side="right") - 1]


def _aggregate(edges: Edges, starts: Numbers) -> tuple[Flow, ...]:
    sources, targets = child_of(starts, edges.sources), child_of(starts, edges.targets)
    crossing = sources != targets
    pairs = _packed_pairs(sources[crossing], targets[crossing])
    distinct, which = np.unique(pairs, return_inverse=True)
    only_orders = np.ones(len(distinct), dtype=np.bool_)
    np.logical_and.at(only_orders, which, edges.controls[crossing])
    flowing = np.unique(_packed_pairs(which, edges.sources[crossing]))
    values = np.bincount(flowing >> _HALF, minlength=len(distinct))
    first = flowing[np.searchsorted(flowing >> _HALF, np.arange(len(distinct)))] & _LOW
    leaves = np.where(values == 1, first, -1)
    ends = zip((distinct >> _HALF).tolist(), (distinct & _LOW).tolist(), strict=True)
    columns = zip(ends, values.tolist(), only_orders.tolist(), leaves.tolist(), strict=True)
    return tuple(Flow(source, target, *rest) for (source, target), *rest in columns)


def _packed_pairs(sources: np.ndarray[Any, Any], targets: Numbers) -> Offsets:
    """Pack pairs of indices into 64-bit integers, which sort faster."""
    return sources.astype(np.int64) << _HALF | targets


def _crossing_counts(edges: Edges, starts: Numbers, into: bool) -> dict[int, int]:
    """Number of distinct values that cross the border of the scope at each child."""
    inner, outer = (edges.targets, edges.sources) if into else (edges.sources, edges.targets)
    value = outer if into else inner
    pairs = np.unique(_packed_pairs(child_of(starts, inner), value))
    indices, counts = np.unique(pairs >> _HALF, return_counts=True)
    return dict(zip(indices.tolist(), counts.tolist(), strict=True))
