"""Layout of asynchronous and ACL dumps of Ascend devices.

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
from mindinsight.server.formats.dumps.layout import Layout
from mindinsight.server.formats.dumps.layouts.asynchronous.dump_data import (
    Slot,
    find_slot,
    read_slots,
    slot_values,
)
from mindinsight.server.formats.dumps.layouts.asynchronous.opdebug import PREFIX, UnitStatus, read_opdebug
from mindinsight.server.formats.dumps.names import FullNames, TensorFile, parse_bin_name
from mindinsight.server.formats.dumps.npy_folder import (
    STATISTICS_FILE,
    list_npy_folder,
    npy_files,
    npy_header,
    npy_values,
    read_mapping,
)
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
    """Layout of asynchronous and ACL dumps of Ascend devices."""

    name = NAME
    growing = ("", STATISTICS_FILE)

    def match(self, path: Path) -> float:
        """0.9 for a directory with a folder of 14 digits at its first or second level that holds devices."""
        return 0.9 if any(True for _ in _timed_folders(path)) else -1.0

    def open_dump(self, path: Path) -> Dump:
        """Devices (as ranks), models (as graphs) and iterations.

        The graphs of an iteration that was dumped several times have the time in their names.
        """
        timed_folders = list(_timed_folders(path))
        first: dict[tuple[int, int, str], str] = {}
        for timed in timed_folders:
            first.setdefault((timed.folder.rank, timed.folder.step, timed.folder.graph), timed.time)
        folders = [_with_unique_graph(timed, first) for timed in timed_folders]
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
        """Tensors of a step folder: of ``.npy`` files by their names, of ``bin`` files by their messages."""
        listing = list_npy_folder(folder, NAME, _keep_recorded)
        damage = list(listing.damage)
        files = sorted(_bin_files(folder, damage), key=attrgetter("timestamp", "operator"))
        if not files:
            return Listing(listing.items, tuple(damage))
        entries = list(listing)
        for file in files:
            entries += _list_slots(folder, file, len(entries), damage)
        return Listing(tuple(entries), tuple(damage))

    def overflows(self, folder: StepFolder) -> Listing[Overflow]:
        """Overflow records of a step folder, with the operators of their tasks and streams."""
        damage: list[FileDamage] = []
        overflows = []
        for name in sorted(name for name in files_of(Path(folder.path)) if name.startswith(PREFIX)):
            path = Path(folder.path) / name
            try:
                units = read_opdebug(path)
            except UnreadableError as error:
                damage.append(FileDamage(str(path), error.reason, error.detail))
                continue
            location = (folder.rank, folder.step, folder.graph)
            overflows += [
                Overflow(*location, unit.unit, unit.status, unit.task, unit.stream, operator, str(path))
                for unit in units
                for operator in (_operator_at(folder, unit),)
            ]
        return Listing(tuple(overflows), tuple(damage))

    def header(self, ref: TensorRef) -> TensorHeader:
        """Shape, type and size in bytes of a tensor; in ``bin`` files the shape is that of the host."""
        if not ref.member:
            return npy_header(ref)
        slot = find_slot(Path(ref.path), *_member(ref))
        return TensorHeader(slot.host_shape, canonical(slot.dtype), slot.size)

    def values(self, ref: TensorRef) -> Values:
        """Values of a tensor, read in parts where it is stored in host order."""
        return slot_values(Path(ref.path), *_member(ref)) if ref.member else npy_values(ref)


def _timed_folders(path: Path) -> Iterator[_TimedFolder]:
    """Folders with operators; ``path`` may be the root or the folder of one time."""
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
                    own_step = int(iteration.name) if step is None else step
                    yield _TimedFolder(
                        time.name, StepFolder(rank, own_step, graph, str(iteration), str(device))
                    )


def _with_unique_graph(timed: _TimedFolder, first: dict[tuple[int, int, str], str]) -> StepFolder:
    folder = timed.folder
    if first[folder.rank, folder.step, folder.graph] == timed.time:
        return folder
    graph = f"{timed.time}/{folder.graph}"
    return StepFolder(folder.rank, folder.step, graph, folder.path, folder.root)


def _keep_recorded(names: Iterable[str]) -> FullNames:
    return FullNames()


def _bin_files(folder: StepFolder, damage: list[FileDamage]) -> list[TensorFile]:
    """Files that hold an operator each: their names end in a timestamp, or are numbers in ``mapping.csv``."""
    names = [name for name in files_of(Path(folder.path)) if name.rpartition(".")[2].isdecimal()]
    mapping = read_mapping(Path(folder.path), damage) if any(map(str.isdecimal, names)) else {}
    parsed = (parse_bin_name(mapping.get(name, name), f"{folder.path}/{name}") for name in names)
    return [file for file in parsed if file and not Path(file.path).name.startswith(PREFIX)]


def _list_slots(
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
        _entry(folder, file._replace(type=kind, operator=recorded), name, start + position, slot)
        for position, slot in enumerate(operator.slots)
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
    """Name of the operator that a unit reported; "" when no file has its task and stream."""
    files = npy_files(folder.path, []) + _bin_files(folder, [])
    file = next((file for file in files if (file.task, file.stream) == (unit.task, unit.stream)), None)
    if file is None or file.path.endswith(".npy"):
        return file.operator if file else ""
    try:
        return read_slots(Path(file.path)).name or file.operator
    except UnreadableError:
        return file.operator
