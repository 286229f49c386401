"""Layout of asynchronous and ACL dumps of Ascend devices, their ``bin`` files and overflow records."""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from mindinsight.server.files.opener import files_of, folders_of
from mindinsight.server.formats.arrays.element_types import Array, canonical, decode
from mindinsight.server.formats.arrays.lazy_array import Held, Values, stored_as
from mindinsight.server.formats.dumps import dump_types, npy_folder
from mindinsight.server.formats.dumps.device_formats import format_name, is_host, to_host
from mindinsight.server.formats.dumps.dump_layout import Layout
from mindinsight.server.formats.dumps.dump_names import FullNames, TensorFile, parse_bin_name
from mindinsight.server.formats.file_bytes import length_of, opened, read_bytes
from mindinsight.server.formats.read_limits import OPERATOR, UnreadableError, unreadable
from mindinsight.server.formats.sanitizer import show_text
from mindinsight.server.formats.text_files import read_json
from mindinsight.server.formats.wire_format import UnparsableError, message_fields

if TYPE_CHECKING:
    from mindinsight.proto import dump_pb2

_DTYPES_BY_NUMBER: Final = (
    "int8 float32 float16 int8 uint8 int16 uint16 int32 int64 uint32 uint64 bool float64 string "
    "dual_sub_int8 dual_sub_uint8 complex64 complex128 int8 int16 int32 uint8 uint16 int64 "
    "string_ref dual variant bfloat16 int4 uint1 int2 uint2 complex32 hifloat8 float8_e5m2 "
    "float8_e4m3fn float8_e8m0 float6_e3m2 float6_e2m3 float4_e2m1 float4_e1m2"
)
_DTYPES: Final = tuple(_DTYPES_BY_NUMBER.split())


@dataclass(frozen=True, slots=True)
class Slot:
    """Input or output of a dumped operator: type, shapes, and the position of its bytes in the file."""

    io: str  # input, output
    number: int
    dtype: str
    format: str
    shape: tuple[int, ...]  # on the device
    host_shape: tuple[int, ...]
    offset: int  # bytes from the start of the file
    size: int
    inline: bytes = b""  # the bytes themselves, in old files without data after the message
    groups: int = 1  # of the weights of a convolution in FRACTAL_Z


@dataclass(frozen=True, slots=True)
class DumpedOperator:
    """Operator of a ``bin`` file, and its inputs and outputs."""

    name: str  # full name, unescaped
    slots: tuple[Slot, ...]


def read_slots(path: Path) -> DumpedOperator:
    """Return the operator of a ``bin`` file with its inputs and outputs, without their bytes. Raises
    UnreadableError."""
    with opened(path) as file:
        length = length_of(file)
        message_size = int.from_bytes(file.read(8), "little")
        if message_size > OPERATOR.size and length <= OPERATOR.size:  # old file: no length, message alone
            file.seek(0)
            message, start = _parse_message(file.read()), length
        elif length <= 8 or message_size > min(length - 8, OPERATOR.size):
            raise UnreadableError("dump.truncated", f"message of {message_size} bytes, file of {length}")
        else:
            message, start = _parse_message(file.read(message_size)), 8 + message_size
    return DumpedOperator(show_text(message.op_name), tuple(_slots(message, start)))


def read_slot(path: Path, io: str, number: int) -> Array:
    """Read an input or output (``io``) by number, in host order if its format can be converted. Raises
    UnreadableError."""
    slot = find_slot(path, io, number)
    array = decode(_read_bytes(path, slot), slot.dtype, slot.shape)
    return to_host(array, slot.format, slot.host_shape, slot.groups)[0]


def slot_values(path: Path, io: str, number: int) -> Values:
    """Return the values of an input or output (``io``) by number, lazy if stored in host order. Raises
    UnreadableError."""
    slot = find_slot(path, io, number)
    if is_host(slot.format) and not slot.inline and math.prod(slot.shape) == math.prod(slot.host_shape):
        kind = stored_as(path, slot.offset, slot.host_shape, slot.dtype)
        if kind is not None and kind.item.itemsize * math.prod(slot.shape) <= slot.size:
            return kind
    return Held(read_slot(path, io, number))


