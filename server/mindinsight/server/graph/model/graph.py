"""Columnar model of a computational graph: names, types, edges, unique paths, and operators of training."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
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


@dataclass(frozen=True, slots=True)
class Edges:
    """Edges as columns: ``sources[i]`` feeds ``targets[i]``; sorted by target, then by input position."""

    sources: Numbers  # [e]
    targets: Numbers  # [e]
    controls: Flags  # [e] whether it is a control edge: execution order, no data

    def __len__(self) -> int:
        return len(self.sources)

    def select(self, chosen: Flags | Offsets) -> Edges:
        """Edges selected by flags [e] or indices, in that order."""
        return Edges(self.sources[chosen], self.targets[chosen], self.controls[chosen])


@dataclass(frozen=True, slots=True)
class Losses:
    """Counts of what is missing from a graph or could not be read."""

    nameless: int = 0  # nodes without a type: calls of graphs that are not in the file
    dangling: int = 0  # inputs that refer to an unknown name
    unreadable: int = 0  # nodes, parameters or constants whose bytes cannot be decoded


@dataclass(frozen=True, eq=False)
class Graph:
    """A graph with its nodes in file order: operators first, then parameters, then constants.

    ``names`` are unique. An operator's is its path, scopes separated by slashes; a parameter's and a
    constant's is the name by which operators refer to it. ``types`` is "" for a nameless node.
    """

    name: str
    names: tuple[str, ...]  # [n]
    types: tuple[str, ...]  # [n]
    kinds: Codes  # [n] OPERATOR, PARAMETER or CONSTANT
    edges: Edges
    outputs: Numbers  # nodes whose values the graph returns
    payload: bytes  # the GraphProto
    starts: Offsets  # [n] where each node's message begins in the payload
    ends: Offsets  # [n]
    contents: Offsets  # [n, 2] begin and end of an operator's attributes and output type in the payload
    losses: Losses = Losses()

    def __len__(self) -> int:
        return len(self.names)

    def message(self, node: int) -> bytes:
        """Serialized message of a node: NodeProto, ParameterProto or NamedValueProto, by its kind."""
        return self.payload[self.starts[node] : self.ends[node]]

    def content(self, node: int) -> bytes:
        """Serialized attributes and output type of an operator; equal bytes mean equal contents."""
        begin, end = self.contents[node].tolist()
        return self.payload[begin:end]

    def subgraph(self, names: tuple[str, ...], order: Offsets, edges: Edges) -> Graph:
        """The subgraph of the nodes in ``order`` with new ``names`` (one per node) and other edges.

        ``edges`` use the node numbers of this graph; those with an end outside the subgraph are dropped.
        """
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


def scope_of(path: str) -> str:
    """Path of the enclosing scope; "" is the root."""
    return path.rpartition("/")[0]


MAX_PATH: Final = 4096  # characters
MAX_DEPTH: Final = 100  # parts
_SUMMARY = re.compile(r"\[:\w+\]$")
_EMPTY_PARTS = re.compile(r"^/+|/+$|(?<=/)/+")


def operator_path(full_name: str, scope: str, op_type: str, number: str) -> str:
    """Path of an operator from its recorded names; not yet unique."""
    if not full_name or (full_name[-1] == "]" and _SUMMARY.search(full_name)):
        full_name = f"{scope}/{op_type or 'call'}-op{number}"
    if "//" in full_name or full_name[0] == "/" or full_name[-1] == "/":
        full_name = _EMPTY_PARTS.sub("", full_name)
    return shorten_path(full_name)


def shorten_path(path: str) -> str:
    """Shorten a path to MAX_PATH characters and MAX_DEPTH parts; the deeper parts are joined into one.

    Every scope around an operator has its own path: those of 200 000 nested scopes would take gigabytes.
    """
    if len(path) > MAX_PATH:
        path = f"{path[: MAX_PATH // 2]}…{path[-MAX_PATH // 2 :]}"
    if path.count("/") >= MAX_DEPTH:
        *outer, inner = path.split("/", MAX_DEPTH - 1)
        path = "/".join([*outer, inner.replace("/", "\N{DIVISION SLASH}")])
    return path


def scopes_of(paths: Iterable[str]) -> dict[str, None]:
    """All scopes that enclose any of the paths, each after its parent, in order of first use."""
    scopes: dict[str, None] = {}
    for innermost in dict.fromkeys(path.rpartition("/")[0] for path in paths):
        scope, opened = innermost, []
        while scope and scope not in scopes:
            opened.append(scope)
            scope = scope.rpartition("/")[0]
        scopes.update(dict.fromkeys(reversed(opened)))
    return scopes


def unique_paths(paths: Sequence[str]) -> list[str]:
    """Make paths unique: a path that is also a scope gets parentheses, a repeated one a number."""
    scopes = scopes_of(paths)
    if not (any(path in scopes for path in paths) or len(set(paths)) < len(paths)):
        return list(paths)
    taken: set[str] = set(scopes)
    unique = []
    numbers: dict[str, int] = {}  # the next number of each repeated path
    for path in paths:
        name = path
        if name in scopes:
            before, slash, last = path.rpartition("/")
            name = f"{before}{slash}({last})"
        if name in taken:
            again = numbers.get(path, 2)
            while (name := f"{path}#{again}") in taken:
                again += 1
            numbers[path] = again + 1
        taken.add(name)
        unique.append(name)
    return unique


BACKWARD: Final = "Gradients"  # begin of the paths of the backward pass


def training_operators(graph: Graph) -> Flags:
    """[n] flags of operators of the backward pass and of the optimizer."""
    return np.array(
        [
            kind == OPERATOR
            and (name.startswith(BACKWARD) or "optimizer" in name or _is_optimizer(graph, node))
            for node, (name, kind) in enumerate(zip(graph.names, graph.kinds.tolist(), strict=True))
        ],
        dtype=np.bool_,
    )


def has_training(graph: Graph) -> bool:
    """Whether a graph holds a backward pass, and a forward pass besides."""
    operators = [
        name for name, kind in zip(graph.names, graph.kinds.tolist(), strict=True) if kind == OPERATOR
    ]
    backward = sum(name.startswith(BACKWARD) for name in operators)
    return 0 < backward < len(operators)


def _is_optimizer(graph: Graph, node: int) -> bool:
    message = graph.message(node)
    return b"opt" in message and "opt" in NodeProto.FromString(message).instance_name
