"""Edits of modules: replaced by another class, wrapped, added, removed or renamed, by the names of scopes.

A scope of a module is named by its attribute and class: ``ln1-LayerNorm``. Scopes without a class say nothing
about modules.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias, get_args

import numpy as np

from mindinsight.server.claims import Claim, few
from mindinsight.server.graph.comparison.graph_comparison import (
    CHANGED,
    LEFT,
    ONLY,
    RIGHT,
    Comparison,
    Side,
)
from mindinsight.server.graph.comparison.tree_matching import scopes_in
from mindinsight.server.graph.model.graph import BACKWARD, PARAMETER, Flags
from mindinsight.server.graph.scopes.folding import number_pattern
from mindinsight.server.graph.scopes.scope_tree import ROOT, SCOPE, Tree

Kind: TypeAlias = Literal["replaced", "wrapped", "unwrapped", "added", "removed"]

_KINDS: Final[tuple[Kind, ...]] = get_args(Kind)  # in the order of a list
_NUMBER: Final = re.compile(r"\d+")
_NAMED: Final = 3  # places or modules that one sentence names
_RENAMES: Final = 4  # names that one sentence shows
_OWN: Final = 0.5  # share of equal operators above which a scope of another name is the same one
_FOREIGN: Final = 0.25  # share of operators without a partner above which it is not


@dataclass(frozen=True, slots=True)
class ModuleEdit:
    """Module that another one replaces or wraps, or that only one graph has."""

    kind: Kind
    scopes: tuple[int, int]  # index of the module in each tree, -1 for none
    nodes: tuple[frozenset[int], frozenset[int]]  # operators of each graph that the edit explains
    sizes: tuple[int, int]  # operators of the forward pass in each module


def split_name(path: str) -> tuple[str, str]:
    """Return the attribute and the class in the name of a scope, both "" if it has no class."""
    attribute, _, class_name = path.rpartition("/")[2].rpartition("-")
    return (attribute, class_name) if attribute and class_name else ("", "")


def find_module_edits(
    comparison: Comparison, forward: list[Flags], explained: tuple[set[int], ...]
) -> list[ModuleEdit]:
    """Return the edits of modules in matched scopes, by kind and in the order of the left graph.

    ``forward`` flags the operators of the forward pass of each graph, and ``explained`` are those that other
    claims name. An edit is left out if it concerns no other operator, and so is a replaced module if it
    differs only in the type of one operator.
    """
    edits = []
    for left_scope, right_scope in matched_scopes(comparison):
        lefts, rights = modules_in(comparison, LEFT, left_scope), modules_in(comparison, RIGHT, right_scope)
        for attribute, left in lefts.items():
            right = rights.get(attribute, -1)
            kind = _kind_of(comparison, left, right)
            edits.append((kind, left, right))
        edits += [
            (_kind_of(comparison, -1, right), -1, right)
            for attribute, right in rights.items()
            if attribute not in lefts
        ]
    shown = []
    for kind, left, right in sorted(edits, key=lambda edit: max(edit[1:])):
        if kind is not None:
            nodes = _explained_nodes(comparison, forward, (left, right))
            counts = [len(own - known) for own, known in zip(nodes, explained, strict=True)]
            if any(counts) and not _is_one_type(comparison, kind, nodes):
                sizes = _size(comparison, LEFT, left, forward), _size(comparison, RIGHT, right, forward)
                shown.append(ModuleEdit(kind, (left, right), nodes, sizes))
    return sorted(shown, key=lambda edit: _KINDS.index(edit.kind))


def _size(comparison: Comparison, side: Side, index: int, forward: list[Flags]) -> int:
    tree = comparison.trees[side]
    nodes = tree.nodes[max(index, 0) : int(tree.ends[index]) if index >= 0 else 0]
    return int(np.count_nonzero(forward[side][nodes[nodes >= 0]]))


def matched_scopes(comparison: Comparison) -> Iterator[tuple[int, int]]:
    """Yield (left, right) indices of the matched scopes outside the backward pass and the optimizer."""
    left = comparison.trees[LEFT]
    for index, path in enumerate(left.paths):
        partner = int(comparison.partners[LEFT][index])
        scope = index == ROOT or left.types[index] == SCOPE
        if scope and partner >= 0 and not path.startswith(BACKWARD) and "optimizer" not in path:
            yield index, partner


def modules_in(comparison: Comparison, side: Side, scope: int) -> dict[str, int]:
    """Return the modules directly in a scope by attribute, without numbered layers and repeated names."""
    tree = comparison.trees[side]
    modules: dict[str, list[int]] = {}
    for child in scopes_in(tree, scope):
        attribute, _ = split_name(tree.paths[child])
        if attribute and not attribute.isdigit():
            modules.setdefault(attribute, []).append(child)
    return {attribute: scopes[0] for attribute, scopes in modules.items() if len(scopes) == 1}


def _kind_of(comparison: Comparison, left: int, right: int) -> Kind | None:
    """Return the kind of edit between two modules of one attribute, -1 for a missing one, or None if
    unknown."""
    trees, partners = comparison.trees, comparison.partners
    if min(left, right) < 0:
        side: Side = LEFT if right < 0 else RIGHT
        index = max(left, right)
        if partners[side][index] >= 0 or is_layer(comparison, side, index):
            return None
        counts = comparison.box_counts(side, index)
        return ("removed", "added")[side] if 2 * counts.only > counts.operators else None
    if split_name(trees[LEFT].paths[left])[1] == split_name(trees[RIGHT].paths[right])[1]:
        return None
    inner = int(partners[LEFT][left]), int(partners[RIGHT][right])
    if right < inner[LEFT] < trees[RIGHT].ends[right]:
        return "wrapped" if _same_class(comparison, left, inner[LEFT]) else None
    if left < inner[RIGHT] < trees[LEFT].ends[left]:
        return "unwrapped" if _same_class(comparison, inner[RIGHT], right) else None
    if inner[LEFT] not in (-1, right) or inner[RIGHT] not in (-1, left):
        return None
    shared = modules_in(comparison, LEFT, left).keys() & modules_in(comparison, RIGHT, right).keys()
    return None if shared else "replaced"  # of modules with equal parts, these parts are compared


def _same_class(comparison: Comparison, left: int, right: int) -> bool:
    names = (tree.paths[index] for tree, index in zip(comparison.trees, (left, right), strict=True))
    before, after = (split_name(name)[1] for name in names)
    return before == after


def _explained_nodes(
    comparison: Comparison, forward: list[Flags], scopes: tuple[int, int]
) -> tuple[frozenset[int], frozenset[int]]:
    """Return the operators of two modules that differ: only in one graph, or changed within both modules."""
    sides: list[frozenset[int]] = []
    for side, index in enumerate(scopes):
        tree, states = comparison.trees[side], comparison.states[side]
        other, end = scopes[1 - side], int(tree.ends[index]) if index >= 0 else -1
        opposite = comparison.trees[1 - side]
        nodes = set()
        for leaf in range(max(index, 0), end):
            partner = int(comparison.partners[side][leaf])
            inside = other >= 0 and other < partner < opposite.ends[other]
            if states[leaf] == ONLY or (states[leaf] == CHANGED and inside):
                nodes.add(int(tree.nodes[leaf]))
        sides.append(frozenset(node for node in nodes if node >= 0 and forward[side][node]))
    return sides[LEFT], sides[RIGHT]


def _is_one_type(comparison: Comparison, kind: Kind, nodes: tuple[frozenset[int], ...]) -> bool:
    """Return True if two modules differ in one matched operator only, which a claim about types names."""
    if kind != "replaced" or len(nodes[LEFT]) != 1 or len(nodes[RIGHT]) != 1:
        return False
    left = comparison.trees[LEFT]
    return bool(comparison.partners[LEFT][left.leaf_indices[next(iter(nodes[LEFT]))]] >= 0)


def module_claims(comparison: Comparison, edits: list[ModuleEdit]) -> Iterator[Claim]:
    """Yield one claim for each group of edits of the same kind and classes. Added or removed modules of one
    group also have the same name."""
    groups: dict[tuple[str, ...], list[ModuleEdit]] = {}
    for edit in edits:
        names = [
            split_name(tree.paths[index]) if index >= 0 else ("", "")
            for tree, index in zip(comparison.trees, edit.scopes, strict=True)
        ]
        classes = names[LEFT][1], names[RIGHT][1]
        alone = "-".join(names[edit.kind == "added"]) if edit.kind in ("added", "removed") else ""
        groups.setdefault((edit.kind, *classes, alone), []).append(edit)
    for (kind, before, after, alone), members in groups.items():
        evidence = tuple(
            {name: index for name, index in zip(("left", "right"), edit.scopes, strict=True) if index >= 0}
            for edit in members
        )
        operators = [
            sum(edit.sizes[side] if kind == "replaced" else len(edit.nodes[side]) for edit in members)
            for side in (LEFT, RIGHT)
        ]
        values: dict[str, Any] = {"before": before, "after": after, "n": len(members)}
        if alone:
            values = {"module": alone, "where": _where(comparison, members), "n": max(operators)}
        else:
            side = LEFT if kind != "unwrapped" else RIGHT
            tree = comparison.trees[side]
            name = _module_path if len(members) == 1 else lambda path: split_name(path)[0]
            parts = dict.fromkeys(name(tree.paths[edit.scopes[side]]) for edit in members)
            values |= {
                "modules": few(list(parts), _NAMED),
                "left": operators[LEFT],
                "right": operators[RIGHT],
            }
        yield Claim(f"claim.graph.module_{kind}", "found", values, evidence)


def _module_path(path: str) -> str:
    """Return the path of a module without classes: blocks.4.norm of Default/blocks-List/4-Block/norm-Norm."""
    return ".".join(split_name(part)[0] for part in path.split("/")[1:]) or path


def _where(comparison: Comparison, edits: list[ModuleEdit]) -> list[str] | Claim:
    """Return the names of the scopes that contain the edited modules, or the number of modules if they are
    many."""
    if len(edits) > _NAMED:
        return Claim("claim.part.graph.places", "note", {"n": len(edits)})
    side: Side = LEFT if edits[0].scopes[RIGHT] < 0 else RIGHT
    paths = [comparison.trees[side].paths[edit.scopes[side]].split("/") for edit in edits]
    return [path[-2] if len(path) > 1 else path[-1] for path in paths]


def renames(comparison: Comparison) -> Iterator[Claim]:
    """Yield a claim about scopes and parts of parameter names that are consistently renamed."""
    pairs = [*_scope_names(comparison), *_parameter_names(comparison)]
    targets: dict[str, set[str]] = {}
    sources: dict[str, set[str]] = {}
    for before, after in pairs:
        targets.setdefault(before, set()).add(after)
        sources.setdefault(after, set()).add(before)
    patterns: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for before, after in dict.fromkeys(pairs):
        if len(targets[before]) == len(sources[after]) == 1:
            key = _NUMBER.sub("*", before), _NUMBER.sub("*", after)
            patterns.setdefault(key, []).append((before, after))
    names = [
        " → ".join(members[0] if len(members) == 1 else key)
        for key, members in patterns.items()
        if key[0] != key[1]
    ]
    if names:
        yield Claim("claim.graph.renames", "note", {"n": len(names), "names": few(names, _RENAMES)})


def _scope_names(comparison: Comparison) -> Iterator[tuple[str, str]]:
    """Yield the attributes and classes of matched scopes, without scopes that are mostly different."""
    left, right = comparison.trees
    replaced = np.zeros(len(left.paths), dtype=np.bool_)
    for leaf in np.flatnonzero((comparison.states[LEFT] == CHANGED) & (left.nodes >= 0)).tolist():
        replaced[leaf] = left.types[leaf] != right.types[comparison.partners[LEFT][leaf]]
    for index, other in matched_scopes(comparison):
        before, after = split_name(left.paths[index]), split_name(right.paths[other])
        around = comparison.partners[LEFT][_scope_around(left, index)], _scope_around(right, other)
        if not (all(before) and all(after)) or around[LEFT] != around[RIGHT]:
            continue
        if before[0] != after[0] and before[1] != after[1]:
            before, after = ("-".join(before), ""), ("-".join(after), "")
        counts = [comparison.box_counts(LEFT, index), comparison.box_counts(RIGHT, other)]
        same = not replaced[index : int(left.ends[index])].any() and all(
            count.operators - count.changed - count.only > _OWN * count.operators
            and count.only <= _FOREIGN * count.operators
            for count in counts
        )
        yield from (
            names for names in zip(before, after, strict=True) if names[0] and (same or names[0] == names[1])
        )


def _scope_around(tree: Tree, index: int) -> int:
    """Return the parent scope of a scope, skipping boxes made by folding."""
    index = int(tree.parents[index])
    while index > ROOT and tree.types[index] != SCOPE:
        index = int(tree.parents[index])
    return max(index, ROOT)


def _parameter_names(comparison: Comparison) -> Iterator[tuple[str, str]]:
    """Yield pairs of the dotted parts of matched parameters' names, if both names have equally many parts."""
    columns, partners = comparison.matching.columns, comparison.matching.node_partners
    left, right = columns.graphs
    for node in np.flatnonzero((columns.kinds == PARAMETER) & (partners >= 0) & columns.is_left()).tolist():
        before, after = left.names[node], right.names[int(partners[node]) - columns.left_count]
        parts = before.split("."), after.split(".")
        if "." in before and len(parts[LEFT]) == len(parts[RIGHT]):
            yield from zip(*parts, strict=True)


