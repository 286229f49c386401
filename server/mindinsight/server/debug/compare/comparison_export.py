"""Export of a comparison as CSV or a workbook, with our columns or those of ``msprobe compare`` 26."""

import csv
import importlib.util
import json
from collections.abc import Iterable, Iterator, Sequence
from tempfile import TemporaryDirectory
from typing import IO, Any, Final, TextIO

from mindinsight.server.compute.json_values import non_finite_as_text
from mindinsight.server.compute.tensor_statistics import Statistics, as_dumped
from mindinsight.server.debug.compare.dump_comparison import Row
from mindinsight.server.debug.compare.error_measures import Compared
from mindinsight.server.debug.compare.operator_matching import Pair
from mindinsight.server.debug.compare.row_states import agrees_by, state
from mindinsight.server.debug.compare.tolerance import Tolerance
from mindinsight.server.debug.statistics_cache import Measurement
from mindinsight.server.formats.dumps.dump_types import TensorEntry
from mindinsight.server.texts import plain_text

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
    "apart": "other NaN or Inf than the reference",
    "beyond": "beyond the tolerance",
    "rounding": "only rounding: the terms of a sum cancel",
    "output_drifts": "the output drifts; unknown whether the inputs agree: none was compared",
}
_BY_TYPE: Final = Tolerance()
_NO_TENSORS: Final = Row(Compared(Pair(None, None, "name"), None, None), ())  # has the names of all columns
_DIFFERENCES: Final = ("min_diff", "max_diff", "mean_diff", "l2norm_diff")


def fields(row: Row, tolerance: Tolerance = _BY_TYPE) -> dict[str, Any]:
    """Return the columns of a row by name. Missing values are None. ``result`` is the state of the row."""
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
        "relative_distance": measures and measures.relative_distance,
        "max_absolute": measures and measures.max_absolute,
        "max_relative": measures and measures.max_relative,
        "one_thousandth": measures and measures.one_thousandth,
        "five_thousandths": measures and measures.five_thousandths,
        "apart": measures and measures.apart,
        "lost": row.lost,
        "norm_error": compared.norm_error,
        **_differing_rows(of_target, of_reference),
        "same_checksum": compared.same_checksum,
        **of_target,
        **of_reference,
        "result": state(row, tolerance),
        "messages": "; ".join(MESSAGES[code] for code in message_codes(row, tolerance)),
        "target_argument": compared.pair.argument and compared.pair.argument.target,
        "reference_argument": compared.pair.argument and compared.pair.argument.reference,
        "damage": f"{compared.damage.reason} {compared.damage.detail}".strip() if compared.damage else None,
    }


def message_codes(row: Row, tolerance: Tolerance = _BY_TYPE) -> Sequence[str]:
    """Return the codes of msprobe's rules that a row breaks, or one of our own for another difference.
    Ours are ("apart",) or ("beyond",) if the row differs but breaks no rule, and ("rounding",) instead of
    all others if only rounding explains the difference. A row that passes has none."""
    if agrees_by(row, tolerance, "rounding"):
        return ("rounding",)
    if row.codes or state(row, tolerance) != "differ":
        return row.codes
    measures = row.compared.measures
    return ("apart",) if measures and measures.apart else ("beyond",)


def write_csv(rows: Iterable[Row], file: TextIO) -> None:
    """Write rows as CSV with a header. Text that a spreadsheet would read as a formula is quoted."""
    CsvReport(file).write(rows)


class CsvReport:
    """Writer of a CSV report in several calls. The first call writes the header."""

    def __init__(self, file: TextIO) -> None:
        self._file = file
        self._writer: Any = None

    def write(self, rows: Iterable[Row], **origin: int) -> None:
        """Write rows, after a header on the first call. The keywords ``origin`` are written as additional
        first columns."""
        if self._writer is None:
            names = [*origin, *fields(_NO_TENSORS)]
            self._writer = csv.DictWriter(self._file, names, lineterminator="\n")
            self._writer.writeheader()
        for row in rows:
            columns = {**origin, **fields(row)}
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
    """Return minimum, maximum, mean and L2 norm as in MindSpore's statistics files, else as recorded."""
    extremes: tuple[float | None, ...] = (None, None, None, None)
    if measurement is not None and isinstance(measurement.statistics, Statistics):
        extremes = as_dumped(measurement.statistics)
    elif entry is not None and entry.statistics is not None:
        recorded = entry.statistics
        extremes = (recorded.min, recorded.max, recorded.mean, recorded.l2norm)
    return dict(zip((f"{side}_min", f"{side}_max", f"{side}_mean", f"{side}_l2norm"), extremes, strict=True))


