"""Matching of the nodes of two graphs: parameters by name, then whatever the structure around them decides.

1. Parameters of equal name are partners; if most have other names, those of equal name below another prefix
   (``blocks.0.weight``, ``model.blocks.0.weight``). A word and a running number are no name.
2. Nodes are partners whose Weisfeiler-Lehman label is unique in both graphs (node_labels.py), deepest rounds
   first. Matched nodes give new labels to their neighbours, and so on until nothing new is found; first with
   the attributes, outputs and scopes of nodes, then with less of them.
3. Nodes that no label tells apart are partners in file order, if both graphs have as many of them.

The numbers of operators (``Conv2D-op12``) are ignored: they count over the whole graph, so one more operator
anywhere changes all that follow.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Hashable
from typing import Final, NamedTuple

import numpy as np

from mindinsight.server.graph.comparison.node_labels import (
    Labels,
    NodeColumns,
    neighbour_flags,
    of_types,
    refine,
    seed_labels,
)
from mindinsight.server.graph.model.graph import (
    BACKWARD,
    CONSTANT,
    OPERATOR,
    PARAMETER,
    Flags,
    Graph,
    Offsets,
)
from mindinsight.server.graph.scopes.scope_tree import PLUMBING

_ROUNDS: Final = 4
_MOST_ROUNDS: Final = 40  # of labelling in a pass: chains of equal operators would take one for a few of them
_MOST_USERS: Final = 16  # without partners at one position, from which they say nothing about each other
_TELLING: Final = (
    0.25  # share of equal names of parameters from which a name that is missing is a parameter less
)
_LAYER: Final = re.compile(r"((?:[^.]+\.)*?)(\d+)(?=\.)")
_NUMBERED: Final = re.compile(r"[A-Za-z_]*\d+\Z")


class _Pass(NamedTuple):
    """What the seed labels of one pass are made of."""

    attributes: bool
    outputs: bool
    scopes: bool
    owners: bool = False


_PASSES: Final = (
    _Pass(attributes=True, outputs=True, scopes=True),
    _Pass(attributes=True, outputs=False, scopes=True),
    _Pass(attributes=False, outputs=False, scopes=True),
    _Pass(attributes=True, outputs=False, scopes=False, owners=True),
    _Pass(attributes=True, outputs=False, scopes=False),
    _Pass(attributes=False, outputs=False, scopes=False),
)


def match_nodes(columns: NodeColumns) -> tuple[Offsets, Offsets]:
    """Return the partner of each node in the other graph, -1 for none, and the owners; both [n].

    Constants have no partners.
    """
    partners = np.full(len(columns.kinds), -1, dtype=np.int64)
    unique_names = _match_parameters(columns, partners)
    owners = owners_of(columns, partners, unique_names)
    parameters = np.flatnonzero((columns.kinds == PARAMETER) & (partners >= 0) & columns.is_left())
    numbers = [_LAYER.match(str(columns.graphs[0].names[node])) for node in parameters.tolist()]
    others = [
        _LAYER.match(columns.graphs[1].names[int(partners[node]) - columns.left_count])
        for node in parameters.tolist()
    ]
    shifted = any(
        left and right and left[1] == right[1] and left[2] != right[2]
        for left, right in zip(numbers, others, strict=True)
    )
    for step in _PASSES:
        if shifted and step.scopes:
            continue  # layers of equal numbers are not the same layers
        _match_by_structure(columns, partners, step, unique_names, owners)
    return partners, owners


def owners_of(columns: NodeColumns, partners: Offsets, unique_names: Offsets) -> Offsets:
    """[n] number of the parameter that an operator works on, equal in both graphs; 0 where none is known.

    It is used directly or through a Load; the gradient of a parameter has the owner of the optimizer's step.
    """
    count = len(partners)
    users = np.bincount(columns.sources, minlength=count)
    names = np.where(partners >= 0, np.minimum(np.arange(count), partners) + 1, 0)
    names = np.where((partners < 0) & (unique_names > 0), np.arange(count) + 1, names)
    names[(columns.kinds != PARAMETER) | (users > _MOST_USERS)] = 0
    owners = np.zeros(count, dtype=np.int64)
    by_slot = np.argsort(-columns.slots, kind="stable")  # the first input is written last
    sources, targets = columns.sources[by_slot], columns.targets[by_slot]
    named = names[sources] > 0
    owners[targets[named]] = names[sources[named]]
    direct = owners > 0
    loads = of_types(columns, {"Load"})
    loaded = loads[sources] & (owners[sources] > 0) & ~direct[targets]
    owners[targets[loaded]] = owners[sources[loaded]]
    states = direct[sources] & (columns.slots[by_slot] == 0) & of_types(columns, {"UpdateState"})[targets]
    owners[targets[states]] = owners[sources[states]]
    backward = np.array(
        [name.startswith(BACKWARD) for graph in columns.graphs for name in graph.names], dtype=np.bool_
    )
    steps = (
        (users[sources] == 1)
        & (backward | loads)[sources]
        & (owners[sources] == 0)
        & direct[targets]
        & ~backward[targets]
    )
    owners[sources[steps]] = owners[targets[steps]]
    return owners


def match_again(columns: NodeColumns, partners: Offsets, owners: Offsets) -> int:
    """Match what is open by its matched neighbours alone, inputs before users; return the number of pairs."""
    keys = [columns.types, columns.attributes, columns.scopes]
    total = 0
    for chosen in (keys, keys[:2], keys[:1]):
        for _ in range(_MOST_ROUNDS):
            labels = refine(columns, seed_labels(columns, chosen, partners), partners, 1)
            fed, used = neighbour_flags(columns, partners)
            count = 0
            for refined, near in (
                (labels.refined[0], fed & used),
                (labels.by_inputs, fed),
                (labels.by_outputs, used),
            ):
                candidates = near & (partners < 0) & (columns.kinds == OPERATOR)
                count += _match_unique(columns, partners, refined, candidates, owners)
            total += count
            if not count:
                break
    return total


def _match_parameters(columns: NodeColumns, partners: Offsets) -> Offsets:
    """Match parameters of equal name (names are unique in a graph), or of equal name below another prefix.

    [n] codes of the names that only one graph has, if enough are in both; 0 for all other nodes.
    """
    left, right = (_parameters(graph) for graph in columns.graphs)
    renamings = [{name: name for name in left if name in right}]
    if 2 * len(renamings[0]) < min(len(left), len(right)):
        renamings += [_prefixed(left, prefix) for prefix in _common_prefixes(right)]
        renamings += [
            {new: old for old, new in _prefixed(right, prefix).items()} for prefix in _common_prefixes(left)
        ]
    renamings += [shifted] if (shifted := _shifted(left, right)) else []
    best = max(renamings, key=lambda names: sum(old in left and new in right for old, new in names.items()))
    for name, other_name in best.items():
        if name in left and other_name in right:
            pair(partners, left[name], columns.left_count + right[other_name])
    for name in left.keys() & right.keys():  # inputs of the network keep their names
        other = columns.left_count + right[name]
        if partners[left[name]] < 0 and partners[other] < 0:
            pair(partners, left[name], other)
    named = np.array(
        [*left.values(), *(columns.left_count + node for node in right.values())], dtype=np.int64
    )
    unique_names = np.zeros_like(partners)
    if 2 * np.count_nonzero(partners[named] >= 0) >= 2 * _TELLING * min(len(left), len(right)):
        alone = named[partners[named] < 0]
        unique_names[alone] = columns.names[alone] + 1
    return unique_names


def _parameters(graph: Graph) -> dict[str, int]:
    """Nodes of the parameters by name, without names that are only a word and a running number."""
    nodes = np.flatnonzero(graph.kinds == PARAMETER).tolist()
    return {graph.names[node]: node for node in nodes if not _NUMBERED.match(graph.names[node])}


def _common_prefixes(names: Collection[str]) -> list[str]:
    """First components of dotted names, up to three with their dots, that at least half of the names have.

    Names of an optimizer's moments (``adam_m.fc.weight`` beside ``fc.weight``) do not count.
    """
    own = [name.split(".")[:-1] for name in names if name.partition(".")[2] not in names]
    counts = Counter(
        ".".join(some[:count]) + "." for some in own for count in range(1, min(len(some), 3) + 1)
    )
    return [prefix for prefix, count in counts.items() if 2 * count >= len(own)]


def _shifted(left: Collection[str], right: Collection[str]) -> dict[str, str]:
    """Return names of the left by those of the right if layers are counted from another number there.

    ``blocks.0`` to ``blocks.11`` become ``blocks.1`` to ``blocks.12``. Empty if they are counted alike.
    """
    ranges = [_layer_ranges(names) for names in (left, right)]
    moves = {
        prefix: others[0] - numbers[0]
        for prefix, numbers in ranges[0].items()
        if (others := ranges[1].get(prefix)) and len(others) == len(numbers) and others[0] != numbers[0]
        if all(some[-1] - some[0] == len(some) - 1 for some in (numbers, others))
    }
    renamed = {}
    for name in left if moves else ():
        layer = _LAYER.match(name)
        move = moves.get(layer[1], 0) if layer else 0
        renamed[name] = f"{layer[1]}{int(layer[2]) + move}{name[layer.end() :]}" if layer else name
    return renamed


def _layer_ranges(names: Collection[str]) -> dict[str, list[int]]:
    """Return the sorted numbers of layers by what is before them in the names of their parameters."""
    ranges: dict[str, set[int]] = {}
    for layer in map(_LAYER.match, names):
        if layer:
            ranges.setdefault(layer[1], set()).add(int(layer[2]))
    return {prefix: sorted(numbers) for prefix, numbers in ranges.items()}


def _prefixed(names: Collection[str], prefix: str) -> dict[str, str]:
    """Names with a prefix; of an optimizer's moment the parameter gets it: ``adam_m.model.fc.weight``."""
    renamed = {}
    for name in names:
        moment, _, parameter = name.partition(".")
        renamed[name] = f"{moment}.{prefix}{parameter}" if parameter in names else prefix + name
    return renamed


