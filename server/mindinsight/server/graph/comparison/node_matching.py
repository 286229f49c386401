"""Matching of the nodes of two graphs: parameters by name, the rest by the structure around them.

1. Parameters of equal name are partners. If most names differ, those equal below another prefix are
   (``blocks.0.weight``, ``model.blocks.0.weight``), else those that are used alike (parameter_renaming.py).
   A word and a running number do not count as a name.
2. Nodes are partners if their Weisfeiler-Lehman label is unique in both graphs (node_labels.py), deepest
   rounds first. Matched nodes give new labels to their neighbours, until nothing new is found. The first
   passes use attributes, outputs and scopes of nodes, later ones less of them.
3. Nodes with equal labels are partners in file order if both graphs have the same number of them.

The numbers of operators (``Conv2D-op12``) are ignored. They count over the whole graph, so one more operator
changes all that follow.
"""

import re
from collections import Counter
from collections.abc import Collection, Hashable
from typing import Final, NamedTuple

import numpy as np

from mindinsight.server.graph.comparison.node_labels import (
    NodeColumns,
    neighbour_flags,
    of_types,
    refine,
    seed_labels,
)
from mindinsight.server.graph.comparison.parameter_renaming import rename_by_use
from mindinsight.server.graph.comparison.shared_layers import separate_uses
from mindinsight.server.graph.model.graph import (
    BACKWARD,
    CONSTANT,
    OPERATOR,
    PARAMETER,
    Flags,
    Graph,
    Hashes,
    Offsets,
)
from mindinsight.server.graph.scopes.scope_tree import PLUMBING

_ROUNDS: Final = 4  # of refinement: the distance up to which neighbours count
_MOST_ROUNDS: Final = 40  # limit of labelling in a pass: chains of equal operators need many rounds
_MOST_USERS: Final = 16  # open users at one position, above which they are no evidence for each other
_TELLING: Final = 0.25  # share of equal parameter names from which a missing name means a missing parameter
_LAYER: Final = re.compile(r"((?:[^.]+\.)*?)(\d+)(?=\.)")
_NUMBERED: Final = re.compile(r"[A-Za-z_]*\d+\Z")


class _Pass(NamedTuple):
    """Properties of nodes that have to be equal to match in one pass."""

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


class NodeMatching(NamedTuple):
    """Matching of nodes, and the columns that it compares."""

    columns: NodeColumns  # with uses of shared weights separated (shared_layers.py)
    partners: Offsets  # [n] each node's partner in the other graph, -1 for none, the node if separated
    owners: Offsets  # [n] each operator's parameter, 0 if unknown, numbered as by `owners_of`
    separated: Offsets  # parameters of one graph that stand for uses in both


def match_nodes(columns: NodeColumns) -> NodeMatching:
    """Match the nodes of two graphs. Constants have no partners."""
    partners = np.full(len(columns.kinds), -1, dtype=np.int64)
    unique_names = _match_parameters(columns, partners)
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
    columns, separated = separate_uses(columns, partners)
    partners[separated] = separated  # sources in both graphs
    owners = owners_of(columns, partners, unique_names)
    shifted |= len(separated) > 0
    for step in _PASSES:
        if shifted and step.scopes:
            continue  # layers with equal numbers are not the same
        _match_by_structure(columns, partners, step, unique_names, owners)
    return NodeMatching(columns, partners, owners, separated)


