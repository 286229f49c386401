"""Columnar model of a computational graph: names and types of nodes, edges as pairs of node numbers.

Everything else (attributes, shapes, element types) stays in the serialized bytes and is decoded for the few
nodes that are displayed (node_details.py).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

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
