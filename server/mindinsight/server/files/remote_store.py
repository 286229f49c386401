"""Client of a remote store through fsspec: listings and ranged reads, with back-off and without secrets."""

import random
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timezone
from typing import Any, Final, NamedTuple, TypeVar
from urllib.parse import unquote

from mindinsight.server.errors import bad_settings

ATTEMPTS: Final = 5  # of one request; the waits between them add up to 7.5 s at most
FIRST_WAIT: Final = 0.5  # seconds; doubles after each attempt
MAX_WAIT: Final = 8.0  # seconds
DUMP_METADATA: Final = ".dump_metadata"  # the only hidden folder that belongs to a dump
_FORBIDDEN: Final = (401, 403)
_NO_CREDENTIALS: Final = frozenset(
    {"NoCredentialsError", "PartialCredentialsError", "CredentialRetrievalError", "TokenRetrievalError"}
    | {"DefaultCredentialsError", "RefreshError", "ClientAuthenticationError", "AuthenticationException"}
    | {"UnauthorizedSSOTokenError", "SSOTokenLoadError"}
)
_TIMES: Final = ("mtime", "LastModified", "last_modified", "updated", "modified", "created")
_TAGS: Final = ("ETag", "etag", "md5Hash", "CRC")
_WEB: Final = frozenset(("http", "https"))  # read by our own client, which limits the size of responses
_WRAPPERS: Final = frozenset(  # file systems of fsspec that lead to further stores
    ("generic", "reference", "blockcache", "filecache", "simplecache", "cached", "data", "asyncwrapper")
)
REQUESTS: Final = 8  # in flight at a time; bounds the load on a store
_QUEUED: Final = 1000  # queued calls; each takes more than a kilobyte
S = TypeVar("S")
T = TypeVar("T")


