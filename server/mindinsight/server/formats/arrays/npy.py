"""NumPy files: .npy read whole, members of .npz and other zip archives read within limits."""

from __future__ import annotations

import lzma
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import TracebackType
from typing import IO, Final

import numpy as np
import numpy.typing as npt

from mindinsight.server.formats.arrays.element_types import MAX_AXES, Array, count_of, widen_bfloat16
from mindinsight.server.formats.file_bytes import length_of, opened, read_bytes
from mindinsight.server.formats.read_limits import ARCHIVE, ARRAY, UnreadableError, unreadable

MAX_UNPACKED: Final = 1 << 30  # bytes of one unpacked member, unless the ratio below allows more
_PART: Final = 1 << 20  # bytes unpacked at once
MAX_RATIO: Final = 100  # unpacked bytes for each packed byte; more in a large member is a zip bomb
_TYPES: Final = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # what NumPy and PyTorch write
_LOCAL_HEADER: Final = struct.Struct("<4s22xHH")  # signature, length of name, length of extra field
_LOCAL_MARK: Final = b"PK\x03\x04"
_END_MARK: Final = b"PK\x05\x06"
_TAIL: Final = 22 + 65_535  # bytes: the end of the directory with the longest comment
_BROKEN: Final = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error),
    *(NotImplementedError, RuntimeError, EOFError, OSError, ValueError),
)


def read_member(member: IO[bytes], size: int) -> npt.NDArray[np.uint8]:
    """Read up to `size` bytes of an archive member as uint8, fewer if the member ends earlier. Raises
    UnreadableError if `size` exceeds the limit of an array."""
    ARRAY.check_size(size)
    content = np.empty(size, np.uint8)
    filled = 0
    while filled < size and (part := member.read(min(_PART, size - filled))):
        content[filled : filled + len(part)] = np.frombuffer(part, np.uint8)
        filled += len(part)
    return content[:filled]


class Archive:
    """Zip file opened for reading. All its errors are UnreadableError."""

    def __init__(self, path: Path) -> None:
        self._file = opened(path)
        self._length = length_of(self._file)
        try:
            self._zip = self._checked_zip()
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> Archive:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close()

    def names(self) -> list[str]:
        """Return the names of the members in the order they were written."""
        return self._zip.namelist()

    def size(self, name: str) -> int:
        """Return the unpacked size of a member in bytes. Raises UnreadableError for a missing member, and for
        an invalid or too large one."""
        return self._info(name).file_size

    @contextmanager
    def opened(self, name: str) -> Iterator[IO[bytes]]:
        """Open a member as a file, which returns no more bytes than its stated size.
        Raises UnreadableError."""
        info = self._info(name)
        with unreadable("dump.bad_zip", name[:200], *_BROKEN), self._zip.open(info) as member:
            yield member

    def damaged(self) -> str:
        """Return the name of the first damaged member, or "". Reads all members. A member is damaged if it
        cannot be read, or does not match its CRC-32."""
        for name in self.names():
            try:
                with self.opened(name) as member:
                    while member.read(_PART):
                        pass
            except UnreadableError:
                return name
        return ""

    def member_offset(self, name: str) -> int | None:
        """Return the offset in the file of an uncompressed member, or None for a compressed one. Raises
        UnreadableError."""
        info = self._info(name)
        if info.compress_type != zipfile.ZIP_STORED:
            return None
        self._file.seek(info.header_offset)
        head = self._file.read(_LOCAL_HEADER.size)
        if len(head) < _LOCAL_HEADER.size:
            raise UnreadableError("dump.bad_zip", name[:200])
        signature, name_length, extra_length = _LOCAL_HEADER.unpack(head)
        start: int = info.header_offset + _LOCAL_HEADER.size + name_length + extra_length
        if signature != _LOCAL_MARK or start + info.file_size > self._length:
            raise UnreadableError("dump.bad_zip", name[:200])
        return start

    def _checked_zip(self) -> zipfile.ZipFile:
        try:
            archive = zipfile.ZipFile(self._file)
        except _BROKEN as error:
            self._file.seek(0)
            if self._file.read(len(_LOCAL_MARK)) == _LOCAL_MARK and _END_MARK not in self._tail():
                raise UnreadableError("dump.truncated", "the directory at the end is missing") from error
            raise UnreadableError("dump.bad_zip", str(error)) from error
        ARCHIVE.check_items(len(archive.infolist()))
        return archive

    def _tail(self) -> bytes:
        """Return the bytes in which the directory of an archive ends."""
        self._file.seek(max(0, self._length - _TAIL))
        return self._file.read(_TAIL)

    def _close(self) -> None:
        """Close the archive."""
        self._zip.close()
        self._file.close()

    def _info(self, name: str) -> zipfile.ZipInfo:
        """Return the entry of a member. Raises UnreadableError for a missing, invalid or too large one."""
        try:
            info = self._zip.getinfo(name)
        except KeyError as error:
            raise UnreadableError("dump.missing", f"no member {name[:200]}") from error
        if not 0 <= info.header_offset <= info.header_offset + info.compress_size <= self._length:
            raise UnreadableError("dump.bad_zip", f"{name[:200]} extends beyond the file")
        if info.compress_type not in _TYPES:
            raise UnreadableError(
                "dump.bad_zip", f"{name[:200]} has the unsupported compression {info.compress_type}"
            )
        if info.file_size > MAX_UNPACKED and info.file_size > MAX_RATIO * info.compress_size:
            raise UnreadableError(
                "dump.zip_bomb", f"{name[:200]}: {info.compress_size} bytes claim to be {info.file_size}"
            )
        return info


