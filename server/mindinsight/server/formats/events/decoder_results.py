"""Results of the decoders: values by tag with their record numbers, assembled into blocks of columns."""

from dataclasses import dataclass, fields
from typing import Final, TypeAlias, TypeVar, cast

import numpy as np
import numpy.typing as npt

from mindinsight.server.formats.events.event_fields import EXACT, KIND_NAMES, SCALAR
from mindinsight.server.formats.wire_format import unaligned
from mindinsight.server.types import (
    BELIEVABLE,
    Doubles,
    Floats,
    Ints,
    Kind,
    ReferenceColumns,
    ScalarBlock,
    ScalarRows,
)

_MANY: Final = 64  # tags from which ragged columns are smaller and faster than one object per tag
_CODES: Final = EXACT + len(KIND_NAMES) + 1  # an upper bound of the codes of kinds


@dataclass(frozen=True, slots=True)
class Scalars:
    """Scalars of k tags that all occur in the same m records."""

    tags: tuple[str, ...]
    rows: Ints  # [m] numbers of the records in the section, in file order
    values: Floats  # [k, m]


@dataclass(frozen=True, slots=True)
class RaggedScalars:
    """Scalars of many tags in one column, tag after tag. The rows of a tag are in file order."""

    tags: tuple[str, ...]  # k
    counts: Ints  # [k] rows of each tag
    rows: Ints  # [m] numbers of the records in the section
    values: Floats  # [m]


@dataclass(frozen=True, slots=True)
class Payloads:
    """Positions of the payload messages of one tag."""

    kind: Kind
    tag: str
    rows: Ints  # [m]
    offsets: Ints  # [m] from the start of the section
    sizes: Ints  # [m] bytes


@dataclass(frozen=True, slots=True)
class RecordBatch:
    """Records that one decoder read from a section: columns of steps and times, scalars and payloads."""

    rows: Ints  # [n] numbers of the records read
    steps: Ints  # [n]
    walls: Doubles  # [n]
    scalars: tuple[Scalars, ...] = ()
    payloads: tuple[Payloads, ...] = ()
    ragged: tuple[RaggedScalars, ...] = ()


@dataclass(frozen=True, slots=True)
class ValueTable:
    """Columns of values of any kind before they are grouped by tag. Rows of one record are in file order."""

    rows: Ints  # [m]
    kinds: npt.NDArray[np.uint8]  # [m] codes of event_fields.py
    tags: Ints  # [m] numbers of the tags
    offsets: Ints  # [m]
    sizes: Ints  # [m]
    numbers: Doubles  # [m] of scalars


def read_numbers(data: bytes, kinds: npt.NDArray[np.uint8], offsets: Ints) -> Doubles:
    """Return the scalars at ``offsets`` as float64. Rows of other kinds have arbitrary values. At least
    four bytes must follow each offset."""
    with np.errstate(invalid="ignore"):  # signalling NaN, and bytes that are not numbers
        numbers = unaligned(data, "<f4")[offsets].astype(np.float64)
    exact = kinds == EXACT
    if exact.any():
        numbers[exact] = unaligned(data, "<f8")[offsets[exact]]
    return numbers


_NOTHING: Final = np.empty(0, np.int64)
EMPTY_TABLE: Final = ValueTable(
    _NOTHING, _NOTHING.astype(np.uint8), _NOTHING, _NOTHING, _NOTHING, np.empty(0)
)

_Table = TypeVar("_Table")  # a dataclass of columns


def select_rows(table: _Table, chosen: npt.NDArray[np.bool_] | Ints) -> _Table:
    """Return a table with the chosen rows of every column."""
    return type(table)(*(getattr(table, name)[chosen] for name in _columns(type(table))))


def join_columns(tables: list[_Table]) -> _Table:
    """Return one table with the rows of all ``tables``, in order."""
    kind = type(tables[0])
    return kind(*(np.concatenate([getattr(table, name) for table in tables]) for name in _columns(kind)))


def _columns(kind: type) -> list[str]:
    """Return the names of the columns of a table type."""
    return [column.name for column in fields(kind)]


# Scalars and payloads by tag: the last three fields of a RecordBatch.
Tagged: TypeAlias = "tuple[tuple[Scalars, ...], tuple[Payloads, ...], tuple[RaggedScalars, ...]]"


