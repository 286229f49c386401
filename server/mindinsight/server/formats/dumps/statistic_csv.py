"""``statistic.csv``: what MindSpore computed about tensors while it dumped them.

One row a tensor; the columns after ``Shape`` are those the user chose. Rows end in a comma the header
does not have. A last line without its end is still being written and is left for the next time.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from mindinsight.server.formats.dumps.names import TensorFile
from mindinsight.server.formats.dumps.types import FileDamage, RecordedStatistics
from mindinsight.server.formats.element_types import canonical
from mindinsight.server.formats.file_bytes import length_of, opened
from mindinsight.server.formats.unreadable import UnreadableError

MAX_SIZE: Final = 1 << 30  # bytes
MAX_DAMAGE: Final = 100  # rows named one by one
_ROW_KEY: Final = ("Op Type", "Op Name", "Task ID", "Stream ID", "Timestamp", "IO", "Slot")
_NEEDED: Final = ("Op Name", "IO", "Slot")
_COLUMNS: Final[dict[str, tuple[str, Callable[[str], float]]]] = {
    "Max Value": ("max", float),
    "Min Value": ("min", float),
    "Avg Value": ("mean", float),
    "L2Norm Value": ("l2norm", float),
    "Data Size": ("size", int),
    "Count": ("count", int),
    "Negative Zero Count": ("negative", int),  # the name is misleading: elements below zero
    "Positive Zero Count": ("positive", int),
    "Zero Count": ("zero", int),
    "NaN Count": ("nan", int),
    "Negative Inf Count": ("negative_inf", int),
    "Positive Inf Count": ("positive_inf", int),
}
_CHECKSUMS: Final = {"MD5": "md5", "SHA1": "sha1"}


def read_statistics(path: Path) -> tuple[list[TensorFile], list[FileDamage]]:
    """Rows of a file in its order, and what was wrong; no file: no rows."""
    try:
        with opened(path) as file:
            if length_of(file) > MAX_SIZE:
                return [], [FileDamage(str(path), "dump.too_large", f"over {MAX_SIZE} bytes")]
            text = file.read().decode("utf-8", "replace")
    except UnreadableError as error:
        missing = error.reason == "dump.missing"
        return [], [] if missing else [FileDamage(str(path), error.reason, error.detail)]
    return _parsed(text[: text.rfind("\n") + 1], str(path))


def _parsed(text: str, path: str) -> tuple[list[TensorFile], list[FileDamage]]:
    damage: list[FileDamage] = []
    lines = csv.reader(io.StringIO(text))
    try:
        header = next(lines, [])
    except csv.Error as error:
        return [], [FileDamage(path, "dump.csv_row", f"row 1: {error}")]
    absent = [name for name in _NEEDED if name not in header]
    if absent:
        return [], [FileDamage(path, "dump.csv_columns", ", ".join(absent))] if text else []
    return list(_rows(lines, header, path, damage)), damage


def _rows(
    lines: Iterator[list[str]], header: list[str], path: str, damage: list[FileDamage]
) -> Iterator[TensorFile]:
    build = _builder(header)
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
        except (ValueError, IndexError) as error:
            if len(damage) < MAX_DAMAGE:
                damage.append(FileDamage(path, "dump.csv_row", f"row {number}: {error}"))


def _builder(header: list[str]) -> Callable[[list[str]], TensorFile]:
    """A function from a line to its row; columns are found once."""
    at = {name: position for position, name in enumerate(header)}
    key = [
        at.get(name, -1) for name in ("Op Type", "Op Name", "Task ID", "Stream ID", "Timestamp", "IO", "Slot")
    ]
    values = [(field, at[name], kind) for name, (field, kind) in _COLUMNS.items() if name in at]
    checksum = next(((kind, at[name]) for name, kind in _CHECKSUMS.items() if name in at), None)
    dtype, shape = at.get("Data Type", -1), at.get("Shape", -1)

    def build(line: list[str]) -> TensorFile:
        fields: dict[str, Any] = {field: _number(line[place], kind) for field, place, kind in values}
        if checksum:
            fields |= {"checksum_kind": checksum[0], "checksum": line[checksum[1]].strip()}
        kind, operator, task, stream, timestamp, side, slot = (line[p] if p >= 0 else "" for p in key)
        if side not in ("input", "output"):
            raise ValueError(f"IO is {side[:20]!r}")
        return TensorFile(
            kind,
            operator,
            int(task or 0),
            int(stream or 0),
            int(timestamp or 0),
            side,
            str(int(slot)),
            dtype=canonical(line[dtype]) if dtype >= 0 else "",
            shape=_shape(line[shape]) if shape >= 0 else None,
            statistics=RecordedStatistics(**fields),
        )

    return build


def _number(text: str, kind: Callable[[str], float]) -> float | None:
    """A number as C++ prints it (``-nan`` included); None for an empty field."""
    return kind(text.lstrip("-") if "nan" in text else text) if text else None


def _shape(text: str) -> tuple[int, ...] | None:
    """``[2,3]`` or, in older files, ``(2,3)``."""
    return tuple(map(int, re.findall(r"\d+", text))) if text[:1] in ("[", "(") else None