def layer_claims(comparison: Comparison) -> Iterator[Claim]:
    """Yield claims about the numbered scopes that only one graph has, outside the backward pass."""
    side: Side
    for side, key in ((LEFT, "claim.graph.layers_removed"), (RIGHT, "claim.graph.layers_added")):
        tree = comparison.trees[side]
        layers: list[int] = []
        end = 0
        for index in range(1, len(tree.paths)):
            name = tree.paths[index].rpartition("/")[2]
            if index < end or tree.is_leaf(index) or tree.paths[index].startswith(BACKWARD) or "[" in name:
                continue
            if comparison.state(side, index) == ONLY and is_layer(comparison, side, index):
                end = int(tree.ends[index])
                layers.append(index)
        if layers:
            names = [_from_layer(tree.paths[index]) for index in layers]
            evidence = tuple({("left", "right")[side]: index} for index in layers)
            yield Claim(key, "found", {"n": len(layers), "layers": names[:10]}, evidence)


def _from_layer(path: str) -> str:
    """Return a path from its outermost numbered layer on, or its last part: ``2-Block/ln1-LayerNorm``."""
    scopes = path.split("/")
    first = next((i for i, scope in enumerate(scopes) if _NUMBER.match(scope)), -1)
    return "/".join(scopes[first:])


def in_lonely_layer(comparison: Comparison, side: Side, index: int) -> bool:
    """Return True if an operator is in a layer that the other graph does not have."""
    tree = comparison.trees[side]
    return any(
        "[" not in tree.paths[scope].rpartition("/")[2]
        and comparison.state(side, scope) == ONLY
        and is_layer(comparison, side, scope)
        for scope in tree.ancestors(index)
    )


def is_layer(comparison: Comparison, side: Side, scope: int) -> bool:
    """Return True if a scope is numbered: at the start of its name, or like another scope next to it."""
    tree = comparison.trees[side]
    outer, _, name = tree.paths[scope].rpartition("/")
    if _NUMBER.match(name):
        return True
    pattern = number_pattern(name)
    if "*" not in pattern or tree.types[scope] != SCOPE:
        return False
    return any(
        path.startswith(f"{outer}/")
        and path != tree.paths[scope]
        and number_pattern(path) == pattern
        and path.rpartition("/")[0] == outer
        for path in _scope_paths(comparison.trees)
    )


def _scope_paths(trees: Iterable[Tree]) -> Iterator[str]:
    for tree in trees:
        yield from (path for path, kind in zip(tree.paths, tree.types, strict=True) if kind == SCOPE)
