"""Claims about weights of a series of checkpoints that change shape, are missing, stop changing, or change
far more once than at other times."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from mindinsight.server.claims import Claim, Verdict, few
from mindinsight.server.types import Doubles, Ints

if TYPE_CHECKING:
    from mindinsight.server.debug.checkpoint_weights import TimelineRow

_NAMED: Final = 3  # tensors that one sentence lists
_STILL: Final = 2  # checkpoints: a single equal one may be a copy of the last
STANDING_OUT: Final = tuple(
    f"claim.checkpoint.{name}" for name in ("stands_out", "all_stand_out", "replaced")
)
STOPPING: Final = ("claim.checkpoint.stopped", "claim.checkpoint.stopped_all")
_SHAPES: Final = ("shape", "reshaped")
_MATRIX: Final = 2  # axes: a bias begins near zero, where its changes are large for its norm
_FIRST: Final = (
    3  # columns of a row that do not stand out: weights that begin at zero grow by any factor there
)
_UNRELATED: Final = 0.3  # cosine, that random matrices of `_LARGE` or more elements do not reach
_RELATED: Final = 0.7  # cosine of neighbouring checkpoints of one training
_LARGE: Final = 64  # elements
_FEWEST: Final = 5  # changes that tell what is usual, of a weight; half as many weights of a checkpoint
_STANDS_OUT: Final = 10.0  # times the usual change
_SPREADS: Final = 10.0  # of all such ratios, by which the largest exceeds them
_ALONE: Final = 3.0  # times the second largest change: more than one such step is a schedule


def distinct_names(files: Sequence[str]) -> dict[str, str]:
    """Return the name of each file by its id, with its folder if several files of one name are given."""
    names = {file: file.rpartition("/")[2] for file in files}
    folders = {file: "/".join(file.split("/")[-2:]) for file in files}
    return names if len(set(names.values())) == len(names) else folders


def history_claims(rows: Sequence[TimelineRow], checkpoints: Sequence[str]) -> Iterator[Claim]:
    """Yield claims about weights of another shape, missing weights, and weights that stop changing.
    ``rows`` are the timeline, ``checkpoints`` the names of its columns. Where tensors cannot be read,
    nothing is claimed of them."""
    names = {row.name for row in rows}
    weights = [row for row in rows if row.is_weight(names)]
    changed_shape = [(row.name, at) for row in weights if (at := _first_shape(row)) is not None]
    yield from _claim("shape_changed", changed_shape, checkpoints, "found")
    missing = [(row.name, at) for row in weights if (at := _first_missing(row)) is not None]
    yield from _claim("missing", missing, checkpoints, "found")
    moving = [row for row in weights if row.cells[-1].state == "changed"]
    still = [(row.name, at) for row in weights if (at := _still_from(row)) is not None]
    if 2 * len(moving) > len(weights):  # the training went on
        yield from _claim("stopped", still, checkpoints, "note")
    elif still and not moving:
        last = max(at for _, at in still)
        yield from _claim("stopped_all", [(name, last) for name, _ in still], checkpoints, "note")
    matrices = [row for row in weights if len(row.shape) >= _MATRIX]
    yield from list(_replaced(matrices, checkpoints)) or _stands_out(matrices, checkpoints)


def _replaced(weights: Sequence[TimelineRow], checkpoints: Sequence[str]) -> Iterator[Claim]:
    """Yield a claim about the first checkpoint in which matrices are unrelated to themselves before, as after
    a new initialization, though they keep their direction at all others. The first change is left out: it may
    lead away from the initial weights."""
    if not weights or len(checkpoints) < _FEWEST:
        return
    table = np.array(
        [[np.nan if cell.cosine is None else cell.cosine for cell in row.cells] for row in weights]
    )
    table[[np.prod(row.shape) < _LARGE for row in weights]] = np.nan
    lost = table < _UNRELATED
    lost[:, :2] = False
    once = (lost.sum(axis=1) == 1) & ((table > _RELATED) | np.isnan(table) | lost)[:, 2:].all(axis=1)
    lost[~once] = False
    columns = np.flatnonzero(lost.any(axis=0))
    if not len(columns):
        return
    at = int(columns[0])
    rows = np.flatnonzero(lost[:, at])
    names = [weights[int(row)].name for row in rows]
    values = {"n": len(names), "names": few(names, _NAMED), "checkpoint": checkpoints[at]}
    values |= {"count": len(weights), "cosine": float(f"{np.abs(table[rows, at]).max():.2g}")}
    evidence = tuple({"tensor": name, "checkpoint": checkpoints[at]} for name in names[:_NAMED])
    yield Claim("claim.checkpoint.replaced", "found", values, evidence)


def _stands_out(weights: Sequence[TimelineRow], checkpoints: Sequence[str]) -> Iterator[Claim]:
    """Yield claims about the checkpoint at which all matrices changed ten times as much as they usually do,
    and about the matrix that did so once, while others did not, if there are any."""
    table = np.array([[cell.change or np.nan for cell in row.cells] for row in weights], np.float64)
    if table.size == 0:
        return
    table[~np.isfinite(table)] = np.nan
    rows = np.isfinite(table).sum(axis=1) >= _FEWEST
    columns = np.isfinite(table[rows]).sum(axis=0) >= (_FEWEST + 1) // 2
    if rows.sum() < (_FEWEST + 1) // 2 or columns.sum() < _FEWEST:
        return
    rest = np.full(table.shape, np.nan)
    part = np.log(table[np.ix_(rows, columns)])
    part -= np.nanmedian(part, axis=1, keepdims=True)
    together = np.nanmedian(part, axis=0)
    rest[np.ix_(rows, columns)] = part - together
    spread = 1.4826 * float(np.nanmedian(np.abs(rest)))
    later = np.flatnonzero(columns) >= _FIRST
    yield from _all_stand_out(together[later], np.flatnonzero(columns)[later], checkpoints)
    rest[:, :_FIRST] = np.nan
    usual = np.full(len(table), np.nan)
    usual[rows] = np.nanmedian(table[rows], axis=1)
    rest[table < _STANDS_OUT * usual[:, None]] = np.nan  # others may have stood still
    if not np.isfinite(rest).any():
        return
    row, at = divmod(int(np.nanargmax(rest)), len(checkpoints))
    largest = float(rest[row, at])
    if largest < max(np.log(_STANDS_OUT), _SPREADS * spread):
        return
    name = weights[row].name
    values = {"name": name, "checkpoint": checkpoints[at], "share": float(table[row, at])}
    values["factor"] = float(f"{np.exp(largest):.2g}")
    yield Claim(STANDING_OUT[0], "note", values, ({"tensor": name, "checkpoint": checkpoints[at]},))


def _all_stand_out(changes: Doubles, columns: Ints, checkpoints: Sequence[str]) -> Iterator[Claim]:
    """Yield a claim about the checkpoint at which weights changed most, if that is ten times the usual change
    and more than at any other. ``changes`` [n] are logarithms of the ratios, those of ``columns``."""
    order = np.argsort(changes)
    if len(order) < _FEWEST or changes[order[-1]] - changes[order[-2]] < np.log(_ALONE):
        return
    if changes[order[-1]] - np.median(changes) >= np.log(_STANDS_OUT):
        checkpoint = checkpoints[int(columns[order[-1]])]
        factor = float(f"{np.exp(changes[order[-1]] - np.median(changes)):.2g}")
        values = {"checkpoint": checkpoint, "factor": factor}
        yield Claim(STANDING_OUT[1], "note", values, ({"checkpoint": checkpoint},))


def _claim(
    key: str, weights: Sequence[tuple[str, int]], checkpoints: Sequence[str], verdict: Verdict
) -> Iterator[Claim]:
    """Yield the claim about weights, each with its column, that names the first column, if there are any."""
    if not weights:
        return
    at = min(column for _, column in weights)
    evidence = tuple({"tensor": name, "checkpoint": checkpoints[column]} for name, column in weights[:_NAMED])
    values = {
        "n": len(weights),
        "names": few([name for name, _ in weights], _NAMED),
        "checkpoint": checkpoints[at],
    }
    yield Claim(f"claim.checkpoint.{key}", verdict, values, evidence)


def _first_shape(row: TimelineRow) -> int | None:
    """Return the first column in which a weight has another shape than before, or None."""
    return next((at for at, cell in enumerate(row.cells) if cell.state in _SHAPES), None)


def _first_missing(row: TimelineRow) -> int | None:
    """Return the first column that lacks a weight of an earlier one, or None."""
    start = next((at for at, cell in enumerate(row.cells) if cell.state != "absent"), len(row.cells))
    return next((at for at in range(start, len(row.cells)) if row.cells[at].state == "absent"), None)


def _still_from(row: TimelineRow) -> int | None:
    """Return the column from which a weight that changed before stays the same to the end, or None."""
    states = [cell.state for cell in row.cells]
    last = max((at for at, state in enumerate(states) if state != "unchanged"), default=0)
    return last if states[last] == "changed" and len(states) - 1 - last >= _STILL else None