def pair(partners: Offsets, left: int | Offsets, right: int | Offsets) -> None:
    """Make nodes partners of each other."""
    partners[left] = right
    partners[right] = left


def _match_by_structure(
    columns: NodeColumns, partners: Offsets, step: _Pass, unique_names: Offsets, owners: Offsets
) -> None:
    """Match by labels until nothing new is found. Parameters with unique names are no one's partners."""
    keys = [columns.types, unique_names]
    keys += [columns.attributes] if step.attributes else []
    keys += [columns.outputs] if step.outputs else []
    keys += [columns.scopes] if step.scopes else []
    keys += [owners] if step.owners else []
    for _ in range(_MOST_ROUNDS):
        if not _match_labels(columns, partners, keys, step.scopes, unique_names, owners):
            break


def _match_labels(
    columns: NodeColumns,
    partners: Offsets,
    keys: list[Offsets],
    scopes: bool,
    unique_names: Offsets,
    owners: Offsets,
) -> int:
    """Match what the most telling labels decide; the number of new pairs."""
    labels = refine(columns, seed_labels(columns, keys, partners), partners, _ROUNDS)
    fed, used = neighbour_flags(columns, partners)
    candidates = (partners < 0) & (columns.kinds != CONSTANT)
    connected = np.zeros(len(partners), dtype=bool)
    connected[columns.sources] = connected[columns.targets] = True
    lonely = candidates & (connected | scopes)
    count = 0
    for refined in labels.refined[::-1]:
        count += _match_unique(columns, partners, refined, lonely & (partners < 0), owners)
    for by_neighbours, near in ((labels.by_inputs, fed), (labels.by_outputs, used)):
        count += _match_unique(columns, partners, by_neighbours, near & candidates & (partners < 0), owners)
    if count:
        return count
    unlike = np.bincount(columns.targets, weights=unique_names[columns.sources] > 0, minlength=len(partners))
    if scopes and (
        count := _match_unique(columns, partners, labels.seeds, candidates & (unlike == 0), owners)
    ):
        return count
    return _match_alike(columns, partners, labels.refined[-1], lonely, owners)