def owners_of(columns: NodeColumns, partners: Offsets, unique_names: Offsets) -> Offsets:
    """Return [n] a number of the parameter that each operator works on, equal in both graphs, 0 if
    unknown. The operator uses it directly or through a Load. The gradient of a parameter belongs to the
    parameter, too, by the optimizer's step."""
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
    """Match operators without partners by their matched neighbours alone, and return the number of pairs.
    The pairs are added to ``partners``."""
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
    """Match parameters of equal name, also below another prefix, in ``partners``. Return [n] codes of the
    names that only one graph has, all 0 unless both graphs share enough names."""
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
    _match_wrapped(columns, partners, left, right)
    named = np.array(
        [*left.values(), *(columns.left_count + node for node in right.values())], dtype=np.int64
    )
    unique_names = np.zeros_like(partners)
    matched = int(np.count_nonzero(partners[named] >= 0))
    if matched >= _TELLING * min(len(left), len(right)):
        alone = named[partners[named] < 0]
        unique_names[alone] = columns.names[alone] + 1
    if matched < min(len(left), len(right)):
        nodes = left, {name: columns.left_count + node for name, node in right.items()}
        for name, other_name in rename_by_use(columns, *nodes).items():
            if partners[nodes[0][name]] < 0 and partners[nodes[1][other_name]] < 0:
                pair(partners, nodes[0][name], nodes[1][other_name])
    return unique_names


def _match_wrapped(
    columns: NodeColumns, partners: Offsets, left: dict[str, int], right: dict[str, int]
) -> None:
    """Match parameters of modules that were put into a new module: ``q.weight`` and ``q.base.weight``. All
    parameters of the module must have the same new part in their names, and equal types. If several parts
    would do, such as that of an adapter beside the module, nothing is matched."""
    rights = {name: columns.left_count + node for name, node in right.items()}
    for inner, outer in ((left, rights), (rights, left)):
        waiting = {name for name, node in inner.items() if partners[node] < 0}
        wrapped: dict[str, dict[str, list[tuple[str, str]]]] = {}  # by module and new part
        for name in (name for name, node in outer.items() if waiting and partners[node] < 0):
            parts = name.split(".")
            for i in range(1, len(parts) - 1):
                short = ".".join(parts[:i] + parts[i + 1 :])
                if short in waiting and columns.outputs[inner[short]] == columns.outputs[outer[name]]:
                    wrapped.setdefault(".".join(parts[:i]), {}).setdefault(parts[i], []).append((short, name))
        members = Counter(
            ".".join(parts[:i]) for parts in (name.split(".") for name in inner) for i in range(1, len(parts))
        )
        for module, candidates in wrapped.items():
            whole = [names for names in candidates.values() if len(names) == members[module]]
            for short, name in whole[0] if len(whole) == 1 else ():
                if partners[inner[short]] < 0 and partners[outer[name]] < 0:
                    pair(partners, inner[short], outer[name])


def _parameters(graph: Graph) -> dict[str, int]:
    """Return the nodes of the parameters by name, without names that are only a word and a running number."""
    nodes = np.flatnonzero(graph.kinds == PARAMETER).tolist()
    return {graph.names[node]: node for node in nodes if not _NUMBERED.match(graph.names[node])}


def _common_prefixes(names: Collection[str]) -> list[str]:
    """Return the first components of dotted names, up to three with dots, shared by at least half of the
    names. Names of an optimizer's moments (``adam_m.fc.weight`` next to ``fc.weight``) do not count."""
    own = [name.split(".")[:-1] for name in names if name.partition(".")[2] not in names]
    counts = Counter(
        ".".join(some[:count]) + "." for some in own for count in range(1, min(len(some), 3) + 1)
    )
    return [prefix for prefix, count in counts.items() if 2 * count >= len(own)]


def _shifted(left: Collection[str], right: Collection[str]) -> dict[str, str]:
    """Return the right graph's names by those of the left if layers are counted from different numbers.
    ``blocks.0`` to ``blocks.11`` become ``blocks.1`` to ``blocks.12``. Empty if both count from the same."""
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
    """Return the layer numbers in parameter names, sorted, by the prefix before the number."""
    ranges: dict[str, set[int]] = {}
    for layer in map(_LAYER.match, names):
        if layer:
            ranges.setdefault(layer[1], set()).add(int(layer[2]))
    return {prefix: sorted(numbers) for prefix, numbers in ranges.items()}


