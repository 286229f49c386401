"""Event files of a run: their names, folders and rollover. Only whole records are appended."""

import contextlib
import hashlib
import logging
import os
import platform
import sys
import time
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Final, NamedTuple, Protocol
from urllib.parse import quote

import numpy as np

from mindinsight.writer.encoding.encoder import Item

_LONGEST_NAME: Final = 200  # bytes. File systems allow 255, and the step is appended


class NpyExport:
    """Export of tensors to ``<directory>/tensor/<tag>_<step>.npy`` with their type. bfloat16 is float32."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory / "tensor"

    def __call__(self, item: Item, step: int) -> None:
        """Save ``item`` if it is a tensor, replacing an earlier file of this tag and step."""
        if item.kind != "tensor":
            return
        self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = self._directory / f"{file_name(item.tag)}_{step}.npy"
        unfinished = path.with_suffix(".tmp")
        with unfinished.open("wb") as file:
            np.lib.format.write_array(file, np.asarray(item.payload), allow_pickle=False)
        unfinished.chmod(0o400)
        unfinished.replace(path)


def file_name(tag: str) -> str:
    """Return ``tag`` percent-encoded, slash included. A long name ends in a digest to be unique."""
    quoted = quote(tag, safe="")
    if len(quoted) <= _LONGEST_NAME:
        return quoted
    digest = hashlib.sha256(tag.encode()).hexdigest()[:16]
    return f"{quoted[: _LONGEST_NAME - 17]}~{digest}"


_log: Final = logging.getLogger(__name__)


def private_folder(path: Path) -> Path:
    """Create a directory and its missing parents with mode 0700, and return ``path``."""
    if not path.is_dir():
        private_folder(path.parent)
        path.mkdir(mode=0o700, exist_ok=True)
    return path


def make_log_dir(path: Path, strict: bool) -> None:
    """Create the directory of a run, mode 0700. Raises NotADirectoryError if ``path`` is a file. Other
    errors are raised if ``strict``, else logged. A logged error is not raised, because the first record
    tries again."""
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError) as error:
        raise NotADirectoryError(f"log_dir is not a directory: {path}") from error
    except OSError as error:
        if strict:
            raise
        _log.error("cannot make %s: %s; retrying with the first record", path, error)


@dataclass(frozen=True, slots=True)
class TfeventsName:
    """Name of a TensorBoard event file without its seconds.

    TensorBoard recognizes files by ``tfevents`` in the name and reads those of a directory in the order of
    names. The name contains the process, because several may write into one directory.
    """

    directory: Path
    suffix: str = ""

    def at(self, seconds: int) -> Path:
        """Return the path of the file of this Unix second."""
        when_and_where = f"{seconds:010d}.{platform.node()}.{os.getpid()}.0"
        return self.directory / f"events.out.tfevents.{when_and_where}{self.suffix}"


# Records of a megabyte and more are written one by one, smaller ones are joined first.
_JOIN_BELOW: Final = 1 << 20
_FLAGS: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | getattr(os, "O_BINARY", 0)


class Modes(NamedTuple):
    """Permissions of the directory, of a growing file and of a finished one (None: unchanged)."""

    directory: int
    growing: int
    done: int | None


PRIVATE: Final = Modes(0o700, 0o600, 0o400)  # as MindSpore's
BY_UMASK: Final = Modes(0o777, 0o666, None)


class RecordFileName(Protocol):
    """Interface of a file name without its seconds."""

    @property
    def directory(self) -> Path:
        """Return the directory of the files."""

    def at(self, seconds: int) -> Path:
        """Return the path of the file of this Unix second."""


class RecordSink(Protocol):
    """Append-only files of whole records, on disk or in a store."""

    @property
    def path(self) -> Path | str:
        """Return the newest file, which may not exist yet."""

    @property
    def is_open(self) -> bool:
        """Return True if records were written since the last ``close``."""

    def append(self, records: Sequence[bytes]) -> tuple[int, OSError | None]:
        """Write ``records``, and return the number accepted, and the error that stopped the write or None."""

    def sync(self) -> OSError | None:
        """Make all accepted records visible to readers, and return the error if that failed, else None."""

    def close(self, ended: bool = True) -> None:
        """Close the file, and mark it as finished by its permissions if ``ended``."""

    def forget(self) -> None:
        """Close the descriptor without flushing."""


@dataclass(frozen=True, slots=True)
class FileName:
    """Parts of a summary file's name other than its time (FORMAT.md, names)."""

    directory: Path
    prefix: str
    device: int
    suffix: str

    def at(self, seconds: int) -> Path:
        """Return the path of the file of this Unix second."""
        when_and_where = f"{seconds}.{self.device}.{platform.node()}"
        return self.directory / f"{self.prefix}.out.events.summary.{when_and_where}{self.suffix}"