def _match_unique(
    columns: NodeColumns, partners: Offsets, labels: Labels, candidates: Flags, owners: Offsets
) -> int:
    """Match candidates whose label exactly one candidate has in each graph."""
    nodes, begins, ends, left_counts = _groups(columns, labels, candidates)
    chosen = begins[(ends - begins == 2) & (left_counts == 1)]
    return _pair_owned(partners, nodes[chosen], nodes[chosen + 1], owners)


def _pair_owned(partners: Offsets, left: Offsets, right: Offsets, owners: Offsets) -> int:
    """Make partners of the operators that do not work on different parameters; return the number of pairs."""
    fitting = (owners[left] == owners[right]) | (owners[left] == 0) | (owners[right] == 0)
    pair(partners, left[fitting], right[fitting])
    return int(np.count_nonzero(fitting))


def _match_alike(
    columns: NodeColumns, partners: Offsets, labels: Labels, candidates: Flags, owners: Offsets
) -> int:
    """Match candidates of one label in file order, where both graphs have as many."""
    nodes, begins, ends, left_counts = _groups(columns, labels, candidates)
    even = (left_counts > 0) & (ends - begins == 2 * left_counts)
    begins, halves = begins[even], left_counts[even]
    firsts = np.repeat(begins - np.cumsum(halves) + halves, halves) + np.arange(halves.sum())
    return _pair_owned(partners, nodes[firsts], nodes[firsts + np.repeat(halves, halves)], owners)


