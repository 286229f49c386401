"""Matching of two trees: the partner of each operator, scope and box, and whether edges agree with it."""

import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Final, TypeAlias

import numpy as np

from mindinsight.server.graph.comparison.node_labels import NodeColumns, node_columns, of_types
from mindinsight.server.graph.comparison.node_matching import (
    match_again,
    match_exchanged,
    match_nodes,
    match_numbered,
    match_renamed,
    match_replaced,
    match_used,
    pair,
)
from mindinsight.server.graph.model.graph import CONSTANT, OPERATOR, PARAMETER, Flags, Numbers, Offsets
from mindinsight.server.graph.scopes.folding import in_file_order
from mindinsight.server.graph.scopes.scope_tree import PLUMBING, ROOT, SCOPE, Tree

Pair: TypeAlias = tuple[int, int]
Taken: TypeAlias = tuple[set[int], set[int]]  # matched scopes of the left and of the right tree

_NUMBER: Final = re.compile(r"\d+")
_LEAST: Final = 0.25  # share of common operators below which only scopes of equal name are partners


def match_scopes(left: Tree, right: Tree, to_right: Numbers) -> list[Pair]:
    """Return pairs (left, right) of matched scopes, and of matched boxes of one type.

    ``to_right`` [t of left] is the right index of each left operator's partner, -1 for none. The roots are
    partners. Scopes that share the largest part of their operators (Jaccard index) come first, of equals
    those of equal name. The rest is matched below matched parents by name, then by name without numbers
    (``3-Block``, ``13-Block``), in order.
    """
    pairs: list[Pair] = [(ROOT, ROOT)]
    taken: Taken = ({ROOT}, {ROOT})
    for partners in _by_similarity(left, right, to_right):
        _add(pairs, taken, partners)
    for left_scope, right_scope in pairs:  # the loop appends to the list
        for name in (_name, _pattern):
            for partners in _by_name(left, right, (left_scope, right_scope), taken, name):
                _add(pairs, taken, partners)
    return pairs


def _add(pairs: list[Pair], taken: Taken, pair: Pair) -> None:
    if pair[0] not in taken[0] and pair[1] not in taken[1]:
        pairs.append(pair)
        taken[0].add(pair[0])
        taken[1].add(pair[1])


def _by_similarity(left: Tree, right: Tree, to_right: Numbers) -> Iterator[Pair]:
    """Yield pairs of scopes of one type that share operators, the most similar first."""
    leaves = np.flatnonzero((left.nodes >= 0) & (to_right >= 0)).astype(np.int64)
    if not len(leaves):
        return
    width = len(right.paths)
    inner, weights = np.unique(
        left.parents[leaves].astype(np.int64) * width + right.parents[to_right[leaves]], return_counts=True
    )
    inner_left, inner_right = np.divmod(inner, width)
    keys = np.concatenate(
        [
            left_scopes * width + right_scopes
            for left_scopes in _enclosing(left, inner_left)
            for right_scopes in _enclosing(right, inner_right)
        ]
        or [np.zeros(0, np.int64)]
    )
    combined, places = np.unique(keys, return_inverse=True)
    shared = np.bincount(places, weights=np.resize(weights, len(keys)), minlength=len(combined))
    lefts, rights = np.divmod(combined, len(right.paths))
    inside = (lefts > ROOT) & (rights > ROOT)
    lefts, rights, shared = lefts[inside], rights[inside], shared[inside]
    left_sizes, right_sizes = (tree.sums(tree.nodes >= 0) for tree in (left, right))
    similarity = shared / (left_sizes[lefts] + right_sizes[rights] - shared)
    left_names, right_names = ([_name(path) for path in tree.paths] for tree in (left, right))
    left_depths, right_depths = ([path.count("/") for path in tree.paths] for tree in (left, right))
    rows = zip((-similarity).tolist(), lefts.tolist(), rights.tolist(), strict=True)
    candidates = [
        (negative, names_differ, abs(depth), left_scope, right_scope)
        for negative, left_scope, right_scope in rows
        if left.types[left_scope] == right.types[right_scope]
        for names_differ in (left_names[left_scope] != right_names[right_scope],)
        for depth in (left_depths[left_scope] - right_depths[right_scope],)
        if not names_differ or -negative >= _LEAST
    ]
    for *_, left_scope, right_scope in sorted(candidates):
        yield left_scope, right_scope


