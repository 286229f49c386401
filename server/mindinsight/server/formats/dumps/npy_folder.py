"""Reader of a folder of ``.npy`` files and ``statistic.csv``, as in dumps of MindSpore."""

import csv
import re
from collections.abc import Callable, Iterable, Iterator
from operator import attrgetter
from pathlib import Path
from typing import Any, Final

from mindinsight.server.files.opener import files_of
from mindinsight.server.formats.arrays.element_types import canonical
from mindinsight.server.formats.arrays.lazy_array import Held, Values, stored_npy
from mindinsight.server.formats.arrays.npy import read_npy, read_npy_header, read_small_npy
from mindinsight.server.formats.dumps.dump_names import FullNames, TensorFile, parse_npy_name, parse_npy_names
from mindinsight.server.formats.dumps.dump_types import (
    FileDamage,
    LazySequence,
    Listing,
    RecordedStatistics,
    StepFolder,
    TensorEntry,
    TensorHeader,
    TensorRef,
    read_or_report,
)
from mindinsight.server.formats.file_bytes import MAX_LINE
from mindinsight.server.formats.read_limits import MAPPING, STATISTICS, UnreadableError
from mindinsight.server.formats.sanitizer import parse_integer, show_text
from mindinsight.server.formats.text_files import read_lines

MAX_DIGITS: Final = 18  # digits of the length of an axis
MAX_DAMAGE: Final = 100  # damaged rows reported one by one
_ROW_KEY: Final = ("Op Type", "Op Name", "Task ID", "Stream ID", "Timestamp", "IO", "Slot")
_NEEDED: Final = ("Op Name", "IO", "Slot")


def _count(text: str) -> float:
    """Parse a count, as a float beyond 64 bits. Raises ValueError beyond floats."""
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
    """Return the rows of ``statistic.csv`` in order, and its damage. Both are empty without the file."""
    rows: list[TensorFile] = []
    damage: list[FileDamage] = []
    try:
        rows += _parse_lines(_complete_lines(path), str(path), damage)
    except UnreadableError as error:
        if error.reason != "dump.missing":
            damage.append(FileDamage(str(path), error.reason, error.detail))
    return rows, damage


def _complete_lines(path: Path) -> Iterator[str]:
    """Yield the lines with a line break. Raises UnreadableError for a row that is too long. A line without
    one is the last, or too long for a row."""
    incomplete = False
    for line in read_lines(path, STATISTICS):
        if incomplete:
            raise UnreadableError("dump.csv_row", f"a row of over {MAX_LINE} bytes")
        incomplete = line[-1] != "\n"
        if not incomplete:
            yield line


def _parse_lines(text: Iterator[str], path: str, damage: list[FileDamage]) -> Iterator[TensorFile]:
    """Yield the rows after the header. Adds to ``damage``."""
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
    """Yield the parsed rows below the header, and add damaged rows to ``damage``."""
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
    """Return a function that parses a line. Positions of columns are computed once, from the header."""
    columns = {name: position for position, name in enumerate(header)}
    key = [columns.get(name, -1) for name in _ROW_KEY]
    values = [(field, columns[name], kind) for name, (field, kind) in _COLUMNS.items() if name in columns]
    checksum = next(((kind, columns[name]) for name, kind in _CHECKSUMS.items() if name in columns), None)
    dtype, shape = columns.get("Data Type", -1), columns.get("Shape", -1)

    def build(line: list[str]) -> TensorFile:
        texts = ((field, line[column], kind) for field, column, kind in values)
        # C++ also prints -nan. An empty field is a statistic that was not computed.
        fields: dict[str, Any] = {
            field: kind(text.lstrip("-") if "nan" in text else text) for field, text, kind in texts if text
        }
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
    """Parse an integer that is part of a row's key, 0 for an empty field. Raises ValueError beyond 64
    bits."""
    value = int(text or 0)
    if not -(1 << 63) <= value < 1 << 63:
        raise ValueError(f"a number of {len(text)} digits")
    return value


def _shape(text: str) -> tuple[int, ...] | None:
    """Return the lengths in ``[2,3]`` or, of older files, ``(2,3)``, or None for other texts."""
    axes = re.findall(r"\d+", text) if text[:1] in ("[", "(") else None
    return None if axes is None or max(map(len, axes), default=0) > MAX_DIGITS else tuple(map(int, axes))


STATISTICS_FILE: Final = "statistic.csv"
_KEY: Final = attrgetter("operator", "timestamp", "io", "slot")
NameResolver = Callable[[Iterable[str]], FullNames]