def _prefixed(names: Collection[str], prefix: str) -> dict[str, str]:
    """Return the names by the same names with a prefix. In an optimizer's moments it follows the first
    part. ``adam_m.fc.weight`` becomes ``adam_m.model.fc.weight``."""
    renamed = {}
    for name in names:
        moment, _, parameter = name.partition(".")
        renamed[name] = f"{moment}.{prefix}{parameter}" if parameter in names else prefix + name
    return renamed


def pair(partners: Offsets, left: int | Offsets, right: int | Offsets) -> None:
    """Make nodes partners of each other, in place."""
    partners[left] = right
    partners[right] = left


def _match_by_structure(
    columns: NodeColumns, partners: Offsets, step: _Pass, unique_names: Offsets, owners: Offsets
) -> None:
    """Match by labels until nothing new is found. Parameters with unique names stay without partners."""
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
    """Match nodes by the most specific labels that decide, and return the number of new pairs."""
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
    columns: NodeColumns, partners: Offsets, labels: Hashes, candidates: Flags, owners: Offsets
) -> int:
    """Match candidates whose label occurs exactly once in each graph, and return the number of pairs."""
    nodes, begins, ends, left_counts = _groups(columns, labels, candidates)
    chosen = begins[(ends - begins == 2) & (left_counts == 1)]
    return _pair_owned(partners, nodes[chosen], nodes[chosen + 1], owners)


def _pair_owned(partners: Offsets, left: Offsets, right: Offsets, owners: Offsets) -> int:
    """Pair operators unless they work on different parameters, and return the number of pairs."""
    fitting = (owners[left] == owners[right]) | (owners[left] == 0) | (owners[right] == 0)
    pair(partners, left[fitting], right[fitting])
    return int(np.count_nonzero(fitting))


def _match_alike(
    columns: NodeColumns, partners: Offsets, labels: Hashes, candidates: Flags, owners: Offsets
) -> int:
    """Match candidates of equal label in file order if both graphs have equally many. Return the number of
    pairs."""
    nodes, begins, ends, left_counts = _groups(columns, labels, candidates)
    even = (left_counts > 0) & (ends - begins == 2 * left_counts)
    begins, halves = begins[even], left_counts[even]
    firsts = np.repeat(begins - np.cumsum(halves) + halves, halves) + np.arange(halves.sum())
    return _pair_owned(partners, nodes[firsts], nodes[firsts + np.repeat(halves, halves)], owners)


def _groups(
    columns: NodeColumns, labels: Hashes, candidates: Flags
) -> tuple[Offsets, Offsets, Offsets, Offsets]:
    """Return the candidates by label and file order, left graph first, and start, end and left count of each
    label."""
    nodes = np.flatnonzero(candidates)
    nodes = nodes[np.argsort(labels[nodes], kind="stable")]
    ordered = labels[nodes]
    begins = np.flatnonzero(np.concatenate([np.ones(1, bool), ordered[1:] != ordered[:-1]])[: len(nodes)])
    ends = np.append(begins[1:], len(nodes))
    lefts = np.concatenate([np.zeros(1, np.int64), np.cumsum(nodes < columns.left_count)])
    return nodes, begins, ends[: len(begins)], lefts[ends[: len(begins)]] - lefts[begins]


