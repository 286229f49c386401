"""Encoder of protobuf fields, for messages that are made of spans of others."""

from __future__ import annotations

import struct


def varint(number: int) -> bytes:
    """An int64 or uint64."""
    number &= (1 << 64) - 1
    octets = bytearray()
    while number >= 0x80:
        octets.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*octets, number])


def integer(field: int, number: int) -> bytes:
    return varint(field << 3) + varint(number)


def double(field: int, number: float) -> bytes:
    return varint(field << 3 | 1) + struct.pack("<d", number)


def message(field: int, content: bytes) -> bytes:
    """A message, a text or bytes."""
    return varint(field << 3 | 2) + varint(len(content)) + content
