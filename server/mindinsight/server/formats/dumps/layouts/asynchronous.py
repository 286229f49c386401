"""Asynchronous and ACL dumps of Ascend devices.

Graph mode: ``{time}/{device}/{model}/{model id}/{iteration}/``; ACL and O0/O1: ``{step}/{time}/{device}/``
with operators inside or models below. Operators are ``bin`` files (``dump_data``) or ``.npy`` files.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from operator import attrgetter
from pathlib import Path
from typing import Final, NamedTuple

from mindinsight.server.files.folders import files_of, folders_of
from mindinsight.server.formats.arrays.element_types import canonical
from mindinsight.server.formats.arrays.stored import Values
from mindinsight.server.formats.dumps.dump_data import Slot, find_slot, read_slots, slot_values
from mindinsight.server.formats.dumps.layout import Layout
from mindinsight.server.formats.dumps.names import Names, TensorFile, parse_bin_name
from mindinsight.server.formats.dumps.npy_folder import (
    list_npy_folder,
    npy_files,
    npy_header,
    npy_values,
    read_mapping,
)
from mindinsight.server.formats.dumps.opdebug import PREFIX, UnitStatus, read_opdebug
from mindinsight.server.formats.dumps.types import (
    Dump,
    FileDamage,
    Listing,
    Overflow,
    StepFolder,
    TensorEntry,
    TensorHeader,
    TensorRef,
)
from mindinsight.server.formats.unreadable import UnreadableError

NAME: Final = "asynchronous"
_TIME: Final = re.compile(r"\d{14}")


class _TimedFolder(NamedTuple):
    time: str
    folder: StepFolder


class AsynchronousLayout(Layout):
    """Asynchronous and ACL dumps of Ascend devices."""

    name = NAME

    def match(self, path: Path) -> float:
        """A folder named by 14 digits, at the first or second level, with devices inside."""
        return 0.9 if any(True for _ in _timed_folders(path)) else -1.0

    def open_dump(self, path: Path) -> Dump:
        """Devices, models and iterations. Where one was dumped at several times, the graph tells the time."""
        places = list(_timed_folders(path))
        first: dict[tuple[int, int, str], str] = {}
        for place in places:
            first.setdefault((place.folder.rank, place.folder.step, place.folder.graph), place.time)
        folders = [_named_apart(place, first) for place in places]
        ranks = sorted({folder.rank for folder in folders})
        return Dump(
            str(path),
            NAME,
            tuple(sorted(folders, key=lambda folder: (folder.rank, folder.step, folder.graph))),
            tuple((rank, str(rank)) for rank in ranks),
            framework="mindspore",
            device="Ascend",
        )

    def tensors(self, folder: StepFolder) -> Listing[TensorEntry]:
        """Tensors of one folder: of ``.npy`` by their names, of ``bin`` by the message before the data."""
        listed = list_npy_folder(folder, NAME, _as_recorded)
        damage = list(listed.damage)
        files = sorted(_bin_files(folder, damage), key=attrgetter("timestamp", "operator"))
        if not files:
            return Listing(listed.items, tuple(damage))
        entries = list(listed)
        for file in files:
            entries += _slots_of(folder, file, len(entries), damage)
        return Listing(tuple(entries), tuple(damage))

    def overflows(self, folder: StepFolder) -> Listing[Overflow]:
        """Overflow records of one folder and the operators their task and stream belong to."""
        damage: list[FileDamage] = []
        found = []
        for name in sorted(name for name in files_of(Path(folder.path)) if name.startswith(PREFIX)):
            path = Path(folder.path) / name
            try:
                units = read_opdebug(path)
            except UnreadableError as error:
                damage.append(FileDamage(str(path), error.reason, error.detail))
                continue
            place = (folder.rank, folder.step, folder.graph)
            found += [
                Overflow(*place, unit.unit, unit.status, unit.task, unit.stream, operator, str(path))
                for unit in units
                for operator in (_operator_at(folder, unit),)
            ]
        return Listing(tuple(found), tuple(damage))

    def header(self, ref: TensorRef) -> TensorHeader:
        """Shape and type of a tensor; of ``bin`` files the shape is that of the host."""
        if not ref.member:
            return npy_header(ref)
        slot = find_slot(Path(ref.path), *_member(ref))
        return TensorHeader(slot.host_shape, canonical(slot.dtype), slot.size)

    def values(self, ref: TensorRef) -> Values:
        """A tensor by parts, where it lies in the order of the host."""
        return slot_values(Path(ref.path), *_member(ref)) if ref.member else npy_values(ref)


def _timed_folders(path: Path) -> Iterator[_TimedFolder]:
    """Folders with operators. ``path`` may be the root or the folder of one time."""
    for first in folders_of(path):
        if _TIME.fullmatch(first.name):
            yield from _devices(first, None)
        elif first.name.isdecimal():
            for second in folders_of(first):
                if _TIME.fullmatch(second.name):
                    yield from _devices(second, int(first.name))


def _devices(time: Path, step: int | None) -> Iterator[_TimedFolder]:
    for device in (folder for folder in folders_of(time) if folder.name.isdecimal()):
        rank = int(device.name)
        if step is not None and files_of(device):
            yield _TimedFolder(time.name, StepFolder(rank, step, "", str(device), str(device)))
        for model in folders_of(device):
            for number in folders_of(model):
                for iteration in (folder for folder in folders_of(number) if folder.name.isdecimal()):
                    graph = f"{model.name}/{number.name}"
                    if step is not None:
                        graph += f"/{iteration.name}"
                    at = int(iteration.name) if step is None else step
                    yield _TimedFolder(time.name, StepFolder(rank, at, graph, str(iteration), str(device)))


def _named_apart(place: _TimedFolder, first: dict[tuple[int, int, str], str]) -> StepFolder:
    folder = place.folder
    if first[folder.rank, folder.step, folder.graph] == place.time:
        return folder
    graph = f"{place.time}/{folder.graph}"
    return StepFolder(folder.rank, folder.step, graph, folder.path, folder.root)


def _as_recorded(names: Iterable[str]) -> Names:
    return Names()


def _bin_files(folder: StepFolder, damage: list[FileDamage]) -> list[TensorFile]:
    """Files that hold an operator each: names end in a timestamp, or are a number in ``mapping.csv``."""
    names = [name for name in files_of(Path(folder.path)) if name.rpartition(".")[2].isdecimal()]
    mapping = read_mapping(Path(folder.path), damage) if any(map(str.isdecimal, names)) else {}
    found = (parse_bin_name(mapping.get(name, name), f"{folder.path}/{name}") for name in names)
    return [file for file in found if file and not Path(file.path).name.startswith(PREFIX)]


def _slots_of(
    folder: StepFolder, file: TensorFile, start: int, damage: list[FileDamage]
) -> list[TensorEntry]:
    try:
        operator = read_slots(Path(file.path))
    except UnreadableError as error:
        damage.append(FileDamage(file.path, error.reason, error.detail))
        return []
    swapped = file.type.startswith("aclnn")  # {operator}.{type} instead of {type}.{operator}
    kind, recorded = (file.operator, file.type) if swapped else (file.type, file.operator)
    name = operator.name or recorded
    return [
        _entry(folder, file._replace(type=kind, operator=recorded), name, start + place, slot)
        for place, slot in enumerate(operator.slots)
    ]


def _entry(folder: StepFolder, file: TensorFile, name: str, position: int, slot: Slot) -> TensorEntry:
    return TensorEntry(
        rank=folder.rank,
        step=folder.step,
        graph=folder.graph,
        operator=name,
        recorded=file.operator,
        type=file.type,
        direction="input" if slot.io == "input" else "output",
        slot=str(slot.number),
        sequence=position,
        order=-1,
        timestamp=file.timestamp,
        shape=slot.host_shape,
        dtype=canonical(slot.dtype),
        format=slot.format,
        ref=TensorRef(NAME, file.path, f"{slot.io}.{slot.number}"),
    )


def _member(ref: TensorRef) -> tuple[str, int]:
    io, _, number = ref.member.partition(".")
    if not number.isdecimal():
        raise UnreadableError("dump.missing", ref.member)
    return io, int(number)


def _operator_at(folder: StepFolder, unit: UnitStatus) -> str:
    """Name of the operator a unit reported about; "" when no file has its task and stream."""
    files = npy_files(folder.path, []) + _bin_files(folder, [])
    file = next((each for each in files if (each.task, each.stream) == (unit.task, unit.stream)), None)
    if file is None or file.path.endswith(".npy"):
        return file.operator if file else ""
    try:
        return read_slots(Path(file.path)).name or file.operator
    except UnreadableError:
        return file.operator
