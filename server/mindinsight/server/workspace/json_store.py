"""JSON store: values by name for many base directories in one file; conversion of its errors to responses."""

import json
import logging
import os
import tempfile
import threading
from collections.abc import Callable, Container, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any, ClassVar, Final, Generic, Protocol, TypeAlias, TypeVar

from mindinsight.server.errors import ApiError, not_kept
from mindinsight.server.files.own_files import locked, read_own
from mindinsight.server.settings.base_dirs import normalized_home

_DAMAGED: Final = (ValueError, AttributeError, RecursionError)  # errors of a file that is not ours

_log = logging.getLogger(__name__)


class Fields(Protocol):
    """Protocol that any dataclass fulfils."""

    __dataclass_fields__: ClassVar[dict[str, Any]]


T = TypeVar("T", bound=Fields)
Content: TypeAlias = dict[str, dict[str, dict[str, Any]]]  # fields by name by base directory
Bases: TypeAlias = dict[str, dict[str, T]]  # values by name by base directory
Stamp: TypeAlias = "tuple[int, int, int] | None"  # of a file: inode, size, time of its last change


class Full(Exception):  # noqa: N818
    """Error: the store is full."""


class Taken(Exception):  # noqa: N818
    """Error: another value has this name."""


class JsonStore(Generic[T]):
    """Values of one base directory, in a file with the values of other directories.

    A change applies to the current content of the file, under the file's lock, for which threads and servers
    wait up to ten seconds. No change of another server is lost. The file is written to a temporary name and
    renamed, with mode 0600. A file that cannot be parsed is renamed to `<name>.damaged` and never
    overwritten. `parse` returns a value, or None for invalid content.
    """

    def __init__(self, file: Path, base: Path, parse: Callable[[dict[str, Any]], T | None]) -> None:
        self._file = file
        self._base = str(base)
        self._parse = parse
        self._lock = threading.Lock()  # guards the three below
        self._values: Mapping[str, T] = {}
        self._stamp: Stamp = None
        self._version = 1
        self._refresh()

    @property
    def version(self) -> int:
        """Return a number that changes after every change by any server."""
        self._refresh()
        return self._version

    def all(self) -> Mapping[str, T]:
        """Return the current values by name, in the order of creation."""
        self._refresh()
        return self._values

    def update(self, how: Callable[[dict[str, T]], dict[str, T]]) -> Mapping[str, T]:
        """Replace the values by the result of `how`, which gets a copy of them, and return the new values.
        Raises OSError if the file cannot be written, and what `how` raises, without a change."""
        return self.change_bases(lambda values: {self._base: how(values.get(self._base, {}))})

    def put(self, name: str, value: T, most: int) -> None:
        """Set a value. Raises Full if its name is new and there are `most` values, OSError if the file cannot
        be written."""

        def with_it(values: dict[str, T]) -> dict[str, T]:
            if name not in values and len(values) >= most:
                raise Full
            return {**values, name: value}

        self.update(with_it)

    def forget(self, name: str) -> None:
        """Remove a value. Raises KeyError if it does not exist, OSError if the file cannot be written."""

        def without(values: dict[str, T]) -> dict[str, T]:
            del values[name]
            return values

        self.update(without)

    def change_bases(self, how: Callable[[Bases[T]], Bases[T]]) -> Mapping[str, T]:
        """Replace the values of all base directories by the result of `how`, and return the new values of
        this store. Raises OSError if the file cannot be written. `how` gets the values of all base
        directories in the file, and may change them."""
        with locked(self._file):
            content = self._read()
            before = {base: self._values_in(content, base) for base in content}
            parsed = {base: frozenset(values) for base, values in before.items()}
            changed = how(before)
            written = {
                base: _as_json(values, content.get(base, {}), parsed.get(base, ()))
                for base, values in changed.items()
            }
            data = json.dumps({**content, **written}, ensure_ascii=False)
            replace_file(self._file, data.encode("utf-8", "backslashreplace"))  # lone surrogates as \udcxx
            own = changed.get(self._base)
            values = self._values_in(content, self._base) if own is None else own  # `how` may edit `before`
            self._publish(values, _stamp(self._file), self._stamp)
            return values

    def _refresh(self) -> None:
        """Read the file again if it has changed. An unreadable file leaves the values unchanged."""
        known, stamp = self._stamp, _stamp(self._file)
        if stamp == known:
            return
        try:
            try:
                content = self._parsed()
            except _DAMAGED:
                with locked(self._file):
                    content = self._read()
        except OSError as error:
            _log.warning("%s cannot be read: %s", self._file.name, error.strerror or error)
            self._stamp = stamp
        else:
            self._publish(self._values_in(content, self._base), stamp, known)

    def _publish(self, values: Mapping[str, T], stamp: Stamp, known: Stamp) -> None:
        """Replace the visible values, unless they have changed since `known`. Then the next access reads
        the file."""
        with self._lock:
            if self._stamp == known:
                self._stamp, self._values = stamp, values
                self._version += 1

    def _values_in(self, content: Content, base: str) -> dict[str, T]:
        parsed = {name: self._parse(fields) for name, fields in content.get(base, {}).items()}
        return {name: value for name, value in parsed.items() if value is not None}

    def _read(self) -> Content:
        """Read the file, or rename it if it is damaged. The caller holds the lock."""
        try:
            return self._parsed()
        except _DAMAGED:
            self._file.replace(self._file.with_suffix(".json.damaged"))
            return {}

    def _parsed(self) -> Content:
        try:
            content: Content = json.loads(read_own(self._file))
        except FileNotFoundError:
            return {}
        if not all(_by_name(values) for values in content.values()):
            raise ValueError("not ours")
        return _by_directory(content)


