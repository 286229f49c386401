"""Parameters of two networks whose names differ everywhere, matched by what uses them and by their shapes."""

import re
from collections.abc import Hashable, Iterator
from typing import Final, TypeAlias

from mindinsight.server.graph.comparison.node_labels import NodeColumns, of_types

Names: TypeAlias = dict[str, int]  # node of each parameter, counted over both graphs
Pattern: TypeAlias = dict[tuple[str, ...], str]  # names of one pattern by their numbers
Uses: TypeAlias = frozenset[tuple[int, int]]  # types of the users and the position there

_NUMBER: Final = re.compile(r"(?<![^.])\d+(?![^.])")  # a number that is a whole part of a name


def rename_by_use(columns: NodeColumns, left: Names, right: Names) -> dict[str, str]:
    """Return names of the right graph by names of the left for patterns of names that are used alike.

    A pattern, ``blocks.*.fc.weight``, stands for the names that differ in the number of a layer. Patterns of
    the same uses and shapes are matched in file order if both graphs have as many of them, then the rest of
    the same uses. Of two patterns, layers of equal number are matched, or the first with the first if they
    are not counted alike.
    """
    uses = _uses_of(columns)
    sides = [_patterns(names) for names in (left, right)]
    renamed: dict[str, str] = {}
    for shapes in (True, False):
        groups: tuple[dict[Hashable, list[str]], ...] = ({}, {})
        for patterns, names, group in zip(sides, (left, right), groups, strict=True):
            for pattern, members in patterns.items():
                nodes = [names[name] for name in members.values()]
                used = frozenset().union(*(uses.get(node, frozenset()) for node in nodes))
                outputs = frozenset(int(columns.outputs[node]) for node in nodes) if shapes else None
                if used:
                    group.setdefault((used, outputs, "*" in pattern), []).append(pattern)
        for key, lefts in groups[0].items():
            rights = groups[1].get(key, [])
            for before, after in zip(lefts, rights, strict=True) if len(lefts) == len(rights) else ():
                renamed.update(_layers(sides[0].pop(before), sides[1].pop(after)))
    return renamed


def _uses_of(columns: NodeColumns) -> dict[int, Uses]:
    """Return the types of the operators that use each node, directly or by a Load, with the positions."""
    loads = of_types(columns, {"Load"})
    edges = list(zip(columns.sources.tolist(), columns.targets.tolist(), columns.slots.tolist(), strict=True))
    loaded = {target: source for source, target, slot in edges if loads[target] and slot == 0}
    uses: dict[int, set[tuple[int, int]]] = {}
    for source, target, slot in edges:
        if not loads[target]:
            uses.setdefault(loaded.get(source, source), set()).add((int(columns.types[target]), slot))
    return {node: frozenset(own) for node, own in uses.items()}


def _patterns(names: Names) -> dict[str, Pattern]:
    """Return the names by pattern, in file order."""
    patterns: dict[str, Pattern] = {}
    for name in sorted(names, key=names.__getitem__):
        patterns.setdefault(_NUMBER.sub("*", name), {})[tuple(_NUMBER.findall(name))] = name
    return patterns


def _layers(left: Pattern, right: Pattern) -> Iterator[tuple[str, str]]:
    """Yield the pairs of names of two patterns."""
    if left.keys() <= right.keys() or right.keys() <= left.keys():
        yield from ((name, right[numbers]) for numbers, name in left.items() if numbers in right)
    else:
        yield from zip(left.values(), right.values(), strict=False)
