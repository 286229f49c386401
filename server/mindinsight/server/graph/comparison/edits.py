"""Edits that turn one graph into the other, grouped: LayerNorm → RmsNorm × 46, 17-Block removed."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Final, Literal, NamedTuple, TypeAlias

import numpy as np

from mindinsight.server.graph.comparison.compare import (
    CHANGED,
    LEFT,
    ONLY,
    RIGHT,
    Comparison,
    Side,
    input_name,
    inputs_of,
    list_topmost_differences,
)
from mindinsight.server.graph.model.graph import CONSTANT, OPERATOR, PARAMETER, Graph
from mindinsight.server.graph.model.node_details import attribute_summaries, output_of
from mindinsight.server.graph.model.training import BACKWARD
from mindinsight.server.graph.scopes.tree import PLUMBING

Kind: TypeAlias = Literal[
    "rewired", "swapped", "returned", "scope_removed", "scope_added", "replaced", "resized", "retyped",
    "attribute", "constant", "output", "removed", "added", "renamed",
]  # fmt: skip
_KINDS: Final[tuple[Kind, ...]] = (
    "rewired", "swapped", "returned", "scope_removed", "scope_added", "replaced", "resized", "retyped",
    "attribute", "constant", "output", "removed", "added", "renamed",
)  # fmt: skip
_NUMBER: Final = re.compile(r"\d+")
_MOST_DETAILS: Final = 5000  # changed operators whose attributes and inputs are decoded


@dataclass(frozen=True, slots=True)
class Edit:
    """One kind of change and how often it was made."""

    kind: Kind
    subject: str  # what was changed: a type of operators, a parameter, an attribute; "" if that is all
    left: str  # how it is in the left graph; "" if it has none
    right: str
    count: int
    position: tuple[int, int]  # tree indices of the first, -1 for none
    consequence: bool  # whether it is bookkeeping, backward pass or optimizer beside an edit of the network


class _Change(NamedTuple):
    """One change before changes are grouped by their keys."""

    kind: Kind
    key: Hashable
    subject: str
    left: str
    right: str
    position: tuple[int, int]


def list_edits(comparison: Comparison) -> list[Edit]:
    """Group the changes of a comparison: whole scopes first, then by kind, in the order of the graph."""
    groups: dict[Hashable, list[_Change]] = {}
    for change in (
        *_one_sided(comparison),
        *_operators(comparison),
        *_parameters(comparison),
        *_returned(comparison),
    ):
        groups.setdefault((change.kind, change.key), []).append(change)
    edits = [_edit(comparison, changes) for changes in groups.values()]
    if all(edit.consequence for edit in edits):
        edits = [replace(edit, consequence=False) for edit in edits]
    return sorted(edits, key=lambda edit: (edit.consequence, _KINDS.index(edit.kind), max(edit.position)))


def _edit(comparison: Comparison, changes: list[_Change]) -> Edit:
    first = changes[0]
    subject, left, right = (
        _merged(texts)
        for texts in zip(*((change.subject, change.left, change.right) for change in changes), strict=True)
    )
    follows = all(_follows(comparison, change.position) for change in changes)
    return Edit(first.kind, subject, left, right, len(changes), first.position, follows)


def _follows(comparison: Comparison, position: tuple[int, int]) -> bool:
    """Whether a place belongs to bookkeeping, the backward pass or the optimizer."""
    return any(
        index >= 0
        and (
            tree.types[index] in PLUMBING
            or tree.paths[index].startswith(BACKWARD)
            or "optimizer" in tree.paths[index]
        )
        for tree, index in zip(comparison.trees, position, strict=True)
    )


def _merged(texts: Iterable[str]) -> str:
    """The text itself if all are equal; with ``*`` for the numbers in which they differ otherwise."""
    different = set(texts)
    return different.pop() if len(different) == 1 else _NUMBER.sub("*", min(different))


def _one_sided(comparison: Comparison) -> Iterator[_Change]:
    """Yield scopes and operators that only one graph has."""
    side: Side
    for side in (LEFT, RIGHT):
        tree = comparison.trees[side]
        for index in list_topmost_differences(comparison, side):
            if comparison.state(side, index) != ONLY:
                continue
            position = (index, -1) if side == LEFT else (-1, index)
            leaf = tree.is_leaf(index)
            name = tree.types[index] if leaf else "/".join(tree.paths[index].split("/")[-2:])
            texts = (name, "") if side == LEFT else ("", name)
            kind: Kind = ("removed", "added")[side] if leaf else ("scope_removed", "scope_added")[side]
            yield _Change(kind, _NUMBER.sub("*", name), "", *texts, position)


def _operators(comparison: Comparison) -> Iterator[_Change]:
    """Yield the changes of operators that differ themselves."""
    left, right = comparison.trees
    changed = np.flatnonzero((comparison.states[LEFT] == CHANGED) & (left.nodes >= 0))
    rewired = set(comparison.rewired.tolist())
    for index in changed[:_MOST_DETAILS].tolist():
        other = int(comparison.partners[LEFT][index])
        position = index, other
        nodes = int(left.nodes[index]), int(right.nodes[other])
        kinds = left.types[index], right.types[other]
        if kinds[LEFT] != kinds[RIGHT]:
            yield _Change("replaced", kinds, "", *kinds, position)
            continue
        subject = "/".join(left.paths[index].split("/")[-2:])
        if nodes[LEFT] in rewired and (operands := comparison.operands_of(*nodes)):
            yield _Change(
                "swapped", subject, subject, ", ".join(operands[LEFT]), ", ".join(operands[RIGHT]), position
            )
            continue
        if nodes[LEFT] in rewired and (sources := comparison.sources_of(*nodes)):
            names = input_name(left.graph, sources[LEFT]), input_name(right.graph, sources[RIGHT])
            yield _Change("rewired", subject, subject, *names, position)
            continue
        changes = [*_attributes(comparison, nodes, position), *_constants(comparison, nodes, position)]
        yield from changes
        if not changes and not _uses_other_parameters(comparison, nodes):
            texts = output_of(left.graph, nodes[LEFT]).compact, output_of(right.graph, nodes[RIGHT]).compact
            yield _Change("output", (kinds[LEFT], texts), kinds[LEFT], *_types(*texts), position)


def _attributes(
    comparison: Comparison, nodes: tuple[int, int], position: tuple[int, int]
) -> Iterator[_Change]:
    left, right = (
        dict(attribute_summaries(tree.graph, node))
        for tree, node in zip(comparison.trees, nodes, strict=True)
    )
    kind = comparison.trees[LEFT].types[position[LEFT]]
    for name in sorted(left | right):
        texts = left.get(name, ""), right.get(name, "")
        if texts[LEFT] != texts[RIGHT]:
            yield _Change("attribute", (kind, name, texts), f"{kind} {name}", *texts, position)


def _constants(
    comparison: Comparison, nodes: tuple[int, int], position: tuple[int, int]
) -> Iterator[_Change]:
    """Yield inputs that are constants in both graphs and differ."""
    kind = comparison.trees[LEFT].types[position[LEFT]]
    for slot, sources in enumerate(zip_longest(*_sources(comparison, nodes), fillvalue=-1)):
        if min(sources) < 0:
            continue
        left, right = ((tree.graph, source) for tree, source in zip(comparison.trees, sources, strict=True))
        same = comparison.input_ids[LEFT][sources[LEFT]] == comparison.input_ids[RIGHT][sources[RIGHT]]
        if _is(left, CONSTANT) and _is(right, CONSTANT) and not same:
            texts = output_of(*left).text, output_of(*right).text
            yield _Change("constant", (kind, slot, texts), f"{kind}[{slot}]", *texts, position)


def _is(node: tuple[Graph, int], kind: int) -> bool:
    return bool(node[0].kinds[node[1]] == kind)


def _sources(comparison: Comparison, nodes: tuple[int, int]) -> list[list[int]]:
    sources = []
    for tree, node in zip(comparison.trees, nodes, strict=True):
        begin, end = inputs_of(tree.graph, np.array([node], dtype=np.int32))
        sources.append(tree.graph.edges.sources[int(begin[0]) : int(end[0])].tolist())
    return sources


def _uses_other_parameters(comparison: Comparison, nodes: tuple[int, int]) -> bool:
    ids = [
        {
            int(comparison.input_ids[side][source])
            for source in sources
            if comparison.trees[side].graph.kinds[source] != OPERATOR
        }
        for side, sources in enumerate(_sources(comparison, nodes))
    ]
    return ids[LEFT] != ids[RIGHT]


def _parameters(comparison: Comparison) -> Iterator[_Change]:
    """Yield parameters of another shape or type, and those of another name."""
    columns, partners = comparison.matching.columns, comparison.matching.node_partners
    left, right = comparison.trees
    matched = np.flatnonzero((columns.kinds == PARAMETER) & (partners >= 0) & columns.is_left())
    for node in matched.tolist():
        other = int(partners[node]) - columns.left_count
        names = left.graph.names[node], right.graph.names[other]
        if columns.outputs[node] != columns.outputs[partners[node]]:
            texts = output_of(left.graph, node).compact, output_of(right.graph, other).compact
            key = _NUMBER.sub("*", names[LEFT]), texts
            position = _first_users(comparison, node, other)
            kind: Kind = "retyped" if is_retyped(left.graph, node, right.graph, other) else "resized"
            yield _Change(kind, key, names[LEFT], *_types(*texts), position)
        if names[LEFT] != names[RIGHT]:
            yield _Change("renamed", None, "", *names, _first_users(comparison, node, other))


def is_retyped(left: Graph, node: int, right: Graph, other: int) -> bool:
    """Whether the types of elements differ, and the shapes agree."""
    before, after = output_of(left, node), output_of(right, other)
    return before.type != after.type and before.shapes == after.shapes


def _returned(comparison: Comparison) -> Iterator[_Change]:
    """Yield what the graphs return, where that is another value that both have."""
    if returned := comparison.returned():
        nodes = [int(graph.outputs[0]) for graph in comparison.matching.columns.graphs]
        places = [int(tree.leaf_indices[node]) for tree, node in zip(comparison.trees, nodes, strict=True)]
        texts = ", ".join(returned[LEFT]), ", ".join(returned[RIGHT])
        yield _Change("returned", None, "", *texts, (places[LEFT], places[RIGHT]))


def _types(left: str, right: str) -> tuple[str, str]:
    """Both types, the second without its element type where that is the same: float32 2×3, 2×4."""
    element, _, shape = right.partition(" ")
    return left, shape if shape and left.startswith(f"{element} ") else right


def _first_users(comparison: Comparison, left_node: int, right_node: int) -> tuple[int, int]:
    """Tree indices of the first operators that use a parameter."""
    users = []
    for tree, node in zip(comparison.trees, (left_node, right_node), strict=True):
        targets = tree.graph.edges.targets[tree.graph.edges.sources == node]
        users.append(int(tree.leaf_indices[targets[0]]) if len(targets) else -1)
    return users[LEFT], users[RIGHT]
