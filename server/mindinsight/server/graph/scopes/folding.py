"""Folding of wide scopes: siblings of equal structure and flow are wrapped in boxes."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from mindinsight.server.graph.model.graph import CONSTANT, OPERATOR, Graph, Numbers, Offsets
from mindinsight.server.graph.model.node_details import output_of
from mindinsight.server.graph.scopes import scope_tree


class SiblingFlow(NamedTuple):
    """Edges [e] between working operators, each with the two siblings that hold its ends."""

    sources: Offsets  # leaves
    targets: Offsets
    slots: Offsets  # position among the inputs of the target
    scopes: Offsets  # innermost scope around both ends
    givers: Offsets  # child of that scope with the source
    takers: Offsets  # child of that scope with the target


def sibling_flow(tree: scope_tree.Tree) -> SiblingFlow:
    """Return the flow of values in a tree. Values passed through an operator come from the operator before
    it.

    Of several values packed together, the first counts. Order without values (UpdateState) is not a flow.
    """
    edges = tree.edges
    sources, targets = edges.sources.astype(np.int64), edges.targets.astype(np.int64)
    numbers = np.arange(len(targets))  # inputs of one target are neighbours
    slots = numbers - np.maximum.accumulate(np.where(np.diff(targets, prepend=-1) != 0, numbers, 0))
    passing = np.array([kind in scope_tree.PLUMBING for kind in tree.types], dtype=np.bool_)
    states = np.array([kind == "UpdateState" for kind in tree.types], dtype=np.bool_)
    behind = np.arange(len(tree.paths))
    into = np.flatnonzero(passing[targets] & ~edges.controls)[::-1]
    behind[targets[into]] = sources[into]  # the first input is written last
    for _ in range(8):  # values pass through few operators, longer chains are dropped
        behind = behind[behind]
    through = behind[sources]
    working = ~(edges.controls | passing[targets] | passing[through] | states[sources])
    sources, targets, slots = through[working], targets[working], slots[working]
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
    """Group members that values flow between directly (``links``), all in the order of ``members``."""
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
    """Split each group of boxes into parallel ones, which depend on the same others of their group."""
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


def _upstream(tree: scope_tree.Tree, bits: Numbers | Offsets) -> dict[int, int]:
    """Return the set of members that each member depends on, both as bits."""
    inputs: list[list[int]] = [[] for _ in tree.types]
    states = np.array([kind == "UpdateState" for kind in tree.types], dtype=np.bool_)
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
_SPREAD: Final = np.uint64(0x9E3779B97F4A7C15)  # odd, from splitmix64: spreads numbers over 64 bits

Hashes = npt.NDArray[np.uint64]


def signatures_of(tree: scope_tree.Tree, flow: SiblingFlow | None = None) -> list[int]:
    """Return [t] a number of each index, equal for equal structures, -1 for plumbing."""
    operators = operator_codes(tree)
    wiring = _wiring(tree, flow or sibling_flow(tree), operators).tolist()
    numbers: dict[object, int] = {}
    inside: list[list[int]] = [[] for _ in tree.paths]
    signatures = [-1] * len(tree.paths)
    parents, nodes, codes = tree.parents.tolist(), tree.nodes.tolist(), operators.tolist()
    for index in range(len(tree.paths) - 1, scope_tree.ROOT, -1):
        structure: object = codes[index]
        if nodes[index] < 0:
            structure = (number_pattern(tree.paths[index]), wiring[index], *sorted(inside[index]))
        elif tree.types[index] in scope_tree.PLUMBING:
            continue
        signatures[index] = numbers.setdefault(structure, len(numbers))
        inside[parents[index]].append(signatures[index])
    return signatures


def operator_codes(tree: scope_tree.Tree) -> Hashes:
    """Return a code for each node of the tree, [t], 0 for scopes.

    Operators have equal codes if their type, attributes, output, parameter shapes and constants are equal.
    """
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
    own = mix(own + np.uint64(1))
    edges = graph.edges
    slots = np.arange(len(edges)) - np.searchsorted(edges.targets, edges.targets)
    salts = mix(slots.astype(np.uint64) + _SPREAD)  # apart from ``own``, or slot and number cancel out
    used = np.flatnonzero(graph.kinds[edges.sources] != OPERATOR)
    codes = own.copy()
    np.add.at(codes, edges.targets[used], mix(own[edges.sources[used]] ^ salts[used]))
    loads = np.array([kind == "Load" for kind in graph.types], dtype=np.bool_)
    loaded = np.flatnonzero(loads[edges.sources])
    with_loads = codes.copy()
    np.add.at(with_loads, edges.targets[loaded], mix(codes[edges.sources[loaded]] ^ salts[loaded]))
    result: Hashes = np.where(tree.nodes >= 0, with_loads[tree.nodes], np.uint64(0))
    return result


def unnamed(graph: Graph, node: int) -> bytes:
    """Return the bytes of a parameter or a constant without the name at the start of its message."""
    message = graph.message(node)
    if len(message) > 1 and message[0] == 1 << 3 | 2 and message[1] < 0x80:
        return message[2 + message[1] :]
    return message


def _wiring(tree: scope_tree.Tree, flow: SiblingFlow, operators: Hashes) -> Hashes:
    """Return [t] a hash of the edges for which a scope is the innermost around both ends."""
    terms = mix(
        mix(operators[flow.sources] + _SPREAD) ^ (operators[flow.targets] + flow.slots.astype(np.uint64))
    )
    sums = np.zeros(len(tree.paths), dtype=np.uint64)
    np.add.at(sums, flow.scopes, terms)
    return sums


def mix(values: Hashes) -> Hashes:
    """Return the finalizer of splitmix64, in which each input bit changes half of the output bits."""
    mixed: Hashes = values ^ (values >> np.uint64(30))
    mixed = mixed * np.uint64(0xBF58476D1CE4E5B9)
    mixed = mixed ^ (mixed >> np.uint64(27))
    mixed = mixed * np.uint64(0x94D049BB133111EB)
    shifted: Hashes = mixed >> np.uint64(31)
    return mixed ^ shifted


def identical_scopes(tree: scope_tree.Tree, index: int) -> list[int]:
    """Return the other scopes with the structure of a scope and its name except for numbers, ascending."""
    signatures = signatures_of(tree)
    return [
        other
        for other, signature in enumerate(signatures)
        if signature == signatures[index] and other != index and tree.nodes[other] < 0
    ]


def number_pattern(path: str) -> str:
    """Return the name of a scope with its numbers replaced by asterisks: ``*-Block``."""
    return _NUMBER.sub("*", path.rpartition("/")[2])


def common_pattern(names: list[str]) -> str:
    """Return the name shared by scopes of one ``number_pattern``, with asterisks only where numbers
    differ."""
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


def folded_tree(graph: Graph) -> scope_tree.Tree:
    """Build the tree shown on the pages: repeated scopes are folded, nameless nodes are included.

    Parameters and constants are omitted.
    """
    everything = len(graph) + 1
    tree = scope_tree.build_tree(graph, scope_tree.Folding(least=everything, outer=False, nameless=True))
    for step in (_repeats, _rests, _types, _runs):
        tree = _wrap(tree, step(tree))
        while step is _runs and (more := step(tree)):
            tree = _wrap(tree, more)
    return tree


@dataclass(frozen=True, slots=True)
class _Box:
    """Siblings to be wrapped in a new scope."""

    name: str
    type: str
    members: tuple[int, ...]


def _wrap(tree: scope_tree.Tree, boxes: list[_Box]) -> scope_tree.Tree:
    """Return a copy of the tree with the boxes inserted."""
    if not boxes:
        return tree
    parents = tree.parents.copy()
    parents[scope_tree.ROOT] = scope_tree.ROOT
    box_parents = [int(parents[box.members[0]]) for box in boxes]
    total = len(parents)
    parents = np.concatenate([parents, np.array(box_parents, dtype=np.int32)])
    for number, box in enumerate(boxes, total):
        parents[list(box.members)] = number
    paths = [*tree.paths, *_paths(tree, boxes, box_parents)]
    types = [*tree.types, *(box.type for box in boxes)]
    indices, walk, new_parents, ends = scope_tree.number_preorder(parents)
    order = walk.tolist()
    return replace(
        tree,
        paths=tuple(paths[entry] for entry in order),
        types=tuple(types[entry] for entry in order),
        nodes=np.append(tree.nodes, np.full(len(boxes), -1, dtype=np.int32))[walk],
        parents=new_parents,
        ends=ends,
        creation_order=np.append(tree.creation_order, np.arange(total, total + len(boxes), dtype=np.int32))[
            walk
        ],
        edges=replace(tree.edges, sources=indices[tree.edges.sources], targets=indices[tree.edges.targets]),
    )


def _paths(tree: scope_tree.Tree, boxes: list[_Box], box_parents: list[int]) -> Iterable[str]:
    """Yield the path of each box, with a number if it is taken."""
    taken = set(tree.paths)
    for number, (box, index) in enumerate(zip(boxes, box_parents, strict=True)):
        scope = tree.paths[index]
        path = f"{scope}/{box.name}" if scope else box.name
        yield f"{path}#{number}" if path in taken else path


def _repeats(tree: scope_tree.Tree) -> list[_Box]:
    """Return boxes around numbered sibling scopes of equal structure, consecutive or parallel."""
    inner = np.flatnonzero(tree.nodes < 0)[1:]  # all scopes but the top
    wide = np.bincount(tree.parents[inner], minlength=1) >= _REPEATS
    if not wide.any():
        return []
    flow = sibling_flow(tree)
    signatures = signatures_of(tree, flow)
    alike: list[list[int]] = []
    for index in np.flatnonzero(wide).tolist():
        similar: dict[tuple[str, int], list[int]] = {}
        for child in tree.children(index):
            if tree.nodes[child] < 0:
                pattern = number_pattern(tree.paths[child])
                similar.setdefault((pattern, signatures[child]), []).append(child)
        by_pattern: dict[str, list[list[int]]] = {}
        for (pattern, _), members in similar.items():
            if "*" in pattern:
                by_pattern.setdefault(pattern, []).append(members)
        for groups in by_pattern.values():
            alike += [members for members in _with_first(tree, groups) if len(members) >= _REPEATS]
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
    if any(len(members) >= _REPEATS for members in lonely):
        for split in parallel(tree, [members for members in lonely if len(members) >= _REPEATS]):
            runs += [group for group in split if len(group) >= _REPEATS]
    return [_Box(_numbered(tree, members), REPEAT, tuple(members)) for members in runs]


def _with_first(tree: scope_tree.Tree, groups: list[list[int]]) -> list[list[int]]:
    """Add to a group, as the first, the scope that differs only because it receives an input of the
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
    """Return True if two scopes hold equal operators in the same order, on values of the same types.

    A parameter may correspond to an operator outside the scope if both have one type.
    """
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