def _enclosing(tree: Tree, scopes: Offsets) -> Iterator[Offsets]:
    """Yield the scopes themselves, then their parents, and so on until all are the root, which is its own
    parent."""
    while (scopes > ROOT).any():
        yield scopes
        scopes = np.maximum(tree.parents[scopes], ROOT).astype(np.int64)


def _by_name(
    left: Tree, right: Tree, parents: Pair, taken: Taken, name: Callable[[str], str]
) -> Iterator[Pair]:
    """Yield scopes of equal name below two matched scopes, first with first, second with second."""
    left_members = [scope for scope in scopes_in(left, parents[0]) if scope not in taken[0]]
    if not left_members:
        return
    by_name: dict[str, list[int]] = {}
    right_members = [scope for scope in scopes_in(right, parents[1]) if scope not in taken[1]]
    for scope in in_file_order(right, right_members):
        by_name.setdefault(name(right.paths[scope]), []).append(scope)
    for scope in in_file_order(left, left_members):
        if candidates := by_name.get(name(left.paths[scope])):
            yield scope, candidates.pop(0)


def scopes_in(tree: Tree, index: int) -> Iterator[int]:
    """Yield the scopes directly inside a scope. Boxes made by folding are replaced by their members."""
    if tree.types[index] == SCOPE or index == ROOT:
        yield from (child for child in _unfolded(tree, index) if not tree.is_leaf(child))


def _unfolded(tree: Tree, index: int) -> Iterator[int]:
    """Yield the scopes and leaves in a scope. Boxes made by folding are replaced by their members."""
    for child in tree.children(index):
        if tree.is_leaf(child) or tree.types[child] == SCOPE:
            yield child
        else:
            yield from _unfolded(tree, child)


def _name(path: str) -> str:
    return path.rpartition("/")[2]


def _pattern(path: str) -> str:
    return _NUMBER.sub("*", _name(path))


_BROAD: Final = 16  # limit of users, above which an edge from a node is no evidence for its target
_FEW: Final = 8  # working operators below which a share is no evidence
_CARRYING: Final = ("Load", "TupleGetItem", "UpdateState", "Depend")


def agreement(columns: NodeColumns, partners: Offsets) -> tuple[Offsets, Offsets]:
    """Return [n] how many of each node's edges the other graph has as well, and [n] how many it lacks.
    Only edges between two matched nodes count, except from a node with many users."""
    count = len(partners)
    sources, targets = columns.sources, columns.targets
    both = (partners[sources] >= 0) & (partners[targets] >= 0)
    both &= np.bincount(sources, minlength=count)[sources] <= _BROAD
    sources, targets = sources[both], targets[both]
    codes = np.sort(sources * count + targets)
    images = partners[sources] * count + partners[targets]
    is_known = codes[np.minimum(np.searchsorted(codes, images), max(len(codes) - 1, 0))] == images
    ends = np.concatenate([sources, targets])
    agreed = np.concatenate([is_known, is_known])
    return np.bincount(ends[agreed], minlength=count), np.bincount(ends[~agreed], minlength=count)


def kinship(columns: NodeColumns, partners: Offsets) -> float:
    """Return the share of matched operators, without those that only pass values through, in the smaller
    graph. Return 1.0 if a graph has fewer than ``_FEW`` such operators."""
    working = (columns.kinds == OPERATOR) & ~of_types(columns, {"", *PLUMBING})
    left = columns.is_left()
    matched = working & (partners >= 0)
    totals = [int(np.count_nonzero(working & side)) for side in (left, ~left)]
    shared = min(int(np.count_nonzero(matched & side)) for side in (left, ~left))
    return shared / min(totals) if min(totals) >= _FEW else 1.0