SMALL: Final = 1 << 16  # bytes of an array that takes no longer to read than to open its file again
MAX_HEADER: Final = 65_536  # bytes; NumPy itself rejects more than 10 000 characters

_MAGIC: Final = b"\x93NUMPY"
_DESCR: Final = re.compile(r"'descr'\s*:\s*'([^']*)'")
_ORDER: Final = re.compile(r"'fortran_order'\s*:\s*(True|False)")
_SHAPE: Final = re.compile(r"'shape'\s*:\s*\(([\dL,\s]*)\)")
_TYPE: Final = re.compile(r"[<>=|]?(?:b1|[iufcSU]\d{1,9}|[mM]8(?:\[\w+\])?|V2)")


@dataclass(frozen=True, slots=True)
class ArrayHeader:
    """Header of an array in NumPy's format."""

    shape: tuple[int, ...]
    dtype: str  # canonical name: "bfloat16" for V2
    stored: np.dtype[np.generic]  # type of the elements in the file
    fortran: bool  # first axis varies fastest
    offset: int  # bytes before the data
    size: int  # bytes of data


def read_npy_header(path: Path) -> ArrayHeader:
    """Read the header of a .npy file and check it against the length of the file. Raises UnreadableError."""
    with opened(path) as file:
        return _checked_header(file, length_of(file))


def read_npy(path: Path) -> Array:
    """Read the array of a .npy file, read-only. Raises UnreadableError."""
    with opened(path) as file:
        header = _checked_header(file, length_of(file))
        return array_of(header, read_bytes(file, header.offset, header.size))


def read_small_npy(path: str | Path) -> tuple[ArrayHeader, Array | None]:
    """Read the header of a .npy file, and the array, read-only, or None above `SMALL` bytes. Raises
    UnreadableError."""
    with opened(path) as file:
        header = _checked_header(file, length_of(file))
        if header.size > SMALL:
            return header, None
        return header, array_of(header, read_bytes(file, header.offset, header.size))


def npz_headers(path: Path) -> tuple[tuple[str, ArrayHeader | UnreadableError], ...]:
    """Return name and header of every array of a .npz file, with an error for each invalid header. Raises
    UnreadableError if the archive cannot be read."""
    with Archive(path) as archive:
        return tuple(
            (name.removesuffix(".npy"), _member_header(archive, name))
            for name in archive.names()
            if name.endswith(".npy")
        )


def read_npz(path: Path, name: str) -> Array:
    """Read the array `name`, without ".npy", of a .npz file, as `Archive` does. Raises UnreadableError."""
    with Archive(path) as archive, archive.opened(f"{name}.npy") as member:
        header = _checked_header(member, archive.size(f"{name}.npy"))
        return array_of(header, read_member(member, header.size))


