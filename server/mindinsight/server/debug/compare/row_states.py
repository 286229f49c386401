"""State of a row of a comparison: whether its two tensors agree, and a clause about how they differ."""

import math
from dataclasses import replace
from typing import Any, Final, Literal, TypeAlias

import numpy as np

from mindinsight.server.claims import Claim
from mindinsight.server.debug.compare.compared_rows import both_sides, dtypes_of, extremes, shape_text
from mindinsight.server.debug.compare.dump_comparison import Row
from mindinsight.server.debug.compare.tolerance import Tolerance
from mindinsight.server.debug.statistics_cache import Measurement

State: TypeAlias = Literal["agree", "differ", "unknown", "order", "alone"]
STATES: Final[tuple[State, ...]] = ("agree", "differ", "unknown", "order", "alone")

_PEAK: Final = 10  # one element may differ by this many times the tolerance of the largest magnitude


def beyond(row: Row, tolerance: Tolerance) -> bool | None:
    """Return whether two tensors differ by more than the tolerance, or None if unknown. Recorded
    statistics can show that values differ, but never that they agree. A row about an argument differs."""
    compared = row.compared
    if compared.pair.argument is not None:
        return True
    if None in (compared.pair.target, compared.pair.reference):
        return None
    if compared.measures is not None:
        return _values_differ(row, tolerance)
    if compared.same_checksum is not None:
        return not compared.same_checksum
    if compared.target is None or compared.reference is None:
        return None
    return True if sizes_differ(row) or _statistics_differ(row, tolerance) else None


def state(row: Row, tolerance: Tolerance) -> State:
    """Return the state of a row: "alone", "order", "agree", "differ" or "unknown". A row is "alone"
    without a partner, and "order" if only the order of operators matched it. Such rows do not take part in
    decisions. The others say whether the values agree within the tolerance."""
    pair = row.compared.pair
    if pair.target is None or pair.reference is None:
        return "alone"
    if pair.way == "order":
        return "order"
    differs = beyond(row, tolerance)
    return "unknown" if differs is None else "differ" if differs else "agree"


def agrees_by(row: Row, tolerance: Tolerance, note: Literal["rounding", "coarser"]) -> bool:
    """Return True if two tensors are within the tolerance only because of the given note on rounding."""
    without = replace(row, rounding=False) if note == "rounding" else replace(row, coarser="")
    return row != without and beyond(row, tolerance) is False and beyond(without, tolerance) is True


def row_limit(row: Row, tolerance: Tolerance) -> float:
    """Return the largest relative distance allowed. It is that of the coarsest type of both tensors and of
    the values they were computed from."""
    return tolerance.limit(*dtypes_of(row), *filter(None, [row.coarser]))


def _values_differ(row: Row, tolerance: Tolerance) -> bool:
    """Return True if measured values differ by more than the tolerance."""
    measures = row.compared.measures
    assert measures is not None
    if not measures.differing or row.rounding:
        return False
    limit = row_limit(row, tolerance)
    if measures.apart or not limit or measures.relative_distance is None:
        return True
    peak = magnitude(row.compared.reference)
    too_far = peak is not None and (measures.max_absolute or 0) > _PEAK * limit * peak
    turned = (
        tolerance.cosine is not None and measures.cosine is not None and measures.cosine < tolerance.cosine
    )
    return measures.relative_distance > limit or too_far or turned


def magnitude(measurement: Measurement | None) -> float | None:
    """Return the largest magnitude of the finite elements, or None if unknown or complex."""
    if measurement is None or measurement.dtype.startswith("complex"):
        return None
    statistics = measurement.statistics
    if statistics.minimum is None or statistics.maximum is None:
        return None
    return max(abs(float(statistics.minimum)), abs(float(statistics.maximum)))


def sizes_differ(row: Row) -> bool:
    """Return True if the shapes of both tensors are known and have different numbers of elements."""
    shapes = [e.shape if e and e.shape is not None else m and m.shape for e, m in both_sides(row)]
    return None not in shapes and math.prod(shapes[0] or ()) != math.prod(shapes[1] or ())


def _statistics_differ(row: Row, tolerance: Tolerance) -> bool:
    """Return True if recorded statistics differ by more than the tolerance."""
    target, reference = row.compared.target, row.compared.reference
    assert target is not None and reference is not None
    finite = target.statistics.finite, reference.statistics.finite
    if None not in finite and finite[0] != finite[1]:
        return True
    limit = max(row_limit(row, tolerance), 1e-5)  # statistics are recorded with six digits
    if row.compared.norm_error is not None and row.compared.norm_error > limit:
        return True
    peak = magnitude(reference)
    return peak is not None and any(
        a is not None and b is not None and abs(float(a) - float(b)) > _PEAK * limit * peak
        for a, b in extremes(target, reference)
    )


def equal_statistics(target: Measurement, reference: Measurement) -> bool:
    """Return True if minimum, maximum, mean and norm are known and equal, as if only the order differed."""
    pairs = [*extremes(target, reference), (target.statistics.norm, reference.statistics.norm)]
    peak = magnitude(reference)
    return peak is not None and all(
        a is not None and b is not None and math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-9 * peak)
        for a, b in pairs
    )


def difference_clause(row: Row) -> Claim:
    """Return a clause about how much, and at which element, two tensors differ, as far as it is known."""
    measures, target = row.compared.measures, row.compared.target
    if measures is not None and measures.largest is not None and target is not None:
        index = np.unravel_index(measures.largest, target.shape)
        size = measures.count + measures.apart
        values: dict[str, Any] = {"n": size, "differing": measures.differing, "all": size}
        values["index"] = str([int(i) for i in index])
        only = values["all"] == 1
        if measures.apart:
            key = "claim.part.only_value_non_finite" if only else "claim.part.non_finite_at"
            return Claim(key, "note", values)
        key = "claim.part.only_value_at" if only else "claim.part.values_at"
        return Claim(key, "note", values | {"amount": measures.max_absolute})
    if sizes_differ(row):
        shapes = [shape_text(entry, m) for entry, m in both_sides(row)]
        return Claim("claim.part.shapes", "note", {"target": shapes[0], "reference": shapes[1]})
    if row.compared.same_checksum is False:
        alike = target and row.compared.reference and equal_statistics(target, row.compared.reference)
        return Claim(f"claim.part.checksums{'_alone' * bool(alike)}", "note")
    return Claim("claim.part.statistics", "note")
