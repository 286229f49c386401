"""Exporter of a summary into files of common formats: scalars as tables, other kinds as files."""

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, Protocol, TypeAlias
from urllib.parse import quote

import numpy as np

from mindinsight.server.client.payload_kinds import EXPORTED, PAYLOADS
from mindinsight.server.client.reader import Scalars, Summary
from mindinsight.server.errors import Gone, bad_settings
from mindinsight.server.formats.read_limits import UnreadableError
from mindinsight.server.http.scalar_csv import csv_field, csv_rows
from mindinsight.server.store.run import SYSTEM
from mindinsight.server.store.series import Line, Recorded
from mindinsight.server.types import Kind

Format: TypeAlias = Literal["csv", "parquet"]
_COLUMNS: Final = ("tag", "step", "wall_time", "value")
KINDS: Final = ("scalar", *EXPORTED)

_LONGEST: Final = 120  # characters of a file name; file systems allow 255 bytes


@dataclass(frozen=True, slots=True)
class Exported:
    """Result of one exported file: its path and number of rows, or the problem that prevented it."""

    path: Path
    rows: int = 0
    problem: str = ""  # empty if the file was written


class Table(Protocol):
    """File to which series are appended."""

    def add(self, tag: str, columns: Line | Recorded) -> None:
        """Append the points of the series `tag`."""

    def close(self) -> None:
        """Complete the file."""


class CsvTable:
    """Writer of scalar series to a CSV file. Wall times are Unix seconds, numbers have the shortest form that
    reads back exactly."""

    def __init__(self, path: Path, overwritten: bool) -> None:
        self._file = path.open("w", newline="", encoding="utf-8")
        self._file.write(",".join((*_COLUMNS, *(["overwritten"] if overwritten else []))) + "\r\n")

    def add(self, tag: str, columns: Line | Recorded) -> None:
        """Append the points of the series `tag`."""
        self._file.writelines(csv_rows(csv_field(tag), columns))

    def close(self) -> None:
        """Complete the file."""
        self._file.close()


class ParquetTable:
    """Writer of scalar series to a Parquet file, with the columns of `CsvTable`, typed. Each series is one
    row group.

    Raises BadSettings if pyarrow is not installed.
    """

    def __init__(self, path: Path, overwritten: bool) -> None:
        try:
            import pyarrow as pa
            import pyarrow.parquet as pq
        except ModuleNotFoundError as error:
            raise bad_settings("parquet_package") from error
        self._arrow = pa
        number = pa.float64()
        fields = list(zip(_COLUMNS, (pa.string(), pa.int64(), number, number), strict=True))
        if overwritten:
            fields.append(("overwritten", pa.bool_()))
        self._schema = pa.schema(fields)
        self._writer = pq.ParquetWriter(path, self._schema)

    def add(self, tag: str, columns: Line | Recorded) -> None:
        """Append the points of the series `tag`."""
        tags = self._arrow.repeat(tag, len(columns.steps))
        arrays = [tags, columns.steps, columns.walls, columns.values.astype(np.float64)]
        if isinstance(columns, Recorded):
            arrays.append(columns.overwritten)
        self._writer.write_table(self._arrow.table(arrays, schema=self._schema))

    def close(self) -> None:
        """Complete the file."""
        self._writer.close()


TABLES: Final[dict[Format, Callable[[Path, bool], Table]]] = {"csv": CsvTable, "parquet": ParquetTable}


def export_scalars(
    summary: Summary, output: Path, run: str, form: Format, overwritten: bool = False
) -> Iterator[Exported]:
    """Write `scalars.csv` or `scalars.parquet` of one run and its machine, and yield a result per series.
    Write nothing without scalars. Raises BadSettings if the package for Parquet is missing. With
    `overwritten` every recorded row is written, with a column of that name."""
    machine = summary.scalars(f"{SYSTEM}*", run)
    series = Scalars({**summary.scalars(run=run).series, **machine.series})
    if not series:
        return
    path = _folder(output, run) / f"scalars.{form}"
    table = TABLES[form](path, overwritten)
    try:
        every: Mapping[tuple[str, str], Line | Recorded] = series.recorded() if overwritten else series
        for (_, tag), columns in every.items():
            table.add(tag, columns)
            yield Exported(path, len(columns.steps))
    finally:
        table.close()


def export_payloads(summary: Summary, kind: Kind, output: Path, run: str) -> Iterator[Exported]:
    """Write each payload of the runs that match `run` to a file, and yield its result. If a payload cannot be
    read, write no file and yield a result with its `problem`.

    The file is `<run>/<kind>/<tag>/<step>.<ending>` below `output`, with the run's path below its base. The
    contents are those that `payload_kinds` describes.
    """
    write = PAYLOADS[kind].write
    taken: set[Path] = set()
    for item in summary.items(kind, run=run):
        path = unused(_folder(output, item.run) / kind / safe(item.tag) / str(item.step), taken)
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            yield Exported(write(path, item.data), 1)
        except (Gone, UnreadableError) as error:
            yield Exported(path, problem=str(error))


def unused(path: Path, taken: set[Path]) -> Path:
    """Return ``path``, with a number appended if it is in ``taken``, and add the result to ``taken``."""
    name, number = path, 1
    while name in taken:
        number += 1
        name = path.with_name(f"{path.name}_{number}")
    taken.add(name)
    return name


def _folder(output: Path, run: str) -> Path:
    folder = output.joinpath(*(safe(part) for part in run.split("/")[1:] if part))
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def safe(name: str) -> str:
    """Return a tag as a file name, percent-encoded. A name that is too long ends in a hash."""
    quoted = quote(name, safe="-_ ()[],=+", encoding="utf-8", errors="surrogateescape")
    if not quoted.strip("."):
        return quoted.replace(".", "%2E") or "%"
    if len(quoted) <= _LONGEST:
        return quoted
    return f"{quoted[: _LONGEST - 17]}~{hashlib.sha256(name.encode()).hexdigest()[:16]}"
