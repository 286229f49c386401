"""Matching of the operators of two dumps, by map, name or place, and comparison of their arguments."""

import json
import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from mindinsight.server.debug.overlay.scope_renaming import pair_scopes, renamed_name, renamed_parameter
from mindinsight.server.formats.dumps.dump_types import TensorEntry

OperatorKey: TypeAlias = tuple[str, str]  # graph, name as recorded
Arguments: TypeAlias = Mapping[OperatorKey, tuple[tuple[str, str], ...]]

INPUT = "input."


class Difference(NamedTuple):
    """Argument in a slot that differs between two operators, with both values as JSON text."""

    slot: str
    target: str
    reference: str


def differences(
    target: Iterable[tuple[str, str]], reference: Iterable[tuple[str, str]]
) -> Iterator[Difference]:
    """Yield the arguments in the same slot and of the same type on both sides that are not equal.

    Both sides are pairs of a slot, such as "input.1", and a value as JSON text.
    A missing argument, or an integer instead of a float, is not a difference, because one call can be written
    in many ways. Results are not arguments.
    """
    reference_arguments = dict(reference)
    for name, text in target:
        if (
            name.startswith(INPUT)
            and name in reference_arguments
            and _differ(text, reference_arguments[name])
        ):
            yield Difference(name.removeprefix(INPUT), text, reference_arguments[name])


def _differ(text: str, other: str) -> bool:
    if text == other:  # NaN too
        return False
    value, other_value = _value(text), _value(other)
    return value is not None and type(value) is type(other_value) and bool(value != other_value)


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:  # a very long text is recorded only in part
        return text


Scopes: TypeAlias = tuple[str, ...]
Way: TypeAlias = Literal["map", "name", "renamed", "alike", "place", "order", "none"]
Shapes: TypeAlias = Callable[[TensorEntry], tuple[int, ...] | None]

ALIGNED: Final = 5_000  # limit of unmatched operators per side to align by order, which takes quadratic time

_BACKWARD: Final = re.compile(r"backward|parameters_grad|^gradients[/_]", re.I)
# Naming of msprobe: Cell.fc1.Dense.forward.0, Functional.add.0.forward, Primitive.matmul.MatMul.0.forward.
_MODULE_NAME: Final = re.compile(
    r"(?:Cell|Module)\.(?P<path>.+)\.[^.]+\.(?P<way>forward|backward|parameters_grad)\.(?P<n>\d+)"
)
_API_NAME: Final = re.compile(r"[A-Za-z]+\.(?P<api>.+)\.(?P<n>\d+)\.(?P<way>forward|backward)")
_OPERATOR_NUMBER: Final = re.compile(r"-op(\d+)")
_SAME_NUMBERS: Final = 0.9  # share of names in common from which numbers mean the same on both sides
_MOST_ALIKE: Final = 200  # paths with one innermost scope; more are not searched for a wrapper
_COUNTED: Final = ("alike", "place")  # ways in which several operators may have one key
_PYTORCH_PARAMETERS: Final = {
    "gamma": "weight",
    "beta": "bias",
    "embedding_table": "weight",
    "moving_mean": "running_mean",
    "moving_variance": "running_var",
}


@dataclass(frozen=True, slots=True)
class Group:
    """Operator, by graph, recorded and full name, with its tensors in the order they were written."""

    graph: str
    recorded: str
    operator: str
    entries: tuple[TensorEntry, ...]


Key: TypeAlias = Callable[[Group], Hashable]


@dataclass(frozen=True, slots=True)
class Match:
    """Two matched operators and the rule that matched them, or an operator without a partner and None."""

    target: Group | None
    reference: Group | None
    way: Way


@dataclass(frozen=True, slots=True)
class Pair:
    """Row of a comparison: two matched tensors, one None if only the other side has it.

    If ``argument`` is set, the row is about it, and the tensors stand for the operators.
    """

    target: TensorEntry | None
    reference: TensorEntry | None
    way: Way
    argument: Difference | None = None


def group_by_operator(entries: Iterable[TensorEntry]) -> list[Group]:
    """Group tensors by operator, in the order of the first tensor of each."""
    tensors: dict[tuple[str, str], list[TensorEntry]] = defaultdict(list)
    for entry in entries:
        tensors[(entry.graph, entry.recorded)].append(entry)
    return [Group(graph, name, group[0].operator, tuple(group)) for (graph, name), group in tensors.items()]


