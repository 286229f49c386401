"""Mirrors of remote stores: local copies kept up to date, of which only new bytes are fetched."""

import errno
import json
import logging
import os
import shutil
import tempfile
import threading
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

from mindinsight.server.compute.background_jobs import start_within_limit
from mindinsight.server.files import remote_store
from mindinsight.server.files.own_files import NotOursError, locked, open_own, own_folder, read_own
from mindinsight.server.files.placeholders import PIECE, ROOM, PlaceholderIndex, make_room, put_placeholder
from mindinsight.server.formats.read_limits import GRAPH
from mindinsight.server.ingest.folder_tree import DEPTH
from mindinsight.server.settings import Settings
from mindinsight.server.settings.base_dirs import Base, stores
from mindinsight.server.store import file_names
from mindinsight.server.store.run import DirectoryDamage

OVERLAP: Final = 64  # bytes read again when a file grew; if they differ, it is another file
SAVE: Final = 5.0  # seconds after which a long pass saves its progress
DESCRIPTION: Final = 64 << 20  # bytes of a file that describes a dump; a larger one becomes a placeholder
MAX_PLACEHOLDERS: Final = 200_000  # files; older ones are omitted and reported
_DESCRIPTIONS: Final = frozenset(
    ("dump.json", "stack.json", "construct.json", "debug.json", "statistic.csv", file_names.STUDY)
)
_DESCRIBING: Final = frozenset((remote_store.DUMP_METADATA, "execution_order"))  # folders
_RANK: Final = (
    *("remote.full", "remote.forbidden", "remote.unreachable", "remote.redirect", "remote.address"),
    *("remote.ranges", "remote.name", "remote.many", "remote.cut"),
)
_CLASHES: Final = (errno.EEXIST, errno.ENOTDIR, errno.EISDIR, errno.ENAMETOOLONG, errno.EILSEQ, errno.EINVAL)


class Copied(NamedTuple):
    """State of a file when it was copied, as the store described it."""

    size: int
    modified: float
    tag: str