def find_slot(path: Path, io: str, number: int) -> Slot:
    """Return an input or output (``io``) of a file by number. Raises UnreadableError if there is none."""
    for slot in read_slots(path).slots:
        if (slot.io, slot.number) == (io, number):
            return slot
    raise UnreadableError("dump.missing", f"no {io} {number}")


def _parse_message(data: bytes) -> dump_pb2.DumpData:
    """Parse the message of a file. Raises UnreadableError."""
    from google.protobuf.message import DecodeError  # other layouts do without protobuf

    from mindinsight.proto import dump_pb2

    message = dump_pb2.DumpData()
    with unreadable("dump.bad_message", "operator", DecodeError, UnparsableError):
        for count, _ in enumerate(message_fields(data, 0, len(data)), 1):
            OPERATOR.check_items(count)
        message.ParseFromString(data)
    return message


def _slots(message: dump_pb2.DumpData, start: int) -> Iterable[Slot]:
    """Yield the slots of a message. The bytes of the first slot start at ``start``."""
    for io, tensors in (("input", message.input), ("output", message.output)):
        for number, tensor in enumerate(tensors):
            shape = tuple(tensor.shape.dim)
            host = tuple(tensor.original_shape.dim) or shape
            dtype, layout = _dtype(tensor.data_type), format_name(tensor.format)
            groups = max(1, tensor.sub_format)
            if layout == "FRACTAL_Z" and groups > 1:  # groups are laid out apart
                layout = "FRACTAL_Z_G"
            yield Slot(io, number, dtype, layout, shape, host, start, tensor.size, tensor.data, groups)
            start += 0 if tensor.data else tensor.size


def _dtype(number: int) -> str:
    """Return the name of an element type, or its number if it is unknown."""
    return _DTYPES[number] if 0 <= number < len(_DTYPES) else f"type({number})"


def _read_bytes(path: Path, slot: Slot) -> Array:
    """Return the bytes of a slot. Raises UnreadableError."""
    if slot.inline:
        return np.frombuffer(slot.inline, np.uint8)
    with opened(path) as file:
        return read_bytes(file, slot.offset, slot.size)


PREFIX: Final = "Opdebug.Node_OpDebug."
_UNITS: Final = ("AI Core", "DHA Atomic Add", "L2 Atomic Add")
_INFO: Final = {"DHA Atomic Add": 0, "L2 Atomic Add": 128, "AI Core": 256}  # offset of six words of a unit
_STATUS: Final = {"DHA Atomic Add": 512, "L2 Atomic Add": 768, "AI Core": 1024 + 16}
_WORDS: Final = struct.Struct("<3Q")  # model, stream, task


class UnitStatus(NamedTuple):
    """Overflow status of one hardware unit of the device after a task. A ``status`` other than 0 is an
    overflow."""

    unit: str
    status: int
    task: int
    stream: int


def read_opdebug(path: Path) -> tuple[UnitStatus, ...]:
    """Return the hardware units that overflowed, from an overflow record, JSON or binary. Raises
    UnreadableError."""
    units = _from_json(read_json(path)) if path.suffix == ".json" else _from_raw(path)
    return tuple(unit for unit in units if unit.status)


def _from_json(document: Any) -> Iterable[UnitStatus]:
    """Yield the units of a JSON record. Raises UnreadableError."""
    if not isinstance(document, dict):
        raise UnreadableError("dump.json", "an overflow record must be an object")
    for name in _UNITS:
        if name in document:
            yield _unit(name, document[name])
    records = document.get("acc_list")
    for record in records if isinstance(records, list) else [records] if records else ():
        if isinstance(record, dict):
            yield _unit(str(record.get("acc_type", "")), record.get("data", {}))


def _unit(name: str, fields: Any) -> UnitStatus:
    """Return the status of a unit. Raises UnreadableError."""
    with unreadable("dump.json", name, KeyError, TypeError, ValueError, OverflowError):
        return UnitStatus(name, int(fields["status"]), int(fields["task_id"]), int(fields["stream_id"]))


