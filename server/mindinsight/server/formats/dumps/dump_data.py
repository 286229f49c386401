"""The ``bin`` file of an asynchronous dump: all inputs and outputs of one operator.

``uint64`` length of a ``DumpData`` message, the message, then the bytes of inputs, outputs, buffers and
workspaces in this order. Sizes in the message are held against the file before they are used.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from google.protobuf.message import DecodeError

from mindinsight.proto import dump_pb2
from mindinsight.server.formats.arrays.element_types import Array, decode
from mindinsight.server.formats.arrays.stored import Held, Values, stored_as
from mindinsight.server.formats.budgets import OPERATOR
from mindinsight.server.formats.dumps.device_formats import format_name, is_host, to_host
from mindinsight.server.formats.file_bytes import length_of, opened, read_stretch
from mindinsight.server.formats.texts import show_text
from mindinsight.server.formats.unreadable import UnreadableError
from mindinsight.server.formats.wire_format import UnparsableError, message_fields

_DTYPES_BY_NUMBER: Final = (
    "int8 float32 float16 int8 uint8 int16 uint16 int32 int64 uint32 uint64 bool float64 string "
    "dual_sub_int8 dual_sub_uint8 complex64 complex128 int8 int16 int32 uint8 uint16 int64 "
    "string_ref dual variant bfloat16 int4 uint1 int2 uint2 complex32 hifloat8 float8_e5m2 "
    "float8_e4m3fn float8_e8m0 float6_e3m2 float6_e2m3 float4_e2m1 float4_e1m2"
)
_DTYPES: Final = tuple(_DTYPES_BY_NUMBER.split())


@dataclass(frozen=True, slots=True)
class Slot:
    """One input or output: where its bytes lie and what they are."""

    io: str  # input, output
    number: int
    dtype: str
    format: str
    shape: tuple[int, ...]  # on the device
    host_shape: tuple[int, ...]
    offset: int  # bytes from the start of the file
    size: int
    inline: bytes = b""  # small old files: the bytes themselves
    groups: int = 1  # of the weights of a convolution in FRACTAL_Z


@dataclass(frozen=True, slots=True)
class DumpedOperator:
    """What a file says of its operator."""

    name: str  # full name, unescaped
    slots: tuple[Slot, ...]


def read_slots(path: Path) -> DumpedOperator:
    """Inputs and outputs of a file; their bytes are not read. Raises ``UnreadableError``."""
    with opened(path) as file:
        length = length_of(file)
        announced = int.from_bytes(file.read(8), "little")
        if announced > OPERATOR.size and length <= OPERATOR.size:  # no length: an old file, message alone
            file.seek(0)
            message, start = _parsed(file.read()), length
        elif length <= 8 or announced > min(length - 8, OPERATOR.size):
            raise UnreadableError("dump.truncated", f"message of {announced} bytes, file of {length}")
        else:
            message, start = _parsed(file.read(announced)), 8 + announced
    return DumpedOperator(show_text(message.op_name), tuple(_slots(message, start)))


def read_slot(path: Path, io: str, number: int) -> Array:
    """One input or output in host order where its format is known, else as on the device."""
    slot = find_slot(path, io, number)
    array = decode(_bytes_of(path, slot), slot.dtype, slot.shape)
    return to_host(array, slot.format, slot.host_shape, slot.groups)[0]


def slot_values(path: Path, io: str, number: int) -> Values:
    """One input or output by parts where it lies in host order, else whole."""
    slot = find_slot(path, io, number)
    if is_host(slot.format) and not slot.inline and math.prod(slot.shape) == math.prod(slot.host_shape):
        kind = stored_as(path, slot.offset, slot.host_shape, slot.dtype)
        if kind is not None and kind.item.itemsize * math.prod(slot.shape) <= slot.size:
            return kind
    return Held(read_slot(path, io, number))


def find_slot(path: Path, io: str, number: int) -> Slot:
    """One slot of a file; raises ``UnreadableError`` when there is none."""
    for slot in read_slots(path).slots:
        if (slot.io, slot.number) == (io, number):
            return slot
    raise UnreadableError("dump.missing", f"no {io} {number}")


def _parsed(data: bytes) -> dump_pb2.DumpData:
    message = dump_pb2.DumpData()
    try:
        for count, _ in enumerate(message_fields(data, 0, len(data)), 1):
            OPERATOR.check_items(count)
        message.ParseFromString(data)
    except (DecodeError, UnparsableError) as error:
        raise UnreadableError("dump.bad_message", str(error)[:200]) from error
    return message


def _slots(message: dump_pb2.DumpData, start: int) -> Iterable[Slot]:
    for io, side in (("input", message.input), ("output", message.output)):
        for number, each in enumerate(side):
            shape = tuple(each.shape.dim)
            host = tuple(each.original_shape.dim) or shape
            dtype, layout = _dtype(each.data_type), format_name(each.format)
            groups = max(1, each.sub_format)
            if layout == "FRACTAL_Z" and groups > 1:  # groups are laid out apart
                layout = "FRACTAL_Z_G"
            yield Slot(io, number, dtype, layout, shape, host, start, each.size, each.data, groups)
            start += 0 if each.data else each.size


def _dtype(number: int) -> str:
    return _DTYPES[number] if 0 <= number < len(_DTYPES) else f"type({number})"


def _bytes_of(path: Path, slot: Slot) -> Array:
    if slot.inline:
        return np.frombuffer(slot.inline, np.uint8)
    with opened(path) as file:
        return read_stretch(file, slot.offset, slot.size)