def drop_contradicted(columns: NodeColumns, partners: Offsets) -> int:
    """Unmatch operators whose edges all contradict other pairs, in place, and return the number of nodes."""
    agreed, contradicted = agreement(columns, partners)
    lost = (partners >= 0) & (columns.kinds == OPERATOR) & (agreed == 0) & (contradicted > 0)
    lost &= contradicted[partners] > 0
    return _separate(partners, lost)


def _separate(partners: Offsets, chosen: Flags) -> int:
    """Remove the partners of the chosen nodes [n], in place, and return their number."""
    nodes = np.flatnonzero(chosen)
    partners[partners[nodes]] = -1
    partners[nodes] = -1
    return len(nodes)


def match_carriers(
    columns: NodeColumns, partners: Offsets, owners: Offsets, carriers: tuple[Offsets, Offsets]
) -> None:
    """Match operators that only pass a value through, such as Load, by that value, and change ``partners``.

    ``carriers`` are from `carried_values`, ``owners`` [n] is each operator's parameter, 0 if unknown. Pairs
    that contradict their values or owners are separated first. Operators that pass the same value are
    matched by the operators that use their output.
    """
    carried, codes = carriers
    nodes = np.flatnonzero(carried >= 0)
    wrong = np.zeros(len(partners), dtype=np.bool_)
    others = partners[nodes]
    known = others >= 0
    values, theirs = carried[nodes[known]], carried[others[known]]
    wrong[nodes[known]] = (
        (theirs >= 0) & (partners[values] != theirs) & ((partners[values] >= 0) | (partners[theirs] >= 0))
    )
    wrong[nodes[known]] |= (owners[nodes[known]] != owners[others[known]]) & (
        (owners[nodes[known]] > 0) & (owners[others[known]] > 0)
    )
    _separate(partners, wrong)
    for _ in range(2):  # a Load feeds an UpdateState, which feeds another
        _pair_by_value(columns, partners, carried, codes)


def carried_values(columns: NodeColumns) -> tuple[Offsets, Offsets]:
    """Return [n] the node whose value an operator passes through, -1 for none, and [n] codes of operators.
    Equal codes mean equal types, and for TupleGetItem also equal indices."""
    count = len(columns.kinds)
    carried = np.full(count, -1, dtype=np.int64)
    codes = columns.types.copy()
    named = {kind: code for graph, begin in zip(columns.graphs, (0, columns.left_count), strict=True)
             for kind, code in zip(graph.types, columns.types[begin:begin + len(graph)].tolist(), strict=True)
             if kind in _CARRYING}  # fmt: skip
    first = columns.slots == 0
    operator = columns.kinds == OPERATOR
    for kind, code in named.items():
        chosen = columns.types[columns.targets] == code
        if kind == "UpdateState":
            source = columns.sources[chosen]
            chosen[chosen] = operator[source] & ~of_types(columns, {"UpdateState", "Load"})[source]
        else:
            chosen &= first & (columns.kinds[columns.sources] != CONSTANT)
        carried[columns.targets[chosen]] = columns.sources[chosen]
        several = np.bincount(columns.targets[chosen], minlength=count) > 1
        carried[several] = -1  # the state after several operators
        if kind == "TupleGetItem":
            index = (columns.types[columns.targets] == code) & (columns.slots == 1)
            codes[columns.targets[index]] = (columns.attributes[columns.sources[index]] + 1) * count + code
    return carried, codes