class StoreError(Exception):
    """Error of a store as a key of the locale files. The store's own text may contain credentials."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class RemoteFile(NamedTuple):
    """One file of a listing."""

    address: str  # name in the store
    size: int
    modified: float  # Unix seconds; 0 if the store does not state it
    tag: str  # changes with the content; empty if the store has none


class RemoteStore:
    """Client of the files below one URL of a store. ``stopping`` ends waits between attempts."""

    def __init__(self, url: str, stopping: threading.Event) -> None:
        self.url = url
        self._stopping = stopping
        self._filesystem: Any = None
        self._root = ""
        self.cut = False  # whether the last listing reached a limit
        self.requests = 0  # listings and reads; a listing may take several requests of the store

    def list_files(self) -> Mapping[str, RemoteFile]:
        """Return the files by path below the URL, without hidden and unsafe paths. Raises StoreError."""
        infos = self._try(self._find)
        root = self._root.rstrip("/")
        files = {}
        for address, info in infos.items():
            path = unquote(address[len(root) :]) if "://" in address else address[len(root) :]
            path = path.lstrip("/")
            if address.startswith(root) and is_safe(path):
                files[path] = self._file(str(address), info)
        return files

    def read(self, file: RemoteFile, start: int, end: int) -> bytes:
        """Return the bytes from ``start`` to before ``end``, fewer if the file is shorter.
        Raises StoreError."""
        data: bytes = self._try(lambda: self._opened().cat_file(file.address, start=start, end=end))
        return (
            data[start:end] if len(data) > end - start else data
        )  # the store has no ranges and returned the whole file

    def _find(self) -> Mapping[str, Any]:
        """Return the listing of the store."""
        if self._filesystem is not None and _is_archive(
            self._filesystem
        ):  # an archive reads its listing only once
            self._filesystem = None
        filesystem = self._opened()
        filesystem.invalidate_cache()
        infos: Mapping[str, Any] = filesystem.find(self._root, detail=True)
        self.cut = getattr(filesystem, "cut", False)
        return infos

    def _opened(self) -> Any:
        """Return the file system, opened on first use."""
        if self._filesystem is None:
            self._filesystem, self._root = open_store(self.url)
        return self._filesystem

    def _file(self, address: str, info: Mapping[str, Any]) -> RemoteFile:
        """Return a file from its entry in a listing. Raises StoreError."""
        if info.get("size") is None:  # a listing of links
            info = self._try(lambda: self._filesystem.info(address))
        modified = next((time_of(info[name]) for name in _TIMES if info.get(name)), 0.0)
        tag = next((str(info[name]) for name in _TAGS if info.get(name)), "")
        return RemoteFile(address, int(info.get("size") or 0), modified, tag)

    def _try(self, request: Callable[[], T]) -> T:
        """Return the result of a request, which is repeated after a wait if the store is busy or unreachable.
        Raises StoreError."""
        wait = FIRST_WAIT
        for attempt in range(ATTEMPTS):
            self.requests += 1
            try:
                return request()
            except Exception as error:
                reason = reason_of(error)
            if reason != "remote.unreachable" or attempt == ATTEMPTS - 1:
                break
            if self._stopping.wait(wait * random.uniform(0.5, 1.0)):
                break
            wait = min(2 * wait, MAX_WAIT)
        raise StoreError(reason)  # without a cause, because its text may contain credentials


def concurrently(function: Callable[[S], T], items: Sequence[S]) -> Iterator[T]:
    """Yield the result of ``function`` for each item in order, from `REQUESTS` threads. Raises what the
    function raises."""
    with ThreadPoolExecutor(REQUESTS, "store") as executor:
        for start in range(0, len(items), _QUEUED):
            yield from executor.map(function, items[start : start + _QUEUED])


def open_store(url: str) -> tuple[Any, str]:
    """Return the fsspec file system of a URL, or a `WebStore`, and the root in it. Raises BadSettings if it
    cannot be opened or a package is missing."""
    outer, *inner = [part.partition("://")[0].lower() for part in url.split("::")]
    if outer in _WEB:
        from mindinsight.server.files.web_store import WebStore

        store = WebStore(url)
        return store, store.root
    if not _WEB.isdisjoint(inner):
        raise bad_settings("store_archive", url=url)
    if not _WRAPPERS.isdisjoint((outer, *inner)):
        raise bad_settings("store_wrapper", url=url, scheme=outer)
    try:
        import fsspec
    except ModuleNotFoundError:
        raise bad_settings("store_package", url=url) from None
    try:
        filesystem, root = fsspec.core.url_to_fs(url, skip_instance_cache=True)
    except ImportError as error:
        raise bad_settings("store_import", url=url, why=error) from None
    except ValueError:
        raise bad_settings("store_unknown", url=url) from None
    except Exception as error:  # its text may hold credentials
        raise bad_settings("store_closed", url=url, why=type(error).__name__) from None
    return filesystem, str(root)


def is_safe(path: str) -> bool:
    """Return True if a relative path can be created below a local folder: no part is hidden, empty or
    long. Hidden files are incomplete copies. Only the metadata folder of a dump may be hidden."""
    parts = path.split("/")
    return "\0" not in path and all(
        0 < len(part) < 250 and (part[0] != "." or part == DUMP_METADATA) for part in parts
    )


def reason_of(error: BaseException) -> str:
    """Return the key of the locale files for an error of a store, ``remote.unreachable`` if it is unknown."""
    if reason := getattr(error, "reason", None):  # a LimitError
        return str(reason) if str(reason).startswith("remote.") else "remote.unreachable"
    status = getattr(error, "status", None)
    names = {kind.__name__ for kind in type(error).__mro__}
    if isinstance(error, PermissionError) or status in _FORBIDDEN or names & _NO_CREDENTIALS:
        return "remote.forbidden"
    if isinstance(error, FileNotFoundError) or status == 404:
        return "remote.gone"
    return "remote.unreachable"


def time_of(value: object) -> float:
    """Return a datetime, a number or a text in ISO 8601 as Unix seconds, 0 if it is invalid. A time
    without a time zone is UTC."""
    if isinstance(value, datetime):
        return (value if value.tzinfo else value.replace(tzinfo=timezone.utc)).timestamp()
    if isinstance(value, int | float):
        return float(value)
    try:
        return time_of(datetime.fromisoformat(str(value).replace("Z", "+00:00")))
    except (ValueError, OverflowError):
        return 0.0


def _is_archive(filesystem: Any) -> bool:
    """Return True for a file system of an archive."""
    from fsspec.archive import AbstractArchiveFileSystem

    return isinstance(filesystem, AbstractArchiveFileSystem)
