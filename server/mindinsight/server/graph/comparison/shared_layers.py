"""Uses of weights that the layers of one graph share, and those of the other graph have for themselves."""

import re
from dataclasses import replace
from typing import Final, TypeAlias

import numpy as np

from mindinsight.server.graph.comparison.node_labels import NodeColumns
from mindinsight.server.graph.model.graph import PARAMETER, Offsets

Use: TypeAlias = tuple[int, int]  # node of a parameter, and index of the edge to the operator that uses it

LAYER: Final = re.compile(r"(?<![^.])\d+(?=\.)")  # of a layer: a whole part of a name


def separate_uses(columns: NodeColumns, partners: Offsets) -> tuple[NodeColumns, Offsets]:
    """Return columns in which each use of a shared weight has a source of its own, and further sources.

    If one graph uses ``blocks.0.w`` for each of its layers, and the other ``blocks.0.w``, ``blocks.1.w`` and
    so on, once each, the uses are counted in file order. The further sources are the weights without a
    partner, which become sources of the edges in both graphs. Weights that are also read by a backward pass,
    or by a Load, are left.
    """
    uses = _uses_by_pattern(columns)
    sources = columns.sources.copy()
    alone: set[int] = set()
    for side in (0, 1):
        for pattern, own in uses[side].items():
            other = uses[1 - side].get(pattern, [])
            nodes = [node for node, _ in own]
            used = {node for node, _ in other}
            whole = len(set(nodes)) == len(nodes) > len(used)
            if not whole or len(used) == len(other) or used.isdisjoint(partners[nodes].tolist()):
                continue
            for node, (_, edge) in zip(nodes, other, strict=False):
                partner = int(partners[node])
                sources[edge] = partner if partner >= 0 else node
                alone.update([node] if partner < 0 else ())
    return replace(columns, sources=sources), np.array(sorted(alone), dtype=np.int64)


def _uses_by_pattern(columns: NodeColumns) -> tuple[dict[str, list[Use]], dict[str, list[Use]]]:
    """Return the uses of the weights of layers in each graph, in file order, by the name without numbers."""
    names = [name for graph in columns.graphs for name in graph.names]
    uses: tuple[dict[str, list[Use]], dict[str, list[Use]]] = {}, {}
    for edge in np.flatnonzero(columns.kinds[columns.sources] == PARAMETER).tolist():
        node = int(columns.sources[edge])
        pattern, layers = LAYER.subn("*", names[node])
        if layers:
            uses[node >= columns.left_count].setdefault(pattern, []).append((node, edge))
    return uses