class Mirror:
    """Mirror of one remote store: a local copy in ``folder``. A lock lets one server at a time update it."""

    def __init__(self, store: remote_store.RemoteStore, folder: Path, stopping: threading.Event) -> None:
        self._store = store
        self._folder = folder
        self._stopping = stopping
        self._state = folder.with_name(".copied.json")
        self._copied: dict[str, Copied] = {}
        self._catalogue = PlaceholderIndex(folder)
        self.error = ""  # key of the locale files; empty without an error
        with suppress(OSError):  # ``sync`` reports it
            self._make_folders()

    def sync(self) -> bool:
        """Copy new files, remove files that the store no longer has, and return True if the copy changed.
        Never raises: after an error, set ``error`` to its key and return False. Do nothing and return False
        while another server does this."""
        try:
            self._make_folders()
            with locked(self._folder.with_name(".copying"), wait=0.0):
                return self._sync()
        except TimeoutError:  # another server updates the copy
            return False
        except remote_store.StoreError as error:
            self.error = error.reason
        except NotOursError:
            self.error = "remote.not_ours"
        except OSError:
            self.error = "remote.full"
        return False

    def _make_folders(self) -> None:
        """Create the folder of the copy and the two above it. Raises NotOursError for another
        user's folder."""
        for folder in (self._folder.parent.parent, self._folder.parent, self._folder):
            own_folder(folder)

    def _sync(self) -> bool:
        """Update the copy and the placeholders, and return True if anything changed."""
        self._copied = self._read_state()
        listed = self._store.list_files()
        files = {path: file for path, file in listed.items() if _is_copied(path, file)}
        if not listed and (self._copied or self._catalogue.exists()):  # stores have no empty folders
            self.error = "remote.gone"
            return False
        newest_first = sorted(files.items(), key=lambda item: -item[1].modified)
        changed = {path: file for path, file in newest_first if self._is_new(path, file)}
        gone = [path for path in self._copied if path not in files and not self._store.cut]
        for path in gone:
            self._unlink(path)
            del self._copied[path]
        reasons = {"remote.cut"} if self._store.cut else set[str]()
        save_at = time.monotonic() + SAVE
        for reason in remote_store.concurrently(lambda item: self._copy(*item), list(changed.items())):
            reasons.add(reason)
            if time.monotonic() >= save_at:
                save_at = time.monotonic() + SAVE
                self._write_state()
        self._write_state()
        # A large model with the name of a graph gets no placeholder, because it would be read as a graph.
        others = {path: file for path, file in listed.items() if path not in files and _role(path) != "graph"}
        placed = self._sync_placeholders(others, reasons)
        self.error = next((reason for reason in _RANK if reason in reasons), "")
        return bool(changed or gone or placed)

    def _sync_placeholders(self, files: dict[str, remote_store.RemoteFile], reasons: set[str]) -> bool:
        """Create new placeholders, remove old ones, and return True if anything changed."""
        if len(files) > MAX_PLACEHOLDERS:
            newest_first = sorted(files.items(), key=lambda item: -item[1].modified)
            files = dict(newest_first[:MAX_PLACEHOLDERS])
            reasons.add("remote.many")
        known = self._catalogue.files()
        gone = [path for path in known if path not in files and not self._store.cut]
        for path in gone:
            self._unlink(path)
        new: dict[str, remote_store.RemoteFile] = {}
        for path, file in files.items():
            if self._stopping.is_set():
                break
            if known.get(path) == file:
                continue
            try:
                put_placeholder(self._folder, path, file)
            except OSError as error:
                reasons.add("remote.name" if error.errno in _CLASHES else "remote.full")
            else:
                new[path] = file
        if new or gone:
            self._catalogue.put(self._store.url, new, gone)
        make_room(self._folder)
        return bool(new or gone)

    def _is_new(self, path: str, file: remote_store.RemoteFile) -> bool:
        """Return True if a file must be copied."""
        return self._copied.get(path) != Copied(*file[1:]) or not (self._folder / path).is_file()

    def _copy(self, path: str, file: remote_store.RemoteFile) -> str:
        """Copy one file, or the bytes it grew by, and return the key of the error, "" on success."""
        if self._stopping.is_set():
            return ""
        local = self._folder / path
        try:
            local.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            here = local.stat().st_size if path in self._copied and local.is_file() else 0
            if shutil.disk_usage(self._folder).free - (file.size - here) < ROOM:
                return "remote.full"
            grown = self._copied[path].size < file.size if path in self._copied else False
            if not (grown and 0 < here < file.size and self._append(local, file, here)):
                self._fetch(local, file)
            if file.modified:
                os.utime(local, (time.time(), file.modified))
        except remote_store.StoreError as error:
            return (
                "" if error.reason == "remote.gone" else error.reason
            )  # the file was removed after it was listed
        except OSError as error:
            return "remote.name" if error.errno in _CLASHES else "remote.full"
        if not self._stopping.is_set():
            self._copied[path] = Copied(*file[1:])
        return ""

    def _append(self, local: Path, file: remote_store.RemoteFile, here: int) -> bool:
        """Fetch the bytes after the first ``here``, and return False if the remote file does not continue the
        local one."""
        with os.fdopen(open_own(local, os.O_RDWR), "r+b") as copy:
            start = max(0, here - OVERLAP)
            copy.seek(start)
            known = copy.read(here - start)
            first = self._store.read(file, start, min(file.size, start + PIECE))
            if first[: len(known)] != known:
                return False
            copy.write(first[len(known) :])
            self._fetch_rest(copy, file, start + len(first))
        return True

    def _fetch(self, local: Path, file: remote_store.RemoteFile) -> None:
        """Fetch a whole file into a new local file."""
        first = self._store.read(file, 0, min(file.size, PIECE)) if file.size else b""
        local.unlink(missing_ok=True)
        with os.fdopen(open_own(local, os.O_WRONLY | os.O_CREAT | os.O_EXCL), "wb") as copy:
            copy.write(first)
            self._fetch_rest(copy, file, len(first))

    def _fetch_rest(self, copy: BinaryIO, file: remote_store.RemoteFile, start: int) -> None:
        """Fetch the bytes from ``start`` on."""
        while start < file.size and not self._stopping.is_set():
            copy.flush()
            piece = self._store.read(file, start, min(file.size, start + PIECE))
            if not piece:  # the file became shorter, which the next listing shows
                return
            copy.write(piece)
            start += len(piece)

    def _unlink(self, path: str) -> None:
        """Remove a file and the empty folders above it."""
        local = self._folder / path
        with suppress(OSError):
            local.unlink(missing_ok=True)
            for folder in local.parents:
                if folder == self._folder:
                    break
                folder.rmdir()

    def _read_state(self) -> dict[str, Copied]:
        """Return the copied files by path, empty if the state cannot be read."""
        try:
            content = json.loads(read_own(self._state))
            return {path: Copied(int(size), float(at), str(tag)) for path, (size, at, tag) in content.items()}
        except (OSError, ValueError, TypeError, AttributeError, RecursionError):
            return {}

    def _write_state(self) -> None:
        """Save the states of the copied files, in place of the earlier ones."""
        handle, name = tempfile.mkstemp(dir=self._state.parent, prefix=".copied-")
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(dict(self._copied), file)
        Path(name).replace(self._state)