def _is_same_value(graph: Graph, node: int, other: int) -> bool:
    """Return True if two values have one type, or for constants, if they are equal."""
    if CONSTANT in (graph.kinds[node], graph.kinds[other]):
        return unnamed(graph, node) == unnamed(graph, other)
    return output_of(graph, node).compact == output_of(graph, other).compact


def _numbered(tree: scope_tree.Tree, members: list[int]) -> str:
    return f"{common_pattern([_name(tree.paths[member]) for member in members])}[{len(members)}]"


def _rests(tree: scope_tree.Tree) -> list[_Box]:
    """Return boxes around all repeated layers except the first, which represents them."""
    boxes = []
    for index in (index for index, kind in enumerate(tree.types) if kind == REPEAT):
        members = in_file_order(tree, tree.children(index))[1:]
        name = _name(tree.paths[index]).rpartition("[")[0]
        boxes.append(_Box(f"{name}[+{len(members)}]", REST, tuple(sorted(members))))
    return boxes


def _types(tree: scope_tree.Tree) -> list[_Box]:
    """Return boxes around equal parallel operators in wide scopes, most frequent first, until none is
    wide."""
    wide = np.flatnonzero(tree.counts > WIDE).tolist()
    if not wide:
        return []
    codes = operator_codes(tree).tolist()
    alike: dict[tuple[int, str, int], list[int]] = {}
    for index in wide:
        for child in tree.children(index):
            if tree.nodes[child] >= 0:
                alike.setdefault((index, tree.types[child], codes[child]), []).append(child)
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
    """Return boxes around runs of neighbours in scopes that are still too wide.

    Call again until nothing is returned, because there may be too many runs.
    """
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
    """Sort indices by the first operator in each subtree. Files list operators in a possible run order."""
    return sorted(indices, key=partial(first_operator, tree))


def first_operator(tree: scope_tree.Tree, index: int) -> int:
    """Return the first node in a subtree in file order."""
    inside = tree.nodes[index : tree.ends[index]]
    return int(inside[inside >= 0].min())


def display_name(tree: scope_tree.Tree, index: int) -> str:
    """Return the name of a scope or operator for the pages: ``24 × Block`` for ``*-Block[24]``.

    Numbers that distinguish a box from its siblings or are part of a word are shown: ``3 × conv3…5``.
    """
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
