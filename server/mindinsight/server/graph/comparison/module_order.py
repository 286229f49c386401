"""Modules of a scope that run in another order, such as norms that move behind a residual sum."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, TypeAlias

from mindinsight.server.claims import Claim
from mindinsight.server.graph.comparison.graph_comparison import (
    COMMUTATIVE,
    LEFT,
    RIGHT,
    Comparison,
    Side,
)
from mindinsight.server.graph.comparison.low_rank_adapters import ADDS
from mindinsight.server.graph.comparison.module_edits import matched_scopes, modules_in
from mindinsight.server.graph.model.graph import OPERATOR, PARAMETER
from mindinsight.server.graph.scopes.folding import merged
from mindinsight.server.graph.scopes.scope_tree import Tree

Scopes: TypeAlias = tuple[int, int]  # index in the left and in the right tree

_SIDES: Final[tuple[Side, Side]] = (LEFT, RIGHT)
_NORMS: Final = ("norm", "rsqrt")  # parts of the types of operators that normalize


@dataclass(frozen=True, slots=True)
class Reordering:
    """Modules of a scope that run in another order in the right graph, because their dependencies are
    reversed."""

    scopes: Scopes
    before: tuple[str, ...]  # attributes, in order of execution
    after: tuple[str, ...]
    moved: tuple[tuple[str, Scopes], ...]  # the modules that others do not have to move for


def find_reorderings(comparison: Comparison) -> Iterator[Reordering]:
    """Yield the matched scopes whose modules run in another order and depend on each other in that order."""
    left, right = comparison.trees
    for scope, other in matched_scopes(comparison):
        lefts, inner = (
            modules_in(comparison, LEFT, scope),
            set(modules_in(comparison, RIGHT, other).values()),
        )
        partners = {name: int(comparison.partners[LEFT][index]) for name, index in lefts.items()}
        rights = {name: index for name, index in partners.items() if index in inner}  # by left names
        common = [name for name in lefts if name in rights]
        orders = [
            sorted(common, key=lambda name: tree.first_nodes[own[name]])
            for tree, own in ((left, lefts), (right, rights))
        ]
        if orders[LEFT] == orders[RIGHT]:
            continue
        turned = any(
            _depends(left, scope, lefts[second], lefts[first])
            and _depends(right, other, rights[first], rights[second])
            for i, first in enumerate(orders[LEFT])
            for second in orders[LEFT][i + 1 :]
            if orders[RIGHT].index(second) < orders[RIGHT].index(first)
        )
        if turned:
            sizes = {name: int(left.ends[lefts[name]]) - lefts[name] for name in common}
            moved = _moved(orders[LEFT], orders[RIGHT], sizes)
            scopes = tuple((name, (lefts[name], rights[name])) for name in moved)
            yield Reordering((scope, other), tuple(orders[LEFT]), tuple(orders[RIGHT]), scopes)


def _moved(before: list[str], after: list[str], sizes: dict[str, int]) -> list[str]:
    """Return the smallest set of modules that must move to change one order into the other, by their
    sizes."""
    heaviest: dict[str, list[str]] = {}  # modules in equal order, by their last one
    for name in before:
        ends = [heaviest[other] for other in heaviest if after.index(other) < after.index(name)]
        heaviest[name] = [*max(ends, key=lambda names: sum(sizes[n] for n in names), default=[]), name]
    stay = max(heaviest.values(), key=lambda names: sum(sizes[n] for n in names))
    return [name for name in before if name not in stay]


def _depends(tree: Tree, scope: int, module: int, source: int) -> bool:
    """Return True if a module depends on ``source``, another module of the scope, by values inside the
    scope."""
    waiting = [int(tree.nodes[leaf]) for leaf in range(module, int(tree.ends[module])) if tree.is_leaf(leaf)]
    seen = set(waiting)
    while waiting:
        for node in tree.graph.inputs_of(waiting.pop()):
            leaf = int(tree.leaf_indices[node])
            if source <= leaf < tree.ends[source]:
                return True
            if node not in seen and scope <= leaf < tree.ends[scope]:
                seen.add(node)
                waiting.append(node)
    return False


def _nodes_of(tree: Tree, scope: int) -> list[int]:
    nodes = tree.nodes[scope : int(tree.ends[scope])]
    inner: list[int] = nodes[nodes >= 0].tolist()
    return inner


def _entry(tree: Tree, scope: int) -> int:
    """Return the only operator outside a module that feeds the module, or -1 if there is none or several."""
    inner = _nodes_of(tree, scope)
    sources = {source for node in inner for source in tree.graph.inputs_of(node)} - set(inner)
    outer = [
        node for node in sources if tree.graph.kinds[node] == OPERATOR and tree.graph.types[node] != "Load"
    ]
    return outer[0] if len(outer) == 1 else -1


def moved_operators(comparison: Comparison, reorderings: list[Reordering]) -> set[int]:
    """Return the rewired operators of the left graph that differ only because modules moved. These are the
    operators in moved modules, and operators whose inputs are equal once each moved module is replaced by
    its own input."""
    passed: list[dict[int, int]] = [{}, {}]  # by operator of a moved module what the module takes
    moved: set[int] = set()
    for order in reorderings:
        for _, scopes in order.moved:
            moved.update(_nodes_of(comparison.trees[LEFT], scopes[LEFT]))
            for own, tree, scope in zip(passed, comparison.trees, scopes, strict=True):
                entry = _entry(tree, scope)
                own.update(dict.fromkeys(_nodes_of(tree, scope), entry))
    if not moved:
        return moved
    left, right = comparison.trees
    for node in comparison.rewired.tolist():
        other = int(right.nodes[comparison.partners[LEFT][left.leaf_indices[node]]])
        ids = [
            [_identity(comparison, side, source, passed[side]) for source in tree.graph.inputs_of(taker)]
            for side, tree, taker in zip(_SIDES, comparison.trees, (node, other), strict=True)
        ]
        if left.graph.types[node] in COMMUTATIVE | ADDS:
            ids = [sorted(own) for own in ids]
        if ids[LEFT] == ids[RIGHT] and -1 not in ids[LEFT]:
            moved.add(node)
    return moved


def _identity(comparison: Comparison, side: Side, node: int, passed: dict[int, int]) -> int:
    """Return the identity of an input, after skipping the moved modules before it, or -1 if unknown.
    Matched parameters are the same input, also if their shapes differ."""
    while node in passed:
        node = passed[node]
    if node < 0 or comparison.trees[side].graph.kinds[node] != PARAMETER:
        return int(comparison.input_ids[side][node]) if node >= 0 else -1
    number = node + comparison.matching.columns.left_count * side
    return max(number, int(comparison.matching.node_partners[number]))


def reordering_claims(comparison: Comparison, reorderings: list[Reordering]) -> Iterator[Claim]:
    """Yield one claim for all scopes whose modules changed their order in the same way."""
    groups: dict[tuple[str, tuple[str, ...], tuple[str, ...]], list[Reordering]] = {}
    for order in reorderings:
        groups.setdefault((_key(comparison, order), order.before, order.after), []).append(order)
    tree = comparison.trees[LEFT]
    for (key, before, after), orders in groups.items():
        evidence = tuple({"left": order.scopes[LEFT], "right": order.scopes[RIGHT]} for order in orders)
        scope = merged(tree.paths[order.scopes[LEFT]].rpartition("/")[2] for order in orders)
        values = {"scope": scope.removeprefix("*-"), "n": len(orders)}
        if key == "modules_reordered":
            values |= {"before": [*before], "after": [*after]}
        else:
            values |= {"modules": [name for name, _ in orders[0].moved]}
        yield Claim(f"claim.graph.{key}", "found", values, evidence)


def _key(comparison: Comparison, order: Reordering) -> str:
    """Return the key of the claim: about norms that moved before or behind a sum, or about other modules."""
    positions = {
        tuple(_norm_position(tree, scope) for tree, scope in zip(comparison.trees, scopes, strict=True))
        for _, scopes in order.moved
    }
    names: dict[tuple[str, ...], str] = {
        ("pre", "post"): "pre_to_post_norm",
        ("post", "pre"): "post_to_pre_norm",
    }
    return names.get(positions.pop(), "modules_reordered") if len(positions) == 1 else "modules_reordered"


def _norm_position(tree: Tree, scope: int) -> str:
    """Return "pre" for a norm whose input also skips it to a sum, "post" for a norm of a sum, else ""."""
    graph, inner = tree.graph, _nodes_of(tree, scope)
    entry = _entry(tree, scope)
    if entry < 0 or not any(part in graph.types[node].casefold() for node in inner for part in _NORMS):
        return ""
    users = graph.edges.targets[graph.edges.sources == entry].tolist()
    if any(graph.types[user] in ADDS for user in users):
        return "pre"
    return "post" if graph.types[entry] in ADDS else ""
