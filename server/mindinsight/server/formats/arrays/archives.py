"""Reader of zip archives of arrays, with a limit against decompression bombs.

A member is refused when unpacking it would make far more of it than a tensor of that many packed
bytes can be: more than ``MAX_UNPACKED`` at over ``MAX_RATIO`` to one. (Zeros pack at a thousand to
one, so the ratio alone says nothing.) Nothing is ever unpacked to disk, and no name is used as a path.
"""

from __future__ import annotations

import lzma
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import IO, Final

import numpy as np
import numpy.typing as npt

from mindinsight.server.formats.budgets import ARCHIVE, ARRAY
from mindinsight.server.formats.file_bytes import length_of, opened
from mindinsight.server.formats.unreadable import UnreadableError

MAX_UNPACKED: Final = 1 << 30  # bytes of one member
_PART: Final = 1 << 20  # bytes unpacked at once
MAX_RATIO: Final = 100
_TYPES: Final = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # what NumPy and PyTorch write
_LOCAL_HEADER: Final = struct.Struct("<4s22xHH")  # signature, length of name, length of extra field
_BROKEN: Final = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error),
    *(NotImplementedError, RuntimeError, EOFError, OSError, ValueError),
)


def read_member(member: IO[bytes], size: int) -> npt.NDArray[np.uint8]:
    """[size] bytes of a member at most, unpacked into place a part at a time; raises beyond the budget."""
    ARRAY.check_size(size)
    content = np.empty(size, np.uint8)
    filled = 0
    while filled < size and (part := member.read(min(_PART, size - filled))):
        content[filled : filled + len(part)] = np.frombuffer(part, np.uint8)
        filled += len(part)
    return content[:filled]


class Archive:
    """A zip file opened for reading; all its errors are ``UnreadableError``."""

    def __init__(self, path: Path) -> None:
        self._file = opened(path)
        self._length = length_of(self._file)
        try:
            self._zip = zipfile.ZipFile(self._file)
        except _BROKEN as error:
            self._file.close()
            raise UnreadableError("dump.bad_zip", str(error)) from error
        try:
            ARCHIVE.check_items(len(self._zip.infolist()))
        except UnreadableError:
            self._close()
            raise

    def __enter__(self) -> Archive:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close()

    def names(self) -> list[str]:
        """Names of the members in the order they were written."""
        return self._zip.namelist()

    def size(self, name: str) -> int:
        """Bytes of a member when unpacked; raises ``UnreadableError`` when it must not be."""
        return self._info(name).file_size

    @contextmanager
    def opened(self, name: str) -> Iterator[IO[bytes]]:
        """A member as a file. It gives no more bytes than its size says."""
        info = self._info(name)
        try:
            with self._zip.open(info) as member:
                yield member
        except _BROKEN as error:
            if isinstance(error, UnreadableError):
                raise
            raise UnreadableError("dump.bad_zip", f"{name[:200]}: {error}") from error

    def damaged(self) -> str:
        """Name of the first member whose bytes have not their CRC-32, all read; "" when all have."""
        for name in self.names():
            try:
                with self.opened(name) as member:
                    while member.read(_PART):
                        pass
            except UnreadableError:
                return name
        return ""

    def member_offset(self, name: str) -> int | None:
        """Offset in the file of the bytes of an uncompressed member; None for a compressed one."""
        info = self._info(name)
        if info.compress_type != zipfile.ZIP_STORED:
            return None
        self._file.seek(info.header_offset)
        head = self._file.read(_LOCAL_HEADER.size)
        if len(head) < _LOCAL_HEADER.size:
            raise UnreadableError("dump.bad_zip", name[:200])
        signature, name_length, extra_length = _LOCAL_HEADER.unpack(head)
        start: int = info.header_offset + _LOCAL_HEADER.size + name_length + extra_length
        if signature != b"PK\x03\x04" or start + info.file_size > self._length:
            raise UnreadableError("dump.bad_zip", name[:200])
        return start

    def _close(self) -> None:
        self._zip.close()
        self._file.close()

    def _info(self, name: str) -> zipfile.ZipInfo:
        try:
            info = self._zip.getinfo(name)
        except KeyError as error:
            raise UnreadableError("dump.missing", f"no member {name[:200]}") from error
        if not 0 <= info.header_offset <= info.header_offset + info.compress_size <= self._length:
            raise UnreadableError("dump.bad_zip", f"{name[:200]} does not lie within the file")
        if info.compress_type not in _TYPES:
            raise UnreadableError("dump.bad_zip", f"{name[:200]} is packed in way {info.compress_type}")
        if info.file_size > MAX_UNPACKED and info.file_size > MAX_RATIO * info.compress_size:
            raise UnreadableError(
                "dump.zip_bomb", f"{name[:200]}: {info.compress_size} bytes claim to be {info.file_size}"
            )
        return info
