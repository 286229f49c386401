"""Comparison reports with the columns of ``msprobe compare`` 26, as CSV or as an Excel workbook.

NPU is the target and Bench the reference. The columns depend on what was compared: values, recorded
statistics, or checksums. A missing side is ``N/A``, and ``unsupported`` is a measure that cannot be computed,
as of a single number. Arguments that are no tensors have rows only where they differ.
"""

from __future__ import annotations

import csv
import importlib.util
import json
from collections.abc import Iterable, Iterator, Sequence
from tempfile import TemporaryDirectory
from typing import IO, Any, Final, TextIO

from mindinsight.server.compute.non_finite import non_finite_as_text
from mindinsight.server.debug.compare.comparison import Row
from mindinsight.server.debug.compare.report import MESSAGES, fields, safe_cell
from mindinsight.server.formats.dumps.types import TensorEntry

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
    """Names of the columns for what was compared, in msprobe's order."""
    basic = [f"{side} {name}" for name in _BASIC for side in ("NPU", "Bench")]
    extremes = [f"{side} {name}" for side in ("NPU", "Bench") for name in _STATISTICS]
    if any(row.compared.measures for row in rows):
        return [*basic, *_TENSORS, *extremes, *_VERDICT]
    if any(row.compared.same_checksum is not None for row in rows):
        return [*basic, *_CHECKSUMS, *_VERDICT]
    return [*basic, *(f"{name} diff" for name in _STATISTICS.values()), *_RELATIVE, *extremes, *_VERDICT]


def write_msprobe_csv(rows: Sequence[Row], file: TextIO) -> None:
    """Write rows as CSV with a header; text that a spreadsheet would take for a formula is quoted."""
    names = columns(rows)
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(names)
    for cells in _table(rows, names):
        writer.writerow([safe_cell(cell) for cell in cells])


def has_xlsx() -> bool:
    """Whether the package that writes workbooks is installed (the extra ``excel``)."""
    return importlib.util.find_spec("xlsxwriter") is not None


def write_msprobe_xlsx(rows: Sequence[Row], file: IO[bytes]) -> None:
    """Write rows as an Excel workbook. Errors and warnings are coloured, and the header stays in view.

    Raises OSError if the file or the temporary folder has no room.
    """
    from xlsxwriter import Workbook
    from xlsxwriter.exceptions import XlsxFileError

    names = columns(rows)
    with TemporaryDirectory() as folder:  # of the rows until the workbook is closed
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
            sheet.row_data_fh.close()  # after an error it would stay open until garbage is collected


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
    """The columns of a row by name, those of its measures or those of its statistics."""
    known, pair = fields(row), row.compared.pair
    cells: dict[str, Any] = {}
    sides = (("target", "NPU", pair.target), ("reference", "Bench", pair.reference))
    for (side, prefix, entry), checksum in zip(sides, _CHECKSUMS, strict=True):
        if entry is not None:
            cells |= _side(known, side, prefix, entry)
            cells[checksum] = (entry.statistics and entry.statistics.checksum) or _ABSENT
    if pair.target is not None and pair.reference is not None:
        cells |= _measures(known) if of_values else _differences(known)
        cells["Requires_grad Consistent"] = pair.target.requires_grad == pair.reference.requires_grad
    cells["Result"] = row.level
    cells["Err_message"] = json.dumps([MESSAGES[code] for code in row.codes])
    return cells


def _side(known: dict[str, Any], side: str, prefix: str, entry: TensorEntry) -> dict[str, Any]:
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


def _measures(known: dict[str, Any]) -> dict[str, Any]:
    return {name: _UNSUPPORTED if known[key] is None else known[key] for name, key in _TENSORS.items()}


def _differences(known: dict[str, Any]) -> dict[str, Any]:
    """Differences of the statistics of both sides, and their shares of the reference's as texts."""
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