def npz_member(path: Path, name: str) -> tuple[ArrayHeader, int | None]:
    """Return the header of an array of a .npz file, and the offset of its member, None if compressed. Raises
    UnreadableError."""
    with Archive(path) as archive:
        with archive.opened(f"{name}.npy") as member:
            header = _checked_header(member, archive.size(f"{name}.npy"))
        return header, archive.member_offset(f"{name}.npy")


def array_of(header: ArrayHeader, data: bytes | Array) -> Array:
    """Return the data of an array in its shape and in native byte order. Raises UnreadableError if it is too
    short."""
    if len(data) < header.size:
        raise UnreadableError("dump.truncated", f"{header.size} bytes of data announced, found {len(data)}")
    flat: Array = np.frombuffer(data, header.stored)
    if header.dtype == "bfloat16":
        flat = widen_bfloat16(flat.view("<u2"))
    elif not flat.dtype.isnative:
        flat = flat.astype(flat.dtype.newbyteorder("="))
    return flat.reshape(header.shape, order="F" if header.fortran else "C")


def _member_header(archive: Archive, name: str) -> ArrayHeader | UnreadableError:
    """Return the header of a member, or the error."""
    try:
        with archive.opened(name) as member:
            return _checked_header(member, archive.size(name))
    except UnreadableError as error:
        return error


def _checked_header(file: IO[bytes], length: int) -> ArrayHeader:
    """Read a header and leave the file at the data. Raises UnreadableError. The data must fit into
    ``length`` bytes."""
    start = file.read(8)
    if start[:6] != _MAGIC[: len(start)] or length == 0:
        raise UnreadableError("dump.not_npy")
    wide = start[6:7] != b"\x01"
    width = file.read(4 if wide else 2)
    announced = int.from_bytes(width, "little")
    offset = 8 + len(width) + announced
    if offset > length:
        raise UnreadableError("dump.truncated", f"{length} / {offset} B")
    if announced > MAX_HEADER:
        raise UnreadableError("dump.bad_header", f"header of {announced} bytes")
    header = _parsed(file.read(announced).decode("latin-1"), offset)
    if offset + header.size > length:
        raise UnreadableError("dump.truncated", f"{length} / {offset + header.size} B")
    return header


@lru_cache(maxsize=64)  # many tensors of a dump have one header
def _parsed(text: str, offset: int) -> ArrayHeader:
    """Parse the text of a .npy header. Raises UnreadableError."""
    descr, order, shape = _DESCR.search(text), _ORDER.search(text), _SHAPE.search(text)
    if not order or not shape or (not descr and "'descr'" not in text):
        raise UnreadableError("dump.bad_header", text[:100])
    stored = _dtype_of(descr[1] if descr else "structured")
    texts = [axis.strip() for axis in shape[1].replace("L", "").split(",") if axis.strip()]
    if wrong := [text for text in texts if len(text) > MAX_AXES or not text.isdecimal()]:
        raise UnreadableError("dump.bad_shape", wrong[0][:100])
    axes = tuple(map(int, texts))
    size = count_of(axes) * stored.itemsize
    if any(axis * max(stored.itemsize, 1) >= 1 << 63 for axis in axes):  # even in an empty array
        raise UnreadableError("dump.bad_shape", str(axes)[:200])
    name = "bfloat16" if stored.kind == "V" else stored.name
    return ArrayHeader(axes, name, stored, order[1] == "True", offset, size)


def _dtype_of(descr: str) -> np.dtype[np.generic]:
    """Return the NumPy type of a ``descr`` such as ``<f4``. Raises UnreadableError for objects and unknown
    types."""
    if descr.lstrip("<>=|").startswith("O"):
        raise UnreadableError("dump.object_dtype", "arrays of Python objects are not supported")
    if not _TYPE.fullmatch(descr):
        raise UnreadableError("dump.unknown_dtype", descr[:100])
    try:
        return np.dtype(descr)
    except (TypeError, ValueError) as error:
        raise UnreadableError("dump.unknown_dtype", descr[:100]) from error
