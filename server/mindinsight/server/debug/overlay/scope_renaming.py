"""Modules that a dump names otherwise than a graph or another dump: matched if both have the same tree."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final, TypeAlias

if TYPE_CHECKING:
    from mindinsight.server.formats.dumps.dump_types import Operator

Tree: TypeAlias = "dict[str, Tree]"  # scopes inside, in the order in which they first ran
Shape: TypeAlias = tuple[int, ...]
ShapeOf: TypeAlias = Callable[[str], Shape | None]  # of an operator's output, by name, None if unknown

_ROOT: Final = "Default"
_FEWEST: Final = 3  # modules: fewer of equal classes may be any network


def pair_scopes(
    left: Sequence[str], right: Sequence[str], left_shape: ShapeOf, right_shape: ShapeOf
) -> dict[str, str]:
    """Return the right scope of each left scope. Return {} if their trees differ, for few scopes, and if at
    least half of the left scopes have the same names on the right.

    ``left`` and ``right`` are names of operators in the order of execution, with the shapes of their outputs.
    One side may lie within a module as a whole, as in ``DistributedDataParallel``: that is left out then.
    In equal trees, scopes contain equally many scopes in that order, and a class on the left always stands
    for the same class on the right. Innermost scopes also have the same class, and last outputs of equal
    shapes but for the batch. The result is also empty for few scopes, and if at least half of the left scopes
    are on the right.
    """
    names = {_scope(name) for name in left} - {_ROOT}
    if 2 * len(names & {_scope(name) for name in right}) >= len(names):
        return {}
    if unwrapped := _unwrapped(left, right):
        return unwrapped
    if wrapped := _unwrapped(right, left):
        return {after: before for before, after in wrapped.items()}
    lengths = _last_lengths(left, left_shape), _last_lengths(right, right_shape)
    classes: dict[str, str] = {}
    renamed: dict[str, str] = {}
    for before, after, innermost in _pairs(_tree(left), _tree(right), "", ""):
        own = before.rpartition("-")[2], after.rpartition("-")[2]
        known = [lengths[side].get(name) for side, name in enumerate((before, after))]
        if (innermost and own[0] != own[1]) or classes.setdefault(own[0], own[1]) != own[1]:
            return {}
        if not before or (innermost and None not in known and known[0] != known[1]):
            return {}
        renamed[before] = after
    enough = len(renamed) > _FEWEST and len(set(classes.values())) == len(classes)
    return renamed if enough else {}


def _unwrapped(left: Sequence[str], right: Sequence[str]) -> dict[str, str]:
    """Return the scopes of the left without the one in which they all lie, if the right has most of these."""
    scopes = {scope for name in left if (scope := _scope(name)).startswith(f"{_ROOT}/")}
    if len({scope.split("/")[1] for scope in scopes}) != 1:
        return {}
    inner = {scope: "/".join([_ROOT, *scope.split("/")[2:]]) for scope in sorted(scopes)}
    inside, drawn = set(inner.values()) - {_ROOT}, {_scope(name) for name in right}
    return inner if inside and 2 * len(inside & drawn) >= len(inside) else {}


def _last_lengths(names: Iterable[str], shape_of: ShapeOf) -> dict[str, Shape]:
    """Return the shape without the batch of the last output of each scope that has one."""
    return {_scope(name): tuple(shape[1:]) for name in names if (shape := shape_of(name))}


def renamed_parameter(name: str, renamed: Mapping[str, str]) -> str:
    """Return the name of a parameter in the other network, unchanged if its module is not renamed. It is
    ``layers.0.ffn.weight`` for ``blocks.0.mlp.weight``. ``renamed`` has the other scope of each scope."""
    modules = {_attributes(before): _attributes(after) for before, after in renamed.items()}
    module, _, own = name.rpartition(".")
    return ".".join(filter(None, (modules[module], own))) if module and module in modules else name


def _attributes(scope: str) -> str:
    """Return the path of attributes of a scope: ``blocks.0`` for ``Default/blocks-ModuleList/0-Block``."""
    return ".".join(part.rpartition("-")[0] or part for part in scope.split("/")[1:])


def renamed_operator(operator: Operator, renamed: Mapping[str, str]) -> Operator:
    """Return an operator under its name in the graph, with those that feed it."""
    name, *sources = (renamed_name(own, renamed) for own in (operator.name, *operator.sources))
    return replace(operator, name=name, sources=tuple(sources))


def renamed_name(name: str, renamed: Mapping[str, str]) -> str:
    """Return a name with the scope of the graph, unchanged if its scope is not in ``renamed``. The scope
    can also be below ``Gradients`` and ``recompute_``."""
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