def _by_directory(content: Content) -> Content:
    """Return the values with those that an earlier version stored under another spelling of a directory.
    Of two values with one name the one under the current spelling is kept."""
    merged: Content = {}
    for key in sorted(content, key=lambda key: normalized_home(key) == key):
        merged.setdefault(normalized_home(key), {}).update(content[key])
    return merged


def _as_json(
    values: Mapping[str, Any], stored: Mapping[str, dict[str, Any]], parsed: Container[str]
) -> dict[str, Any]:
    """Return values as JSON, with further fields and values that a later version stored and this one
    cannot read. Two versions may share a workspace, and a change by the earlier one must lose nothing of
    the later one's."""
    further = {name: fields for name, fields in stored.items() if name not in parsed and name not in values}
    known = {name: _with_further(asdict(value), stored.get(name, {})) for name, value in values.items()}
    return {**known, **further}


def _with_further(fields: dict[str, Any], stored: Mapping[str, Any]) -> dict[str, Any]:
    """Return ``fields`` and the stored fields that they lack, also within lists of items that have an id."""
    for name, items in fields.items():
        before = stored.get(name)
        if isinstance(items, list | tuple) and isinstance(before, list):
            by_id = {item.get("id"): item for item in before if isinstance(item, dict)}
            fields[name] = [
                _with_further(item, by_id.get(item.get("id"), {})) if isinstance(item, dict) else item
                for item in items
            ]
    return {**{name: value for name, value in stored.items() if name not in fields}, **fields}


def _stamp(file: Path) -> Stamp:
    try:
        state = file.stat()
    except OSError:
        return None
    return state.st_ino, state.st_size, state.st_mtime_ns


def replace_file(file: Path, data: bytes) -> None:
    """Replace a file by one with this content and mode 0600: readers see the old or the new one. Raises
    OSError."""
    handle, name = tempfile.mkstemp(dir=file.parent, prefix=f".{file.stem}-")  # mode 0600
    try:
        with os.fdopen(handle, "wb") as temporary:
            temporary.write(data)
        Path(name).replace(file)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _by_name(values: Any) -> bool:
    return isinstance(values, dict) and all(isinstance(fields, dict) for fields in values.values())


@contextmanager
def storing(responses: Mapping[type[Exception], ApiError]) -> Iterator[None]:
    """Convert errors of the block into responses: `responses[type]` for these types, `not_kept` for
    OSError.
    """
    try:
        yield
    except tuple(responses) as error:
        raise responses[type(error)] from None
    except OSError as error:
        raise not_kept(error) from error