def _from_raw(path: Path) -> Iterable[UnitStatus]:
    """Yield the units of a binary record. Raises UnreadableError."""
    slot = find_slot(path, "output", 0)
    with opened(path) as file:
        file.seek(slot.offset)
        raw = slot.inline or file.read(min(slot.size, 1 << 16))
    for name in _UNITS:
        if len(raw) < _STATUS[name] + 8:
            raise UnreadableError("dump.truncated", f"overflow record of {len(raw)} bytes")
        _, stream, task = _WORDS.unpack_from(raw, _INFO[name])
        yield UnitStatus(name, int.from_bytes(raw[_STATUS[name] :][:8], "little"), task, stream)


NAME: Final = "asynchronous"
_TIME: Final = re.compile(r"\d{14}")


class _TimedFolder(NamedTuple):
    """Step folder below a folder of one time."""

    time: str
    folder: dump_types.StepFolder


class AsynchronousLayout(Layout):
    """Layout of asynchronous and ACL dumps of Ascend devices."""

    name = NAME
    growing = ("", npy_folder.STATISTICS_FILE)

    def match(self, path: Path) -> float:
        """Return 0.9 if a folder of 14 digits, one or two levels down, holds dumps of devices, else -1."""
        return 0.9 if any(_timed_folders(path)) else -1.0

    def open_dump(self, path: Path) -> dump_types.Dump:
        """Return devices (as ranks), models (as graphs) and iterations. The graphs of an iteration that
        was dumped several times have the time in their names."""
        timed_folders = list(_timed_folders(path))
        first: dict[tuple[int, int, str], str] = {}
        for timed in timed_folders:
            first.setdefault((timed.folder.rank, timed.folder.step, timed.folder.graph), timed.time)
        folders = [_with_unique_graph(timed, first) for timed in timed_folders]
        ranks = sorted({folder.rank for folder in folders})
        return dump_types.Dump(
            str(path),
            NAME,
            tuple(sorted(folders, key=lambda folder: (folder.rank, folder.step, folder.graph))),
            tuple((rank, str(rank)) for rank in ranks),
            framework="mindspore",
            device="Ascend",
        )

    def tensors(self, folder: dump_types.StepFolder) -> dump_types.Listing[dump_types.TensorEntry]:
        """Return the tensors of a step folder. ``.npy`` files are listed by their names, ``bin`` files by
        their messages."""
        listing = npy_folder.list_npy_folder(folder, NAME, lambda recorded: FullNames())
        damage = list(listing.damage)
        files = sorted(_bin_files(folder, damage), key=attrgetter("timestamp", "operator"))
        if not files:
            return dump_types.Listing(listing.items, tuple(damage))
        entries = list(listing)
        for file in files:
            entries += _list_slots(folder, file, len(entries), damage)
        return dump_types.Listing(tuple(entries), tuple(damage))

    def overflows(self, folder: dump_types.StepFolder) -> dump_types.Listing[dump_types.Overflow]:
        """Return the overflow records of a step folder, with the operators of their tasks and streams."""
        damage: list[dump_types.FileDamage] = []
        overflows = []
        for name in sorted(name for name in files_of(Path(folder.path)) if name.startswith(PREFIX)):
            path = Path(folder.path) / name
            units = dump_types.read_or_report(path, read_opdebug, damage, optional=False) or ()
            for unit in units:
                where = (unit.task, unit.stream, _operator_at(folder, unit), str(path))
                overflows.append(
                    dump_types.Overflow(
                        folder.rank, folder.step, folder.graph, unit.unit, unit.status, *where
                    )
                )
        return dump_types.Listing(tuple(overflows), tuple(damage))

    def header(self, ref: dump_types.TensorRef) -> dump_types.TensorHeader:
        """Return shape, type and size in bytes of a tensor. ``bin`` files give the host shape. Raises
        UnreadableError."""
        if not ref.member:
            return npy_folder.npy_header(ref)
        slot = find_slot(Path(ref.path), *_member(ref))
        return dump_types.TensorHeader(slot.host_shape, canonical(slot.dtype), slot.size)

    def values(self, ref: dump_types.TensorRef) -> Values:
        """Return the values of a tensor, read in parts if it is stored in host order. Raises
        UnreadableError."""
        return slot_values(Path(ref.path), *_member(ref)) if ref.member else npy_folder.npy_values(ref)


