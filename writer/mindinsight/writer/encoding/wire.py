"""Encoder of protobuf's wire format, and of numbers as JSON values."""

import math
import struct
from collections.abc import Iterable
from typing import Final

_DOUBLE: Final = struct.Struct("<d")
_FLOAT: Final = struct.Struct("<f")
_MASK_64: Final = (1 << 64) - 1


def varint(value: int) -> bytes:
    """Return a 64-bit integer encoded as a varint, seven bits a byte. Negative ones are two's complement in
    ten bytes."""
    value &= _MASK_64
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def integer(number: int, value: int) -> bytes:
    """Return the encoded field ``number`` of type int32, int64, bool or enum."""
    return varint(number << 3) + varint(value)


def double(number: int, value: float) -> bytes:
    """Return the encoded field ``number`` of type double."""
    return varint(number << 3 | 1) + _DOUBLE.pack(value)


def single(number: int, value: float) -> bytes:
    """Return the encoded field ``number`` of type float. Raises OverflowError if ``value`` is
    beyond float32."""
    return varint(number << 3 | 5) + _FLOAT.pack(value)


def block(number: int, payload: bytes | memoryview) -> bytes:
    """Return the encoded field ``number`` of type string, bytes or message, or a packed repeated field."""
    return b"".join((varint(number << 3 | 2), varint(len(payload)), payload))


def packed_integers(number: int, values: Iterable[int]) -> bytes:
    """Return a repeated integer field ``number``, encoded in one block."""
    return block(number, b"".join(map(varint, values)))


def json_number(value: float) -> float | str:
    """Return ``value``, or ``"nan"``, ``"inf"`` or ``"-inf"``."""
    return value if math.isfinite(value) else str(float(value))
