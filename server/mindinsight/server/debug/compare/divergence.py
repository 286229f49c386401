"""Divergence of two dumps: the first operator whose outputs differ although its inputs agree."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Final, Literal

from mindinsight.server.debug.compare.comparison import Row

COSINE: Final = 0.9999  # smallest cosine of tensors that agree
RELATIVE: Final = 1e-3  # largest relative distance of tensors that agree


@dataclass(frozen=True, slots=True)
class Tolerance:
    """Tolerance within which two tensors agree."""

    cosine: float = COSINE
    relative: float = RELATIVE  # L2 of the difference / L2 of the reference


@dataclass(frozen=True, slots=True)
class Divergence:
    """Divergence: an operator whose outputs differ although its inputs agree (``made``), or an input that
    differs before any operator does, such as a weight, a constant or data (``arrived``)."""

    kind: Literal["made", "arrived"]
    rows: tuple[Row, ...]  # of that operator, those beyond the tolerance


def beyond(row: Row, tolerance: Tolerance) -> bool | None:
    """Whether two tensors differ by more than the tolerance; None where unknown."""
    compared = row.compared
    measures = compared.measures
    if measures is not None:
        too_distant = measures.relative_distance is None or measures.relative_distance > tolerance.relative
        too_different = measures.cosine is not None and measures.cosine < tolerance.cosine
        return bool(measures.apart) or too_distant or too_different
    if compared.same_checksum is not None:
        return not compared.same_checksum
    if compared.target is None or compared.reference is None:
        return None
    if compared.target.shape != compared.reference.shape:
        return True
    finiteness_differs = compared.target.statistics.finite != compared.reference.statistics.finite
    return finiteness_differs or (
        None if compared.norm_error is None else compared.norm_error > tolerance.relative
    )


def first_divergence(rows: Iterable[Row], tolerance: Tolerance) -> Divergence | None:
    """The first operator with an input or output beyond the tolerance; None when all agree."""
    for operator in _by_operator(rows):
        differing = [row for row in operator if beyond(row, tolerance)]
        differing_inputs = tuple(row for row in differing if _direction(row) != "output")
        if differing:
            return (
                Divergence("arrived", differing_inputs)
                if differing_inputs
                else Divergence("made", tuple(differing))
            )
    return None


def _by_operator(rows: Iterable[Row]) -> Iterator[list[Row]]:
    """Rows grouped by operator of the target; those of one operator are adjacent."""
    for key, operator in groupby(rows, _operator):
        if key is not None:
            yield list(operator)


def _operator(row: Row) -> tuple[str, str] | None:
    entry = row.compared.pair.target
    return None if entry is None else (entry.graph, entry.recorded)


def _direction(row: Row) -> str:
    return row.compared.pair.target.direction if row.compared.pair.target else ""