def list_npy_folder(
    folder: StepFolder, layout: str, resolve: NameResolver, constants: str = ""
) -> Listing[TensorEntry]:
    """Return the tensors of a step folder in the order they were written, constants first. ``constants``
    is the folder of the constants. ``resolve`` maps recorded operator names to full ones."""
    damage: list[FileDamage] = []
    constant_files = _sort_by_time(npy_files(constants, damage)) if constants else []
    step_files = _sort_by_time(_join_statistics(npy_files(folder.path, damage), folder.path, damage))
    files = constant_files + step_files
    names = resolve({file.operator for file in files})

    def entry(position: int) -> TensorEntry:
        built = _entry(folder, layout, names, position, files[position])
        return built._replace(direction="constant") if position < len(constant_files) else built

    return Listing(LazySequence(len(files), entry), tuple(damage))


def npy_header(ref: TensorRef) -> TensorHeader:
    """Return shape, type and size in bytes of a ``.npy`` file. Raises UnreadableError."""
    header = read_npy_header(Path(ref.path))
    return TensorHeader(header.shape, header.dtype, header.size)


def npy_values(ref: TensorRef) -> Values:
    """Return the values of a ``.npy`` file, read in parts if it is large and in C order, otherwise whole.
    Raises UnreadableError."""
    header, array = read_small_npy(ref.path)
    if array is not None:
        return Held(array)
    path = Path(ref.path)
    return stored_npy(path, header) or Held(read_npy(path))


def read_mapping(folder: Path, damage: list[FileDamage]) -> dict[str, str]:
    """Parse ``mapping.csv`` to long file names by names on disk, {} without the file. Add to ``damage`` if
    the file cannot be read."""
    lines = read_or_report(folder / "mapping.csv", lambda path: list(read_lines(path, MAPPING)), damage) or []
    pairs = (line.rstrip("\r\n").partition(",") for line in lines)
    return {short.strip(): long.strip() for short, comma, long in pairs if comma}


def _sort_by_time(files: list[TensorFile]) -> list[TensorFile]:
    """Sort files by time in place, and return them. Files of an operator with equal times are sorted inputs
    first, then by slot."""
    files.sort(key=lambda file: (file.timestamp, file.operator, file.io, int(file.slot)))
    return files


def npy_files(path: str, damage: list[FileDamage]) -> list[TensorFile]:
    """Return the ``.npy`` files of a folder, parsed from their names, in no order. Adds to ``damage``."""
    names = [name for name in files_of(Path(path)) if name.endswith(".npy")]
    parsed = parse_npy_names(names, path)
    tensor_files = [file for file in parsed if file]
    if len(tensor_files) < len(names):
        unparsed_names = [name for name, file in zip(names, parsed, strict=True) if file is None]
        mapping = read_mapping(Path(path), damage)
        tensor_files += [
            _parse_mapped_name(f"{path}/{name}", mapping.get(name, ""), damage) for name in unparsed_names
        ]
    unprintable = [name for name in names if not name.isascii() and show_text(name) != name]
    damage += [FileDamage(path, "dump.name_not_text", ascii(name)) for name in unprintable]
    return [_with_printable_names(file) for file in tensor_files] if unprintable else tensor_files


def _with_printable_names(file: TensorFile) -> TensorFile:
    """Return the file with names that can be encoded as UTF-8. Its path stays unchanged."""
    return file._replace(
        type=show_text(file.type),
        operator=show_text(file.operator),
        format=show_text(file.format),
        dtype=show_text(file.dtype),
    )


def _parse_mapped_name(path: str, name: str, damage: list[FileDamage]) -> TensorFile:
    """Parse the mapped name of a file. A file with an invalid name is still listed as a tensor."""
    file = parse_npy_name(name, path)
    if file:
        return file
    damaged = FileDamage(show_text(path), "dump.unknown_name")
    damage.append(damaged)
    return TensorFile("", Path(path).stem, 0, 0, 0, "output", "0", path=path, damage=damaged)


def _join_statistics(files: list[TensorFile], path: str, damage: list[FileDamage]) -> list[TensorFile]:
    """Return the files with their rows of ``statistic.csv``, and rows without a file as tensors without
    values."""
    rows, row_damage = read_statistics(Path(path) / STATISTICS_FILE)
    damage += row_damage
    by_key = {_KEY(row): row for row in rows}
    for number, file in enumerate(files if by_key else ()):
        row = by_key.pop(_KEY(file), None)
        if row is not None:
            dtype = row.dtype or file.dtype
            files[number] = file._replace(dtype=dtype, shape=row.shape, statistics=row.statistics)
    return files + list(by_key.values())


def _entry(folder: StepFolder, layout: str, names: FullNames, position: int, file: TensorFile) -> TensorEntry:
    """Build the listing entry of a file."""
    name, order = names[file.operator]
    return TensorEntry(
        folder.rank,
        folder.step,
        folder.graph,
        name,
        file.operator,
        file.type,
        "parameter" if file.type == "Parameter" else "input" if file.io == "input" else "output",
        file.slot,
        position,
        order,
        file.timestamp,
        file.shape,
        file.dtype,
        file.format,
        TensorRef(layout, file.path) if file.path else None,
        file.statistics,
        file.damage,
    )
