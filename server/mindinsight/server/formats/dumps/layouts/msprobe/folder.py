"""Reader of a rank folder: its entries, tensors and calls."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

from mindinsight.server.files.folders import files_of
from mindinsight.server.formats.arrays.element_types import canonical
from mindinsight.server.formats.cut_json import read_object
from mindinsight.server.formats.dumps.layouts.msprobe.entries import (
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
from mindinsight.server.formats.dumps.layouts.msprobe.stacks import ancestors, loop_of, stacks_of_entries
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
    """A tensor of an entry and the path of its file, "" where it has none."""

    entry: str
    order: int
    type: str
    leaf: Leaf
    path: str = ""
    damage: FileDamage | None = None


def list_tensors(folder: StepFolder, layout: str) -> Listing[TensorEntry]:
    """Tensors in the order of ``dump.json``, then files that it does not name (yet), by time."""
    damage: list[FileDamage] = []
    tensors = _tensors(folder, _entries(folder, damage), damage)
    return Listing(
        LazySequence(
            len(tensors), lambda position: _build_entry(folder, layout, position, tensors[position])
        ),
        tuple(damage),
    )


def list_calls(folder: StepFolder) -> Listing[Operator]:
    """Calls in the order of ``dump.json``, with scopes of ``construct.json`` and stacks of ``stack.json``."""
    damage: list[FileDamage] = []
    entries = _entries(folder, damage)
    slots: dict[str, list[tuple[int, Leaf]]] = {}
    for sequence, tensor in enumerate(_tensors(folder, entries, damage)):
        slots.setdefault(tensor.entry, []).append((sequence, tensor.leaf))
    stacks = stacks_of_entries(_read_object(folder, "stack.json", damage))
    parents = _read_object(folder, "construct.json", damage)
    loop = loop_of(parents)
    if loop is not None:
        damage.append(FileDamage(str(Path(folder.path) / "construct.json"), "dump.loop", loop[:300]))
    extra_names = (name for name in (*parents, *stacks) if is_call(name))  # "optimizer" is no call
    names = dict.fromkeys((*entries, *slots, *extra_names))
    calls = _calls_of_modules(names)
    operators = []
    for order, name in enumerate(names):
        call, call_slots = parse_call(name), slots.get(name, [])
        dependencies = calls_before(name, calls.get(call.path, ()))
        inputs, outputs = (
            recorded_sides(name, entries[name]) if name in entries else _sides_of_files(call_slots)
        )
        operator = Operator(
            name=name,
            recorded=name,
            type=call.type,
            scope=ancestors(parents, name) if name in parents else call.path,
            graph=folder.graph,
            sequence=call_slots[0][0] if call_slots else -1,
            order=order,
            inputs=tuple(leaf.slot for _, leaf in call_slots if leaf.direction == "input"),
            outputs=tuple(leaf.slot for _, leaf in call_slots if leaf.direction == "output"),
            stack=stacks.get(name) or stacks.get(call.forward, ()),
            arguments=tuple(_arguments(entries.get(name))),
            inputs_known=inputs and _known_before(name, dependencies, entries),
            outputs_known=outputs,
            depends=dependencies,
        )
        operators.append(operator)
    return Listing(tuple(operators), tuple(damage))


def list_arguments(folder: StepFolder) -> Iterator[tuple[str, tuple[tuple[str, str], ...]]]:
    """Names of calls with their arguments other than tensors, in the order of ``dump.json``."""
    for name, entry in _entries(folder, []).items():
        arguments = tuple(_arguments(entry))
        if arguments:
            yield name, arguments


def _calls_of_modules(names: Iterable[str]) -> dict[tuple[str, ...], list[str]]:
    """Names of calls by the path of their module."""
    calls: dict[tuple[str, ...], list[str]] = {}
    for name in names:
        calls.setdefault(parse_call(name).path, []).append(name)
    return calls


def _known_before(entry: str, calls: tuple[str, ...], entries: dict[str, Any]) -> bool:
    """Whether the calls that a call depends on were recorded with their inputs."""
    known = [name for name in calls if recorded_sides(name, entries.get(name))[0]]
    if is_weight_gradient(entry):  # of a module: there has to be a forward and a backward of it
        return len({parse_call(name).forward == name for name in known}) == 2
    return len(known) == len(calls)


def _sides_of_files(tensors: list[tuple[int, Leaf]]) -> tuple[bool, bool]:
    """Whether all inputs, and the outputs, of a call are known that has files but no entry."""
    slots = {leaf.slot for _, leaf in tensors if leaf.direction == "input"}
    return (
        bool(slots) and slots == set(map(str, range(len(slots)))),
        any(leaf.direction == "output" for _, leaf in tensors),
    )


def _tensors(folder: StepFolder, entries: dict[str, Any], damage: list[FileDamage]) -> list[_Tensor]:
    data = f"{folder.path}/{DATA}"
    files = set(files_of(Path(data)))
    recorded = list(_recorded_tensors(entries, data, files))
    damage += [tensor.damage for tensor in recorded if tensor.damage]
    named = {tensor.path for tensor in recorded}
    return recorded + _unrecorded_tensors(
        data, [name for name in files if f"{data}/{name}" not in named], damage
    )


def _entries(folder: StepFolder, damage: list[FileDamage]) -> dict[str, Any]:
    """Entries of ``dump.json`` and of ``debug.json``, which has variables saved by hand."""
    entries: dict[str, Any] = {}
    for name in ("dump.json", "debug.json"):
        data = _read_object(folder, name, damage, "data").get("data")
        entries |= data if isinstance(data, dict) else {}
    return entries


def _read_object(folder: StepFolder, name: str, damage: list[FileDamage], inner: str = "") -> dict[str, Any]:
    """A JSON file of the folder; empty without one (most have no ``debug.json``)."""
    path = Path(folder.path) / name
    try:
        document, cut = read_object(path, inner)
    except UnreadableError as error:
        document, cut = {}, None if error.reason == "dump.missing" else error
    if cut:
        damage.append(FileDamage(str(path), cut.reason, cut.detail))
    return document


def _recorded_tensors(entries: dict[str, Any], data: str, files: set[str]) -> Iterator[_Tensor]:
    for order, (entry, value) in enumerate(entries.items()):
        kind = parse_call(entry).type
        for leaf in leaves(value):
            if leaf.is_tensor:
                yield _with_file(_Tensor(entry, order, kind, leaf), data, files)


def _with_file(tensor: _Tensor, data: str, files: set[str]) -> _Tensor:
    """Find the file of a tensor among those of the folder: the name in the JSON is never used as a path."""
    name = tensor.leaf.fields.get("data_name")
    if not isinstance(name, str):
        return tensor
    if name in files:
        return tensor._replace(path=f"{data}/{name}")
    reason = "dump.unsafe_name" if "/" in name or "\\" in name else "dump.missing"
    return tensor._replace(damage=FileDamage(data, reason, name[:300]))


def _unrecorded_tensors(data: str, names: list[str], damage: list[FileDamage]) -> list[_Tensor]:
    """Tensors of files that the JSON does not name: the run has not ended, or was killed."""
    tensors = []
    for name in sorted(names, key=lambda name: _modified(f"{data}/{name}")):
        parsed = parse_tensor_name(name)
        if parsed is None:
            damage.append(FileDamage(f"{data}/{name}", "dump.unknown_name"))
            continue
        leaf = Leaf(parsed.direction, parsed.slot, {})
        tensors.append(_Tensor(parsed.entry, -1, parse_call(parsed.entry).type, leaf, f"{data}/{name}"))
    return tensors


def _modified(path: str) -> int:
    try:
        return Path(path).lstat().st_mtime_ns
    except OSError:
        return 0


def _build_entry(folder: StepFolder, layout: str, position: int, tensor: _Tensor) -> TensorEntry:
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
