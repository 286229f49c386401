"""Nodes of two graphs as one set of columns, and their Weisfeiler-Lehman labels."""

from collections.abc import Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from mindinsight.proto.graph_pb2 import NamedValueProto, NodeProto, ParameterProto
from mindinsight.server.graph.model import graph as model

CONTROL_SLOT: Final = -1  # slots of inputs count from 0
_PACKING: Final = frozenset({"MakeTuple", "UpdateState"})  # one more value shifts the positions of the rest


@dataclass(frozen=True, eq=False)
class NodeColumns:
    """Columns of the nodes of two graphs: first those of the left graph, then those of the right one.

    Codes are integers that are equal for equal values. There are n nodes and e edges, sorted by target.
    """

    graphs: tuple[model.Graph, model.Graph]
    kinds: model.Codes  # [n] OPERATOR, PARAMETER or CONSTANT
    names: model.Offsets  # [n] code of the name
    types: model.Offsets  # [n] code of the operator's type, however it is spelled
    scopes: model.Offsets  # [n] code of the enclosing scope
    attributes: model.Offsets  # [n] code of an operator's attributes or a constant's value
    outputs: model.Offsets  # [n] code of the type and shape of the output
    sources: model.Offsets  # [e]
    targets: model.Offsets  # [e]
    slots: model.Offsets  # [e] position among the inputs, 0 if packed, CONTROL_SLOT for control edges

    @property
    def left_count(self) -> int:
        """Return the number of nodes of the left graph."""
        return len(self.graphs[0])

    def is_left(self) -> model.Flags:
        """Return [n] True for nodes of the left graph."""
        return np.arange(len(self.kinds)) < self.left_count


def node_columns(left: model.Graph, right: model.Graph) -> NodeColumns:
    """Decode the nodes of two graphs into columns."""
    graphs = left, right
    contents = _contents(graphs)
    names = [name for graph in graphs for name in graph.names]
    edges = (left.edges, 0), (right.edges, len(left))
    return NodeColumns(
        graphs,
        kinds=np.concatenate([graph.kinds for graph in graphs]),
        names=model.number_values(names),
        types=model.number_values(spelling(kind) for graph in graphs for kind in graph.types),
        scopes=model.number_values(map(model.scope_of, names)),
        attributes=model.number_values(attributes for attributes, _ in contents),
        outputs=model.number_values(output for _, output in contents),
        sources=np.concatenate([own.sources + offset for own, offset in edges]).astype(np.int64),
        targets=np.concatenate([own.targets + offset for own, offset in edges]).astype(np.int64),
        slots=np.concatenate([_slots(graph) for graph in graphs]),
    )


def spelling(op_type: str) -> str:
    """Return a normal form of an operator type: BatchNorm equals batch_norm, but relu does not equal
    relu_."""
    words = op_type.rstrip("_")
    return words.replace("_", "").casefold() + op_type[len(words) :]


def of_types(columns: NodeColumns, types: Collection[str]) -> model.Flags:
    """Return [n] True for nodes of the given types."""
    return np.array([kind in types for graph in columns.graphs for kind in graph.types], dtype=np.bool_)


def _slots(graph: model.Graph) -> model.Offsets:
    packed = model.flag_values(graph.types, _PACKING)[graph.edges.targets]
    return np.where(graph.edges.controls, CONTROL_SLOT, np.where(packed, 0, graph.edges.slots()))


def _contents(graphs: Iterable[model.Graph]) -> list[tuple[Hashable, bytes]]:
    """Return the result of ``_content`` for each node. Nodes with equal bytes are decoded once."""
    contents = []
    for graph in graphs:
        known: dict[int, tuple[Hashable, bytes]] = {}
        for node, number in enumerate(graph.content_numbers.tolist()):
            if number not in known:
                known[number] = _content(graph, node)
            contents.append(known[number])
    return contents


def _content(graph: model.Graph, node: int) -> tuple[Hashable, bytes]:
    """Return the serialized attributes (value of a constant) and output type of a node, without names and
    inputs."""
    message = graph.message(node)
    kind = graph.kinds[node]
    if kind == model.OPERATOR:
        proto = NodeProto.FromString(message)
        attributes = sorted(item.SerializeToString(deterministic=True) for item in proto.attribute)
        return tuple(attributes), proto.output_type.SerializeToString(deterministic=True)
    if kind == model.PARAMETER:
        return (), ParameterProto.FromString(message).type.SerializeToString(deterministic=True)
    assert kind == model.CONSTANT
    value = NamedValueProto.FromString(message).value
    return value.SerializeToString(deterministic=True), b""


