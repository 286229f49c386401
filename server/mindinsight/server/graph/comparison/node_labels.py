"""Weisfeiler-Lehman labels: hashes of nodes refined round by round by the labels of their neighbours.

After k rounds two nodes have one label if the graphs look alike around them up to distance k. Source:
N. Shervashidze et al., "Weisfeiler-Lehman Graph Kernels", JMLR 12, 2011; inputs are ordered here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from mindinsight.server.graph.comparison.node_columns import NodeColumns
from mindinsight.server.graph.model.graph import OPERATOR, Flags, Offsets

Labels: TypeAlias = npt.NDArray[np.uint64]

_BROAD: Final = 16  # users; a node with more passes on to them its inputs only, not what else uses it
_INPUT: Final = np.uint64(0x9E3779B97F4A7C15)
_OUTPUT: Final = np.uint64(0xC2B2AE3D27D4EB4F)


class Rounds(NamedTuple):
    """Labels of all nodes [n] after several rounds."""

    seeds: Labels
    by_inputs: Labels  # after one round over inputs alone
    by_outputs: Labels  # after one round over users alone
    refined: list[Labels]  # after 1, 2, ... rounds over both


def seed_labels(columns: NodeColumns, keys: Sequence[Offsets], partners: Offsets) -> Labels:
    """[n] labels by kind and ``keys`` [n]; matched nodes get a label that only their pair has."""
    labels = _mix(columns.kinds.astype(np.uint64))
    for key in keys:
        labels = _mix(labels ^ _mix(key.astype(np.uint64) + _INPUT))
    matched = np.flatnonzero(partners >= 0)
    pair = np.minimum(matched, partners[matched]).astype(np.uint64)
    labels[matched] = _mix(pair ^ _OUTPUT)
    return labels


def refine(columns: NodeColumns, seeds: Labels, partners: Offsets, rounds: int) -> Rounds:
    """Refine labels; edges between matched nodes are left out, as matched labels are final."""
    active = (partners[columns.sources] < 0) | (partners[columns.targets] < 0)
    sources, targets = columns.sources[active], columns.targets[active]
    salts = _mix(columns.slots[active].astype(np.uint64))
    count = len(seeds)
    into, out_of = _Sums(targets, count), _Sums(sources, count)
    broad = out_of.counts > _BROAD
    fixed = (columns.kinds != OPERATOR) | (partners >= 0)
    inputs = into.of(_mix((seeds[sources] + _INPUT) ^ salts))
    outputs = out_of.of(_mix((seeds[targets] + _OUTPUT) ^ salts))
    by_inputs, by_outputs = _mix(seeds ^ _mix(inputs)), _mix(seeds + _mix(outputs))
    refined = [_mix(by_inputs + _mix(outputs))]
    passed_on = seeds
    for _ in range(rounds - 1):
        passed_on = np.where(fixed, seeds, np.where(broad, by_inputs, refined[-1]))
        inputs = into.of(_mix((passed_on[sources] + _INPUT) ^ salts))
        outputs = out_of.of(_mix((passed_on[targets] + _OUTPUT) ^ salts))
        refined.append(_mix(_mix(refined[-1] ^ _mix(inputs)) + _mix(outputs)))
    return Rounds(seeds, by_inputs, by_outputs, refined)


def neighbour_flags(columns: NodeColumns, partners: Offsets) -> tuple[Flags, Flags]:
    """[n] flags: whether some input of a node is matched; whether some user of it is."""
    matched = partners >= 0
    count = len(partners)
    into = np.bincount(columns.targets, weights=matched[columns.sources], minlength=count) > 0
    out_of = np.bincount(columns.sources, weights=matched[columns.targets], minlength=count) > 0
    return into, out_of


class _Sums:
    """Sums of terms by owner, modulo 2^64; the order of the terms does not matter."""

    def __init__(self, owners: Offsets, count: int) -> None:
        self.counts = np.bincount(owners, minlength=count)
        self._order = np.argsort(owners, kind="stable")
        self._ends = np.cumsum(self.counts)

    def of(self, terms: Labels) -> Labels:
        """[count] sum of the terms of each owner."""
        totals = np.concatenate([np.zeros(1, np.uint64), np.cumsum(terms[self._order], dtype=np.uint64)])
        sums: Labels = totals[self._ends] - totals[self._ends - self.counts]
        return sums


def _mix(values: Labels) -> Labels:
    """The finalizer of splitmix64, which spreads each bit over all others."""
    mixed: Labels = values ^ (values >> np.uint64(30))
    mixed = mixed * np.uint64(0xBF58476D1CE4E5B9)
    mixed = mixed ^ (mixed >> np.uint64(27))
    mixed = mixed * np.uint64(0x94D049BB133111EB)
    shifted: Labels = mixed >> np.uint64(31)
    return mixed ^ shifted
