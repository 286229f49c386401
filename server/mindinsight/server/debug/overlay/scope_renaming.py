"""Modules that a dump names otherwise than a graph: matched if both have the same tree of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Final, TypeAlias

from mindinsight.server.graph.model.graph import OPERATOR, Graph
from mindinsight.server.graph.model.node_details import shapes_at

if TYPE_CHECKING:
    from mindinsight.server.debug.examine import OperatorKey
    from mindinsight.server.formats.dumps.dump_types import Operator

Tree: TypeAlias = "dict[str, Tree]"  # scopes inside, in the order in which they first ran
Shape: TypeAlias = tuple[int, ...]

_ROOT: Final = "Default"
_FEWEST: Final = 3  # modules: fewer of equal classes may be any network


def rename_scopes(
    operators: Iterable[Operator], graph: Graph, shapes: Mapping[OperatorKey, Shape]
) -> dict[str, str]:
    """Return the scope in the graph of each scope in the dump, empty if their trees differ.

    Both have equally many scopes inside each other in the order of execution. Innermost scopes have the same
    class, others a class that always stands for the same one, and their last outputs equal shapes but for the
    batch. The result is empty if at least half of the scopes have their name in the graph.
    """
    ran = sorted((operator for operator in operators if operator.sequence >= 0), key=lambda own: own.sequence)
    lengths: tuple[dict[str, Shape], dict[str, Shape]] = ({}, {})
    for operator in ran:
        if shape := shapes.get((operator.graph, operator.recorded)):
            lengths[0][_scope(operator.name)] = shape[1:]
    drawn = []
    for node, (name, kind) in enumerate(zip(graph.names, graph.kinds.tolist(), strict=True)):
        if kind == OPERATOR:
            drawn.append(name)
            if node_shapes := shapes_at(graph, node):
                lengths[1][_scope(name)] = tuple(node_shapes[0][1:])
    names = {_scope(operator.name) for operator in ran} - {_ROOT}
    if 2 * len(names & {_scope(name) for name in drawn}) >= len(names):
        return {}
    classes: dict[str, str] = {}
    renamed: dict[str, str] = {}
    for before, after, innermost in _pairs(_tree(own.name for own in ran), _tree(drawn), "", ""):
        own = before.rpartition("-")[2], after.rpartition("-")[2]
        known = [lengths[side].get(name) for side, name in enumerate((before, after))]
        if (innermost and own[0] != own[1]) or classes.setdefault(own[0], own[1]) != own[1]:
            return {}
        if not before or (innermost and None not in known and known[0] != known[1]):
            return {}
        renamed[before] = after
    enough = len(renamed) > _FEWEST and len(set(classes.values())) == len(classes)
    return renamed if enough else {}


def renamed_operator(operator: Operator, renamed: Mapping[str, str]) -> Operator:
    """Return an operator under its name in the graph, with those that feed it."""
    name, *sources = (_renamed(own, renamed) for own in (operator.name, *operator.sources))
    return replace(operator, name=name, sources=tuple(sources))


def _renamed(name: str, renamed: Mapping[str, str]) -> str:
    """Return a name with the scope of the graph, also below ``Gradients`` and ``recompute_``."""
    at = name.find(f"{_ROOT}/")
    scope, _, operator = name[max(at, 0) :].rpartition("/")
    return f"{name[:at]}{renamed[scope]}/{operator}" if at >= 0 and scope in renamed else name


def _scope(name: str) -> str:
    return name.rpartition("/")[0]


def _tree(names: Iterable[str]) -> Tree:
    """Return the tree of the scopes of the forward pass."""
    root: Tree = {}
    for name in names:
        parts = name.split("/")[:-1]
        inner = root
        for part in parts if parts[:1] == [_ROOT] else ():
            inner = inner.setdefault(part, {})
    return root


def _pairs(left: Tree, right: Tree, before: str, after: str) -> Iterator[tuple[str, str, bool]]:
    """Yield the paths of both scopes at each position, and whether they are innermost. "" if one is alone."""
    if len(left) != len(right):
        yield "", "", False
        return
    for own, other in zip(left, right, strict=True):
        paths = f"{before}{own}", f"{after}{other}"
        yield *paths, not left[own]
        yield from _pairs(left[own], right[other], f"{paths[0]}/", f"{paths[1]}/")
