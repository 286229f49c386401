"""What flows between the children of a scope: edges between leaves, lifted to the boxes that hold them."""

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
    """Edges from one child to another."""

    source: int  # place
    target: int  # place
    values: int  # different leaves whose values flow
    control: bool  # nothing but orders
    leaf: int = -1  # the one leaf whose value flows; -1 when there are several


@dataclass(frozen=True, slots=True)
class Flows:
    """What flows inside a scope, and how many values come from outside into each child, or go out from it."""

    inside: tuple[Flow, ...]
    enters: dict[int, int]
    leaves: dict[int, int]


def flows_of(tree: Tree, place: int, children: Sequence[int]) -> Flows:
    """The flows between the children of a scope."""
    edges = tree.edges
    from_here = tree.below(place, edges.sources)
    to_here = tree.below(place, edges.targets)
    starts = np.array(sorted(children), dtype=np.int32)
    if place == ROOT:
        return Flows(_between(edges, starts), {}, {})
    return Flows(
        _between(edges.select(from_here & to_here), starts),
        _counts(edges.select(to_here & ~from_here), starts, into=True),
        _counts(edges.select(from_here & ~to_here), starts, into=False),
    )


def child_of(starts: Numbers, leaves: Numbers) -> Numbers:
    """The children that hold the leaves; ``starts`` are all children of a scope, sorted."""
    return starts[np.searchsorted(starts, leaves, side="right") - 1]


def _between(edges: Edges, starts: Numbers) -> tuple[Flow, ...]:
    sources, targets = child_of(starts, edges.sources), child_of(starts, edges.targets)
    crossing = sources != targets
    pairs = _pairs(sources[crossing], targets[crossing])
    distinct, which = np.unique(pairs, return_inverse=True)
    only_orders = np.ones(len(distinct), dtype=np.bool_)
    np.logical_and.at(only_orders, which, edges.controls[crossing])
    flowing = np.unique(_pairs(which, edges.sources[crossing]))
    values = np.bincount(flowing >> _HALF, minlength=len(distinct))
    first = flowing[np.searchsorted(flowing >> _HALF, np.arange(len(distinct)))] & _LOW
    leaves = np.where(values == 1, first, -1)
    ends = zip((distinct >> _HALF).tolist(), (distinct & _LOW).tolist(), strict=True)
    columns = zip(ends, values.tolist(), only_orders.tolist(), leaves.tolist(), strict=True)
    return tuple(Flow(source, target, *rest) for (source, target), *rest in columns)


def _pairs(ones: np.ndarray[Any, Any], others: Numbers) -> Offsets:
    """Pairs of places as single numbers, which sort faster."""
    return ones.astype(np.int64) << _HALF | others


def _counts(edges: Edges, starts: Numbers, into: bool) -> dict[int, int]:
    """How many different values cross the border of the scope at each child."""
    inner, outer = (edges.targets, edges.sources) if into else (edges.sources, edges.targets)
    value = outer if into else inner
    pairs = np.unique(_pairs(child_of(starts, inner), value))
    places, counts = np.unique(pairs >> _HALF, return_counts=True)
    return dict(zip(places.tolist(), counts.tolist(), strict=True))
