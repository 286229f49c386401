"""Divergence strip: a mark for each operator of a comparison in execution order, and bands of layers."""

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final, Literal, TypeAlias

from mindinsight.server.debug.compare.divergence import introducing, operator_key
from mindinsight.server.debug.compare.dump_comparison import Row
from mindinsight.server.debug.compare.row_states import beyond, state
from mindinsight.server.debug.compare.tolerance import Tolerance

State: TypeAlias = Literal["agrees", "differs", "introduced", "unmatched", "unknown"]
STATES: Final[tuple[State, ...]] = ("agrees", "differs", "introduced", "unmatched", "unknown")

_PARTS: Final = re.compile(r"[/.]")
_NUMBERED: Final = re.compile(r"\d")
_MOST_BANDS: Final = 400  # limit above which no bands are drawn


@dataclass(frozen=True, slots=True)
class Mark:
    """Mark of one operator on the divergence strip: its largest error and its state."""

    operator: str
    error: float | None  # largest relative distance of what differs, else of an output, infinite for NaN
    state: State


@dataclass(frozen=True, slots=True)
class Band:
    """Neighbouring operators of one layer, drawn as a band below the strip of all operators.

    They have the positions from ``begin`` up to ``end``, exclusive.
    """

    layer: str
    begin: int
    end: int


def strip_marks(rows: Iterable[Row], tolerance: Tolerance) -> list[Mark]:
    """Return a mark for each operator of ``rows``, in their order. An operator whose rows are not adjacent
    has several. The verdicts are those of `divergence`."""
    rows = list(rows)
    introduced = introducing(rows, tolerance)
    return [
        Mark(
            operator,
            _largest_error(group, tolerance),
            "introduced" if operator_key(group[0]) in introduced else _state(group, tolerance),
        )
        for (operator, *_), group in ((key, list(some)) for key, some in groupby(rows, _operator))
    ]


def layer_bands(operators: Sequence[str]) -> list[Band]:
    """Return bands of neighbouring operators of one layer, or an empty list if there would be too many. A
    layer is the part of the paths after their common beginning, up to its number (``blocks/3-Block``,
    ``layers.3``)."""
    paths = [_PARTS.split(operator)[:-1] for operator in operators]
    common = _common_length([path for path in paths if path])
    bands: list[Band] = []
    for layer, group in groupby(enumerate(paths), lambda item: _layer(item[1][common:])):
        positions = [position for position, _ in group]
        bands.append(Band(layer, positions[0], positions[-1] + 1))
    return bands if len(bands) <= _MOST_BANDS else []


def row_error(row: Row) -> float | None:
    """Return the relative distance of two tensors, or of their norms if only these are known. Return infinity
    if elements cannot be subtracted, None if unknown."""
    measures = row.compared.measures
    if measures is None:
        return row.compared.norm_error
    return math.inf if measures.apart else measures.relative_distance


def _operator(row: Row) -> tuple[str, str, bool]:
    pair = row.compared.pair
    entry = pair.target or pair.reference
    assert entry is not None
    return entry.operator, entry.graph, pair.target is None


def _largest_error(rows: list[Row], tolerance: Tolerance) -> float | None:
    """Return the largest error of the differing tensors, or of the outputs if none differs, None if
    unknown."""
    differing = [row for row in rows if beyond(row, tolerance)]
    errors = [row_error(row) for row in differing or rows if differing or _direction(row) == "output"]
    return max((error for error in errors if error is not None), default=None)


def _direction(row: Row) -> str:
    entry = row.compared.pair.target
    return entry.direction if entry is not None else ""


def _state(rows: list[Row], tolerance: Tolerance) -> State:
    pairs = [row.compared.pair for row in rows]
    if all(pair.target is None or pair.reference is None for pair in pairs):
        return "unmatched"
    known = {state(row, tolerance) for row in rows}
    if known == {"order"}:  # what differs may be of another operator
        return "agrees" if all(beyond(row, tolerance) is False for row in rows) else "unknown"
    return "differs" if "differ" in known else "agrees" if "agree" in known else "unknown"


def _common_length(paths: list[list[str]]) -> int:
    """Return the number of parts with which all paths begin."""
    if not paths:
        return 0
    first, last = min(paths), max(paths)
    return next(
        (i for i, parts in enumerate(zip(first, last, strict=False)) if len(set(parts)) > 1), len(first)
    )


def _layer(path: list[str]) -> str:
    """Return the name of the layer at the beginning of a path: its first part, or two if only the second has
    a number."""
    if len(path) > 1 and not _NUMBERED.search(path[0]) and _NUMBERED.search(path[1]):
        return f"{path[0]}.{path[1]}"
    return path[0] if path else ""