def match_operators(
    targets: Sequence[Group], references: Sequence[Group], names: Mapping[str, str], shapes: Shapes
) -> list[Match]:
    """Return a match for each operator of the target in its order, then for those only in the reference. A
    missing partner is None.

    ``names`` maps names of the target to names of the reference and has priority. Then operators with the
    same name are matched in order, then those of the same type in the same innermost scope if both sides have
    the same number. The rest are aligned by order if type, direction and output shapes agree. ``shapes`` is
    called only for these. Without ``names``, modules that the reference names otherwise are matched under its
    names, see `module_renames`.
    """
    matched: dict[int, tuple[Group, Way]] = {}
    free = dict(enumerate(references))
    renames = {} if names else module_renames(targets, references, shapes)
    originals = targets
    targets = [_renamed(group, renames) for group in targets] if renames else targets
    for way, key, other_key in _keys(names, targets, references, shapes):
        candidates: dict[Hashable, list[int]] = defaultdict(list)
        for position, group in free.items():
            candidates[other_key(group)].append(position)
        wanted = Counter(key(group) for position, group in enumerate(targets) if position not in matched)
        for position, group in enumerate(targets):
            key_value = key(group)
            if position in matched or key_value is None or not candidates.get(key_value):
                continue
            if way in _COUNTED and wanted[key_value] and len(candidates[key_value]) != wanted[key_value]:
                del candidates[key_value]  # which of them belong together is unknown
                continue
            wanted[key_value] -= 1
            if way in _COUNTED and _differ_in_size(group, free[candidates[key_value][0]], shapes):
                candidates[key_value].pop(0)  # another operator ran in its place
                continue
            by: Way = way if group is originals[position] else "renamed"
            matched[position] = (free.pop(candidates[key_value].pop(0)), by)
    _align(targets, matched, free, shapes)
    matches = [
        Match(group, *matched.get(position, (None, "none"))) for position, group in enumerate(originals)
    ]
    return matches + [Match(None, group, "none") for group in free.values()]


def module_renames(targets: Sequence[Group], references: Sequence[Group], shapes: Shapes) -> dict[str, str]:
    """Return the scopes of the reference by scopes of the target, if its modules have other names. Return
    {} unless both sides have the same tree of modules. `pair_scopes` compares the trees."""

    def output_shape(groups: Sequence[Group]) -> Callable[[str], tuple[int, ...] | None]:
        by_name = {group.operator: group for group in groups}
        return lambda name: next(
            (shapes(entry) for entry in by_name[name].entries if entry.direction == "output"), None
        )

    sides = [
        [group for group in side if group.entries[0].type != "Parameter"] for side in (targets, references)
    ]
    left, right = ([group.operator for group in side] for side in sides)
    return pair_scopes(left, right, output_shape(sides[0]), output_shape(sides[1]))


def _renamed(group: Group, renames: Mapping[str, str]) -> Group:
    """Return a group under the name that its operator or parameter has in the reference."""
    rename = renamed_parameter if group.entries[0].type == "Parameter" else renamed_name
    name = rename(group.operator, renames)
    return group if name == group.operator else replace(group, recorded="", operator=name)


def match_slots(match: Match) -> list[Pair]:
    """Return the tensors of two operators in pairs, matched by direction and slot. A tensor without a
    partner is in a pair with None. The rest is matched by direction and order, except parameters, which
    have names."""
    unmatched, unmatched_references = (
        list(group.entries) if group else [] for group in (match.target, match.reference)
    )
    pairs: list[tuple[TensorEntry, TensorEntry]] = []
    for key in (_slot, lambda entry: entry.direction):
        candidates: dict[Hashable, list[TensorEntry]] = defaultdict(list)
        for entry in unmatched_references:
            candidates[key(entry)].append(entry)
        for entry in list(unmatched):
            if key is not _slot and entry.direction == "parameter":
                continue  # parameters are identified by name
            if candidates.get(key(entry)):
                other = candidates[key(entry)].pop(0)
                pairs.append((entry, other))
                unmatched.remove(entry)
                unmatched_references.remove(other)
    joined = {id(target): reference for target, reference in pairs}
    entries = match.target.entries if match.target else ()
    rows = [Pair(entry, joined.get(id(entry)), match.way) for entry in entries]
    return rows + [Pair(None, entry, match.way) for entry in unmatched_references]


