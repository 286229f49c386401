"""Structure hashes of scopes: equal for scopes that hold the same operators in scopes of the same structure.

Neither the order of operators nor numbers in names count, nor operators that only pass values on: the layers
of one network differ in these.
"""

from __future__ import annotations

import re
from typing import Final

from mindinsight.server.graph.scopes.tree import PLUMBING, ROOT, Tree

_NUMBER: Final = re.compile(r"\d+")


def signatures_of(tree: Tree, named: bool = True) -> list[int]:
    """[t] number of the structure of each index; equal numbers mean equal structures, -1 stands for plumbing.

    With ``named`` false, scopes of other names may have the same structure.
    """
    numbers: dict[object, int] = {}
    inside: list[list[int]] = [[] for _ in tree.paths]
    signatures = [-1] * len(tree.paths)
    parents, nodes = tree.parents.tolist(), tree.nodes.tolist()
    for index in range(len(tree.paths) - 1, ROOT, -1):
        kind = tree.types[index]
        if nodes[index] >= 0 and kind in PLUMBING:
            continue
        structure: object = kind
        if nodes[index] < 0:
            structure = (number_pattern(tree.paths[index]) if named else "", *sorted(inside[index]))
        signatures[index] = numbers.setdefault(structure, len(numbers))
        inside[parents[index]].append(signatures[index])
    return signatures


def identical_scopes(tree: Tree, index: int) -> list[int]:
    """Other scopes of the structure of a scope, and of its name but for numbers; ascending."""
    signatures = signatures_of(tree)
    return [
        other
        for other, signature in enumerate(signatures)
        if signature == signatures[index] and other != index and tree.nodes[other] < 0
    ]


def number_pattern(path: str) -> str:
    """Name of a scope with its numbers replaced by asterisks: ``*-Block``."""
    return _NUMBER.sub("*", path.rpartition("/")[2])