def _pair_by_value(columns: NodeColumns, partners: Offsets, carried: Offsets, codes: Offsets) -> None:
    """Match unmatched operators of one code that pass on partners' values, or if there are several, by their
    users."""
    order = np.argsort(columns.sources, kind="stable")
    begins = np.searchsorted(columns.sources[order], np.arange(len(partners) + 1))
    users = columns.targets[order]
    candidates = np.flatnonzero((partners < 0) & (carried >= 0) & (partners[np.maximum(carried, 0)] >= 0))
    waiting: dict[tuple[int, int], tuple[list[int], list[int]]] = {}
    for node in candidates.tolist():
        value = int(carried[node])
        side = int(node >= columns.left_count)
        key = min(value, int(partners[value])), int(codes[node])
        waiting.setdefault(key, ([], []))[side].append(node)
    for lefts, rights in waiting.values():
        if len(lefts) == len(rights) == 1:
            partners[lefts[0]], partners[rights[0]] = rights[0], lefts[0]
            continue
        by_user = {
            int(partners[user]): right
            for right in rights
            for user in users[begins[right] : begins[right + 1]].tolist()
        }
        for left in lefts:
            for user in users[begins[left] : begins[left + 1]].tolist():
                right = by_user.get(user, -1)
                if right >= 0 and partners[right] < 0:
                    partners[left], partners[right] = right, left
                    break


Keys: TypeAlias = tuple[Callable[[int], Hashable], Callable[[int], Hashable]]  # of the left, of the right

_LARGEST: Final = 1 << 18  # limit of comparisons, longer blocks are paired in order without a diff


def align(left: Sequence[int], right: Sequence[int], keys: Sequence[Keys]) -> list[Pair]:
    """Return pairs of items of two sequences, ascending in both, by keys that get looser.

    Each of ``keys`` has a function for either side. Items of equal first key are paired as ``difflib``
    matches them, blocks between these by the next key, and after the last key first with first. Items without
    a counterpart are in no pair.
    """
    if not keys or len(left) == len(right) == 1 or not (left and right):
        return list(zip(left, right, strict=False))
    (key_left, key_right), *looser_keys = keys
    pairs: list[Pair] = []
    for equal, left_part, right_part in _matching_blocks(
        [key_left(item) for item in left], [key_right(item) for item in right]
    ):
        left_items, right_items = left[left_part], right[right_part]
        pairs += (
            zip(left_items, right_items, strict=True)
            if equal
            else align(left_items, right_items, looser_keys)
        )
    return pairs


def _matching_blocks(left: list[Hashable], right: list[Hashable]) -> list[tuple[bool, slice, slice]]:
    """Return blocks of both sequences in order, each with a flag that is True if they are equal, and its
    slices. Equal ends are found without comparing the middle."""
    shorter = min(len(left), len(right))
    head = next((i for i in range(shorter) if left[i] != right[i]), shorter)
    rest = shorter - head
    tail = next((i for i in range(rest) if left[-1 - i] != right[-1 - i]), rest)
    ends = len(left) - tail, len(right) - tail
    blocks = [(True, slice(0, head), slice(0, head))]
    if (ends[0] - head) * (ends[1] - head) > _LARGEST:
        blocks.append((False, slice(head, ends[0]), slice(head, ends[1])))
    else:
        matcher = SequenceMatcher(None, left[head : ends[0]], right[head : ends[1]], autojunk=False)
        for tag, i, j, k, m in matcher.get_opcodes():
            blocks.append((tag == "equal", slice(head + i, head + j), slice(head + k, head + m)))
    return [*blocks, (True, slice(ends[0], len(left)), slice(ends[1], len(right)))]


# Smallest share of working operators that related networks have in common. Unrelated networks were measured
# below 0.14 (loss, optimizer), networks with any edit above 0.75 (benchmarks/planted_pairs.py).
_KIN: Final = 0.3
_MOST_REPLACED: Final = 8  # limit of rounds: chains of replaced operators are matched from both ends


@dataclass(frozen=True, eq=False)
class Matching:
    """Result of matching two trees: the partner of each index and node."""

    left: Tree
    right: Tree
    columns: NodeColumns  # of the nodes of both graphs
    node_partners: Offsets  # [n of the columns] including parameters, -1 for none
    to_right: Numbers  # [t of left] index in the right tree, -1 for none
    to_left: Numbers  # [t of right] index in the left tree, -1 for none


