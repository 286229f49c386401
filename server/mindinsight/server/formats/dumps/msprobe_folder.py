"""One rank and step of msprobe: its entries, tensors and operators."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

from mindinsight.server.files.folders import files_of
from mindinsight.server.formats.arrays.element_types import canonical
from mindinsight.server.formats.cut_json import read_object
from mindinsight.server.formats.dumps.msprobe_entries import (
    Leaf,
    calls_before,
    is_call,
    is_weight_gradient,
    leaves,
    parse_call,
    parse_tensor_name,
    recorded_sides,
    statistics_of,
)
from mindinsight.server.formats.dumps.msprobe_stacks import ancestors, loop_of, stacks_of_entries
from mindinsight.server.formats.dumps.types import (
    FileDamage,
    LazySequence,
    Listing,
    Operator,
    StepFolder,
    TensorEntry,
    TensorRef,
)
from mindinsight.server.formats.unreadable import UnreadableError

DATA: Final = "dump_tensor_data"


class _Tensor(NamedTuple):
    """A tensor of an entry, and its file where it has one."""

    entry: str
    order: int
    type: str
    leaf: Leaf
    path: str = ""
    damage: FileDamage | None = None


def list_folder(folder: StepFolder, layout: str) -> Listing[TensorEntry]:
    """Tensors in the order of ``dump.json``; those it does not name (yet) after them, by time."""
    damage: list[FileDamage] = []
    found = _tensors(folder, _entries(folder, damage), damage)
    return Listing(LazySequence(len(found), lambda at: _built(folder, layout, at, found[at])), tuple(damage))


def list_calls(folder: StepFolder) -> Listing[Operator]:
    """Calls in the order of ``dump.json``, with the tree and the stacks of the files beside it."""
    damage: list[FileDamage] = []
    entries = _entries(folder, damage)
    slots: dict[str, list[tuple[int, Leaf]]] = {}
    for sequence, tensor in enumerate(_tensors(folder, entries, damage)):
        slots.setdefault(tensor.entry, []).append((sequence, tensor.leaf))
    stacks = stacks_of_entries(_object(folder, "stack.json", damage))
    parents = _object(folder, "construct.json", damage)
    loop = loop_of(parents)
    if loop is not None:
        damage.append(FileDamage(str(Path(folder.path) / "construct.json"), "dump.loop", loop[:300]))
    beside = (name for name in (*parents, *stacks) if is_call(name))  # "optimizer" is no call
    names = dict.fromkeys((*entries, *slots, *beside))
    calls = _calls_of_modules(names)
    made = []
    for order, name in enumerate(names):
        call, mine = parse_call(name), slots.get(name, [])
        before = calls_before(name, calls.get(call.path, ()))
        inputs, outputs = recorded_sides(name, entries[name]) if name in entries else _sides_of_files(mine)
        operator = Operator(
            name=name,
            recorded=name,
            type=call.type,
            scope=ancestors(parents, name) if name in parents else call.path,
            graph=folder.graph,
            sequence=mine[0][0] if mine else -1,
            order=order,
            inputs=tuple(leaf.slot for _, leaf in mine if leaf.direction == "input"),
            outputs=tuple(leaf.slot for _, leaf in mine if leaf.direction == "output"),
            stack=stacks.get(name) or stacks.get(call.forward, ()),
            arguments=tuple(_arguments(entries.get(name))),
            inputs_known=inputs and _known_before(name, before, entries),
            outputs_known=outputs,
            depends=before,
        )
        made.append(operator)
    return Listing(tuple(made), tuple(damage))


def _calls_of_modules(names: Iterable[str]) -> dict[tuple[str, ...], list[str]]:
    """Names of calls by the path of their module."""
    calls: dict[tuple[str, ...], list[str]] = {}
    for name in names:
        calls.setdefault(parse_call(name).path, []).append(name)
    return calls


def _known_before(entry: str, calls: tuple[str, ...], entries: dict[str, Any]) -> bool:
    """Whether the calls that a call works on were recorded with their inputs."""
    known = [name for name in calls if recorded_sides(name, entries.get(name))[0]]
    if is_weight_gradient(entry):  # of a module: there has to be a forward and a backward of it
        return len({parse_call(name).forward == name for name in known}) == 2
    return len(known) == len(calls)


def _sides_of_files(tensors: list[tuple[int, Leaf]]) -> tuple[bool, bool]:
    """Whether all inputs and outputs of a call are known that only files tell of: weights may be missing."""
    slots = {leaf.slot for _, leaf in tensors if leaf.direction == "input"}
    return (
        bool(slots) and slots == set(map(str, range(len(slots)))),
        any(leaf.direction == "output" for _, leaf in tensors),
    )


def _tensors(folder: StepFolder, entries: dict[str, Any], damage: list[FileDamage]) -> list[_Tensor]:
    data = f"{folder.path}/{DATA}"
    files = set(files_of(Path(data)))
    found = list(_recorded(entries, data, files))
    damage += [tensor.damage for tensor in found if tensor.damage]
    named = {tensor.path for tensor in found}
    return found + _unrecorded(data, [name for name in files if f"{data}/{name}" not in named], damage)


def _entries(folder: StepFolder, damage: list[FileDamage]) -> dict[str, Any]:
    """Entries of ``dump.json`` and of ``debug.json``, which has variables saved by hand."""
    found: dict[str, Any] = {}
    for name in ("dump.json", "debug.json"):
        data = _object(folder, name, damage, "data").get("data")
        found |= data if isinstance(data, dict) else {}
    return found


def _object(folder: StepFolder, name: str, damage: list[FileDamage], inner: str = "") -> dict[str, Any]:
    """A JSON file of the folder; empty without one (most have no ``debug.json``)."""
    path = Path(folder.path) / name
    try:
        found, trouble = read_object(path, inner)
    except UnreadableError as error:
        found, trouble = {}, None if error.reason == "dump.missing" else error
    if trouble:
        damage.append(FileDamage(str(path), trouble.reason, trouble.detail))
    return found


def _recorded(entries: dict[str, Any], data: str, files: set[str]) -> Iterator[_Tensor]:
    for order, (entry, value) in enumerate(entries.items()):
        kind = parse_call(entry).type
        for leaf in leaves(value):
            if leaf.is_tensor:
                yield _with_file(_Tensor(entry, order, kind, leaf), data, files)


def _with_file(tensor: _Tensor, data: str, files: set[str]) -> _Tensor:
    """Find the file of a tensor among those of the folder: the name in the JSON is never a path."""
    name = tensor.leaf.fields.get("data_name")
    if not isinstance(name, str):
        return tensor
    if name in files:
        return tensor._replace(path=f"{data}/{name}")
    reason = "dump.unsafe_name" if "/" in name or "\\" in name else "dump.missing"
    return tensor._replace(damage=FileDamage(data, reason, name[:300]))


def _unrecorded(data: str, names: list[str], damage: list[FileDamage]) -> list[_Tensor]:
    """Files the JSON does not name: the run has not ended, or ended badly."""
    found = []
    for name in sorted(names, key=lambda name: _modified(f"{data}/{name}")):
        parsed = parse_tensor_name(name)
        if parsed is None:
            damage.append(FileDamage(f"{data}/{name}", "dump.unknown_name"))
            continue
        leaf = Leaf(parsed.direction, parsed.slot, {})
        found.append(_Tensor(parsed.entry, -1, parse_call(parsed.entry).type, leaf, f"{data}/{name}"))
    return found


def _modified(path: str) -> int:
    try:
        return Path(path).lstat().st_mtime_ns
    except OSError:
        return 0


def _built(folder: StepFolder, layout: str, position: int, tensor: _Tensor) -> TensorEntry:
    fields = tensor.leaf.fields
    gradient = fields.get("requires_grad")
    return TensorEntry(
        rank=folder.rank,
        step=folder.step,
        graph=folder.graph,
        operator=tensor.entry,
        recorded=tensor.entry,
        type=tensor.type,
        direction=tensor.leaf.direction,
        slot=tensor.leaf.slot,
        sequence=position,
        order=tensor.order,
        timestamp=0,
        shape=_shape(fields.get("shape")),
        dtype=canonical(str(fields.get("dtype", ""))),
        format="",
        ref=TensorRef(layout, tensor.path) if tensor.path else None,
        statistics=statistics_of(fields),
        damage=tensor.damage,
        requires_grad=gradient if isinstance(gradient, bool) else None,
    )


def _shape(value: Any) -> tuple[int, ...] | None:
    whole = isinstance(value, list) and all(isinstance(axis, int) for axis in value)
    return tuple(value) if whole else None


def _arguments(value: Any) -> Iterator[tuple[str, str]]:
    """Numbers and texts among the arguments and results of a call."""
    for leaf in leaves(value):
        if not leaf.is_tensor:
            yield f"{leaf.direction}.{leaf.slot}", json.dumps(leaf.fields.get("value"))[:1000]
