"""Results of the decoders: values by tag, with the numbers of the records they came in."""

from __future__ import annotations

from dataclasses import dataclass, fields
from itertools import pairwise
from typing import Final, TypeVar

import numpy as np
import numpy.typing as npt

from mindinsight.server.formats.events.fields import EXACT, KIND_NAMES, SCALAR
from mindinsight.server.formats.wire_format import unaligned
from mindinsight.server.types import Doubles, Floats, Ints, Kind

_CODES: Final = EXACT + len(KIND_NAMES) + 1  # more than there are codes of kinds


@dataclass(frozen=True, slots=True)
class Scalars:
    """Scalars of k tags that all occur in the same m records."""

    tags: tuple[str, ...]
    rows: Ints  # [m] numbers of the records in the piece, in file order
    values: Floats  # [k, m]


@dataclass(frozen=True, slots=True)
class Payloads:
    """Payload messages of one tag."""

    kind: Kind
    tag: str
    rows: Ints  # [m]
    offsets: Ints  # [m] from the start of the piece
    sizes: Ints  # [m] bytes


@dataclass(frozen=True, slots=True)
class RecordBatch:
    """Everything that one decoder read from some of the records of a piece."""

    rows: Ints  # [n] numbers of the records read
    steps: Ints  # [n]
    walls: Doubles  # [n]
    scalars: tuple[Scalars, ...] = ()
    payloads: tuple[Payloads, ...] = ()


@dataclass(frozen=True, slots=True)
class Entries:
    """Values of any kind, before they are sorted by tag; those of one record are in file order."""

    rows: Ints  # [m]
    kinds: npt.NDArray[np.uint8]  # [m] codes of fields.py
    tags: Ints  # [m] numbers of the tags
    offsets: Ints  # [m]
    sizes: Ints  # [m]
    numbers: Doubles  # [m] of scalars


def numbers_at(data: bytes, kinds: npt.NDArray[np.uint8], offsets: Ints) -> Doubles:
    """The numbers of scalars at ``offsets``; anything for other kinds, after which come four bytes too."""
    with np.errstate(invalid="ignore"):  # NaN of the signalling kind, and what is no number
        numbers = unaligned(data, "<f4")[offsets].astype(np.float64)
    exact = kinds == EXACT
    if exact.any():
        numbers[exact] = unaligned(data, "<f8")[offsets[exact]]
    return numbers


_NOTHING: Final = np.empty(0, np.int64)
NO_ENTRIES: Final = Entries(_NOTHING, _NOTHING.astype(np.uint8), _NOTHING, _NOTHING, _NOTHING, np.empty(0))

_Table = TypeVar("_Table")  # a dataclass of columns


def choose(table: _Table, chosen: npt.NDArray[np.bool_] | Ints) -> _Table:
    """The chosen rows of every column."""
    return type(table)(*(getattr(table, name)[chosen] for name in _columns(type(table))))


def join_columns(tables: list[_Table]) -> _Table:
    """The rows of all ``tables``, one table after the other."""
    kind = type(tables[0])
    return kind(*(np.concatenate([getattr(table, name) for table in tables]) for name in _columns(kind)))


def _columns(kind: type) -> list[str]:
    return [column.name for column in fields(kind)]


def by_tag(entries: Entries, names: list[str]) -> tuple[tuple[Scalars, ...], tuple[Payloads, ...]]:
    """``entries`` by kind and tag (``names`` are the tags), and those of each in file order."""
    if not len(entries.rows):
        return (), ()
    kinds = np.where(entries.kinds == EXACT, np.uint8(SCALAR), entries.kinds)
    groups = entries.tags * _CODES + kinds
    order = _sorted(entries.rows)
    order = order[_sorted(groups[order])]
    groups, rows = groups[order], entries.rows[order]
    scalars, payloads = [], []
    for begin, end in pairwise([0, *(np.flatnonzero(np.diff(groups)) + 1).tolist(), len(order)]):
        tag, kind = divmod(int(groups[begin]), _CODES)
        chosen, name = order[begin:end], names[tag]
        if kind in KIND_NAMES:
            offsets, sizes = entries.offsets[chosen], entries.sizes[chosen]
            payloads.append(Payloads(KIND_NAMES[kind], name, rows[begin:end], offsets, sizes))
        else:
            values = entries.numbers[None, chosen]
            exact = (entries.kinds[chosen] == EXACT).any()
            scalars.append(Scalars((name,), rows[begin:end], values if exact else values.astype(np.float32)))
    return tuple(scalars), tuple(payloads)


def _sorted(keys: Ints) -> Ints:
    """The order that sorts ``keys``, none of which is negative; equal ones stay in theirs."""
    few = keys.max() < 1 << 16  # sorted by radix, several times as fast
    return np.argsort(keys.astype(np.uint16) if few else keys, kind="stable")
