"""Structure hashes of scopes: equal for scopes of the same operators, wired in the same way.

Operators are equal in type, attributes, outputs, and in the shapes of the parameters and the constants that
they use. Neither the order in the file counts, nor numbers in names, nor operators that only pass values on.
"""

from __future__ import annotations

import re
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from mindinsight.server.graph.model.graph import OPERATOR, Graph
from mindinsight.server.graph.scopes.sibling_flow import SiblingFlow, sibling_flow
from mindinsight.server.graph.scopes.tree import PLUMBING, ROOT, Tree

_NUMBER: Final = re.compile(r"\d+")
_SPREAD: Final = np.uint64(0x9E3779B97F4A7C15)  # odd, from splitmix64: spreads numbers over 64 bits

_Hashes = npt.NDArray[np.uint64]


def signatures_of(tree: Tree, flow: SiblingFlow | None = None) -> list[int]:
    """[t] number of the structure of each index, equal for equal structures; -1 for plumbing."""
    operators = operator_codes(tree)
    wiring = _wiring(tree, flow or sibling_flow(tree), operators).tolist()
    numbers: dict[object, int] = {}
    inside: list[list[int]] = [[] for _ in tree.paths]
    signatures = [-1] * len(tree.paths)
    parents, nodes, codes = tree.parents.tolist(), tree.nodes.tolist(), operators.tolist()
    for index in range(len(tree.paths) - 1, ROOT, -1):
        structure: object = codes[index]
        if nodes[index] < 0:
            structure = (number_pattern(tree.paths[index]), wiring[index], *sorted(inside[index]))
        elif tree.types[index] in PLUMBING:
            continue
        signatures[index] = numbers.setdefault(structure, len(numbers))
        inside[parents[index]].append(signatures[index])
    return signatures


def operator_codes(tree: Tree) -> _Hashes:
    """[t] code of each operator, equal for equal type, attributes, output, parameter shapes, constants."""
    graph = tree.graph
    spans, payload = graph.contents.tolist(), graph.payload
    known: dict[Any, int] = {}
    outer = np.flatnonzero(graph.kinds != OPERATOR).tolist()
    own = np.zeros(len(graph), dtype=np.uint64)
    own[outer] = [known.setdefault(unnamed(graph, node), len(known)) for node in outer]
    operators = np.flatnonzero(graph.kinds == OPERATOR).tolist()
    own[operators] = [
        known.setdefault((graph.types[node], payload[spans[node][0] : spans[node][1]]), len(known))
        for node in operators
    ]
    own = _mix(own + np.uint64(1))
    edges = graph.edges
    slots = np.arange(len(edges)) - np.searchsorted(edges.targets, edges.targets)
    salts = _mix(slots.astype(np.uint64))
    used = np.flatnonzero(graph.kinds[edges.sources] != OPERATOR)
    codes = own.copy()
    np.add.at(codes, edges.targets[used], _mix(own[edges.sources[used]] ^ salts[used]))
    loads = np.array([kind == "Load" for kind in graph.types], dtype=np.bool_)
    loaded = np.flatnonzero(loads[edges.sources])
    with_loads = codes.copy()
    np.add.at(with_loads, edges.targets[loaded], _mix(codes[edges.sources[loaded]] ^ salts[loaded]))
    result: _Hashes = np.where(tree.nodes >= 0, with_loads[tree.nodes], np.uint64(0))
    return result


def unnamed(graph: Graph, node: int) -> bytes:
    """Bytes of a parameter or a constant without its name, which its message begins with."""
    message = graph.message(node)
    if len(message) > 1 and message[0] == 1 << 3 | 2 and message[1] < 0x80:
        return message[2 + message[1] :]
    return message


def _wiring(tree: Tree, flow: SiblingFlow, operators: _Hashes) -> _Hashes:
    """[t] hash of the edges of which a scope is the innermost around both ends."""
    terms = _mix(
        _mix(operators[flow.sources] + _SPREAD) ^ (operators[flow.targets] + flow.slots.astype(np.uint64))
    )
    sums = np.zeros(len(tree.paths), dtype=np.uint64)
    np.add.at(sums, flow.scopes, terms)
    return sums


def _mix(values: _Hashes) -> _Hashes:
    mixed: _Hashes = (values ^ (values >> np.uint64(31))) * _SPREAD
    shifted: _Hashes = mixed >> np.uint64(29)
    return mixed ^ shifted


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


def common_pattern(names: list[str]) -> str:
    """Name that several of one ``number_pattern`` share, asterisks only where their numbers differ."""
    digits = [_NUMBER.findall(name) for name in names]
    texts = _NUMBER.split(names[0])
    starred = [column[0] if len(set(column)) == 1 else "*" for column in zip(*digits, strict=True)]
    return "".join(text + number for text, number in zip(texts, [*starred, ""], strict=True))
