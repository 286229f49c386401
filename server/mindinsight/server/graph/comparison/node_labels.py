"""Nodes of two graphs as one set of columns, and their Weisfeiler-Lehman labels."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from mindinsight.proto.graph_pb2 import NamedValueProto, NodeProto, ParameterProto
from mindinsight.server.graph.model.graph import CONSTANT, OPERATOR, PARAMETER, Codes, Flags, Graph, Offsets
from mindinsight.server.graph.model.graph import scope_of as enclosing_scope

CONTROL_SLOT: Final = -1
_PACKING: Final = frozenset({"MakeTuple", "UpdateState"})  # one value more moves the positions of all others


@dataclass(frozen=True, eq=False)
class NodeColumns:
    """Nodes of two graphs: first those of the left graph, then those of the right one.

    Codes are integers that are equal for equal values: n nodes, e edges, sorted by target.
    """

    graphs: tuple[Graph, Graph]
    kinds: Codes  # [n] OPERATOR, PARAMETER or CONSTANT
    names: Offsets  # [n] code of the name
    types: Offsets  # [n] code of the operator's type
    scopes: Offsets  # [n] code of the enclosing scope
    attributes: Offsets  # [n] code of an operator's attributes; of a constant's value
    outputs: Offsets  # [n] code of the type and shape of the output
    sources: Offsets  # [e]
    targets: Offsets  # [e]
    slots: (
        Offsets  # [e] position among the inputs of the target, 0 where packed; CONTROL_SLOT for control edges
    )

    @property
    def left_count(self) -> int:
        """Number of nodes of the left graph."""
        return len(self.graphs[0])

    def is_left(self) -> Flags:
        """[n] flag of the nodes of the left graph."""
        return np.arange(len(self.kinds)) < self.left_count


def node_columns(left: Graph, right: Graph) -> NodeColumns:
    """Decode the nodes of two graphs into columns."""
    graphs = left, right
    contents = _contents(graphs)
    names = [name for graph in graphs for name in graph.names]
    offsets = 0, len(left)
    return NodeColumns(
        graphs,
        kinds=np.concatenate([graph.kinds for graph in graphs]),
        names=_codes(names),
        types=_codes(kind for graph in graphs for kind in graph.types),
        scopes=_codes(map(enclosing_scope, names)),
        attributes=_codes(attributes for attributes, _ in contents),
        outputs=_codes(output for _, output in contents),
        sources=np.concatenate(
            [graph.edges.sources + offset for graph, offset in zip(graphs, offsets, strict=True)]
        ).astype(np.int64),
        targets=np.concatenate(
            [graph.edges.targets + offset for graph, offset in zip(graphs, offsets, strict=True)]
        ).astype(np.int64),
        slots=np.concatenate([_slots(graph) for graph in graphs]),
    )


def of_types(columns: NodeColumns, types: Collection[str]) -> Flags:
    """[n] flag of the nodes of some types."""
    return np.array([kind in types for graph in columns.graphs for kind in graph.types], dtype=np.bool_)


def _codes(values: Iterable[Hashable]) -> Offsets:
    known: dict[Hashable, int] = {}
    return np.array([known.setdefault(value, len(known)) for value in values], dtype=np.int64)


def _slots(graph: Graph) -> Offsets:
    edges = graph.edges
    begins = np.searchsorted(edges.targets, edges.targets, "left")
    packing = np.array([kind in _PACKING for kind in graph.types], dtype=np.bool_)
    slots = np.where(packing[edges.targets], 0, np.arange(len(edges)) - begins)
    return np.where(edges.controls, CONTROL_SLOT, slots)


def _contents(graphs: Iterable[Graph]) -> list[tuple[Hashable, bytes]]:
    """``_content`` of all nodes; operators of equal bytes are decoded once."""
    known: dict[bytes, tuple[Hashable, bytes]] = {}
    contents = []
    for graph in graphs:
        spans = graph.contents.tolist()
        for node, kind in enumerate(graph.kinds.tolist()):
            if kind != OPERATOR:
                contents.append(_content(graph, node))
                continue
            key = graph.payload[spans[node][0] : spans[node][1]]
            content = known.get(key)
            if content is None:
                content = known[key] = _content(graph, node)
            contents.append(content)
    return contents


def _content(graph: Graph, node: int) -> tuple[Hashable, bytes]:
    """Attributes (of a constant its value) and output type of a node as serialized; no names, no inputs."""
    message = graph.message(node)
    kind = graph.kinds[node]
    if kind == OPERATOR:
        proto = NodeProto.FromString(message)
        attributes = sorted(item.SerializeToString(deterministic=True) for item in proto.attribute)
        return tuple(attributes), proto.output_type.SerializeToString(deterministic=True)
    if kind == PARAMETER:
        return (), ParameterProto.FromString(message).type.SerializeToString(deterministic=True)
    assert kind == CONSTANT
    value = NamedValueProto.FromString(message).value
    return value.SerializeToString(deterministic=True), b""


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