def _groups(
    columns: NodeColumns, labels: Labels, candidates: Flags
) -> tuple[Offsets, Offsets, Offsets, Offsets]:
    """Candidates by label and file order, left graph first; begin, end and left count of each label."""
    nodes = np.flatnonzero(candidates)
    nodes = nodes[np.argsort(labels[nodes], kind="stable")]
    ordered = labels[nodes]
    begins = np.flatnonzero(np.concatenate([np.ones(1, bool), ordered[1:] != ordered[:-1]])[: len(nodes)])
    ends = np.append(begins[1:], len(nodes))
    lefts = np.concatenate([np.zeros(1, np.int64), np.cumsum(nodes < columns.left_count)])
    return nodes, begins, ends[: len(begins)], lefts[ends[: len(begins)]] - lefts[begins]


def match_replaced(columns: NodeColumns, partners: Offsets, places: Offsets, owners: Offsets) -> int:
    """Match operators of different type that stand in one place; return the number of pairs.

    A pair lies in one scope (``places``, [n]) and has a vote for each input that comes from partners, and for
    each user at the same position; pairs of most votes first. It needs votes of both, but only one vote if
    the two are the only open operators of their scope, or work on the same parameter.
    """
    open_nodes = (partners < 0) & (columns.kinds == OPERATOR)
    votes: dict[tuple[int, int], list[int]] = {}
    for direction, (ends, others) in enumerate(
        ((columns.sources, columns.targets), (columns.targets, columns.sources))
    ):
        _count_votes(columns, partners, open_nodes, ends, others, votes, direction)
    passing = of_types(columns, PLUMBING)
    working = open_nodes & ~passing
    alone = np.zeros(len(partners), dtype=np.bool_)
    for side in (columns.is_left(), ~columns.is_left()):
        chosen = np.flatnonzero(working & side)
        alone[chosen] = np.bincount(places[chosen])[places[chosen]] == 1
    count = 0
    users = np.bincount(columns.sources, minlength=len(partners))
    biased = of_types(columns, {"BiasAdd"})  # adds a parameter: no partner of a sum of two operators
    for (left, right), (fed, used) in sorted(votes.items(), key=lambda item: (-sum(item[1]), item[0])):
        owned = owners[left], owners[right]
        fits = (fed and used) or (alone[left] and alone[right]) or owned[0] == owned[1] > 0
        fits = fits or (fed > 0 and users[left] == users[right] == 0)
        fits = fits and (
            owned[0] == owned[1] or 0 in owned or _is_renamed(columns, partners, (left, right), owned)
        )
        fits = fits and not ((biased[left] and not owned[1]) or (biased[right] and not owned[0]))
        same_place = places[left] == places[right] and passing[left] == passing[right]
        if fits and same_place and partners[left] < 0 and partners[right] < 0:
            pair(partners, left, right)
            count += 1
    return count


def match_exchanged(columns: NodeColumns, partners: Offsets, places: Offsets) -> int:
    """Match operators that are equal but for which of the known parameters they use, in which order.

    A pair lies in one scope (``places``, [n]), takes the same operators and as many parameters of the same
    types, and has no rival; every parameter that either takes is in both graphs. Returns the number of pairs.
    """
    order = np.argsort(columns.targets, kind="stable")
    loads = of_types(columns, {"Load"})
    total = 0
    for _ in range(_MOST_ROUNDS):
        waiting: dict[Hashable, tuple[list[int], list[int]]] = {}
        nodes = np.flatnonzero((partners < 0) & (columns.kinds == OPERATOR))
        begins, ends = (np.searchsorted(columns.targets[order], nodes, side) for side in ("left", "right"))
        for node, begin, end in zip(nodes.tolist(), begins.tolist(), ends.tolist(), strict=True):
            sources = columns.sources[order[begin:end]]
            outer = (columns.kinds[sources] == PARAMETER) | loads[sources]
            if not outer.any() or (partners[sources[outer]] < 0).any():
                continue
            inputs = np.where(outer, -2 - columns.outputs[sources], np.minimum(sources, partners[sources]))
            own = (columns.types, columns.attributes, columns.outputs, places)
            key = *(int(column[node]) for column in own), *inputs.tolist()
            waiting.setdefault(key, ([], []))[node >= columns.left_count].append(node)
        sure = [(left[0], right[0]) for left, right in waiting.values() if len(left) == len(right) == 1]
        for left, right in sure:
            pair(partners, left, right)
        total += len(sure)
        if not sure:
            break
    return total


