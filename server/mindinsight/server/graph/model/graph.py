"""Columnar model of a computational graph: names, types, edges, unique paths, and operators of training."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Container, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import count
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from mindinsight.proto.graph_pb2 import NodeProto

OPERATOR: Final = 0
PARAMETER: Final = 1
CONSTANT: Final = 2

PARAMETER_TYPE: Final = "Parameter"
CONSTANT_TYPE: Final = "Const"

Numbers: TypeAlias = npt.NDArray[np.int32]
Offsets: TypeAlias = npt.NDArray[np.int64]
Flags: TypeAlias = npt.NDArray[np.bool_]
Codes: TypeAlias = npt.NDArray[np.uint8]
Hashes: TypeAlias = npt.NDArray[np.uint64]

SPREAD: Final = np.uint64(0x9E3779B97F4A7C15)  # odd, from splitmix64: spreads numbers over 64 bits


@dataclass(frozen=True, slots=True)
class Edges:
    """Edges as columns: ``sources[i]`` feeds ``targets[i]``. Sorted by target, then by input position."""

    sources: Numbers  # [e]
    targets: Numbers  # [e]
    controls: Flags  # [e] True for control edges, which order execution and carry no data

    def __len__(self) -> int:
        return len(self.sources)

    def slots(self) -> Offsets:
        """Return [e] the position of each edge among the inputs of its target."""
        numbers = np.arange(len(self))
        first = np.diff(self.targets, prepend=-1) != 0  # inputs of one target are neighbours
        slots: Offsets = numbers - np.maximum.accumulate(np.where(first, numbers, 0))
        return slots

    def select(self, chosen: Flags | Offsets) -> Edges:
        """Return the edges selected by flags [e] or indices, in that order."""
        return Edges(self.sources[chosen], self.targets[chosen], self.controls[chosen])


@dataclass(frozen=True, slots=True)
class Losses:
    """Counts of missing and unreadable items of a graph."""

    nameless: int = 0  # nodes without a type: calls of graphs that are not in the file
    dangling: int = 0  # inputs that refer to an unknown name
    unreadable: int = 0  # nodes, parameters or constants that cannot be decoded


@dataclass(frozen=True, eq=False)
class Graph:
    """Graph with its nodes in file order: operators first, then parameters, then constants.

    ``names`` are unique. The name of an operator is its path, with scopes separated by slashes. Operators
    refer to parameters and constants by name. ``types`` is "" for a nameless node.
    """

    name: str
    names: tuple[str, ...]  # [n]
    types: tuple[str, ...]  # [n]
    kinds: Codes  # [n] OPERATOR, PARAMETER or CONSTANT
    edges: Edges
    outputs: Numbers  # nodes returned by the graph
    payload: bytes  # the GraphProto
    starts: Offsets  # [n] start of each node's message in the payload
    ends: Offsets  # [n]
    contents: Offsets  # [n, 2] start and end of each node's ``content`` in the payload
    losses: Losses = Losses()

    def __len__(self) -> int:
        return len(self.names)

    def message(self, node: int) -> bytes:
        """Return the serialized message of a node: NodeProto, ParameterProto or NamedValueProto, by its
        kind."""
        return self.payload[self.starts[node] : self.ends[node]]

    def content(self, node: int) -> bytes:
        """Return the serialized attributes and output type of an operator, or the message of a parameter or a
        constant without its name. Equal bytes mean equal contents."""
        begin, end = self.contents[node].tolist()
        return self.payload[begin:end]

    @cached_property
    def content_numbers(self) -> Offsets:
        """Return [n] a number for each node, equal for nodes of one kind with equal ``content``."""
        contents = map(self.payload.__getitem__, map(slice, *self.contents.T.tolist()))
        return number_values(contents) * 3 + self.kinds

    @cached_property
    def hashes(self) -> Hashes:
        """Return [n] a hash of each node, equal for operators of equal type, attributes, output, parameter
        shapes and constants."""
        edges = self.edges
        own = mix((number_values(self.types) << 32 | self.content_numbers).astype(np.uint64) + np.uint64(1))
        salts = mix(edges.slots().astype(np.uint64) + SPREAD)  # apart from ``own``, or the two cancel out
        used = np.flatnonzero(self.kinds[edges.sources] != OPERATOR)
        hashes = own.copy()
        np.add.at(hashes, edges.targets[used], mix(own[edges.sources[used]] ^ salts[used]))
        loaded = np.flatnonzero(flag_values(self.types, {"Load"})[edges.sources])
        with_loads = hashes.copy()
        np.add.at(with_loads, edges.targets[loaded], mix(hashes[edges.sources[loaded]] ^ salts[loaded]))
        return with_loads

    def inputs_of(self, node: int) -> list[int]:
        """Return the nodes that feed a node, in the order of its inputs."""
        ends = np.array([node, node + 1], self.edges.targets.dtype)  # another type would convert all targets
        begin, end = np.searchsorted(self.edges.targets, ends)
        sources: list[int] = self.edges.sources[begin:end].tolist()
        return sources

    def subgraph(self, names: tuple[str, ...], order: Offsets, edges: Edges) -> Graph:
        """Return the subgraph of the nodes in ``order`` with new ``names`` (one per node) and other edges.
        ``edges`` use the node numbers of this graph. Edges with an end outside the subgraph are dropped."""
        indices = np.full(len(self), -1, dtype=np.int32)
        indices[order] = np.arange(len(order), dtype=np.int32)
        edges_left = edges.select((indices[edges.sources] >= 0) & (indices[edges.targets] >= 0))
        edges_left = Edges(indices[edges_left.sources], indices[edges_left.targets], edges_left.controls)
        outputs = indices[self.outputs]
        return replace(
            self,
            names=names,
            types=tuple(self.types[node] for node in order.tolist()),
            kinds=self.kinds[order],
            edges=edges_left.select(np.argsort(edges_left.targets, kind="stable")),
            outputs=outputs[outputs >= 0],
            starts=self.starts[order],
            ends=self.ends[order],
            contents=self.contents[order],
        )


def number_values(values: Iterable[Hashable]) -> Offsets:
    """Return a number from 0 for each value, equal for equal values, in order of first use."""
    numbers: defaultdict[Hashable, int] = defaultdict(count().__next__)
    return np.fromiter(map(numbers.__getitem__, values), np.int64)


def flag_values(values: Sequence[str], chosen: Collection[str]) -> Flags:
    """Return [n] True for each of ``values`` [n] that is among the chosen ones."""
    return np.fromiter(map(chosen.__contains__, values), np.bool_, len(values))


def mix(values: Hashes) -> Hashes:
    """Return values with bits mixed by splitmix64's finalizer: each input bit changes half of the output
    bits."""
    mixed: Hashes = values ^ (values >> np.uint64(30))
    mixed = mixed * np.uint64(0xBF58476D1CE4E5B9)
    mixed = mixed ^ (mixed >> np.uint64(27))
    mixed = mixed * np.uint64(0x94D049BB133111EB)
    shifted: Hashes = mixed >> np.uint64(31)
    return mixed ^ shifted


def scope_of(path: str) -> str:
    """Return the path of the enclosing scope. The root is ""."""
    return path.rpartition("/")[0]


MAX_PATH: Final = 4096  # characters
MAX_DEPTH: Final = 100  # parts
_SUMMARY = re.compile(r"\[:\w+\]$")
_EMPTY_PARTS = re.compile(r"^/+|/+$|(?<=/)/+")


def operator_path(full_name: str, scope: str, op_type: str, number: str) -> str:
    """Return the path of an operator: its full name, or scope/type-opN if it has none. The path may not be
    unique, see ``unique_paths``."""
    if not full_name or (full_name[-1] == "]" and _SUMMARY.search(full_name)):
        full_name = f"{scope}/{op_type or 'call'}-op{number}"
    if "//" in full_name or full_name[0] == "/" or full_name[-1] == "/":
        full_name = _EMPTY_PARTS.sub("", full_name)
    return shorten_path(full_name) if len(full_name) > MAX_DEPTH else full_name


def shorten_path(path: str) -> str:
    """Return a path shortened to MAX_PATH characters and MAX_DEPTH parts. Deeper parts are joined into
    one. Every scope that contains an operator has a path, so the paths of 200 000 nested scopes would take
    gigabytes."""
    if len(path) > MAX_PATH:
        path = f"{path[: MAX_PATH // 2]}…{path[-MAX_PATH // 2 :]}"
    if path.count("/") >= MAX_DEPTH:
        *outer, inner = path.split("/", MAX_DEPTH - 1)
        path = "/".join([*outer, inner.replace("/", "\N{DIVISION SLASH}")])
    return path


def scopes_of(paths: Iterable[str]) -> dict[str, None]:
    """Return all scopes that enclose any of the paths as keys, each after its parent, in order of first
    use."""
    scopes: dict[str, None] = {}
    for innermost in dict.fromkeys(path.rpartition("/")[0] for path in paths):
        scope, opened = innermost, []
        while scope and scope not in scopes:
            opened.append(scope)
            scope = scope.rpartition("/")[0]
        scopes.update(dict.fromkeys(reversed(opened)))
    return scopes


def unique_paths(paths: Sequence[str]) -> list[str]:
    """Return the paths made unique: a path that is also a scope gets parentheses, a repeated one a number."""
    scopes = scopes_of(paths)
    if scopes.keys().isdisjoint(paths) and len(set(paths)) == len(paths):
        return list(paths)
    taken: set[str] = set(scopes)
    numbers: dict[str, int] = {}
    unique = []
    for path in paths:
        before, slash, last = path.rpartition("/")
        name = f"{before}{slash}({last})" if path in scopes else path
        unique.append(free_name(path, taken, numbers) if name in taken else name)
        taken.add(unique[-1])
    return unique


def free_name(path: str, taken: Container[str], numbers: dict[str, int]) -> str:
    """Return ``path`` with the first number appended, from ``#2`` on, that is not in ``taken``.
    ``numbers`` holds the next number to try for each path, and is updated."""
    number = numbers.get(path, 2)
    while (name := f"{path}#{number}") in taken:
        number += 1
    numbers[path] = number + 1
    return name


BACKWARD: Final = "Gradients"  # beginning of the paths of the backward pass


def training_operators(graph: Graph) -> Flags:
    """Return [n] True for operators of the backward pass and of the optimizer."""
    flags = np.array([name.startswith(BACKWARD) or "optimizer" in name for name in graph.names], np.bool_)
    offsets = np.array([match.start() for match in re.finditer(b"opt", graph.payload)], np.int64)
    order = np.argsort(graph.starts)
    places = np.searchsorted(graph.starts, offsets, "right", sorter=order)
    for node in np.unique(order[places[places > 0] - 1]).tolist():
        if graph.kinds[node] == OPERATOR:
            flags[node] |= "opt" in NodeProto.FromString(graph.message(node)).instance_name
    operators: Flags = graph.kinds == OPERATOR
    return flags & operators


def has_training(graph: Graph) -> bool:
    """Return True if a graph has a backward pass and also a forward pass."""
    operators = [
        name for name, kind in zip(graph.names, graph.kinds.tolist(), strict=True) if kind == OPERATOR
    ]
    backward = sum(name.startswith(BACKWARD) for name in operators)
    return 0 < backward < len(operators)
