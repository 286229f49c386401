"""Parser of the ``bin`` files of asynchronous dumps: all inputs and outputs of one operator.

``uint64`` length of a ``DumpData`` message, the message, then the bytes of inputs, outputs, buffers and
workspaces in this order. Sizes in the message are checked against the file before they are used.
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
    """One input or output: type, shapes, and the position of its bytes in the file."""

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
    """The operator of a file and its slots."""

    name: str  # full name, unescaped
    slots: tuple[Slot, ...]


def read_slots(path: Path) -> DumpedOperator:
    """Parse the inputs and outputs of a file, without their bytes. Raises ``UnreadableError``."""
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
    """Read one input or output: in host order where its format can be converted, else as on the device."""
    slot = find_slot(path, io, number)
    array = decode(_read_bytes(path, slot), slot.dtype, slot.shape)
    return to_host(array, slot.format, slot.host_shape, slot.groups)[0]


def slot_values(path: Path, io: str, number: int) -> Values:
    """Values of one input or output: read in parts where it is stored in host order, else whole."""
    slot = find_slot(path, io, number)
    if is_host(slot.format) and not slot.inline and math.prod(slot.shape) == math.prod(slot.host_shape):
        kind = stored_as(path, slot.offset, slot.host_shape, slot.dtype)
        if kind is not None and kind.item.itemsize * math.prod(slot.shape) <= slot.size:
            return kind
    return Held(read_slot(path, io, number))


def find_slot(path: Path, io: str, number: int) -> Slot:
    """One slot of a file; raises ``UnreadableError`` when the file has no such slot."""
    for slot in read_slots(path).slots:
        if (slot.io, slot.number) == (io, number):
            return slot
    raise UnreadableError("dump.missing", f"no {io} {number}")


def _parse_message(data: bytes) -> dump_pb2.DumpData:
    message = dump_pb2.DumpData()
    try:
        for count, _ in enumerate(message_fields(data, 0, len(data)), 1):
            OPERATOR.check_items(count)
        message.ParseFromString(data)
    except (DecodeError, UnparsableError) as error:
        raise UnreadableError("dump.bad_message", str(error)[:200]) from error
    return message


def _slots(message: dump_pb2.DumpData, start: int) -> Iterable[Slot]:
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
    return _DTYPES[number] if 0 <= number < len(_DTYPES) else f"type({number})"


def _read_bytes(path: Path, slot: Slot) -> Array:
    if slot.inline:
        return np.frombuffer(slot.inline, np.uint8)
    with opened(path) as file:
        return read_stretch(file, slot.offset, slot.size)
