"""Results of the decoders: values by tag, with the numbers of the records they came in."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Final, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from mindinsight.server.formats.events.fields import EXACT, KIND_NAMES, SCALAR
from mindinsight.server.formats.wire_format import unaligned
from mindinsight.server.types import Doubles, Floats, Ints, Kind

_MANY: Final = 64  # tags from which their rows are kept together
_CODES: Final = EXACT + len(KIND_NAMES) + 1  # more than there are codes of kinds


@dataclass(frozen=True, slots=True)
class Scalars:
    """Scalars of k tags that all occur in the same m records."""

    tags: tuple[str, ...]
    rows: Ints  # [m] numbers of the records in the piece, in file order
    values: Floats  # [k, m]


@dataclass(frozen=True, slots=True)
class LoneScalars:
    """Scalars of many tags: the rows of one tag after those of another, each tag's in file order."""

    tags: tuple[str, ...]  # k
    counts: Ints  # [k] rows of each
    rows: Ints  # [m] numbers of the records in the piece
    values: Floats  # [m]


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
    lone: tuple[LoneScalars, ...] = ()


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


class Tagged(NamedTuple):
    """Entries by kind and tag: the last three columns of a batch."""

    scalars: tuple[Scalars, ...] = ()
    payloads: tuple[Payloads, ...] = ()
    lone: tuple[LoneScalars, ...] = ()


def by_tag(entries: Entries, names: list[str]) -> Tagged:
    """``entries`` by kind and tag (``names`` are the tags), and those of each in file order."""
    if not len(entries.rows):
        return Tagged()
    kinds = np.where(entries.kinds == EXACT, np.uint8(SCALAR), entries.kinds)
    groups = entries.tags * _CODES + kinds
    order = _sorted(entries.rows)
    one_kind = (kinds == kinds[0]).all()  # tags alone are smaller numbers, sorted faster
    order = order[_sorted((entries.tags if one_kind else groups)[order])]
    groups, rows = groups[order], entries.rows[order]
    begins = np.concatenate([[0], np.flatnonzero(np.diff(groups)) + 1])
    firsts, ends = groups[begins], np.append(begins[1:], len(order))
    lone: list[LoneScalars] = []
    alone = firsts % _CODES == SCALAR
    if np.count_nonzero(alone) >= _MANY:
        exact = np.logical_or.reduceat(entries.kinds[order] == EXACT, begins)
        lone = [
            _lone(entries, names, order, firsts // _CODES, ends - begins, alone & (exact == kind))
            for kind in np.unique(exact[alone])
        ]
        begins, firsts, ends = begins[~alone], firsts[~alone], ends[~alone]
    scalars, payloads = [], []
    for group, begin, end in zip(firsts.tolist(), begins.tolist(), ends.tolist(), strict=True):
        tag, kind = divmod(group, _CODES)
        chosen, name = order[begin:end], names[tag]
        if kind in KIND_NAMES:
            offsets, sizes = entries.offsets[chosen], entries.sizes[chosen]
            payloads.append(Payloads(KIND_NAMES[kind], name, rows[begin:end], offsets, sizes))
        else:
            values = _typed(entries, chosen)[None]
            scalars.append(Scalars((name,), rows[begin:end], values))
    return Tagged(tuple(scalars), tuple(payloads), tuple(lone))


def _lone(
    entries: Entries, names: list[str], order: Ints, tags: Ints, counts: Ints, chosen: npt.NDArray[np.bool_]
) -> LoneScalars:
    """The ``chosen`` of the groups in which ``order`` sorts the entries: ``counts`` of each of ``tags``."""
    rows = order[np.repeat(chosen, counts)]
    texts = tuple(names[tag] for tag in tags[chosen].tolist())
    return LoneScalars(texts, counts[chosen], entries.rows[rows], _typed(entries, rows))


def _typed(entries: Entries, chosen: Ints) -> Floats:
    """Numbers of scalars, as float64 where one of them is."""
    values = entries.numbers[chosen]
    return values if (entries.kinds[chosen] == EXACT).any() else values.astype(np.float32)


def _sorted(keys: Ints) -> Ints:
    """The order that sorts ``keys``, none of which is negative; equal ones stay in theirs."""
    few = keys.max() < 1 << 16  # sorted by radix, several times as fast
    return np.argsort(keys.astype(np.uint16) if few else keys, kind="stable")