def _differing_rows(
    target: dict[str, float | None], reference: dict[str, float | None]
) -> dict[str, float | None]:
    """Return minimum, maximum, mean and norm of the target minus those of the reference."""
    pairs = zip(_DIFFERENCES, target.values(), reference.values(), strict=True)
    return {name: None if a is None or b is None else a - b for name, a, b in pairs}


def safe_cell(value: Any) -> Any:
    """Return a cell for a CSV file: text that a spreadsheet would read as a formula is quoted, NaN is
    text."""
    return plain_text(value) if isinstance(value, str) else non_finite_as_text(value)


_BASIC: Final = ("Name", "Dtype", "Tensor Shape", "Requires_grad")
_TENSORS: Final = {
    "Cosine": "cosine",
    "EucDist": "distance",
    "MaxAbsErr": "max_absolute",
    "MaxRelativeErr": "max_relative",
    "One Thousandth Err Ratio": "one_thousandth",
    "Five Thousandths Err Ratio": "five_thousandths",
}
_STATISTICS: Final = {"max": "Max", "min": "Min", "mean": "Mean", "l2norm": "L2norm"}
_RELATIVE: Final = ("MaxRelativeErr", "MinRelativeErr", "MeanRelativeErr", "NormRelativeErr")
_CHECKSUMS: Final = ("NPU MD5", "BENCH MD5")
_VERDICT: Final = ("Requires_grad Consistent", "Result", "Err_message")
_ABSENT: Final = "N/A"
_UNSUPPORTED: Final = "unsupported"
_COLOURS: Final = {"error": "#F8CBAD", "warning": "#FFE699"}


def columns(rows: Sequence[Row]) -> list[str]:
    """Return msprobe's column names, in its order, for rows with tensors, with checksums, or else with
    statistics."""
    basic = [f"{side} {name}" for name in _BASIC for side in ("NPU", "Bench")]
    extremes = [f"{side} {name}" for side in ("NPU", "Bench") for name in _STATISTICS]
    if any(row.compared.measures for row in rows):
        return [*basic, *_TENSORS, *extremes, *_VERDICT]
    if any(row.compared.same_checksum is not None for row in rows):
        return [*basic, *_CHECKSUMS, *_VERDICT]
    return [*basic, *(f"{name} diff" for name in _STATISTICS.values()), *_RELATIVE, *extremes, *_VERDICT]


def write_msprobe_csv(rows: Sequence[Row], file: TextIO) -> None:
    """Write rows as CSV with msprobe's columns. Text that a spreadsheet would read as a formula is quoted."""
    names = columns(rows)
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(names)
    for cells in _table(rows, names):
        writer.writerow([safe_cell(cell) for cell in cells])


def has_xlsx() -> bool:
    """Return True if the package that writes workbooks is installed (the extra ``excel``)."""
    return importlib.util.find_spec("xlsxwriter") is not None


def write_msprobe_xlsx(rows: Sequence[Row], file: IO[bytes]) -> None:
    """Write rows as an Excel workbook with coloured errors and warnings, or raise OSError if there is no
    room. The header stays in view. The temporary folder needs room as well."""
    from xlsxwriter import Workbook
    from xlsxwriter.exceptions import XlsxFileError

    names = columns(rows)
    with TemporaryDirectory() as folder:  # holds the rows until the workbook is closed
        options = {"constant_memory": True, "tmpdir": folder, "nan_inf_to_errors": False}
        texts = {"strings_to_formulas": False, "strings_to_urls": False, "strings_to_numbers": False}
        book = Workbook(file, {**options, **texts})
        sheet = book.add_worksheet("compare")
        try:
            _write_sheet(book, sheet, rows, names)
            book.close()
        except XlsxFileError as error:
            raise OSError(str(error)) from error
        finally:
            sheet.row_data_fh.close()  # after an error the library leaves this file open


