"""A file of values by name, for many base directories."""

from __future__ import annotations

import json
import os
import tempfile
import threading
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, ClassVar, Generic, Protocol, TypeVar


class Fields(Protocol):
    """A dataclass."""

    __dataclass_fields__: ClassVar[dict[str, Any]]


T = TypeVar("T", bound=Fields)


class Full(Exception):  # noqa: N818
    """There are as many values as may be kept."""


class Taken(Exception):  # noqa: N818
    """Another value has this name."""


class JsonStore(Generic[T]):
    """The values of one base directory, in a file beside those of other bases.

    Written to a temporary file and renamed, mode 0600. A file that is not ours to read is put aside
    as ``<name>.damaged`` and never overwritten. ``read`` makes a value of what the file says of one
    name, or None of what cannot be understood.
    """

    def __init__(self, file: Path, base: Path, read: Callable[[dict[str, Any]], T | None]) -> None:
        self._file = file
        self._base = str(base)
        self._lock = threading.Lock()
        found = {name: read(fields) for name, fields in self._read().get(self._base, {}).items()}
        self._values: Mapping[str, T] = {name: value for name, value in found.items() if value is not None}
        self.version = 1

    def values(self) -> Mapping[str, T]:
        """By name, in the order in which they came."""
        return self._values

    def change(self, how: Callable[[dict[str, T]], dict[str, T]]) -> Mapping[str, T]:
        """Keep what ``how`` makes of a copy of the values; OSError when it cannot be kept."""
        with self._lock:
            values = how(dict(self._values))
            self._write({**self._read(), self._base: {name: asdict(one) for name, one in values.items()}})
            self._values = values
            self.version += 1
            return values

    def _read(self) -> dict[str, Any]:
        try:
            content = json.loads(self._file.read_text(encoding="utf-8"))
            if not all(_by_name(values) for values in content.values()):
                raise ValueError("not ours")
        except FileNotFoundError:
            return {}
        except (ValueError, AttributeError):
            self._file.replace(self._file.with_suffix(".json.damaged"))
            return {}
        return dict(content)

    def _write(self, content: dict[str, Any]) -> None:
        folder = self._file.parent
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle, name = tempfile.mkstemp(dir=folder, prefix=f".{self._file.stem}-")  # mode 0600
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                json.dump(content, file, ensure_ascii=False)
            Path(name).replace(self._file)
        except OSError:
            Path(name).unlink(missing_ok=True)
            raise


def _by_name(values: Any) -> bool:
    return isinstance(values, dict) and all(isinstance(fields, dict) for fields in values.values())