def _same_numbers(targets: Sequence[Group], references: Sequence[Group]) -> bool:
    """Return True if equal operator numbers refer to the same operators on both sides. MindSpore counts
    operators over a whole graph. Another graph of the same network has other numbers."""
    numbered = [
        [group for group in side if _OPERATOR_NUMBER.search(group.operator)] for side in (targets, references)
    ]
    for name in ("recorded", "operator"):  # the scoped name may be known on one side only
        names = [{getattr(group, name) for group in side} for side in numbered]
        if len(names[0] & names[1]) >= _SAME_NUMBERS * min(map(len, names)):
            return True
    return False


def _kind(group: Group) -> Hashable:
    """Return the pass and the type of an operator. Operators are numbered for each of these, or for each
    type over both passes."""
    return bool(_BACKWARD.search(group.operator)), group.entries[0].type


def _renumbered(targets: Sequence[Group], references: Sequence[Group], shapes: Shapes) -> set[Hashable]:
    """Return the kinds of operators that are numbered differently on both sides. One side has more
    operators of such a type, for example gradients of layers that the other side froze. Operators of one
    number have tensors of different shapes or are in different scopes. If one side merely recorded fewer,
    they agree."""
    counts = [Counter(group.entries[0].type for group in side) for side in (targets, references)]
    inputs = _has_inputs(targets) and _has_inputs(references)
    others = {_number(group): group for group in references if _number(group)}
    kinds = set[Hashable]()
    for group in targets:
        kind, other = _kind(group), others.get(_number(group))
        equally_many = counts[0][group.entries[0].type] == counts[1][group.entries[0].type]
        if other is None or kind in kinds or equally_many:
            continue
        same = _signature(group, shapes, inputs) == _signature(other, shapes, inputs)
        if not same or _scopes(group) != _scopes(other):
            kinds.add(kind)
    return kinds


def _number(group: Group) -> Hashable:
    """Return the kind and the number of an operator, None without a number."""
    match = _OPERATOR_NUMBER.search(group.operator)
    return match and (_kind(group), match[1])


def _differ_in_size(group: Group, other: Group, shapes: Shapes) -> bool:
    """Return True if two numbered operators have outputs of different numbers of elements."""
    if not (_OPERATOR_NUMBER.search(group.operator) and _OPERATOR_NUMBER.search(other.operator)):
        return False
    sides = [
        [shapes(entry) for entry in own.entries if entry.direction == "output"] for own in (group, other)
    ]
    known = [[math.prod(shape) for shape in side if shape is not None] for side in sides]
    return all(len(side) == len(sizes) for side, sizes in zip(sides, known, strict=True)) and (
        known[0] != known[1] and len(known[0]) == len(known[1])
    )


def _has_inputs(groups: Iterable[Group]) -> bool:
    return any(entry.direction == "input" for group in groups for entry in group.entries)


def _keys(
    names: Mapping[str, str], targets: Sequence[Group], references: Sequence[Group], shapes: Shapes
) -> tuple[tuple[Way, Key, Key], ...]:
    """Return the rules of matching, most reliable first: name, key of a target and key of a reference
    operator. Operators with equal keys match. A key of None matches nothing."""
    same_numbers = _same_numbers(targets, references)
    renumbered = _renumbered(targets, references, shapes) if same_numbers else set()
    scopes = _same_scopes(targets, references)

    def in_scopes(group: Group) -> Hashable:
        path = scopes.get(_scopes(group))
        return None if path is None else _place(group, path)

    def mapped(group: Group) -> Hashable:
        return names.get(group.recorded) or names.get(group.operator)

    def plain(group: Group) -> Hashable:
        return plain_name(group.operator)

    def named(group: Group) -> Hashable:
        if not _OPERATOR_NUMBER.search(group.operator):
            return group.operator
        return group.operator if same_numbers and _kind(group) not in renumbered else None

    def in_graph(group: Group) -> Hashable:
        return None if named(group) is None else (group.graph, group.recorded)

    return (
        ("map", mapped, lambda group: group.recorded),
        ("map", mapped, lambda group: group.operator),
        ("name", in_graph, in_graph),
        ("name", named, named),
        ("alike", plain, plain),
        ("place", in_scopes, lambda group: _place(group, _scopes(group))),
    )