def _timed_folders(path: Path) -> Iterator[_TimedFolder]:
    """Yield the folders with operators. ``path`` may be the root or the folder of one time."""
    for first in folders_of(path):
        if _TIME.fullmatch(first.name):
            yield from _devices(first, None)
        elif first.name.isdecimal():
            for second in folders_of(first):
                if _TIME.fullmatch(second.name):
                    yield from _devices(second, int(first.name))


def _devices(time: Path, step: int | None) -> Iterator[_TimedFolder]:
    """Yield the step folders of all devices below the folder of one time."""
    for device in (folder for folder in folders_of(time) if folder.name.isdecimal()):
        rank = int(device.name)
        if step is not None and files_of(device):
            yield _TimedFolder(time.name, dump_types.StepFolder(rank, step, "", str(device), str(device)))
        for model in folders_of(device):
            for number in folders_of(model):
                for iteration in (folder for folder in folders_of(number) if folder.name.isdecimal()):
                    graph = f"{model.name}/{number.name}"
                    if step is not None:
                        graph += f"/{iteration.name}"
                    own_step = int(iteration.name) if step is None else step
                    yield _TimedFolder(
                        time.name, dump_types.StepFolder(rank, own_step, graph, str(iteration), str(device))
                    )


def _with_unique_graph(timed: _TimedFolder, first: dict[tuple[int, int, str], str]) -> dump_types.StepFolder:
    """Return the step folder, with the time in its graph's name if an earlier dump has the same name."""
    folder = timed.folder
    if first[folder.rank, folder.step, folder.graph] == timed.time:
        return folder
    return replace(folder, graph=f"{timed.time}/{folder.graph}")


def _bin_files(folder: dump_types.StepFolder, damage: list[dump_types.FileDamage]) -> list[TensorFile]:
    """Return the files of one operator each. Names end in a timestamp or are keys of ``mapping.csv``."""
    names = [name for name in files_of(Path(folder.path)) if name.rpartition(".")[2].isdecimal()]
    mapping = npy_folder.read_mapping(Path(folder.path), damage) if any(map(str.isdecimal, names)) else {}
    parsed = (parse_bin_name(mapping.get(name, name), f"{folder.path}/{name}") for name in names)
    return [file for file in parsed if file and not Path(file.path).name.startswith(PREFIX)]


def _list_slots(
    folder: dump_types.StepFolder, file: TensorFile, start: int, damage: list[dump_types.FileDamage]
) -> list[dump_types.TensorEntry]:
    """Return the tensors of a file. Adds to ``damage`` if it cannot be read."""
    operator = dump_types.read_or_report(Path(file.path), read_slots, damage, optional=False)
    if operator is None:
        return []
    swapped = file.type.startswith("aclnn")  # {operator}.{type} instead of {type}.{operator}
    kind, recorded = (file.operator, file.type) if swapped else (file.type, file.operator)
    name = operator.name or recorded
    return [
        _entry(folder, file._replace(type=kind, operator=recorded), name, start + position, slot)
        for position, slot in enumerate(operator.slots)
    ]


def _entry(
    folder: dump_types.StepFolder, file: TensorFile, name: str, position: int, slot: Slot
) -> dump_types.TensorEntry:
    """Build the listing entry of a slot."""
    return dump_types.TensorEntry(
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
        ref=dump_types.TensorRef(NAME, file.path, f"{slot.io}.{slot.number}"),
    )


def _member(ref: dump_types.TensorRef) -> tuple[str, int]:
    """Parse the member of a reference: direction and number. Raises UnreadableError."""
    io, _, number = ref.member.partition(".")
    if not number.isdecimal():
        raise UnreadableError("dump.missing", ref.member)
    return io, int(number)


def _operator_at(folder: dump_types.StepFolder, unit: UnitStatus) -> str:
    """Return the operator whose task and stream a hardware unit reported, "" if no file has them."""
    files = npy_folder.npy_files(folder.path, []) + _bin_files(folder, [])
    file = next((file for file in files if (file.task, file.stream) == (unit.task, unit.stream)), None)
    if file is None or file.path.endswith(".npy"):
        return file.operator if file else ""
    try:
        return read_slots(Path(file.path)).name or file.operator
    except UnreadableError:
        return file.operator
