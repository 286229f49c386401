"""Folding of wide scopes: siblings of equal structure and flow are wrapped in boxes."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

import numpy as np

from mindinsight.server.graph.model import graph as model
from mindinsight.server.graph.model.node_details import output_of
from mindinsight.server.graph.scopes import scope_tree


class SiblingFlow(NamedTuple):
    """Edges [e] between operators that do more than pass values through, each with the two siblings that hold
    its ends."""

    sources: model.Offsets  # leaves
    targets: model.Offsets
    slots: model.Offsets  # position among the inputs of the target
    scopes: model.Offsets  # innermost scope around both ends
    givers: model.Offsets  # child of that scope with the source
    takers: model.Offsets  # child of that scope with the target


def sibling_flow(tree: scope_tree.Tree) -> SiblingFlow:
    """Return the flow of values in a tree. Values passed through an operator come from the operator before
    it. Of several values packed together, the first counts. Order without values (UpdateState) is not a
    flow."""
    edges = tree.edges
    sources, targets = edges.sources.astype(np.int64), edges.targets.astype(np.int64)
    passing = model.flag_values(tree.types, scope_tree.PLUMBING)
    states = model.flag_values(tree.types, {"UpdateState"})
    behind = np.arange(len(tree.paths))
    into = np.flatnonzero(passing[targets] & ~edges.controls)[::-1]
    behind[targets[into]] = sources[into]  # the first input is written last
    for _ in range(8):  # values pass through few operators, longer chains are dropped
        behind = behind[behind]
    through = behind[sources]
    working = ~(edges.controls | passing[targets] | passing[through] | states[sources])
    sources, targets, slots = through[working], targets[working], edges.slots()[working]
    givers, takers = sources.copy(), targets.copy()
    scopes = tree.parents[sources].astype(np.int64)
    ends = tree.ends
    while len(outside := np.flatnonzero((targets < scopes) | (targets >= ends[scopes]))):
        givers[outside] = scopes[outside]
        scopes[outside] = tree.parents[scopes[outside]]
    while len(deep := np.flatnonzero(tree.parents[takers] != scopes)):
        takers[deep] = tree.parents[takers[deep]]
    return SiblingFlow(sources, targets, slots, scopes, givers, takers)


def connected(members: Sequence[int], links: Iterable[tuple[int, int]]) -> list[list[int]]:
    """Return the members in groups connected by ``links``, groups and members in the order of ``members``."""
    leader = {member: member for member in members}

    def find(member: int) -> int:
        while leader[member] != member:
            leader[member] = member = leader[leader[member]]
        return member

    for giver, taker in links:
        leader[find(giver)] = find(taker)
    groups: dict[int, list[int]] = {}
    for member in members:
        groups.setdefault(find(member), []).append(member)
    return list(groups.values())


def parallel(tree: scope_tree.Tree, groups: Sequence[Sequence[int]]) -> list[list[list[int]]]:
    """Return each group of boxes in lists of parallel boxes, [] without groups. Parallel boxes depend on
    the same other boxes of the group."""
    if not groups:
        return []
    bits = np.full(len(tree.paths), -1, dtype=np.int64)
    masks = []
    number = 0
    for group in groups:
        masks.append(((1 << len(group)) - 1) << number)
        for member in group:
            bits[member : tree.ends[member]] = number
            number += 1
    upstream = _upstream(tree, bits)
    split = []
    for group, mask in zip(groups, masks, strict=True):
        alike: dict[int, list[int]] = {}
        for member in group:
            own = 1 << int(bits[member])
            alike.setdefault(upstream.get(int(bits[member]), 0) & mask & ~own, []).append(member)
        split.append(list(alike.values()))
    return split


def _upstream(tree: scope_tree.Tree, bits: model.Numbers | model.Offsets) -> dict[int, int]:
    """Return the set of members that each member depends on, both as bits."""
    inputs: list[list[int]] = [[] for _ in tree.types]
    states = model.flag_values(tree.types, {"UpdateState"})
    edges = tree.edges.select(~tree.edges.controls & ~states[tree.edges.sources])
    for source, target in zip(edges.sources.tolist(), edges.targets.tolist(), strict=True):
        inputs[target].append(source)
    own = bits.tolist()
    reached = [-1] * len(own)  # members upstream of each leaf, itself included; -1: not known yet
    upstream: dict[int, int] = {}
    for leaf in sorted(np.flatnonzero(tree.nodes >= 0).tolist(), key=tree.nodes.tolist().__getitem__):
        waiting = [leaf] if reached[leaf] < 0 else []
        while waiting:
            node = waiting[-1]
            before = 0
            for source in inputs[node]:
                before |= reached[source]
            if before < 0:
                reached[node] = 0  # ends the recursion of a cycle in a damaged file
                waiting += [source for source in inputs[node] if reached[source] < 0]
                continue
            waiting.pop()
            if own[node] >= 0:
                upstream[own[node]] = upstream.get(own[node], 0) | before
                before |= 1 << own[node]
            reached[node] = max(reached[node], 0) | before
    return upstream


_NUMBER: Final = re.compile(r"\d+")


def signatures_of(tree: scope_tree.Tree, flow: SiblingFlow | None = None) -> model.Hashes:
    """Return [t] a hash of each index, equal for equal structures, 0 for operators that only pass values
    through."""
    scopes = tree.nodes < 0
    inner = np.flatnonzero(scopes)[1:]
    patterns = model.number_values(number_pattern(tree.paths[index]) for index in inner.tolist())
    sums = _wiring(tree, flow or sibling_flow(tree))
    sums[inner] = model.mix(sums[inner] ^ model.mix(patterns.astype(np.uint64) + model.SPREAD))
    signatures = np.zeros(len(tree.paths), dtype=np.uint64)
    working = np.flatnonzero(~(scopes | model.flag_values(tree.types, scope_tree.PLUMBING)))
    signatures[working] = tree.graph.hashes[tree.nodes[working]]
    np.add.at(sums, tree.parents[working], model.mix(signatures[working]))
    for level in tree.levels[:0:-1]:
        chosen = level[scopes[level]]
        signatures[chosen] = model.mix(sums[chosen])
        np.add.at(sums, tree.parents[chosen], model.mix(signatures[chosen]))
    return signatures


def _wiring(tree: scope_tree.Tree, flow: SiblingFlow) -> model.Hashes:
    """Return [t] a hash of the edges for which a scope is the innermost that contains both ends."""
    sources, targets = (tree.graph.hashes[tree.nodes[leaves]] for leaves in (flow.sources, flow.targets))
    terms = model.mix(model.mix(sources + model.SPREAD) ^ (targets + flow.slots.astype(np.uint64)))
    sums = np.zeros(len(tree.paths), dtype=np.uint64)
    np.add.at(sums, flow.scopes, terms)
    return sums


def identical_scopes(tree: scope_tree.Tree, index: int) -> list[int]:
    """Return the other scopes with the structure of a scope and its name except for numbers, ascending."""
    signatures = signatures_of(tree)
    return [
        other
        for other, signature in enumerate(signatures)
        if signature == signatures[index] and other != index and tree.nodes[other] < 0
    ]


def merged(texts: Iterable[str]) -> str:
    """Return the common text, or for different texts the alphabetically first one with ``*`` for numbers. If
    only the numbers differ, those that all texts have in common are kept."""
    different = sorted(set(texts))
    columns = zip(*(_NUMBER.findall(text) for text in different), strict=False)
    alike = len({_NUMBER.sub("*", text) for text in different}) == 1
    common = iter([alike and len(set(numbers)) == 1 for numbers in columns])
    return _NUMBER.sub(lambda number: number[0] if next(common, False) else "*", different[0])


def number_pattern(path: str) -> str:
    """Return the name of a scope with its numbers replaced by asterisks: ``*-Block``."""
    return _NUMBER.sub("*", path.rpartition("/")[2])


def common_pattern(names: list[str]) -> str:
    """Return the common name of one or more scopes: numbers that differ become asterisks. The scopes have
    the same ``number_pattern``."""
    digits = [_NUMBER.findall(name) for name in names]
    texts = _NUMBER.split(names[0])
    starred = [column[0] if len(set(column)) == 1 else "*" for column in zip(*digits, strict=True)]
    return "".join(text + number for text, number in zip(texts, [*starred, ""], strict=True))


REPEAT: Final = "repeat_scope"
REST: Final = "rest_scope"
RUN: Final = "run_scope"


WIDE: Final = 32  # children from which equal operators of a scope are grouped by type
MOST: Final = 60  # limit of children, above which neighbours are wrapped in runs
_RUN: Final = 30  # neighbours in a run
_REPEATS: Final = 4  # smallest number of equal scopes that are repeated layers
_MEMBERS: Final = 4  # smallest number of operators in a group
_STANDALONE: Final = re.compile(r"(^|[-_. ])\*([-_. ]|$)")  # number that is not part of a word


def folded_tree(graph: model.Graph) -> scope_tree.Tree:
    """Return the tree shown on the pages: repeated scopes are folded, nameless nodes are included.
    Parameters and constants are omitted."""
    everything = len(graph) + 1
    tree = scope_tree.build_tree(graph, scope_tree.Folding(least=everything, outer=False, nameless=True))
    tree = _wrap(tree, _repeats(tree))
    tree = _wrap(tree, _types(tree))
    while boxes := _runs(tree):
        tree = _wrap(tree, boxes)
    return tree


@dataclass(frozen=True, slots=True)
class _Box:
    """Siblings to be wrapped in a new scope."""

    name: str
    type: str
    members: tuple[int, ...]


def _wrap(tree: scope_tree.Tree, boxes: list[_Box]) -> scope_tree.Tree:
    """Return a copy of the tree with the boxes inserted. ``boxes`` lists an outer box before those inside
    it."""
    if not boxes:
        return tree
    total, added = len(tree.paths), np.zeros(len(boxes), dtype=np.int32)
    parents = np.append(tree.parents, added)
    parents[scope_tree.ROOT] = scope_tree.ROOT
    paths = list(tree.paths)
    taken = set(paths)
    for number, box in enumerate(boxes):
        members = list(box.members)
        parents[total + number] = parents[members[0]]
        parents[members] = total + number
        scope = paths[parents[total + number]]
        path = f"{scope}/{box.name}" if scope else box.name
        paths.append(f"{path}#{number}" if path in taken else path)
        taken.add(path)
    types = [*tree.types, *(box.type for box in boxes)]
    indices, walk, new_parents, ends = scope_tree.number_preorder(parents)
    order = walk.tolist()
    return replace(
        tree,
        paths=tuple(map(paths.__getitem__, order)),
        types=tuple(map(types.__getitem__, order)),
        nodes=np.append(tree.nodes, added - 1)[walk],
        parents=new_parents,
        ends=ends,
        creation_order=np.append(tree.creation_order, np.arange(total, len(paths), dtype=np.int32))[walk],
        edges=replace(tree.edges, sources=indices[tree.edges.sources], targets=indices[tree.edges.targets]),
    )


def _repeats(tree: scope_tree.Tree) -> list[_Box]:
    """Return boxes around numbered sibling scopes of equal structure, consecutive or parallel. In each is a
    box around all of them except the first, which represents them."""
    inner = np.flatnonzero(tree.nodes < 0)[1:]  # all scopes but the top
    wide = np.bincount(tree.parents[inner], minlength=1) >= _REPEATS
    if not wide.any():
        return []
    flow = sibling_flow(tree)
    alike = _equal_siblings(tree, inner[wide[tree.parents[inner]]], signatures_of(tree, flow))
    kinds = np.full(len(tree.paths), -1, dtype=np.int64)
    for number, members in enumerate(alike):
        kinds[members] = number
    both = (kinds[flow.givers] >= 0) & (kinds[flow.givers] == kinds[flow.takers])
    links: list[set[tuple[int, int]]] = [set() for _ in alike]
    for giver, taker in zip(flow.givers[both].tolist(), flow.takers[both].tolist(), strict=True):
        links[kinds[giver]].add((giver, taker))
    runs: list[list[int]] = []
    lonely: list[list[int]] = []
    for number, members in enumerate(alike):
        groups = connected(members, links[number])
        runs += [group for group in groups if len(group) >= _REPEATS]
        lonely.append([group[0] for group in groups if len(group) == 1])
    for split in parallel(tree, [members for members in lonely if len(members) >= _REPEATS]):
        runs += [group for group in split if len(group) >= _REPEATS]
    names = [common_pattern([_name(tree.paths[member]) for member in members]) for members in runs]
    rests = [in_file_order(tree, members)[1:] for members in runs]
    return [
        *(_Box(f"{name}[{len(run)}]", REPEAT, tuple(run)) for name, run in zip(names, runs, strict=True)),
        *(_Box(f"{name}[+{len(rest)}]", REST, tuple(rest)) for name, rest in zip(names, rests, strict=True)),
    ]


def _equal_siblings(
    tree: scope_tree.Tree, scopes: model.Offsets, signatures: model.Hashes
) -> list[list[int]]:
    """Return the scopes with a number in their name that have enough siblings of equal structure."""
    scopes = scopes[np.argsort(tree.parents[scopes], kind="stable")]
    similar: dict[tuple[int, int], list[int]] = {}
    columns = (scopes, tree.parents[scopes], signatures[scopes])
    for scope, *key in zip(*(column.tolist() for column in columns), strict=True):
        similar.setdefault((key[0], key[1]), []).append(scope)
    by_pattern: dict[tuple[int, str], list[list[int]]] = {}
    for (parent, _), members in similar.items():
        if "*" in (pattern := number_pattern(tree.paths[members[0]])):
            by_pattern.setdefault((parent, pattern), []).append(members)
    groups = [group for groups in by_pattern.values() for group in _with_first(tree, groups)]
    return [members for members in groups if len(members) >= _REPEATS]


def _with_first(tree: scope_tree.Tree, groups: list[list[int]]) -> list[list[int]]:
    """Return the groups, with a first scope added that differs only because it receives an input of the
    network."""
    lonely = [group[0] for group in groups if len(group) == 1]
    joined = []
    for members in groups:
        if len(members) + 1 < _REPEATS:
            continue
        first = [scope for scope in lonely if _is_alike(tree, scope, members[0])]
        joined.append(in_file_order(tree, [*first, *members]) if len(first) == 1 else members)
    return joined


def _is_alike(tree: scope_tree.Tree, scope: int, other: int) -> bool:
    """Return True if two scopes hold equal operators in the same order, on values of the same types. A
    parameter may correspond to an operator outside the scope if both have one type."""
    graph = tree.graph
    nodes = [sorted(tree.nodes[tree.leaves(index)].tolist()) for index in (scope, other)]
    if len(nodes[0]) != len(nodes[1]):
        return False
    positions = [{node: position for position, node in enumerate(numbers)} for numbers in nodes]
    for node, its in zip(*nodes, strict=True):
        if graph.types[node] != graph.types[its] or graph.content(node) != graph.content(its):
            return False
        inputs, its_inputs = graph.inputs_of(node), graph.inputs_of(its)
        if len(inputs) != len(its_inputs):
            return False
        for source, its_source in zip(inputs, its_inputs, strict=True):
            own, theirs = positions[0].get(source), positions[1].get(its_source)
            if own != theirs or (own is None and not _is_same_value(graph, source, its_source)):
                return False
    return True


def _is_same_value(graph: model.Graph, node: int, other: int) -> bool:
    """Return True if two values have one type, or for constants, if they are equal."""
    if model.CONSTANT in (graph.kinds[node], graph.kinds[other]):
        return graph.content(node) == graph.content(other)
    return output_of(graph, node).compact == output_of(graph, other).compact


def _types(tree: scope_tree.Tree) -> list[_Box]:
    """Return boxes around equal parallel operators in wide scopes, most frequent first, until none is
    wide."""
    wide = np.flatnonzero(tree.counts > WIDE).tolist()
    if not wide:
        return []
    alike: dict[tuple[int, str, int], list[int]] = {}
    for index in wide:
        leaves = [child for child in tree.children(index) if tree.nodes[child] >= 0]
        hashes = tree.graph.hashes[tree.nodes[leaves]].tolist() if leaves else []
        for leaf, code in zip(leaves, hashes, strict=True):
            alike.setdefault((index, tree.types[leaf], code), []).append(leaf)
    many = [members for members in alike.values() if len(members) >= _MEMBERS]
    groups = [group for split in parallel(tree, many) for group in split if len(group) >= _MEMBERS]
    boxes = []
    widths = {index: len(tree.children(index)) for index in wide}
    for members in sorted(groups, key=lambda group: -len(group)):
        index = int(tree.parents[members[0]])
        if widths[index] > WIDE and len(members) < tree.counts[index]:
            boxes.append(_Box(f"{tree.types[members[0]]}[{len(members)}]", scope_tree.GROUP, tuple(members)))
            widths[index] -= len(members) - 1
    return boxes


def _runs(tree: scope_tree.Tree) -> list[_Box]:
    """Return boxes around runs of neighbours in scopes that are still too wide. Call again until nothing
    is returned, because there may be too many runs."""
    boxes = []
    for index in np.flatnonzero(tree.counts > MOST).tolist():
        ordered = in_file_order(tree, tree.children(index))
        for first in range(0, len(ordered), _RUN):
            members = ordered[first : first + _RUN]
            if len(members) > 1:
                names = f"{_name(tree.paths[members[0]])} … {_name(tree.paths[members[-1]])}"
                boxes.append(_Box(names, RUN, tuple(members)))
    return boxes


def in_file_order(tree: scope_tree.Tree, indices: Iterable[int]) -> list[int]:
    """Return indices sorted by the first operator in each subtree. Files list operators in a possible run
    order."""
    unsorted = np.fromiter(indices, np.int64)
    order: list[int] = unsorted[np.argsort(tree.first_nodes[unsorted], kind="stable")].tolist()
    return order


def display_name(tree: scope_tree.Tree, index: int) -> str:
    """Return the name of a scope or operator for the pages: ``24 × Block`` for ``*-Block[24]``. Numbers
    that distinguish a box from its siblings or are part of a word are shown: ``3 × conv3…5``."""
    name = _name(tree.paths[index])
    if tree.types[index] not in (REPEAT, REST, scope_tree.GROUP):
        return name
    pattern, _, _ = name.rpartition("[")
    members = list(folded_members(tree, index))
    if tree.types[index] == scope_tree.GROUP:
        return f"{len(members)} × {pattern}"
    sign = "+ " if tree.types[index] == REST else ""
    return f"{sign}{len(members)} × {_layer(tree, index, pattern, members)}"


def _layer(tree: scope_tree.Tree, index: int, pattern: str, members: list[int]) -> str:
    """Return the name of the repeated layers of a box."""
    scope = int(tree.parents[index])
    while tree.types[scope] in (REPEAT, REST, RUN):
        scope = int(tree.parents[scope])
    loose = number_pattern(pattern)
    siblings = [name for name in _scope_names(tree, scope) if number_pattern(name) == loose]
    whole = len(siblings) == len(members) + (tree.types[index] == REST)
    if whole and _STANDALONE.search(pattern):
        return pattern.replace("*", "").strip("-_. ") or _name(tree.paths[scope]) or pattern
    names = sorted((_name(tree.paths[member]) for member in members), key=lambda text: (len(text), text))
    first_number = re.compile(re.escape(pattern).replace(r"\*", r"(\d+)", 1))
    matches = map(first_number.fullmatch, names)
    numbers = [int(match[1]) for match in matches if match]
    contiguous = len(numbers) > 1 and numbers == list(range(numbers[0], numbers[0] + len(numbers)))
    text = f"{numbers[0]}…{numbers[-1]}" if contiguous else "*"
    return pattern.replace("*", text, 1) if pattern.count("*") == 1 else pattern


def _scope_names(tree: scope_tree.Tree, scope: int) -> Iterator[str]:
    """Yield the names of the scopes in a scope, including those in boxes made by folding."""
    for child in tree.children(scope):
        if tree.types[child] == scope_tree.SCOPE:
            yield _name(tree.paths[child])
        elif tree.types[child] in (REPEAT, REST, RUN):
            yield from _scope_names(tree, child)


def folded_members(tree: scope_tree.Tree, index: int) -> Iterator[int]:
    """Yield the scopes or operators that a box represents, regardless of nested boxes."""
    for child in tree.children(index):
        if tree.types[child] in (REST, RUN, scope_tree.GROUP):
            yield from folded_members(tree, child)
        else:
            yield child


def _name(path: str) -> str:
    return path.rpartition("/")[2]