def _is_renamed(
    columns: NodeColumns, partners: Offsets, operators: tuple[int, int], owned: tuple[int, int]
) -> bool:
    """Whether two operators of one content work on parameters of one type that only differ in their names."""
    if any(partners[owner - 1] >= 0 or columns.kinds[owner - 1] != PARAMETER for owner in owned):
        return False
    left, right = operators
    same = (columns.types, columns.attributes, columns.outputs)
    return all(column[left] == column[right] for column in same) and bool(
        columns.outputs[owned[0] - 1] == columns.outputs[owned[1] - 1]
    )


def match_renamed(columns: NodeColumns, partners: Offsets) -> None:
    """Match parameters of different names that partners use at the same position."""
    labels = refine(columns, seed_labels(columns, [columns.types], partners), partners, 1)
    used = neighbour_flags(columns, partners)[1]
    candidates = (columns.kinds == PARAMETER) & (partners < 0) & used
    _match_unique(columns, partners, labels.by_outputs, candidates, np.zeros_like(partners))


def match_used(columns: NodeColumns, partners: Offsets, owners: Offsets) -> int:
    """Match open operators of one type that partners use at one position; return the number of pairs.

    Other users may differ, as where one graph has a backward pass. Both must have no other candidate.
    """
    total = 0
    for _ in range(_MOST_ROUNDS):
        open_nodes = (partners < 0) & (columns.kinds == OPERATOR)
        edges = np.flatnonzero(open_nodes[columns.sources] & (partners[columns.targets] >= 0))
        sources, targets, slots = (
            column[edges].tolist() for column in (columns.sources, columns.targets, columns.slots)
        )
        used: dict[tuple[int, int], int] = {}
        for source, target, slot in zip(sources, targets, slots, strict=True):
            if source >= columns.left_count:
                used[target, slot] = source
        candidates: dict[int, set[int]] = {}
        for source, target, slot in zip(sources, targets, slots, strict=True):
            other = used.get((int(partners[target]), slot)) if source < columns.left_count else None
            if other is not None and columns.types[source] == columns.types[other]:
                candidates.setdefault(source, set()).add(other)
                candidates.setdefault(other, set()).add(source)
        lefts = [node for node in candidates if node < columns.left_count and len(candidates[node]) == 1]
        rights = [min(candidates[node]) for node in lefts]
        sure = [(a, b) for a, b in zip(lefts, rights, strict=True) if len(candidates[b]) == 1]
        pairs = np.array(sure, dtype=np.int64).reshape(-1, 2)
        count = _pair_owned(partners, pairs[:, 0], pairs[:, 1], owners)
        if not count:
            break
        total += count
    return total


def _count_votes(
    columns: NodeColumns,
    partners: Offsets,
    open_nodes: Flags,
    ends: Offsets,
    others: Offsets,
    votes: dict[tuple[int, int], list[int]],
    direction: int,
) -> None:
    """Count a vote for each pair of open nodes at ``others`` whose edges end at partners in one slot."""
    edges = np.flatnonzero(open_nodes[others] & (partners[ends] >= 0))
    by_place: dict[tuple[int, int], list[int]] = {}
    for edge in edges.tolist():
        if others[edge] >= columns.left_count:
            by_place.setdefault((int(ends[edge]), int(columns.slots[edge])), []).append(int(others[edge]))
    for edge in edges.tolist():
        if others[edge] < columns.left_count:
            position = int(partners[ends[edge]]), int(columns.slots[edge])
            rights = by_place.get(position, [])
            for right in rights if len(rights) <= _MOST_USERS else ():
                key = int(others[edge]), right
                votes.setdefault(key, [0, 0])[direction] += 1
