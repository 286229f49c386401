"""Differences that rounding explains: sums whose terms cancel, and values computed from coarser types."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import Final, TypeAlias

from mindinsight.server.debug.compare.error_measures import Compared
from mindinsight.server.debug.compare.tolerance import coarsest
from mindinsight.server.debug.conditions.expected_hits import rounding_of_sum
from mindinsight.server.debug.statistics_cache import Measurement
from mindinsight.server.debug.tensor_targets import is_update
from mindinsight.server.formats.dumps.dump_types import TensorEntry

Note: TypeAlias = tuple[str, bool]  # coarsest type behind a tensor, and if its difference is rounding alone
_Values: TypeAlias = Hashable  # statistics, by which an input is recognized as an earlier output

PLAIN: Final[Note] = ("", False)


class RoundingNotes:
    """Search for differences that rounding explains, operator by operator in execution order.

    Equal statistics identify the same tensor at several operators, because a dump need not hold the graph.
    """

    def __init__(self) -> None:
        self._types: dict[_Values, str] = {}  # coarsest type behind an output of either side
        self._rounded: set[tuple[_Values, _Values]] = set()  # pairs that differ by rounding alone

    def of_operator(self, rows: Sequence[Compared]) -> Iterator[Note]:
        """Yield for each row the coarser type its values passed through, "" if there is none, and True if
        rounding explains its difference. Remember the outputs for later operators. The type is "" if it is
        not coarser than that of the values."""
        inputs = [row for row in rows if not _is_output(row)]
        before = {id(row): self._before(row) for row in inputs}
        used = [_types(row) + (before[id(row)][0],) for row in inputs if _may_differ(row)]
        behind = coarsest(dtype for dtypes in used for dtype in dtypes)
        noise = sum(_amount(row) * _reduced(row, rows) for row in inputs if before[id(row)][1])
        differing = [row for row in inputs if _may_differ(row)]
        alone = bool(differing) and all(before[id(row)][1] for row in differing)
        for row in rows:
            if not _is_output(row):
                yield before[id(row)]
                continue
            own = _types(row)
            coarser = behind if coarsest(own) and coarsest((*own, behind)) != coarsest(own) else ""
            rounded = 0 < _amount(row) <= max(noise, _rounding(row, inputs, behind))
            rounded = rounded or (alone and _is_of_optimizer(row) and _amount(row) > 0)
            self._types |= dict.fromkeys(_sides(row), coarsest((*own, behind)))
            if rounded:
                self._rounded.add(_sides(row))
            yield coarser, rounded

    def _before(self, row: Compared) -> Note:
        """Return the note on the earlier output that an input equals."""
        sides = _sides(row)
        own = coarsest(_types(row))
        behind = coarsest([own, *(self._types.get(values, "") for values in sides if values is not None)])
        return behind if own and behind != own else "", sides in self._rounded


def _reduced(row: Compared, rows: Sequence[Compared]) -> float:
    """Return how many elements of an input go into each of an output, at least 1: differences add up."""
    outputs = [other.target.statistics.count for other in rows if _is_output(other) and other.target]
    size = (row.target.statistics.count if row.target else None) or 0
    return max([1.0, *(size / count for count in outputs if count)])


def _is_of_optimizer(row: Compared) -> bool:
    """Return True for an operator of an optimizer, which divides a gradient of rounding by its own size."""
    entry = row.pair.target or row.pair.reference
    return entry is not None and is_update(entry)


def _is_output(row: Compared) -> bool:
    entry = row.pair.target or row.pair.reference
    return entry is not None and entry.direction == "output"


def _sides(row: Compared) -> tuple[_Values, _Values]:
    """Return the identifying values of both sides, each None if unknown, or if all zero, which identifies
    nothing."""
    return _values(row.target), _values(row.reference)


def _values(measurement: Measurement | None) -> _Values:
    if measurement is None or not measurement.statistics.norm:
        return None
    known = measurement.statistics
    return known.count, known.minimum, known.maximum, known.mean, known.norm


def _types(row: Compared) -> tuple[str, ...]:
    sides: list[tuple[TensorEntry | None, Measurement | None]] = [
        (row.pair.target, row.target), (row.pair.reference, row.reference),
    ]  # fmt: skip
    return tuple((entry.dtype if entry else "") or (known.dtype if known else "") for entry, known in sides)


def _may_differ(row: Compared) -> bool:
    """Return True unless both sides are known to be equal."""
    return row.measures is None or row.measures.differing > 0


def _amount(row: Compared) -> float:
    """Return the largest absolute difference, or 0 if unknown or if some elements cannot be subtracted."""
    measures = row.measures
    return 0.0 if measures is None or measures.apart else measures.max_absolute or 0.0


def _rounding(row: Compared, inputs: Sequence[Compared], behind: str) -> float:
    """Return the largest difference that rounding causes in an output that is a sum, or 0 if unknown."""
    entry = row.pair.target
    terms = next((other for other in inputs if other.pair.target and other.pair.target.slot == "0"), None)
    if entry is None or terms is None or row.target is None:
        return 0.0
    dtype = coarsest((*_types(row), behind))
    bounds = [
        rounding_of_sum(entry.type, dtype, known.statistics, row.target.statistics.count)
        for known in (terms.target, terms.reference)
        if known is not None and known.statistics.finite
    ]
    return max((bound for bound in bounds if bound is not None), default=0.0)
