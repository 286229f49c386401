"""Assembly of the decoders' results: one block of scalars or one column of references for each tag."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np

from mindinsight.server.formats.events.chunk import LoneScalars, Payloads, RecordBatch, Scalars
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


@dataclass(frozen=True, slots=True)
class Assembly:
    """What a stretch holds, by tag."""

    blocks: tuple[ScalarBlock, ...]
    rows: tuple[ScalarRows, ...]
    references: tuple[ReferenceColumns, ...]


def assemble(
    starts: Ints, parts: list[RecordBatch], base: int, tensor_kinds: tuple[Kind, ...] = ()
) -> Assembly:
    """Blocks and references of all ``parts``; the records lie at ``starts``, ``base`` bytes into the file.

    ``tensor_kinds`` are those that only the first event of a tag may say its tensors to be.
    """
    steps, walls = np.zeros(len(starts), np.int64), np.zeros(len(starts), np.float64)
    for part in parts:
        steps[part.rows], walls[part.rows] = part.steps, part.walls

    def axis(piece: Scalars | LoneScalars) -> tuple[Ints, Ints, Doubles]:
        return starts[piece.rows] + base, steps[piece.rows], walls[piece.rows]

    lone = [piece for part in parts for piece in part.lone]
    alone = {tag for piece in lone for tag in piece.tags}
    pieces = [piece for part in parts for piece in part.scalars]
    apart = [piece for piece in pieces if alone.isdisjoint(piece.tags)]
    beside = [piece for piece in pieces if not alone.isdisjoint(piece.tags)]
    if beside:  # what shares a tag with others shares it with all of their blocks
        beside, apart = pieces, []
    rows = [ScalarRows(piece.tags, piece.counts, *axis(piece), piece.values) for piece in lone]
    rows += [ScalarRows.of_block(ScalarBlock(piece.tags, *axis(piece), piece.values)) for piece in beside]
    blocks = [ScalarBlock(piece.tags, *axis(piece), piece.values) for piece in _shared(_joined(apart))]
    payloads = [piece for part in parts for piece in part.payloads]
    references = _references(steps, walls, payloads, base, tensor_kinds)
    return Assembly(tuple(blocks), ScalarRows.joined(rows) if rows else (), tuple(references))


def event_times(parts: list[RecordBatch]) -> tuple[float, float]:
    """Unix seconds of the earliest and the latest event; zeros when none has a believable time."""
    earliest, latest = BELIEVABLE
    first, last = latest, 0.0
    for part in parts:
        walls = part.walls[(part.walls >= earliest) & (part.walls < latest)]
        if len(walls):
            first, last = min(first, float(walls.min())), max(last, float(walls.max()))
    return (first, last) if last else (0.0, 0.0)


def _joined(pieces: list[Scalars]) -> list[Scalars]:
    """One piece per set of tags that occur in the same pieces."""
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
    """The rows of ``tags`` from all ``pieces``, in file order."""
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
    with np.errstate(invalid="ignore"):  # NaN of the signalling kind, float32 beside float64
        values = cast(Floats, np.concatenate(chosen, axis=1))
    if (rows[1:] >= rows[:-1]).all():
        return Scalars(tuple(tags), rows, values)
    order = np.argsort(rows, kind="stable")
    return Scalars(tuple(tags), rows[order], values[:, order])


def _shared(pieces: list[Scalars]) -> list[Scalars]:
    """Merges pieces with the same rows and type, so that steps and wall times are held once."""
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