class RecordFile:
    """Append-only file with rollover, of at most ``max_size`` bytes and always newly created.

    A file is created with its first record. Not thread-safe.
    """

    def __init__(
        self,
        name: RecordFileName,
        seconds: int,
        max_size: int | None = None,
        first_record: Callable[[], bytes] = bytes,
        modes: Modes = PRIVATE,
    ) -> None:
        self._name = name
        self._seconds = seconds
        self._max_size = max_size or sys.maxsize
        self._first_record = first_record
        self._modes = modes
        self._descriptor: int | None = None
        self._size = 0
        self._unused = True  # no record of a caller in the current file
        self.path = name.at(seconds)  # of the newest file, which may not exist yet

    @property
    def is_open(self) -> bool:
        """Return True if records were written since the last ``close`` to a file that still exists."""
        return self._descriptor is not None and os.fstat(self._descriptor).st_nlink > 0

    def append(self, records: Sequence[bytes]) -> tuple[int, OSError | None]:
        """Write ``records``, and return the number on disk, and the error that stopped the write or None.
        Torn records are removed."""
        done = 0
        try:
            while done < len(records):
                done += self._append_some(records[done:])
        except _Interrupted as stop:
            return done + stop.whole, stop.reason
        except OSError as error:
            return done, error
        return done, None

    def sync(self) -> OSError | None:
        """Return None, because appended records are already in the file."""
        return None

    def close(self, ended: bool = True) -> None:
        """Close the file, with the mode of a finished one if ``ended``. A later append creates a new one."""
        if self._descriptor is not None:
            if ended and self._modes.done is not None:
                with contextlib.suppress(FileNotFoundError):
                    self.path.chmod(self._modes.done)
            self.forget()

    def forget(self) -> None:
        """Close the descriptor without flushing. After a fork the file belongs to the parent process."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
            self._seconds = max(self._seconds + 1, int(time.time()))
        self._size = 0
        self._unused = True

    def _append_some(self, records: Sequence[bytes]) -> int:
        """Write the first records that fit into one system call, and return their number."""
        descriptor = self._opened(len(records[0]))
        room = min(self._max_size - self._size, _JOIN_BELOW)
        count = max(1, bisect_right(list(accumulate(map(len, records))), room))
        self._write(descriptor, records[:count])
        self._unused = False
        return count

    def _opened(self, needed: int) -> int:
        """Return the descriptor of a file with room for ``needed`` bytes, a new one if the current file
        has none. A new file accepts a record of any size."""
        if self._descriptor is not None:
            if os.fstat(self._descriptor).st_nlink == 0:
                _log.warning("%s was removed while it was written; continuing in a new file", self.path)
                self.forget()
            elif self._size + needed > self._max_size and not self._unused:
                self.close()
        if self._descriptor is None:
            self._descriptor = self._create()
        if self._size == 0 and (first := self._first_record()):
            self._write(self._descriptor, [first])
        return self._descriptor

    def _create(self) -> int:
        self._name.directory.mkdir(mode=self._modes.directory, parents=True, exist_ok=True)
        while True:
            self.path = self._name.at(self._seconds)
            try:
                return os.open(self.path, _FLAGS, self._modes.growing)
            except FileExistsError:
                self._seconds += 1

    def _write(self, descriptor: int, records: Sequence[bytes]) -> None:
        data = memoryview(b"".join(records) if len(records) > 1 else records[0])
        written = 0
        try:
            while written < len(data):
                written += os.write(descriptor, data[written:])
        except OSError as error:
            whole, size = _whole_records(records, written)
            self._cut_back(descriptor, self._size + size)
            raise _Interrupted(whole, error) from error
        self._size += written

    def _cut_back(self, descriptor: int, size: int) -> None:
        """Truncate the file to ``size`` bytes, or abandon it if that fails."""
        try:
            os.ftruncate(descriptor, size)
            self._size = size
        except OSError:
            self.forget()


class _Interrupted(Exception):  # noqa: N818 - not an error of its own, it carries one
    """Interruption of a write after ``whole`` records."""

    def __init__(self, whole: int, reason: OSError) -> None:
        super().__init__(whole, reason)
        self.whole = whole
        self.reason = reason


def _whole_records(records: Sequence[bytes], written: int) -> tuple[int, int]:
    """Return number and size of the ``records`` that are complete within ``written`` bytes."""
    whole = size = 0
    while whole < len(records) and size + len(records[whole]) <= written:
        size += len(records[whole])
        whole += 1
    return whole, size
