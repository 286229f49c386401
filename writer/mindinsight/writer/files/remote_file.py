"""Record files in a remote store: objects that are uploaded again as they grow.

Object stores cannot append, and an upload is atomic. The content of a file is kept in memory and uploaded
under its name at each ``sync``, including earlier content. Beyond ``PART`` bytes a new file begins. Stores
that are file systems (``sftp://``) are appended to, because an upload in progress would be half a file.
Readers see growing files.
"""

import logging
import re
import time
from collections.abc import Callable, Sequence
from typing import Any, Final
from urllib.parse import urlsplit

from mindinsight.writer.files.event_file import FileName

PART: Final = 4 << 20  # bytes that each sync uploads again. Beyond, a new file begins
_LAST_WAITS: Final = (0.5, 1.0, 2.0)  # seconds between attempts when a file is finished
_FILE_SYSTEMS: Final = frozenset(("file", "local", "sftp", "ssh", "smb", "hdfs", "webhdfs"))  # protocols
_URL: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*(::.+)?://")
_log: Final = logging.getLogger(__name__)


def is_url(log_dir: object) -> bool:
    """Return True if a directory is a URL of a store, such as ``s3://bucket/run``."""
    return isinstance(log_dir, str) and _URL.match(log_dir) is not None


def check_url(url: str) -> str:
    """Return the URL without a slash at its end. Raises ValueError if the URL has a password or a query, or
    no installed package opens it."""
    parts = urlsplit(url)
    if parts.password is not None or parts.query:
        raise ValueError("log_dir: no password or query in a URL; use the credentials of the store's tools")
    _open(url)
    return url.rstrip("/")


class RemoteRecordFile:
    """Files of whole records below the URL of a directory. Not thread-safe.

    ``append`` keeps records, ``sync`` uploads them. A file has at most ``max_size`` bytes, except with a
    larger record. ``seconds``, Unix time, is part of the file name.
    """

    def __init__(
        self,
        url: str,
        name: FileName,
        seconds: int,
        max_size: int | None = None,
        first_record: Callable[[], bytes] = bytes,
    ) -> None:
        self._url = url
        self._name = name
        self._seconds = seconds
        self._max_size = min(max_size or PART, PART)
        self._first_record = first_record
        self._content = bytearray()
        self._put = 0  # bytes of the content that the store has
        self._filesystem: Any = None
        self.path = self._address()

    @property
    def is_open(self) -> bool:
        """Return True if there are records since the last ``close``."""
        return bool(self._content)

    def append(self, records: Sequence[bytes]) -> tuple[int, OSError | None]:
        """Keep ``records`` for the next ``sync``, and return the number kept, and the store's error or
        None. If a record does not fit into the file, the file is uploaded and a new one begins. Records
        after an error are not kept."""
        for done, record in enumerate(records):
            if self._content and len(self._content) + len(record) > self._max_size:
                if error := self.sync():
                    return done, error
                self.forget()
            if not self._content:
                if error := self._try(self._choose_name):
                    return done, error
                self._content += self._first_record()
            self._content += record
        return len(records), None

    def sync(self) -> OSError | None:
        """Upload new records, and return the error if that failed, else None."""
        if len(self._content) == self._put:
            return None
        error = self._try(self._write)
        self._put = 0 if error else len(self._content)  # half of it may be there
        return error

    def close(self, ended: bool = True) -> None:
        """Upload and close the file, in several attempts. Logs an error if all fail. ``ended`` is ignored.
        Records that could not be uploaded are lost. A later append creates a new file."""
        error = self.sync()
        for wait in _LAST_WAITS:
            if error is None:
                break
            time.sleep(wait)
            error = self.sync()
        if error:
            _log.error("some records are missing from %s: %s", self.path, error)
        self.forget()

    def forget(self) -> None:
        """Discard the file without an upload. After a fork it belongs to the parent process."""
        if self._content:
            self._seconds = max(self._seconds + 1, int(time.time()))
        self._content = bytearray()
        self._put = 0
        self._filesystem = None  # with connections of the parent

    def _choose_name(self) -> None:
        filesystem = self._opened()
        if self._has_folders():
            filesystem.makedirs(self._url, exist_ok=True)
        self.path = self._address()
        while filesystem.exists(self.path):
            self._seconds += 1
            self.path = self._address()

    def _write(self) -> None:
        filesystem = self._opened()
        if self._put and self._has_folders():
            with filesystem.open(self.path, "ab") as file:
                file.write(self._content[self._put :])
        else:
            filesystem.pipe_file(self.path, bytes(self._content))

    def _has_folders(self) -> bool:
        """Return True if the store is a file system."""
        protocol = self._opened().protocol
        return bool(_FILE_SYSTEMS & {*((protocol,) if isinstance(protocol, str) else protocol)})

    def _address(self) -> str:
        return f"{self._url}/{self._name.at(self._seconds).name}"

    def _opened(self) -> Any:
        if self._filesystem is None:
            self._filesystem = _open(self._url)
        return self._filesystem

    def _try(self, request: Callable[[], object]) -> OSError | None:
        try:
            request()
        except Exception as error:  # of any store. Its text may hold credentials
            return OSError(f"the store does not take it ({type(error).__name__})")
        return None


def _open(url: str) -> Any:
    try:
        import fsspec
    except ModuleNotFoundError:
        raise ValueError(f"{url} needs fsspec: pip install 'mindinsight[remote]'") from None
    try:
        filesystem, _ = fsspec.core.url_to_fs(url, skip_instance_cache=True, use_listings_cache=False)
    except (ImportError, ValueError) as error:
        raise ValueError(f"log_dir: {url} cannot be opened: {error}") from None
    return filesystem