def _same_scopes(targets: Sequence[Group], references: Sequence[Group]) -> dict[Scopes, Scopes]:
    """Return the reference's path of scopes for each of the target's paths that has a counterpart. It is
    the same path, or the only one with the same end, because a network may lie within another cell."""
    ours, theirs = ({_scopes(group) for group in side} - {()} for side in (targets, references))
    same = {path: path for path in ours & theirs}
    ends: dict[str, tuple[list[Scopes], list[Scopes]]] = defaultdict(lambda: ([], []))
    for side, alone in enumerate((ours - theirs, theirs - ours)):
        for path in alone:
            ends[path[-1]][side].append(path)
    for paths, others in ends.values():
        if max(len(paths), len(others)) > _MOST_ALIKE:
            continue
        pairs = [(path, other) for path in paths for other in others if _ends_alike(path, other)]
        counts = Counter(path for path, _ in pairs), Counter(other for _, other in pairs)
        same |= {path: other for path, other in pairs if counts[0][path] == counts[1][other] == 1}
    return same


def _ends_alike(path: Scopes, other: Scopes) -> bool:
    size = min(len(path), len(other))
    return path[-size:] == other[-size:]


def _scopes(group: Group) -> Scopes:
    """Return the scopes of an operator, outermost first, without those that training wraps around the
    network."""
    scopes = [part for part in group.operator.split("/")[:-1] if not _BACKWARD.search(part)]
    return tuple(
        part for part in scopes if not part.startswith(("Default", "network-", "_backbone-", "Grad"))
    )


def _place(group: Group, scopes: Scopes) -> Hashable:
    """Return a key of an operator's pass, type and scopes, or None if it has no scopes or no type."""
    if not scopes or not group.entries[0].type:
        return None
    way = "backward" if _BACKWARD.search(group.operator) else "forward"
    return way, group.entries[0].type, scopes


def _align(
    targets: Sequence[Group], matched: dict[int, tuple[Group, Way]], free: dict[int, Group], shapes: Shapes
) -> None:
    """Match remaining operators of both sides that have equal types and shapes in the same order."""
    unmatched = [position for position in range(len(targets)) if position not in matched]
    unmatched_references = list(free)
    if not unmatched or not unmatched_references or max(len(unmatched), len(unmatched_references)) > ALIGNED:
        return
    inputs = _has_inputs(targets) and _has_inputs(free.values())
    signatures = [_signature(targets[position], shapes, inputs) for position in unmatched]
    reference_signatures = [_signature(free[position], shapes, inputs) for position in unmatched_references]
    for start, reference_start, size in SequenceMatcher(
        None, signatures, reference_signatures, autojunk=False
    ).get_matching_blocks():
        for offset in range(size):
            matched[unmatched[start + offset]] = (
                free.pop(unmatched_references[reference_start + offset]),
                "order",
            )


def _signature(group: Group, shapes: Shapes, inputs: bool) -> Hashable:
    """Return the pass and type of an operator, and the shapes of its outputs, or of all its tensors with
    ``inputs``."""
    way = "backward" if _BACKWARD.search(group.operator) else "forward"
    sides = ("input", "output") if inputs else ("output",)
    sizes = tuple((entry.direction, shapes(entry)) for entry in group.entries if entry.direction in sides)
    return way, group.entries[0].type, sizes


def _slot(entry: TensorEntry) -> Hashable:
    return entry.direction, plain_parameter(entry.slot)


def plain_name(name: str) -> str:
    """Return a name without class names, prefixes of APIs and numbers of operators.
    ``Cell.fc1.Dense.forward.0`` equals ``Module.fc1.Linear.forward.0``, ``Functional.add.0.forward``
    equals ``Torch.add.0.forward``, and ``x/TopK-op0`` equals ``x/TopK-op1``."""
    if module := _MODULE_NAME.fullmatch(name):
        return f"{module['path']}.{module['way']}.{module['n']}"
    if api := _API_NAME.fullmatch(name):
        return f".{api['api'].rpartition('.')[2].lower()}.{api['way']}.{api['n']}"
    return _OPERATOR_NUMBER.sub("", name)


def plain_parameter(name: str) -> str:
    """Convert a parameter's name to PyTorch's, ``gamma`` of MindSpore to ``weight``. Others are unchanged."""
    return _PYTORCH_PARAMETERS.get(name, name)
