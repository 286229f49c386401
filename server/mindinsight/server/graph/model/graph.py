"""A computational graph in columns: names and types of nodes, edges as pairs of numbers.

Everything else a node has (attributes, shapes, element types) stays in the bytes it came in and is
read for the few nodes somebody looks at (node_details.py).
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
    """``sources[i]`` feeds ``targets[i]``; ordered by target, then as the target lists its inputs."""

    sources: Numbers  # [e]
    targets: Numbers  # [e]
    controls: Flags  # [e] an order, not data

    def __len__(self) -> int:
        return len(self.sources)

    def select(self, chosen: Flags | Offsets) -> Edges:
        return Edges(self.sources[chosen], self.targets[chosen], self.controls[chosen])


@dataclass(frozen=True, slots=True)
class Losses:
    """What the graph refers to and does not hold."""

    nameless: int = 0  # nodes without a type: calls of graphs that are not in the file
    dangling: int = 0  # inputs that name nothing
    unreadable: int = 0  # nodes, parameters or constants whose bytes are no message


@dataclass(frozen=True, eq=False)
class Graph:
    """Nodes in file order: operators first, then parameters, then constants.

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
    losses: Losses = Losses()

    def __len__(self) -> int:
        return len(self.names)

    def message(self, node: int) -> bytes:
        """The bytes of a node: NodeProto, ParameterProto or NamedValueProto, by its kind."""
        return self.payload[self.starts[node] : self.ends[node]]

    def rewired(self, names: tuple[str, ...], order: Offsets, edges: Edges) -> Graph:
        """The graph of the nodes in ``order`` under new ``names`` (one per node kept), with other edges.

        ``edges`` are in the numbers of this graph; those that touch a node left out are left out.
        """
        places = np.full(len(self), -1, dtype=np.int32)
        places[order] = np.arange(len(order), dtype=np.int32)
        edges_left = edges.select((places[edges.sources] >= 0) & (places[edges.targets] >= 0))
        edges_left = Edges(places[edges_left.sources], places[edges_left.targets], edges_left.controls)
        outputs = places[self.outputs]
        return replace(
            self,
            names=names,
            types=tuple(self.types[node] for node in order.tolist()),
            kinds=self.kinds[order],
            edges=edges_left.select(np.argsort(edges_left.targets, kind="stable")),
            outputs=outputs[outputs >= 0],
            starts=self.starts[order],
            ends=self.ends[order],
        )


def scope_of(path: str) -> str:
    """The path of the scope a path lies in; "" is the top."""
    return path.rpartition("/")[0]
