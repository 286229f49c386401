"""Parser of ``statistic.csv``: the statistics that MindSpore computed of the tensors it dumped.

One row per tensor; the columns after ``Shape`` are those the user chose. Rows end in a comma that the header
does not have. A last line without a line break is still being written and is left for the next call.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from mindinsight.server.formats.arrays.element_types import canonical
from mindinsight.server.formats.budgets import STATISTICS
from mindinsight.server.formats.dumps.names import TensorFile
from mindinsight.server.formats.dumps.types import FileDamage, RecordedStatistics
from mindinsight.server.formats.text_files import MAX_LINE, read_lines
from mindinsight.server.formats.texts import parse_integer
from mindinsight.server.formats.unreadable import UnreadableError

MAX_DIGITS: Final = 18  # of an axis
MAX_DAMAGE: Final = 100  # rows reported one by one
_ROW_KEY: Final = ("Op Type", "Op Name", "Task ID", "Stream ID", "Timestamp", "IO", "Slot")
_NEEDED: Final = ("Op Name", "IO", "Slot")


def _count(text: str) -> float:
    """A count, as a float beyond 64 bits. Raises ValueError beyond floats."""
    return float(value) if isinstance(value := parse_integer(text), str) else value


_COLUMNS: Final[dict[str, tuple[str, Callable[[str], float]]]] = {
    "Max Value": ("max", float),
    "Min Value": ("min", float),
    "Avg Value": ("mean", float),
    "L2Norm Value": ("l2norm", float),
    "Data Size": ("size", _count),
    "Count": ("count", _count),
    "Negative Zero Count": ("negative", _count),  # the name is misleading: elements below zero
    "Positive Zero Count": ("positive", _count),
    "Zero Count": ("zero", _count),
    "NaN Count": ("nan", _count),
    "Negative Inf Count": ("negative_inf", _count),
    "Positive Inf Count": ("positive_inf", _count),
}
_CHECKSUMS: Final = {"MD5": "md5", "SHA1": "sha1"}


def read_statistics(path: Path) -> tuple[list[TensorFile], list[FileDamage]]:
    """Rows of a file in order, and the damage in it; no rows where there is no file."""
    rows: list[TensorFile] = []
    damage: list[FileDamage] = []
    try:
        rows += _parse_lines(_complete_lines(path), str(path), damage)
    except UnreadableError as error:
        if error.reason != "dump.missing":
            damage.append(FileDamage(str(path), error.reason, error.detail))
    return rows, damage


def _complete_lines(path: Path) -> Iterator[str]:
    """Lines that end in a line break; one without is the last, or too long for a row."""
    incomplete = False
    for line in read_lines(path, STATISTICS):
        if incomplete:
            raise UnreadableError("dump.csv_row", f"a row of over {MAX_LINE} bytes")
        incomplete = line[-1] != "\n"
        if not incomplete:
            yield line


def _parse_lines(text: Iterator[str], path: str, damage: list[FileDamage]) -> Iterator[TensorFile]:
    lines = csv.reader(text)
    try:
        header = next(lines, None)
    except csv.Error as error:
        damage.append(FileDamage(path, "dump.csv_row", f"row 1: {error}"))
        return
    absent = [name for name in _NEEDED if name not in (header or ())]
    if header is not None and absent:
        damage.append(FileDamage(path, "dump.csv_columns", ", ".join(absent)))
    elif header is not None:
        yield from _parse_rows(lines, header, path, damage)


def _parse_rows(
    lines: Iterator[list[str]], header: list[str], path: str, damage: list[FileDamage]
) -> Iterator[TensorFile]:
    build = _row_builder(header)
    number = 1
    while True:
        number += 1
        try:
            line = next(lines, None)
            if line is None:
                return
            yield build(line)
        except csv.Error as error:
            damage.append(FileDamage(path, "dump.csv_row", f"row {number}: {error}"))
            return
        except UnreadableError:
            raise
        except (ValueError, IndexError, OverflowError) as error:
            if len(damage) < MAX_DAMAGE:
                damage.append(FileDamage(path, "dump.csv_row", f"row {number}: {error}"))


def _row_builder(header: list[str]) -> Callable[[list[str]], TensorFile]:
    """A function that parses a line; positions of columns are computed once, for the header."""
    columns = {name: position for position, name in enumerate(header)}
    key = [
        columns.get(name, -1)
        for name in ("Op Type", "Op Name", "Task ID", "Stream ID", "Timestamp", "IO", "Slot")
    ]
    values = [(field, columns[name], kind) for name, (field, kind) in _COLUMNS.items() if name in columns]
    checksum = next(((kind, columns[name]) for name, kind in _CHECKSUMS.items() if name in columns), None)
    dtype, shape = columns.get("Data Type", -1), columns.get("Shape", -1)

    def build(line: list[str]) -> TensorFile:
        fields: dict[str, Any] = {field: _number(line[column], kind) for field, column, kind in values}
        if checksum:
            fields |= {"checksum_kind": checksum[0], "checksum": line[checksum[1]].strip()}
        kind, operator, task, stream, timestamp, side, slot = (line[p] if p >= 0 else "" for p in key)
        if side not in ("input", "output"):
            raise ValueError(f"IO is {side[:20]!r}")
        return TensorFile(
            kind,
            operator,
            _key_number(task),
            _key_number(stream),
            _key_number(timestamp),
            side,
            str(int(slot)),
            dtype=canonical(line[dtype]) if dtype >= 0 else "",
            shape=_shape(line[shape]) if shape >= 0 else None,
            statistics=RecordedStatistics(**fields),
        )

    return build


def _key_number(text: str) -> int:
    """A number of a key; 0 for an empty field. Raises ValueError beyond 64 bits."""
    value = int(text or 0)
    if not -(1 << 63) <= value < 1 << 63:
        raise ValueError(f"a number of {len(text)} digits")
    return value


def _number(text: str, kind: Callable[[str], float]) -> float | None:
    """A number as C++ prints it (``-nan`` included); None for an empty field."""
    return kind(text.lstrip("-") if "nan" in text else text) if text else None


def _shape(text: str) -> tuple[int, ...] | None:
    """``[2,3]`` or, in older files, ``(2,3)``."""
    axes = re.findall(r"\d+", text) if text[:1] in ("[", "(") else None
    return None if axes is None or max(map(len, axes), default=0) > MAX_DIGITS else tuple(map(int, axes))
