"""Timeline of weights: for each tensor, how far it moved from checkpoint to checkpoint."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final, Literal, TypeAlias

import numpy as np

from mindinsight.server.claims import Claim
from mindinsight.server.compute.parallel_map import batched, spread
from mindinsight.server.compute.statistics import PIECE
from mindinsight.server.debug.checkpoints.weights import State, compare_tensor
from mindinsight.server.formats.arrays.stored import Values
from mindinsight.server.formats.unreadable import UnreadableError
from mindinsight.server.formats.weights.weight_files import Weight, WeightFile, open_weights

CellState: TypeAlias = State | Literal["start", "absent"]

_NAMED: Final = 3  # tensors that one sentence lists


@dataclass(frozen=True, slots=True)
class TimelineCell:
    """One tensor in one checkpoint, against the checkpoint before.

    ``start``: the first one that has it; ``absent``: it is not there; the other states are those of a
    ``WeightDifference``, and ``unchanged`` is a frozen weight.
    """

    state: CellState
    change: float | None = None  # L2 of the difference / L2 before; None where that is no number
    non_finite: int | None = None  # NaN and infinite elements; None where they cannot be counted


@dataclass(frozen=True, slots=True)
class TimelineRow:
    """One tensor in all checkpoints of a series."""

    name: str
    shape: tuple[int, ...]
    cells: tuple[TimelineCell, ...]


def weight_timeline(files: Sequence[WeightFile], executor: Executor | None = None) -> Iterator[TimelineRow]:
    """Rows of all tensors, in the order they were saved; each checkpoint is read by parts, none is held."""
    tensors: dict[str, int] = {}
    for file in files:
        for weight in file.weights:
            tensors[weight.name] = tensors.get(weight.name, 0) + 2 * weight.size
    batches = batched(tensors, weight=lambda name: tensors[name])
    for rows in spread(partial(_timeline_batch, [file.path for file in files]), batches, executor):
        yield from rows


def timeline_claims(rows: Sequence[TimelineRow], checkpoints: Sequence[str]) -> list[Claim]:
    """Return what all rows of a timeline say; ``checkpoints`` are the names of its columns."""
    claims = []
    broken = {row.name: at for row in rows if (at := _first_broken(row)) is not None}
    if broken:
        at = min(broken.values())
        first = [name for name, column in broken.items() if column == at]
        facts = {"n": len(broken), "first": len(first), "names": _few(first), "checkpoint": checkpoints[at]}
        evidence = tuple({"tensor": name, "checkpoint": checkpoints[at]} for name in first[:_NAMED])
        claims.append(Claim("claim.checkpoint.non_finite", "found", facts, evidence))
    unknown = [row.name for row in rows if any(_is_unknown(cell) for cell in row.cells)]
    if unknown:
        values = {"n": len(unknown), "names": _few(unknown)}
        claims.append(Claim("claim.checkpoint.unreadable", "unknown", values))
    if not claims:
        claims.append(Claim("claim.checkpoint.finite", "clear", {"n": len(rows)}))
    compared = [row for row in rows if sum(cell.state != "absent" for cell in row.cells) > 1]
    if not compared:
        return [*claims, Claim("claim.checkpoint.no_common_tensor", "unknown")]
    frozen = [row.name for row in compared if {cell.state for cell in row.cells} <= _FROZEN]
    if frozen:
        values = {"n": len(frozen), "count": len(compared), "names": _few(frozen)}
        claims.append(Claim("claim.checkpoint.frozen", "note", values))
    return claims


_FROZEN: Final[frozenset[CellState]] = frozenset({"start", "absent", "unchanged"})


def _first_broken(row: TimelineRow) -> int | None:
    return next((at for at, cell in enumerate(row.cells) if cell.non_finite), None)


def _is_unknown(cell: TimelineCell) -> bool:
    """Return True if nothing is known of the values of a tensor that is there."""
    return cell.state == "unreadable"


def _few(names: Sequence[str]) -> list[str]:
    return [*names[:_NAMED], *(["…"] if len(names) > _NAMED else [])]


def _timeline_batch(paths: Sequence[Path], names: Sequence[str]) -> list[TimelineRow]:
    files = [open_weights(path) for path in paths]
    weights = [{weight.name: weight for weight in file.weights} for file in files]
    return [_row(name, files, [known.get(name) for known in weights]) for name in names]


def _row(name: str, files: Sequence[WeightFile], weights: Sequence[Weight | None]) -> TimelineRow:
    cells: list[TimelineCell] = []
    previous: tuple[WeightFile, Weight] | None = None
    for file, weight in zip(files, weights, strict=True):
        cells.append(TimelineCell("absent") if weight is None else _cell(previous, file, weight))
        if weight is not None:
            previous = (file, weight)
    return TimelineRow(name, previous[1].shape if previous else (), tuple(cells))


def _cell(previous: tuple[WeightFile, Weight] | None, file: WeightFile, weight: Weight) -> TimelineCell:
    try:
        non_finite = count_non_finite(file.values(weight.name))
    except UnreadableError:
        return TimelineCell("unreadable")
    if previous is None:
        return TimelineCell("start", None, non_finite)
    difference = compare_tensor(previous[0], file, previous[1], weight)
    if difference.state == "unchanged":
        return TimelineCell("unchanged", 0.0, non_finite)
    measures = difference.measures
    return TimelineCell(difference.state, measures.relative_distance if measures else None, non_finite)


def count_non_finite(values: Values) -> int | None:
    """NaN and infinite elements, read by parts; None for what has no numbers."""
    if values.dtype.kind not in "biufc":
        return None
    if values.dtype.kind in "biu":
        return 0
    return sum(
        int(np.count_nonzero(~np.isfinite(flat[start : start + PIECE])))
        for flat in values.pieces()
        for start in range(0, flat.size, PIECE)
    )
