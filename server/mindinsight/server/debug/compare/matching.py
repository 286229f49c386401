"""Which operator of one dump is which of the other: by map, by name, by name without its dress, by order."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Final, Literal, TypeAlias

from mindinsight.server.debug.compare.arguments import Difference
from mindinsight.server.debug.compare.names import plain_name, plain_parameter
from mindinsight.server.formats.dumps.types import TensorEntry

Way: TypeAlias = Literal["map", "name", "alike", "order", "none"]
Shapes: TypeAlias = Callable[[TensorEntry], tuple[int, ...] | None]

ALIGNED: Final = 5_000  # operators left over on a side up to which they are aligned by order

_BACKWARD: Final = re.compile(r"backward|parameters_grad|^gradients[/_]", re.I)


@dataclass(frozen=True, slots=True)
class Group:
    """The tensors of one operator, in the order they were written."""

    graph: str
    recorded: str
    operator: str
    entries: tuple[TensorEntry, ...]


Key: TypeAlias = Callable[[Group], Hashable]


@dataclass(frozen=True, slots=True)
class Match:
    """Two operators that belong together, and how that was found out; None: only on the other side."""

    target: Group | None
    reference: Group | None
    way: Way


@dataclass(frozen=True, slots=True)
class Pair:
    """Two tensors that belong together; None: only on the other side. Or an argument that differs."""

    target: TensorEntry | None
    reference: TensorEntry | None
    way: Way
    argument: Difference | None = None


def grouped(entries: Iterable[TensorEntry]) -> list[Group]:
    """Operators in the order of their first tensor."""
    found: dict[tuple[str, str], list[TensorEntry]] = defaultdict(list)
    for entry in entries:
        found[(entry.graph, entry.recorded)].append(entry)
    return [Group(graph, name, each[0].operator, tuple(each)) for (graph, name), each in found.items()]


def match_operators(
    targets: Sequence[Group], references: Sequence[Group], names: Mapping[str, str], shapes: Shapes
) -> list[Match]:
    """Every operator of both sides once, in the order of the target; those of the reference alone last.

    ``names`` maps names of the target to names of the reference and goes before everything else. Of
    operators with the same name, the first belongs to the first. What no name joins is aligned by
    order where direction and output shapes agree (``shapes`` is asked for those only).
    """
    found: dict[int, tuple[Group, Way]] = {}
    free = dict(enumerate(references))
    for way, key, other_key in _keys(names):
        waiting: dict[Hashable, list[int]] = defaultdict(list)
        for position, group in free.items():
            waiting[other_key(group)].append(position)
        for position, group in enumerate(targets):
            wanted = key(group)
            if position not in found and wanted is not None and waiting.get(wanted):
                found[position] = (free.pop(waiting[wanted].pop(0)), way)
    _align(targets, found, free, shapes)
    matches = [Match(group, *found.get(position, (None, "none"))) for position, group in enumerate(targets)]
    return matches + [Match(None, group, "none") for group in free.values()]


def match_slots(match: Match) -> list[Pair]:
    """Tensors of two operators: by direction and slot, then what is left by direction and order."""
    left, right = (list(each.entries) if each else [] for each in (match.target, match.reference))
    pairs: list[tuple[TensorEntry, TensorEntry]] = []
    for key in (_slot, lambda entry: entry.direction):
        waiting: dict[Hashable, list[TensorEntry]] = defaultdict(list)
        for entry in right:
            waiting[key(entry)].append(entry)
        for entry in list(left):
            if waiting.get(key(entry)):
                other = waiting[key(entry)].pop(0)
                pairs.append((entry, other))
                left.remove(entry)
                right.remove(other)
    joined = {id(target): reference for target, reference in pairs}
    entries = match.target.entries if match.target else ()
    rows = [Pair(entry, joined.get(id(entry)), match.way) for entry in entries]
    return rows + [Pair(None, entry, match.way) for entry in right]


def _keys(names: Mapping[str, str]) -> tuple[tuple[Way, Key, Key], ...]:
    """What two operators must have in common to belong together, the surest first."""

    def mapped(group: Group) -> Hashable:
        return names.get(group.recorded) or names.get(group.operator)

    def plain(group: Group) -> Hashable:
        return plain_name(group.operator)

    return (
        ("map", mapped, lambda group: group.recorded),
        ("map", mapped, lambda group: group.operator),
        ("name", lambda group: (group.graph, group.recorded), lambda group: (group.graph, group.recorded)),
        ("name", lambda group: group.operator, lambda group: group.operator),
        ("alike", plain, plain),
    )


def _align(
    targets: Sequence[Group], found: dict[int, tuple[Group, Way]], free: dict[int, Group], shapes: Shapes
) -> None:
    """Join leftovers of both sides that come in the same order with the same outputs."""
    left = [position for position in range(len(targets)) if position not in found]
    right = list(free)
    if not left or not right or max(len(left), len(right)) > ALIGNED:
        return
    ours = [_look(targets[position], shapes) for position in left]
    theirs = [_look(free[position], shapes) for position in right]
    for start, other, size in SequenceMatcher(None, ours, theirs, autojunk=False).get_matching_blocks():
        for offset in range(size):
            found[left[start + offset]] = (free.pop(right[other + offset]), "order")


def _look(group: Group, shapes: Shapes) -> Hashable:
    """What an operator looks like from outside: its direction and the shapes it gives."""
    way = "backward" if _BACKWARD.search(group.operator) else "forward"
    return way, tuple(shapes(entry) for entry in group.entries if entry.direction == "output")


def _slot(entry: TensorEntry) -> Hashable:
    return entry.direction, plain_parameter(entry.slot)
