"""Kinds of payloads in Python and on the command line: one module per kind, with a `PAYLOAD`.

The modules are found by the names in `mindinsight.proto.kinds`. A kind without a module is read as bytes.
"""

import pkgutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, Final, Generic, TypeVar

from mindinsight.server.formats.media_types import MediaType
from mindinsight.server.types import PAYLOAD_KINDS

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Payload(Generic[T]):
    """Kind of payloads that are decoded, written into files, and printed.

    `write` gets a path without ending and returns the path written. `rows` returns the columns that
    `mindinsight get` prints of a value, in one row or several.
    """

    decode: Callable[[bytes], T]
    write: Callable[[Path, T], Path]
    rows: Callable[[T], Iterable[Mapping[str, Any]]]


_MODULES: Final = frozenset(info.name for info in pkgutil.iter_modules(__path__))
EXPORTED: Final = tuple(kind for kind in PAYLOAD_KINDS if kind in _MODULES)


@cache
def payload(kind: str) -> Payload[Any]:
    """Return the kind with a name of `EXPORTED`, which is imported on first use."""
    reader: Payload[Any] = import_module(f"{__name__}.{kind}").PAYLOAD
    return reader


def decoder(kind: str) -> Callable[[bytes], Any]:
    """Return the decoder of a kind, or `bytes` for a kind without one."""
    return payload(kind).decode if kind in EXPORTED else bytes


def write_encoded(stem: Path, encoded: bytes, kind: MediaType | None) -> Path:
    """Write bytes as recorded, with the ending of their media type or `.bin`. Return the path."""
    target = with_ending(stem, kind.suffix if kind else ".bin")
    target.write_bytes(encoded)
    return target


def with_ending(stem: Path, ending: str) -> Path:
    """Append an ending to a path. A dot in its name does not start an ending."""
    return stem.with_name(stem.name + ending)
