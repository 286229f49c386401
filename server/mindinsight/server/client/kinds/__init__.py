"""Kinds of payloads in Python and on the command line: one module per kind, with a ``PAYLOAD``.

The modules are found by the names in ``mindinsight.proto.kinds``; a kind without one is read as bytes.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, Final, Generic, TypeVar

from mindinsight.server.types import PAYLOAD_KINDS

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Payload(Generic[T]):
    """A kind whose payloads are decoded, written into files, and printed.

    ``write`` is given a path without its ending and answers with the one it wrote. ``rows`` are what
    ``mindinsight get`` prints of a value: columns by name, in one row or several.
    """

    decode: Callable[[bytes], T]
    write: Callable[[Path, T], Path]
    rows: Callable[[T], Iterable[Mapping[str, Any]]]


_MODULES: Final = frozenset(info.name for info in pkgutil.iter_modules(__path__))
EXPORTED: Final = tuple(kind for kind in PAYLOAD_KINDS if kind in _MODULES)


@cache
def payload(kind: str) -> Payload[Any]:
    """The kind of a name of ``EXPORTED``; loaded when first used."""
    reader: Payload[Any] = import_module(f"{__name__}.{kind}").PAYLOAD
    return reader


def decoder(kind: str) -> Callable[[bytes], Any]:
    """The decoder of a kind; of one that has none, its bytes."""
    return payload(kind).decode if kind in EXPORTED else bytes


def with_ending(stem: Path, ending: str) -> Path:
    """A path with an ending; a dot in its name begins none."""
    return stem.with_name(stem.name + ending)