def match(left: Tree, right: Tree) -> Matching:
    """Return the matching of the operators, parameters and scopes of two trees, with their roots as
    partners."""
    recorded = node_columns(left.graph, right.graph)
    columns, partners, owners, separated = match_nodes(recorded)
    if ((partners < 0) & (columns.kinds == OPERATOR)).any():
        _match_open(left, right, columns, partners, owners)
        if kinship(columns, partners) < _KIN:
            partners[:] = -1
    if (partners >= 0).any():
        match_displaced(left, right, columns, partners, owners)
        partners[separated] = -1
        match_numbered(recorded, partners)
        match_renamed(recorded, partners)
    to_right = _leaf_partners(left, right, columns, partners)
    for left_scope, right_scope in match_scopes(left, right, to_right):
        to_right[left_scope] = right_scope
    to_left = np.full(len(right.paths), -1, dtype=np.int32)
    matched = np.flatnonzero(to_right >= 0)
    to_left[to_right[matched]] = matched
    return Matching(left, right, recorded, partners, to_right, to_left)


def _match_open(left: Tree, right: Tree, columns: NodeColumns, partners: Offsets, owners: Offsets) -> None:
    """Match operators that labels left unmatched, after dissolving pairs that other evidence contradicts."""
    carriers = carried_values(columns)
    drop_contradicted(columns, partners)
    match_again(columns, partners, owners)
    match_carriers(columns, partners, owners, carriers)
    match_used(columns, partners, owners)
    scopes = match_scopes(left, right, _leaf_partners(left, right, columns, partners))
    _match_remaining(left, right, columns, partners, owners, scopes)
    places = _places(left, right, columns, scopes)
    for _ in range(_MOST_REPLACED):
        if not match_replaced(columns, partners, places, owners):
            break
        match_carriers(columns, partners, owners, carriers)
        match_again(columns, partners, owners)
    drop_contradicted(columns, partners)
    match_carriers(columns, partners, owners, carriers)
    if match_exchanged(columns, partners, places):
        match_carriers(columns, partners, owners, carriers)


def match_displaced(
    left: Tree, right: Tree, columns: NodeColumns, partners: Offsets, owners: Offsets
) -> None:
    """Rematch doubtful operators within matched scopes, unless edges support the former pairs better.
    Changes ``partners``. For example, a norm that moves behind a residual sum pairs each sum by its user
    with the next one, through all blocks."""
    agreed, contradicted = agreement(columns, partners)
    doubtful = (columns.kinds == OPERATOR) & (owners == 0) & (contradicted > 0) & (contradicted >= agreed)
    doubtful &= (partners >= 0) & doubtful[partners]
    if not doubtful.any():
        return
    scopes = match_scopes(left, right, _leaf_partners(left, right, columns, partners))
    places = _places(left, right, columns, scopes)
    groups = places * len(places) + columns.types
    displaced = doubtful & (places != places[partners])
    waiting = (columns.kinds == OPERATOR) & (partners < 0)
    both = np.intersect1d(*(groups[waiting & side] for side in (columns.is_left(), ~columns.is_left())))
    chosen = doubtful & np.isin(groups, [*groups[displaced], *both])
    if not chosen.any():
        return
    before = partners.copy()
    _separate(partners, chosen)
    _match_remaining(left, right, columns, partners, owners, scopes)
    if agreement(columns, partners)[0].sum() < agreed.sum():
        partners[:] = before


def _leaf_partners(left: Tree, right: Tree, columns: NodeColumns, partners: Offsets) -> Numbers:
    """Return [t of left] the right index of each matched operator, -1 for others."""
    to_right = np.full(len(left.paths), -1, dtype=np.int32)
    leaves = np.flatnonzero(left.nodes >= 0)
    right_nodes = partners[left.nodes[leaves]] - columns.left_count
    matched = right_nodes >= 0
    to_right[leaves[matched]] = right.leaf_indices[right_nodes[matched]]
    return to_right