def _write_sheet(book: Any, sheet: Any, rows: Sequence[Row], names: Sequence[str]) -> None:
    formats = {level: book.add_format({"bg_color": colour}) for level, colour in _COLOURS.items()}
    sheet.freeze_panes(1, 1)
    sheet.set_column(0, 1, 48)
    sheet.set_column(2, len(names) - 1, 16)
    sheet.write_row(0, 0, names, book.add_format({"bold": True}))
    for position, (row, cells) in enumerate(zip(rows, _table(rows, names), strict=True), 1):
        plain = [cell if isinstance(cell, (int, float)) else str(cell)[:32_767] for cell in cells]
        sheet.write_row(position, 0, plain, formats.get(row.level))


def _table(rows: Iterable[Row], names: Sequence[str]) -> Iterator[list[Any]]:
    of_values = "Cosine" in names
    for row in rows:
        cells = _cells(row, of_values)
        yield [non_finite_as_text(cells.get(name, _ABSENT)) for name in names]


def _cells(row: Row, of_values: bool) -> dict[str, Any]:
    """Return the cells of a row by column name, with measures of the values if ``of_values``, else
    differences of statistics."""
    known, pair = fields(row), row.compared.pair
    cells: dict[str, Any] = {}
    sides = (("target", "NPU", pair.target), ("reference", "Bench", pair.reference))
    for (side, prefix, entry), checksum in zip(sides, _CHECKSUMS, strict=True):
        if entry is not None:
            cells |= _side(known, side, prefix, entry)
            cells[checksum] = (entry.statistics and entry.statistics.checksum) or _ABSENT
    if pair.target is not None and pair.reference is not None:
        cells |= _measures(known, row) if of_values else _differences(known)
        cells["Requires_grad Consistent"] = pair.target.requires_grad == pair.reference.requires_grad
    cells["Result"] = row.level
    cells["Err_message"] = json.dumps([MESSAGES[code] for code in row.codes])
    return cells


def _side(known: dict[str, Any], side: str, prefix: str, entry: TensorEntry) -> dict[str, Any]:
    """Return the columns that describe one tensor of a row."""
    direction = "parameters" if entry.direction == "parameter" else entry.direction
    gradient = entry.operator.split(".")[-2:-1] == ["parameters_grad"]  # msprobe gives these no direction
    parts = [entry.operator, entry.slot] if gradient else [entry.operator, direction, entry.slot]
    cells = {
        "Name": ".".join(parts),
        "Dtype": known[f"{side}_dtype"],
        "Tensor Shape": known[f"{side}_shape"],
        "Requires_grad": entry.requires_grad,
        **{name: known[f"{side}_{name}"] for name in _STATISTICS},
    }
    return {f"{prefix} {name}": _ABSENT if value is None else value for name, value in cells.items()}


def _measures(known: dict[str, Any], row: Row) -> dict[str, Any]:
    cells = {name: _UNSUPPORTED if known[key] is None else known[key] for name, key in _TENSORS.items()}
    measures = row.compared.measures
    if measures and measures.cosine is None and measures.count > 1 and not measures.differing:
        cells["Cosine"] = 1.0  # msprobe's number for zeros on both sides, which have no cosine
    return cells


def _differences(known: dict[str, Any]) -> dict[str, Any]:
    """Return the difference of each statistic, and as text its share of the reference's value."""
    cells: dict[str, Any] = {}
    for (name, title), relative in zip(_STATISTICS.items(), _RELATIVE, strict=True):
        target, reference = known[f"target_{name}"], known[f"reference_{name}"]
        if target is None or reference is None:
            continue
        difference = target - reference
        cells[f"{title} diff"] = difference
        if reference:
            cells[relative] = f"{abs(difference / reference) * 100}%"
        elif not difference:
            cells[relative] = 0
    return cells
