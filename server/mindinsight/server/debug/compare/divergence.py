"""Where two dumps part: the first operator that makes something else out of the same."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Final, Literal

from mindinsight.server.debug.compare.comparison import Row

COSINE: Final = 0.9999  # least that agrees
RELATIVE: Final = 1e-3  # largest distance that agrees


@dataclass(frozen=True, slots=True)
class Tolerance:
    """How far apart two tensors may be and still agree."""

    cosine: float = COSINE
    relative: float = RELATIVE  # L2 of the difference / L2 of the reference


@dataclass(frozen=True, slots=True)
class Divergence:
    """Where two dumps part: an operator that makes other outputs of inputs that agree (``made``), or a
    weight, a constant or data that differ before any operator does (``arrived``)."""

    kind: Literal["made", "arrived"]
    rows: tuple[Row, ...]  # of that operator, those beyond the tolerance


def beyond(row: Row, tolerance: Tolerance) -> bool | None:
    """Whether two tensors differ by more than the tolerance; None when nobody can tell."""
    compared = row.compared
    measures = compared.measures
    if measures is not None:
        far = measures.relative_distance is None or measures.relative_distance > tolerance.relative
        turned = measures.cosine is not None and measures.cosine < tolerance.cosine
        return bool(measures.apart) or far or turned
    if compared.same_checksum is not None:
        return not compared.same_checksum
    if compared.target is None or compared.reference is None:
        return None
    if compared.target.shape != compared.reference.shape:
        return True
    lost = compared.target.statistics.finite != compared.reference.statistics.finite
    return lost or (None if compared.norm_error is None else compared.norm_error > tolerance.relative)


def first_divergence(rows: Iterable[Row], tolerance: Tolerance) -> Divergence | None:
    """The first operator that meets or makes something beyond the tolerance; None when all agree."""
    for operator in _by_operator(rows):
        far = [row for row in operator if beyond(row, tolerance)]
        came = tuple(row for row in far if _direction(row) != "output")
        if far:
            return Divergence("arrived", came) if came else Divergence("made", tuple(far))
    return None


def _by_operator(rows: Iterable[Row]) -> Iterator[list[Row]]:
    """Rows of the target's operators; they come together."""
    for known, operator in groupby(rows, _operator):
        if known is not None:
            yield list(operator)


def _operator(row: Row) -> tuple[str, str] | None:
    entry = row.compared.pair.target
    return None if entry is None else (entry.graph, entry.recorded)


def _direction(row: Row) -> str:
    return row.compared.pair.target.direction if row.compared.pair.target else ""
