"""NumPy files: .npy read whole, .npz listed and read by member.

Layout of .npy after NumPy Enhancement Proposal 1: magic, version, length, a header that is the text of a
dict, data. The header is matched, not evaluated, and what it claims is held against the file before
a byte is allocated. bfloat16 has no name in NumPy: such arrays say ``V2`` and come as float32.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

import numpy as np

from mindinsight.server.formats.arrays.archives import Archive, read_member
from mindinsight.server.formats.arrays.element_types import MAX_AXES, Array, count_of, widen_bfloat16
from mindinsight.server.formats.file_bytes import length_of, opened, read_stretch
from mindinsight.server.formats.unreadable import UnreadableError

MAX_HEADER: Final = 65_536  # bytes; NumPy itself refuses more than 10 000 characters

_MAGIC: Final = b"\x93NUMPY"
_DESCR: Final = re.compile(r"'descr'\s*:\s*'([^']*)'")
_ORDER: Final = re.compile(r"'fortran_order'\s*:\s*(True|False)")
_SHAPE: Final = re.compile(r"'shape'\s*:\s*\(([\dL,\s]*)\)")
_TYPE: Final = re.compile(r"[<>=|]?(?:b1|[iufcSU]\d{1,9}|[mM]8(?:\[\w+\])?|V2)")


@dataclass(frozen=True, slots=True)
class ArrayHeader:
    """What stands before the data of an array."""

    shape: tuple[int, ...]
    dtype: str  # canonical name: "bfloat16" for V2
    stored: np.dtype[np.generic]  # type of the elements in the file
    fortran: bool  # first axis varies fastest
    offset: int  # bytes before the data
    size: int  # bytes of data


def read_npy_header(path: Path) -> ArrayHeader:
    """Header of a .npy file, held against the length of the file. Raises ``UnreadableError``."""
    with opened(path) as file:
        return _checked_header(file, length_of(file))


def read_npy(path: Path) -> Array:
    """The array of a .npy file, read-only."""
    with opened(path) as file:
        header = _checked_header(file, length_of(file))
        return array_of(header, read_stretch(file, header.offset, header.size))


def npz_headers(path: Path) -> tuple[tuple[str, ArrayHeader | UnreadableError], ...]:
    """Name and header of every array of a .npz file; an error in place of a header that is none."""
    with Archive(path) as archive:
        return tuple(
            (name.removesuffix(".npy"), _member_header(archive, name))
            for name in archive.names()
            if name.endswith(".npy")
        )


def read_npz(path: Path, name: str) -> Array:
    """One array of a .npz file, within the limits of ``archives.Archive``."""
    with Archive(path) as archive, archive.opened(f"{name}.npy") as member:
        header = _checked_header(member, archive.size(f"{name}.npy"))
        return array_of(header, read_member(member, header.size))


def npz_member(path: Path, name: str) -> tuple[ArrayHeader, int | None]:
    """Header of an array of a .npz file, and where the member lies in it; None for a compressed one."""
    with Archive(path) as archive:
        with archive.opened(f"{name}.npy") as member:
            header = _checked_header(member, archive.size(f"{name}.npy"))
        return header, archive.member_offset(f"{name}.npy")


def array_of(header: ArrayHeader, data: bytes | Array) -> Array:
    """Data of an array in its shape and in the byte order of this machine."""
    if len(data) < header.size:
        raise UnreadableError("dump.truncated", f"{header.size} bytes of data announced, found {len(data)}")
    flat: Array = np.frombuffer(data, header.stored)
    if header.dtype == "bfloat16":
        flat = widen_bfloat16(flat.view("<u2"))
    elif not flat.dtype.isnative:
        flat = flat.astype(flat.dtype.newbyteorder("="))
    return flat.reshape(header.shape, order="F" if header.fortran else "C")


def _member_header(archive: Archive, name: str) -> ArrayHeader | UnreadableError:
    try:
        with archive.opened(name) as member:
            return _checked_header(member, archive.size(name))
    except UnreadableError as error:
        return error


def _checked_header(file: IO[bytes], length: int) -> ArrayHeader:
    """Read a header and leave the file at the data; the data must fit into ``length`` bytes."""
    start = file.read(8)
    if start[:6] != _MAGIC[: len(start)] or length == 0:
        raise UnreadableError("dump.not_npy", "the file does not begin like a NumPy array")
    wide = start[6:7] != b"\x01"
    width = file.read(4 if wide else 2)
    announced = int.from_bytes(width, "little")
    offset = 8 + len(width) + announced
    if offset > length:
        raise UnreadableError("dump.truncated", f"header ends at {offset}, file at {length}")
    if announced > MAX_HEADER:
        raise UnreadableError("dump.bad_header", f"header of {announced} bytes")
    header = _parsed(file.read(announced).decode("latin-1"), offset)
    if offset + header.size > length:
        raise UnreadableError(
            "dump.truncated",
            f"{header.shape} of {header.dtype} ends at {offset + header.size}, file at {length}",
        )
    return header


def _parsed(text: str, offset: int) -> ArrayHeader:
    descr, order, shape = _DESCR.search(text), _ORDER.search(text), _SHAPE.search(text)
    if not order or not shape or (not descr and "'descr'" not in text):
        raise UnreadableError("dump.bad_header", text[:100])
    stored = _dtype_of(descr[1] if descr else "structured")
    axes = tuple(_axis(axis) for axis in shape[1].replace("L", "").split(",") if axis.strip())
    size = count_of(axes) * stored.itemsize
    _addressable(axes, stored)
    name = "bfloat16" if stored.kind == "V" else stored.name
    return ArrayHeader(axes, name, stored, order[1] == "True", offset, size)


def _axis(text: str) -> int:
    if len(text) > MAX_AXES or not text.strip().isdecimal():
        raise UnreadableError("dump.bad_shape", text[:100])
    return int(text)


def _dtype_of(descr: str) -> np.dtype[np.generic]:
    if descr.lstrip("<>=|").startswith("O"):
        raise UnreadableError("dump.object_dtype", "an array of Python objects is not read")
    if not _TYPE.fullmatch(descr):
        raise UnreadableError("dump.unknown_dtype", descr[:100])
    try:
        return np.dtype(descr)
    except (TypeError, ValueError) as error:
        raise UnreadableError("dump.unknown_dtype", descr[:100]) from error


def _addressable(shape: tuple[int, ...], stored: np.dtype[np.generic]) -> None:
    """An empty array may still have an axis no machine can count."""
    if any(axis * max(stored.itemsize, 1) >= 1 << 63 for axis in shape):
        raise UnreadableError("dump.bad_shape", str(shape)[:200])