def group_by_tag(table: ValueTable, names: list[str]) -> Tagged:
    """Return the scalars, payloads and ragged scalars of a table by kind and tag, each in file order.
    ``names`` are the tags by number."""
    if not len(table.rows):
        return (), (), ()
    kinds = np.where(table.kinds == EXACT, np.uint8(SCALAR), table.kinds)
    groups = table.tags * _CODES + kinds
    order = _sorted(table.rows)
    one_kind = (kinds == kinds[0]).all()  # tags alone are smaller numbers, sorted faster
    order = order[_sorted((table.tags if one_kind else groups)[order])]
    groups, rows = groups[order], table.rows[order]
    begins = np.concatenate([[0], np.flatnonzero(np.diff(groups)) + 1])
    firsts, ends = groups[begins], np.append(begins[1:], len(order))
    ragged: list[RaggedScalars] = []
    alone = firsts % _CODES == SCALAR
    if np.count_nonzero(alone) >= _MANY:
        exact = np.logical_or.reduceat(table.kinds[order] == EXACT, begins)
        ragged = [
            _ragged(table, names, order, firsts // _CODES, ends - begins, alone & (exact == kind))
            for kind in np.unique(exact[alone])
        ]
        begins, firsts, ends = begins[~alone], firsts[~alone], ends[~alone]
    scalars, payloads = [], []
    for group, begin, end in zip(firsts.tolist(), begins.tolist(), ends.tolist(), strict=True):
        tag, kind = divmod(group, _CODES)
        chosen, name = order[begin:end], names[tag]
        if kind in KIND_NAMES:
            offsets, sizes = table.offsets[chosen], table.sizes[chosen]
            payloads.append(Payloads(KIND_NAMES[kind], name, rows[begin:end], offsets, sizes))
        else:
            values = _typed(table, chosen)[None]
            scalars.append(Scalars((name,), rows[begin:end], values))
    return tuple(scalars), tuple(payloads), tuple(ragged)


def _ragged(
    table: ValueTable, names: list[str], order: Ints, tags: Ints, counts: Ints, chosen: npt.NDArray[np.bool_]
) -> RaggedScalars:
    """Return the ``chosen`` groups of a table as ragged scalars. ``order`` sorts the table into groups.
    ``tags`` and ``counts`` are the tag number and the size of each group."""
    rows = order[np.repeat(chosen, counts)]
    texts = tuple(names[tag] for tag in tags[chosen].tolist())
    return RaggedScalars(texts, counts[chosen], table.rows[rows], _typed(table, rows))


def _typed(table: ValueTable, chosen: Ints) -> Floats:
    """Return the chosen scalars as float64 if one of them was recorded as float64, else as float32."""
    values = table.numbers[chosen]
    return values if (table.kinds[chosen] == EXACT).any() else values.astype(np.float32)


def _sorted(keys: Ints) -> Ints:
    """Return the indices that sort non-negative ``keys``. Equal keys keep their order."""
    few = keys.max() < 1 << 16  # sorted by radix, several times as fast
    return np.argsort(keys.astype(np.uint16) if few else keys, kind="stable")


def assemble(
    starts: Ints, parts: list[RecordBatch], base: int, tensor_kinds: tuple[Kind, ...] = ()
) -> tuple[tuple[ScalarBlock, ...], tuple[ScalarRows, ...], tuple[ReferenceColumns, ...]]:
    """Return the scalar blocks, ragged rows and payload references of all ``parts``, by tag. The records
    start at ``starts``, ``base`` bytes into the file. Only the first event of a tag may state that its
    tensors are one of ``tensor_kinds``."""
    steps, walls = np.zeros(len(starts), np.int64), np.zeros(len(starts), np.float64)
    for part in parts:
        steps[part.rows], walls[part.rows] = part.steps, part.walls

    def axis(piece: Scalars | RaggedScalars) -> tuple[Ints, Ints, Doubles]:
        return starts[piece.rows] + base, steps[piece.rows], walls[piece.rows]

    ragged = [piece for part in parts for piece in part.ragged]
    alone = {tag for piece in ragged for tag in piece.tags}
    pieces = [piece for part in parts for piece in part.scalars]
    apart = [piece for piece in pieces if alone.isdisjoint(piece.tags)]
    beside = [piece for piece in pieces if not alone.isdisjoint(piece.tags)]
    if beside:  # a block that shares a tag with ragged rows must be split into rows too
        beside, apart = pieces, []
    rows = [ScalarRows(piece.tags, piece.counts, *axis(piece), piece.values) for piece in ragged]
    rows += [ScalarRows.of_block(ScalarBlock(piece.tags, *axis(piece), piece.values)) for piece in beside]
    blocks = [ScalarBlock(piece.tags, *axis(piece), piece.values) for piece in _shared(_joined(apart))]
    payloads = [piece for part in parts for piece in part.payloads]
    references = _references(steps, walls, payloads, base, tensor_kinds)
    return tuple(blocks), ScalarRows.joined(rows) if rows else (), tuple(references)


def event_times(parts: list[RecordBatch]) -> tuple[float, float]:
    """Return the Unix seconds of the earliest and the latest event, or zeros if no time is believable."""
    earliest, latest = BELIEVABLE
    first, last = latest, 0.0
    for part in parts:
        walls = part.walls
        if len(walls) and not (earliest <= walls.min() and walls.max() < latest):
            walls = walls[(walls >= earliest) & (walls < latest)]
        if len(walls):
            first, last = min(first, float(walls.min())), max(last, float(walls.max()))
    return (first, last) if last else (0.0, 0.0)


def _joined(pieces: list[Scalars]) -> list[Scalars]:
    """Join scalars over several batches of records into one item for each set of tags with the same rows."""
    alike: dict[tuple[str, ...], list[Scalars]] = {}
    for piece in pieces:
        alike.setdefault(piece.tags, []).append(piece)
    if sum(map(len, alike)) == len(set().union(*alike)):
        return [_concatenated(group, list(tags)) for tags, group in alike.items()]
    homes: dict[str, list[int]] = {}
    for number, piece in enumerate(pieces):
        for tag in piece.tags:
            homes.setdefault(tag, []).append(number)
    together: dict[tuple[int, ...], list[str]] = {}
    for tag, numbers in homes.items():
        together.setdefault(tuple(numbers), []).append(tag)
    return [_concatenated([pieces[n] for n in numbers], tags) for numbers, tags in together.items()]


def _concatenated(pieces: list[Scalars], tags: list[str]) -> Scalars:
    """Return the rows of ``tags`` from all ``pieces``, in file order."""
    chosen = []
    for piece in pieces:
        if list(piece.tags) == tags:
            chosen.append(piece.values)
            continue
        indices = {tag: index for index, tag in enumerate(piece.tags)}
        chosen.append(piece.values[[indices[tag] for tag in tags]])
    if len(pieces) == 1:
        return Scalars(tuple(tags), pieces[0].rows, chosen[0])
    rows = np.concatenate([piece.rows for piece in pieces])
    with np.errstate(invalid="ignore"):  # signalling NaN when float32 is joined with float64
        values = cast(Floats, np.concatenate(chosen, axis=1))
    if (rows[1:] >= rows[:-1]).all():
        return Scalars(tuple(tags), rows, values)
    order = np.argsort(rows, kind="stable")
    return Scalars(tuple(tags), rows[order], values[:, order])


def _shared(pieces: list[Scalars]) -> list[Scalars]:
    """Join scalars with equal rows and type, so that steps and wall times are stored once."""
    alike: dict[tuple[str, bytes], list[Scalars]] = {}
    for piece in pieces:
        alike.setdefault((piece.values.dtype.str, piece.rows.tobytes()), []).append(piece)
    return [
        group[0]
        if len(group) == 1
        else Scalars(
            tuple(tag for piece in group for tag in piece.tags),
            group[0].rows,
            np.concatenate([piece.values for piece in group]),
        )
        for group in alike.values()
    ]


def _references(
    steps: Ints, walls: Doubles, pieces: list[Payloads], base: int, tensor_kinds: tuple[Kind, ...]
) -> list[ReferenceColumns]:
    """Return the payloads of each kind and tag in file order."""
    groups: dict[tuple[str, str], list[Payloads]] = {}
    named = {piece.tag: piece.kind for piece in pieces if piece.kind in tensor_kinds}
    for piece in pieces:
        kind = named.get(piece.tag, piece.kind) if piece.kind == "tensor" else piece.kind
        groups.setdefault((kind, piece.tag), []).append(piece)
    columns = []
    for (kind, tag), group in groups.items():
        rows = np.concatenate([piece.rows for piece in group])
        offsets = np.concatenate([piece.offsets for piece in group])
        order = np.argsort(offsets, kind="stable")
        rows, sizes = rows[order], np.concatenate([piece.sizes for piece in group])[order]
        columns.append(ReferenceColumns(kind, tag, steps[rows], walls[rows], offsets[order] + base, sizes))
    return columns