_BROAD: Final = 16  # limit of users, above which a node passes on only its inputs, not its other users
_INPUT: Final = np.uint64(0x9E3779B97F4A7C15)
_OUTPUT: Final = np.uint64(0xC2B2AE3D27D4EB4F)


class Rounds(NamedTuple):
    """Labels [n] of all nodes after several rounds of refinement, as hashes."""

    seeds: model.Hashes
    by_inputs: model.Hashes  # after one round over only inputs
    by_outputs: model.Hashes  # after one round over only users
    refined: list[model.Hashes]  # after 1, 2, ... rounds over both


def seed_labels(columns: NodeColumns, keys: Sequence[model.Offsets], partners: model.Offsets) -> model.Hashes:
    """Return [n] labels of nodes by kind and ``keys`` [n]. Both nodes of a matched pair get one unique
    label."""
    labels = model.mix(columns.kinds.astype(np.uint64))
    for key in keys:
        labels = model.mix(labels ^ model.mix(key.astype(np.uint64) + _INPUT))
    matched = np.flatnonzero(partners >= 0)
    pair = np.minimum(matched, partners[matched]).astype(np.uint64)
    labels[matched] = model.mix(pair ^ _OUTPUT)
    return labels


def refine(columns: NodeColumns, seeds: model.Hashes, partners: model.Offsets, rounds: int) -> Rounds:
    """Return the labels of nodes refined by the labels of their neighbours, in several rounds. Edges
    between matched nodes are skipped, because matched labels are final."""
    active = (partners[columns.sources] < 0) | (partners[columns.targets] < 0)
    sources, targets = columns.sources[active], columns.targets[active]
    salts = model.mix(columns.slots[active].astype(np.uint64))
    count = len(seeds)
    into, out_of = _Sums(targets, count), _Sums(sources, count)
    broad = out_of.counts > _BROAD
    fixed = (columns.kinds != model.OPERATOR) | (partners >= 0)
    inputs = into.of(model.mix((seeds[sources] + _INPUT) ^ salts))
    outputs = out_of.of(model.mix((seeds[targets] + _OUTPUT) ^ salts))
    by_inputs, by_outputs = model.mix(seeds ^ model.mix(inputs)), model.mix(seeds + model.mix(outputs))
    refined = [model.mix(by_inputs + model.mix(outputs))]
    passed_on = seeds
    for _ in range(rounds - 1):
        passed_on = np.where(fixed, seeds, np.where(broad, by_inputs, refined[-1]))
        inputs = into.of(model.mix((passed_on[sources] + _INPUT) ^ salts))
        outputs = out_of.of(model.mix((passed_on[targets] + _OUTPUT) ^ salts))
        refined.append(model.mix(model.mix(refined[-1] ^ model.mix(inputs)) + model.mix(outputs)))
    return Rounds(seeds, by_inputs, by_outputs, refined)


def neighbour_flags(columns: NodeColumns, partners: model.Offsets) -> tuple[model.Flags, model.Flags]:
    """Return [n] True for nodes with a matched input, and [n] True for nodes with a matched user."""
    matched = partners >= 0
    count = len(partners)
    into = np.bincount(columns.targets, weights=matched[columns.sources], minlength=count) > 0
    out_of = np.bincount(columns.sources, weights=matched[columns.targets], minlength=count) > 0
    return into, out_of


class _Sums:
    """Sums of terms for each owner, modulo 2^64. The order of the terms has no effect."""

    def __init__(self, owners: model.Offsets, count: int) -> None:
        self.counts = np.bincount(owners, minlength=count)
        self._order = np.argsort(owners, kind="stable")
        self._ends = np.cumsum(self.counts)

    def of(self, terms: model.Hashes) -> model.Hashes:
        """Return [count] the sum of the terms of each owner."""
        totals = np.concatenate([np.zeros(1, np.uint64), np.cumsum(terms[self._order], dtype=np.uint64)])
        sums: model.Hashes = totals[self._ends] - totals[self._ends - self.counts]
        return sums