def _places(left: Tree, right: Tree, columns: NodeColumns, scopes: Sequence[Pair]) -> Offsets:
    """Return [n] the number of the innermost pair of scopes that contains each operator, 0 for parameters and
    constants."""
    places = np.zeros(len(columns.kinds), dtype=np.int64)
    for side, (tree, begin) in enumerate(((left, 0), (right, columns.left_count))):
        numbers = np.full(len(tree.paths), -1, dtype=np.int64)
        for number, pair_of_scopes in enumerate(scopes):
            numbers[pair_of_scopes[side]] = number
        for index in range(1, len(tree.paths)):  # a scope comes after the scope around it
            if numbers[index] < 0:
                numbers[index] = numbers[tree.parents[index]]
        leaves = np.flatnonzero(tree.nodes >= 0)
        places[tree.nodes[leaves] + begin] = numbers[leaves]
    return places


def _match_remaining(
    left: Tree,
    right: Tree,
    columns: NodeColumns,
    partners: Offsets,
    owners: Offsets,
    scopes: Sequence[Pair],
) -> None:
    """Match the remaining operators in matched scopes: of each type, aligned in file order."""
    keys = [_keys(columns, with_content=True), _keys(columns, with_content=False)]
    for left_scope, right_scope in scopes:
        if left_scope != ROOT and left.types[left_scope] != SCOPE:
            continue
        left_nodes = [node for node in _operators_in(left, left_scope) if partners[node] < 0]
        if not left_nodes:
            continue
        offset = columns.left_count
        right_nodes = [offset + node for node in _operators_in(right, right_scope)]
        right_nodes = [node for node in right_nodes if partners[node] < 0]
        by_type = _by_type(columns, right_nodes)
        for kind, nodes in _by_type(columns, left_nodes).items():
            for left_node, right_node in align(nodes, by_type.get(kind, []), keys):
                owned = owners[left_node], owners[right_node]
                if (owned[0] == owned[1] or 0 in owned) and _parameters_agree(
                    columns, partners, left_node, right_node
                ):
                    pair(partners, left_node, right_node)


def _operators_in(tree: Tree, index: int) -> Iterable[int]:
    """Return the nodes of the operators directly inside a scope, including those in boxes of folding."""
    return (int(tree.nodes[child]) for child in _unfolded(tree, index) if tree.is_leaf(child))


def _by_type(columns: NodeColumns, nodes: Iterable[int]) -> dict[int, list[int]]:
    """Group nodes by the code of their type, ascending."""
    by_type: dict[int, list[int]] = {}
    for node in sorted(nodes):
        by_type.setdefault(int(columns.types[node]), []).append(node)
    return by_type


def _keys(columns: NodeColumns, with_content: bool) -> Keys:
    """Return alignment keys of operators: their inputs, with output and attributes if ``with_content``."""

    def key(node: int) -> Hashable:
        content = (int(columns.attributes[node]), int(columns.outputs[node])) if with_content else None
        return tuple(
            (int(columns.names[source]), -1)
            if columns.kinds[source] == PARAMETER
            else (-1, int(columns.types[source]))
            for source in _sources(columns, node)
        ), content

    return key, key


def _sources(columns: NodeColumns, node: int) -> list[int]:
    begin, end = np.searchsorted(columns.targets, [node, node + 1])
    sources: list[int] = columns.sources[begin:end].tolist()
    return sources


def _parameters_agree(columns: NodeColumns, partners: Offsets, left_node: int, right_node: int) -> bool:
    """Return True if two operators share a parameter, or neither uses any."""
    left, right = (
        {source for source in _sources(columns, node) if columns.kinds[source] == PARAMETER}
        for node in (left_node, right_node)
    )
    if not left and not right:
        return True
    return bool({int(partners[source]) for source in left} & right)
