"""Checksums of many records at once.

CRC-32C is affine over GF(2): the checksum of a payload is that of another one of its length, xor one table
entry for each byte that differs. Between short records with one scalar each, few bytes differ, and this is
several times as fast as the C function called for each record. Between others it is not, and the function is
called: then what counts is to reach it without running Python for each record.
"""

from __future__ import annotations

import struct
from functools import cache
from itertools import chain, islice, starmap
from typing import Final, TypeAlias

import google_crc32c
import numpy as np
import numpy.typing as npt

from mindinsight.proto.framing import FOOTER_SIZE, HEADER_SIZE

Crcs: TypeAlias = npt.NDArray[np.uint32]

_MASK_DELTA: Final = np.uint32(0xA282EAD8)
_FEWEST: Final = 32  # rounds that are worth the tables
_SAMPLE: Final = 64  # rounds in which the bytes that differ are counted first
_MOST_DIFFERING: Final = 24  # bytes of a record; of more the function is faster
_LONGEST: Final = 256  # bytes of a record there are tables for
_CACHED: Final = 1 << 18  # bytes worked on at a time, to stay in the processor's cache
_BATCH: Final = 2048  # records, half a millisecond, during which no other thread runs


def masked(crcs: Crcs) -> Crcs:
    """CRC-32C values as they are stored: rotated right by 15 bits and offset."""
    rotated = (crcs >> np.uint32(15)) | (crcs << np.uint32(17))
    return rotated + _MASK_DELTA


def crcs_of_pattern(data: memoryview, sizes: list[int]) -> Crcs:
    """CRC-32C of each payload in ``data``, which holds records of the framed ``sizes`` again and again."""
    if not len(data):
        return np.empty(0, np.uint32)
    stride = sum(sizes)
    rows = np.ndarray((len(data) // stride, stride), np.uint8, data)
    sample = np.count_nonzero(_differing(rows[:_SAMPLE]))
    if len(rows) < _FEWEST or sample > _MOST_DIFFERING * len(sizes) or max(sizes) > _LONGEST:
        return _by_calls(data, sizes)
    checksums = np.empty((len(rows), len(sizes)), np.uint32)
    step = max(_CACHED // stride, _SAMPLE)
    for first in range(0, len(rows), step):
        _by_tables(rows[first : first + step], sizes, checksums[first : first + step])
    return checksums.ravel()


def _differing(rows: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    """[stride] not zero where the bytes of a column are not all the same."""
    differing: npt.NDArray[np.uint8] = np.bitwise_or.reduce(rows ^ rows[0], axis=0)
    return differing


def _by_tables(rows: npt.NDArray[np.uint8], sizes: list[int], checksums: Crcs) -> None:
    """Fill ``checksums`` [n, records of a round] from the first round and what differs from it."""
    differing, tables, at = _differing(rows), _tables(), 0
    for number, size in enumerate(sizes):
        begin, end = at + HEADER_SIZE, at + size - FOOTER_SIZE
        crcs = np.full(len(rows), google_crc32c.value(rows[0, begin:end].tobytes()), np.uint32)
        for column in (np.flatnonzero(differing[begin:end]) + begin).tolist():
            crcs ^= tables[end - 1 - column].take(rows[:, column] ^ rows[0, column])
        checksums[:, number] = crcs
        at += size


@cache
def _tables() -> npt.NDArray[np.uint32]:
    """[bytes behind it, byte] what a byte changes in the CRC-32C of a payload that it stands in."""
    first = np.array([google_crc32c.value(bytes([byte])) for byte in range(256)], np.uint32)
    tables = np.empty((_LONGEST, 256), np.uint32)
    tables[0] = first ^ first[0]
    for behind in range(1, _LONGEST):
        before = tables[behind - 1]
        tables[behind] = (before >> np.uint32(8)) ^ tables[0][before & np.uint32(255)]
    return tables


def _by_calls(data: memoryview, sizes: list[int]) -> Crcs:
    payloads = [f"{HEADER_SIZE}x{size - HEADER_SIZE - FOOTER_SIZE}s{FOOTER_SIZE}x" for size in sizes]
    rounds = struct.iter_unpack("".join(payloads), data)
    single = rounds if len(sizes) == 1 else zip(chain.from_iterable(rounds))
    crcs = starmap(google_crc32c.value, single)
    checksums = np.empty(len(data) // sum(sizes) * len(sizes), np.uint32)
    for batch in np.split(checksums, range(_BATCH, len(checksums), _BATCH)):
        batch[:] = np.fromiter(islice(crcs, len(batch)), np.uint32, len(batch))
    return checksums
