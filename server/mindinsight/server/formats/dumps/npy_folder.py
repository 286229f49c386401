"""Reader of a folder of ``.npy`` files and ``statistic.csv``, as dumps of MindSpore have one for each step.

Files are listed, not opened. A file whose name is longer than 255 characters has a number for a name, and its
long name is in ``mapping.csv``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from operator import attrgetter
from pathlib import Path
from typing import Final

from mindinsight.server.files.folders import files_of
from mindinsight.server.formats.arrays.npy import read_npy, read_npy_header
from mindinsight.server.formats.arrays.stored import Held, Values, stored_npy
from mindinsight.server.formats.budgets import MAPPING
from mindinsight.server.formats.dumps.names import FullNames, TensorFile, parse_npy_name, parse_npy_names
from mindinsight.server.formats.dumps.statistic_csv import read_statistics
from mindinsight.server.formats.dumps.types import (
    FileDamage,
    LazySequence,
    Listing,
    StepFolder,
    TensorEntry,
    TensorHeader,
    TensorRef,
)
from mindinsight.server.formats.text_files import read_lines
from mindinsight.server.formats.texts import show_text
from mindinsight.server.formats.unreadable import UnreadableError

STATISTICS_FILE: Final = "statistic.csv"
_KEY: Final = attrgetter("operator", "timestamp", "io", "slot")
NameResolver = Callable[[Iterable[str]], FullNames]


def list_npy_folder(
    folder: StepFolder, layout: str, resolve: NameResolver, constants: str = ""
) -> Listing[TensorEntry]:
    """Tensors of a step folder in the order they were written; those of the folder ``constants`` come first.

    ``resolve`` maps recorded operator names to full ones.
    """
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
    """Shape, type and size in bytes of a ``.npy`` file."""
    header = read_npy_header(Path(ref.path))
    return TensorHeader(header.shape, header.dtype, header.size)


def npy_values(ref: TensorRef) -> Values:
    """Values of a ``.npy`` file: read in parts where it is in C order, else whole."""
    path = Path(ref.path)
    return stored_npy(path, read_npy_header(path)) or Held(read_npy(path))


def read_mapping(folder: Path, damage: list[FileDamage]) -> dict[str, str]:
    """Parse ``mapping.csv``: long file names by names on disk; empty where there is no such file."""
    path = folder / "mapping.csv"
    try:
        lines = [line.rstrip("\r\n") for line in read_lines(path, MAPPING)]
    except UnreadableError as error:
        if error.reason != "dump.missing":
            damage.append(FileDamage(str(path), error.reason, error.detail))
        return {}
    pairs = (line.partition(",") for line in lines)
    return {short.strip(): long.strip() for short, comma, long in pairs if comma}


def _sort_by_time(files: list[TensorFile]) -> list[TensorFile]:
    """Sort files by time; those of an operator with equal times by inputs before outputs, then by slot."""
    files.sort(key=lambda file: (file.timestamp, file.operator, file.io, int(file.slot)))
    return files


def npy_files(path: str, damage: list[FileDamage]) -> list[TensorFile]:
    """The ``.npy`` files of a folder, parsed from their names, in no order."""
    names = [name for name in files_of(Path(path)) if name.endswith(".npy")]
    parsed = parse_npy_names(names, path)
    tensor_files = [file for file in parsed if file]
    if len(tensor_files) < len(names):
        unparsed_names = [name for name, file in zip(names, parsed, strict=True) if file is None]
        mapping = read_mapping(Path(path), damage)
        tensor_files += [
            _parse_mapped_name(f"{path}/{name}", mapping.get(name, ""), damage) for name in unparsed_names
        ]
    if all(map(_is_text, names)):
        return tensor_files
    damage += [FileDamage(path, "dump.name_not_text", ascii(name)) for name in names if not _is_text(name)]
    return [_with_printable_names(file) for file in tensor_files]


def _with_printable_names(file: TensorFile) -> TensorFile:
    """The file with names that can be encoded as UTF-8; its path stays that of the file system."""
    return file._replace(
        type=show_text(file.type),
        operator=show_text(file.operator),
        format=show_text(file.format),
        dtype=show_text(file.dtype),
    )


def _parse_mapped_name(path: str, name: str, damage: list[FileDamage]) -> TensorFile:
    """Parse the mapped name of a file; one that cannot be parsed is still listed as a tensor."""
    file = parse_npy_name(name, path)
    if file:
        return file
    damaged = FileDamage(show_text(path), "dump.unknown_name")
    damage.append(damaged)
    return TensorFile("", Path(path).stem, 0, 0, 0, "output", "0", path=path, damage=damaged)


def _is_text(name: str) -> bool:
    if name.isascii():
        return True
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _join_statistics(files: list[TensorFile], path: str, damage: list[FileDamage]) -> list[TensorFile]:
    """Join files with rows of ``statistic.csv``; a row without a file is a tensor without values."""
    rows, row_damage = read_statistics(Path(path) / STATISTICS_FILE)
    damage += row_damage
    by_key = {_KEY(row): row for row in rows}
    joined = [_with_row(file, by_key.pop(_KEY(file), None)) for file in files] if rows else files
    return joined + list(by_key.values())


def _with_row(file: TensorFile, row: TensorFile | None) -> TensorFile:
    if row is None:
        return file
    return file._replace(dtype=row.dtype or file.dtype, shape=row.shape, statistics=row.statistics)


def _entry(folder: StepFolder, layout: str, names: FullNames, position: int, file: TensorFile) -> TensorEntry:
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