def _is_copied(path: str, file: remote_store.RemoteFile) -> bool:
    """Return True if a file is copied, not represented by a placeholder. Copied are files of runs at the
    depth where runs are searched, and small descriptions of dumps and studies, which are read to list
    them. A large model with the name of a graph is not copied."""
    folders, _, name = path.rpartition("/")
    role = _role(path)
    if role is None:
        described = name in _DESCRIPTIONS or folders.rpartition("/")[2] in _DESCRIBING
        return described and file.size <= DESCRIPTION
    return role != "graph" or file.size <= GRAPH.size


def _role(path: str) -> file_names.Role | None:
    """Return the role of a file in a run by its name, or None for other files and for files deeper than runs
    are searched."""
    return file_names.role(path.rpartition("/")[2]) if path.count("/") <= DEPTH else None


SLOW: Final = 60.0  # seconds after which an unfinished pass is reported as slow
MAX_INTERVAL: Final = 60.0  # seconds between two passes over a store that does not respond, at most

_log = logging.getLogger(__name__)


class Mirrors:
    """Mirrors of all remote stores of a server."""

    def __init__(self, settings: Settings) -> None:
        self._interval = max(settings.reload_interval, 1.0)
        self._stopping = threading.Event()
        self._following = [_Following(base, self._stopping) for base in stores(settings.summary_base_dir)]
        self._threads: list[threading.Thread] = []

    def sync(self) -> None:
        """Update every mirror once, in this thread. Errors are logged, see `errors`."""
        for following in self._following:
            following.sync()

    def start(self) -> None:
        """Update the mirrors repeatedly in background threads. Raises RuntimeError if a thread does not
        begin."""
        for following in self._following:
            thread = threading.Thread(
                target=following.run, args=(self._interval,), name="mirror", daemon=True
            )
            start_within_limit(thread)
            self._threads.append(thread)

    def stop(self) -> None:
        """Stop the threads. Running requests are not waited for."""
        self._stopping.set()

    def errors(self) -> tuple[DirectoryDamage, ...]:
        """Return URL and reason of the current errors of the stores, () without errors."""
        return tuple(
            DirectoryDamage(following.url, reason)
            for following in self._following
            if (reason := following.error())
        )


class _Following:
    """Repeated updates of the mirror of one store, with the last error."""

    def __init__(self, base: Base, stopping: threading.Event) -> None:
        self.url = base.url
        self._stopping = stopping
        self._mirror = Mirror(remote_store.RemoteStore(base.url, stopping), Path(base.path), stopping)
        self._begun: float | None = None  # monotonic start of the running pass
        self._logged = ""

    def run(self, interval: float) -> None:
        """Update the mirror until it is stopped. The wait doubles while the store does not respond."""
        wait = interval
        while not self._stopping.is_set():
            self.sync()
            answers = self._mirror.error in ("", "remote.many", "remote.name", "remote.cut")
            wait = interval if answers else min(2 * wait, max(MAX_INTERVAL, interval))
            self._stopping.wait(wait)

    def sync(self) -> None:
        """Update the mirror once, and log a new error."""
        self._begun = time.monotonic()
        try:
            self._mirror.sync()
        except Exception as error:  # its text may contain credentials
            _log.warning("updating the copy of a store failed: %s", type(error).__name__)
            self._mirror.error = "remote.unreachable"
        finally:
            self._begun = None
        if self._mirror.error != self._logged:
            self._logged = self._mirror.error
            _log.warning("%s: %s", self.url, self._logged or "available again")

    def error(self) -> str:
        """Return the current error, empty without one."""
        begun = self._begun
        slow = begun is not None and time.monotonic() - begun > SLOW
        return self._mirror.error or ("remote.slow" if slow else "")


def check_stores(bases: Iterable[Base]) -> None:
    """Raise BadSettings for a base directory whose URL cannot be opened, or needs a package that is
    missing. All of ``bases`` have URLs."""
    for base in bases:
        remote_store.open_store(base.url)
