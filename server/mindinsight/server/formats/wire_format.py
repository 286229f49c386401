"""Wire format of protobuf: the fields of one message, and varints of many messages at once.

Rules: protobuf.dev/programming-guides/encoding.
"""

from collections.abc import Iterator
from typing import Any, Final, Protocol, overload

import numpy as np
import numpy.typing as npt

from mindinsight.server.types import Ints

FAR: Final = 1 << 40  # an offset beyond the end of any file
_FIXED: Final = {1: 8, 5: 4}  # wire type -> bytes
_MAX_VARINT: Final = 10  # bytes
MAX_SIZE: Final = 5  # bytes of a key or a size: protobuf's own parsers refuse longer ones
_MAX_GROUP_DEPTH: Final = 100  # the limit of protobuf's own parsers


class Octets(Protocol):
    """Interface of bytes that are read by index or by slice, from memory or from a file."""

    @overload
    def __getitem__(self, index: int, /) -> int: ...
    @overload
    def __getitem__(self, index: slice, /) -> bytes: ...


class UnparsableError(ValueError):
    """Error: the bytes are not a protobuf message."""


class CutError(UnparsableError):
    """Error: the bytes end within a field of a protobuf message."""


def message_fields(data: Octets, at: int, end: int) -> Iterator[tuple[int, int, int]]:
    """Yield key (number and wire type), start and end of the content of each field. Groups are skipped.
    Raises UnparsableError when it reaches an invalid field."""
    groups: list[int] = []
    while at < end:
        key, at = (data[at], at + 1) if data[at] < 0x80 else read_size(data, at, end)
        kind = key & 7
        if key >= 1 << 32 or (key < 8 and not groups):  # protobuf's own parsers skip a field 0 in a group
            raise UnparsableError("field number")
        if kind == 3:
            groups.append(key + 1)
            if len(groups) > _MAX_GROUP_DEPTH:
                raise UnparsableError("groups too deep")
        elif kind == 4:
            if not groups or groups.pop() != key:
                raise UnparsableError("group end")
        else:
            if kind == 2 and at < end - 1 and (low := data[at]) >= 0x80 > (high := data[at + 1]):
                start = at + 2  # most messages in files of many messages have 128 to 16383 bytes
                at = start + (low & 0x7F | high << 7)
                if at > end:
                    raise CutError("field too long")
            else:
                start, at = _content(data, at, end, kind)
            if not groups:
                yield key, start, at
    if groups:
        raise UnparsableError("group without end")


def last_field(data: Octets, at: int, end: int, key: int) -> tuple[int, int] | None:
    """Return start and end of the content of the last field with the key, or None without one. Raises
    UnparsableError."""
    spans = [(start, stop) for number, start, stop in message_fields(data, at, end) if number == key]
    return spans[-1] if spans else None


def _content(data: Octets, at: int, end: int, kind: int) -> tuple[int, int]:
    """Return start and end of a field's content. Raises UnparsableError."""
    if kind == 0:
        return at, read_varint(data, at, end)[1]
    if kind == 2:
        if at < end and (size := data[at]) < 0x80:
            start = at + 1
        else:
            size, start = read_size(data, at, end)
    elif kind in _FIXED:
        size, start = _FIXED[kind], at
    else:
        raise UnparsableError("wire type")
    if start + size > end:
        raise CutError("field too long")
    return start, start + size


def read_varint(data: Octets, at: int, end: int) -> tuple[int, int]:
    """Return the value of the varint at ``at`` and the offset after it. Raises UnparsableError."""
    value = shift = 0
    while at < end and shift < 7 * _MAX_VARINT:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & (1 << 64) - 1, at
        shift += 7
    raise CutError("varint")


def read_size(data: Octets, at: int, end: int) -> tuple[int, int]:
    """Return the value of the key or size at ``at`` and the offset after it. Raises UnparsableError."""
    value, after = read_varint(data, at, end)
    if after - at > MAX_SIZE:
        raise UnparsableError("key or size too long")
    return value, after


def signed(value: int) -> int:
    """Return the int64 that an unsigned 64-bit value stands for."""
    return value - (1 << 64) if value >> 63 else value


def unaligned(data: bytes, dtype: str) -> npt.NDArray[Any]:
    """Return a view of ``data`` as numbers of type ``dtype`` at every byte offset."""
    kind = np.dtype(dtype)
    return np.ndarray((max(len(data) - kind.itemsize + 1, 0),), kind, data, 0, (1,))


def varints(octets: npt.NDArray[np.uint8], at: Ints, most: int = _MAX_VARINT) -> tuple[Ints, Ints]:
    """Return the varints at the offsets ``at`` as int64, and the offsets after them, FAR if a varint has
    no end within ``most`` bytes. The limit is `MAX_SIZE` for keys and sizes."""
    values = octets[at].astype(np.uint64)
    after = at + 1
    longer = np.flatnonzero(values >= 0x80)
    values &= np.uint64(0x7F)
    for shift in range(7, 7 * most, 7):
        if not len(longer):
            break
        more = octets[np.minimum(after[longer], len(octets) - 1)].astype(np.uint64)
        values[longer] |= (more & np.uint64(0x7F)) << np.uint64(shift)
        after[longer] += 1
        longer = longer[more >= 0x80]
    after[longer] = FAR
    return values.view(np.int64), after