def match_replaced(columns: NodeColumns, partners: Offsets, places: Offsets, owners: Offsets) -> int:
    """Match operators of different type in the same position, in place, and return the number of pairs.

    Both are in one scope (``places``, [n]) and do not work on different parameters (``owners``, [n], 0 if
    unknown). A pair has a vote for each two inputs, and each two users at one position, that are partners.
    Pairs with most votes come first. A pair needs votes by inputs and by users, or one vote if no other
    operator of the scope is unmatched or both work on the same parameter, or votes by inputs if neither has
    users.
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
    biased = of_types(columns, {"BiasAdd"})  # adds a parameter, so it does not match a sum of two operators
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
    """Match operators that differ only in which parameters they take, or in their order, in place.

    Return the number of pairs. Both operators are in one scope (``places``, [n]), equal, and unique, and have
    the same number of parameters of the same types as inputs. At least one of them has only parameters that
    both graphs have.
    """
    order = np.argsort(columns.targets, kind="stable")
    loads = of_types(columns, {"Load"})
    total = 0
    for _ in range(_MOST_ROUNDS):
        waiting: dict[Hashable, tuple[list[int], list[int]]] = {}
        known: set[int] = set()  # operators that take no parameter of their graph alone
        nodes = np.flatnonzero((partners < 0) & (columns.kinds == OPERATOR))
        begins, ends = (np.searchsorted(columns.targets[order], nodes, side) for side in ("left", "right"))
        for node, begin, end in zip(nodes.tolist(), begins.tolist(), ends.tolist(), strict=True):
            sources = columns.sources[order[begin:end]]
            outer = (columns.kinds[sources] == PARAMETER) | loads[sources]
            if not outer.any():
                continue
            if (partners[sources[outer]] >= 0).all():
                known.add(node)
            inputs = np.where(outer, -2 - columns.outputs[sources], np.minimum(sources, partners[sources]))
            own = (columns.types, columns.attributes, columns.outputs, places)
            key = *(int(column[node]) for column in own), *inputs.tolist()
            waiting.setdefault(key, ([], []))[node >= columns.left_count].append(node)
        sure = [
            (left[0], right[0])
            for left, right in waiting.values()
            if len(left) == len(right) == 1 and not known.isdisjoint((left[0], right[0]))
        ]
        for left, right in sure:
            pair(partners, left, right)
        total += len(sure)
        if not sure:
            break
    return total


def _is_renamed(
    columns: NodeColumns, partners: Offsets, operators: tuple[int, int], owned: tuple[int, int]
) -> bool:
    """Return True if two equal operators work on unmatched parameters of the same type."""
    if any(partners[owner - 1] >= 0 or columns.kinds[owner - 1] != PARAMETER for owner in owned):
        return False
    left, right = operators
    same = (columns.types, columns.attributes, columns.outputs)
    return all(column[left] == column[right] for column in same) and bool(
        columns.outputs[owned[0] - 1] == columns.outputs[owned[1] - 1]
    )


def match_renamed(columns: NodeColumns, partners: Offsets) -> None:
    """Match parameters of different names that partners use at the same position, in ``partners``."""
    labels = refine(columns, seed_labels(columns, [columns.types], partners), partners, 1)
    used = neighbour_flags(columns, partners)[1]
    candidates = (columns.kinds == PARAMETER) & (partners < 0) & used
    _match_unique(columns, partners, labels.by_outputs, candidates, np.zeros_like(partners))


def match_numbered(columns: NodeColumns, partners: Offsets) -> None:
    """Match unmatched parameters of one name, such as ``w1``, that partners use as the same input, in
    place. Other users may differ: an operator may use a weight that belonged to another one before."""
    open_nodes = (columns.kinds == PARAMETER) & (partners < 0)
    edges = np.flatnonzero(open_nodes[columns.sources] & (partners[columns.targets] >= 0))
    sources, targets, slots = (
        column[edges].tolist() for column in (columns.sources, columns.targets, columns.slots)
    )
    taken = {
        (target, slot, int(columns.names[source])): source
        for source, target, slot in zip(sources, targets, slots, strict=True)
    }
    for source, target, slot in zip(sources, targets, slots, strict=True):
        other = taken.get((int(partners[target]), slot, int(columns.names[source])))
        if source < columns.left_count and other is not None and partners[source] < 0:
            pair(partners, source, other)


def match_used(columns: NodeColumns, partners: Offsets, owners: Offsets) -> int:
    """Match in ``partners``, in place, unmatched operators of one type that partners use as the same input,
    if neither has another candidate. Return the number of new pairs, 0 if there is none."""
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
    """Add a vote for each two unmatched nodes at ``others`` whose edges to or from partners have the same
    slot."""
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
