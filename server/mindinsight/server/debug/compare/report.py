"""Writer of comparison reports: CSV with one row for each pair of tensors."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from typing import Any, Final, TextIO

from mindinsight.server.compute.non_finite import non_finite_as_text
from mindinsight.server.compute.statistics import Statistics, as_dumped
from mindinsight.server.debug.compare.comparison import Row
from mindinsight.server.debug.compare.divergence import Tolerance, state
from mindinsight.server.debug.statistics_cache import Measurement
from mindinsight.server.formats.dumps.types import TensorEntry

MESSAGES: Final = {
    "not_finite": "NaN or Inf that the reference does not have",
    "dtype": "other type than the reference",
    "shape": "other shape than the reference",
    "requires_grad": "one of the two requires a gradient, the other does not",
    "argument": "another argument than the reference",
    "thousandth": "inputs agree (more than 0.9 within one thousandth), the output does not (less than 0.1)",
    "norm": "norms of the inputs agree (within 10 %), that of the output is off by more than 50 %",
    "checksum": "other bytes than the reference",
    "cosine": "the cosine falls by more than 0.1 from the inputs to the output",
    "norm_growth": "the norm of the output is ten times as far off as that of the inputs",
    "missing": "only on one side",
    "output": "the output differs; unknown whether the inputs agree: none was compared",
    "output_drifts": "the output drifts; unknown whether the inputs agree: none was compared",
}
_BY_TYPE: Final = Tolerance()
_DIFFERENCES: Final = ("min_diff", "max_diff", "mean_diff", "l2norm_diff")
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r", "\n")


def fields(row: Row, tolerance: Tolerance = _BY_TYPE) -> dict[str, Any]:
    """Columns of a row by name; None where a value is missing. ``result`` is its state."""
    compared, measures = row.compared, row.compared.measures
    target, reference = compared.pair.target, compared.pair.reference
    of_target = _extremes("target", target, compared.target)
    of_reference = _extremes("reference", reference, compared.reference)
    return {
        "target": _name(target),
        "reference": _name(reference),
        "matched_by": compared.pair.way,
        "target_dtype": _dtype(target, compared.target),
        "reference_dtype": _dtype(reference, compared.reference),
        "target_shape": _shape(target, compared.target),
        "reference_shape": _shape(reference, compared.reference),
        "cosine": measures and measures.cosine,
        "distance": measures and measures.distance,
        "max_absolute": measures and measures.max_absolute,
        "max_relative": measures and measures.max_relative,
        "one_thousandth": measures and measures.one_thousandth,
        "five_thousandths": measures and measures.five_thousandths,
        "apart": measures and measures.apart,
        "lost": row.lost,
        "norm_error": compared.norm_error,
        **_differences(of_target, of_reference),
        "same_checksum": compared.same_checksum,
        **of_target,
        **of_reference,
        "result": state(row, tolerance),
        "messages": "; ".join(MESSAGES[code] for code in row.codes),
        "target_argument": compared.pair.argument and compared.pair.argument.target,
        "reference_argument": compared.pair.argument and compared.pair.argument.reference,
        "damage": f"{compared.damage.reason} {compared.damage.detail}".strip() if compared.damage else None,
    }


def write_csv(rows: Iterable[Row], file: TextIO) -> None:
    """Write rows as CSV with a header; text that a spreadsheet would take for a formula is quoted."""
    CsvReport(file).write(rows)


class CsvReport:
    """Writer of a CSV report piece by piece; the header comes with the first row."""

    def __init__(self, file: TextIO) -> None:
        self._file = file
        self._writer: Any = None

    def write(self, rows: Iterable[Row], **origin: int) -> None:
        """Add rows, with further columns in front that say where they are from."""
        for row in rows:
            columns = {**origin, **fields(row)}
            if self._writer is None:
                self._writer = csv.DictWriter(self._file, list(columns), lineterminator="\n")
                self._writer.writeheader()
            self._writer.writerow({name: safe_cell(value) for name, value in columns.items()})


def _name(entry: TensorEntry | None) -> str | None:
    return None if entry is None else f"{entry.operator}.{entry.direction}.{entry.slot}"


def _dtype(entry: TensorEntry | None, measurement: Measurement | None) -> str | None:
    return None if entry is None else entry.dtype or (measurement.dtype if measurement else None)


def _shape(entry: TensorEntry | None, measurement: Measurement | None) -> str | None:
    shape = measurement.shape if measurement else entry.shape if entry else None
    return None if shape is None else str(list(shape))


def _extremes(
    side: str, entry: TensorEntry | None, measurement: Measurement | None
) -> dict[str, float | None]:
    """Minimum, maximum, mean and L2 norm as in MindSpore's statistics file; recorded values as recorded."""
    extremes: tuple[float | None, ...] = (None, None, None, None)
    if measurement is not None and isinstance(measurement.statistics, Statistics):
        extremes = as_dumped(measurement.statistics)
    elif entry is not None and entry.statistics is not None:
        recorded = entry.statistics
        extremes = (recorded.min, recorded.max, recorded.mean, recorded.l2norm)
    return dict(zip((f"{side}_min", f"{side}_max", f"{side}_mean", f"{side}_l2norm"), extremes, strict=True))


def _differences(
    target: dict[str, float | None], reference: dict[str, float | None]
) -> dict[str, float | None]:
    """Minimum, maximum, mean and norm of the target less those of the reference."""
    pairs = zip(_DIFFERENCES, target.values(), reference.values(), strict=True)
    return {name: None if a is None or b is None else a - b for name, a, b in pairs}


def safe_cell(value: Any) -> Any:
    """A cell of a CSV file: what a spreadsheet would take for a formula is quoted, NaN and Inf are texts."""
    if isinstance(value, str) and value.startswith(_FORMULA):
        return "'" + value
    return non_finite_as_text(value)
