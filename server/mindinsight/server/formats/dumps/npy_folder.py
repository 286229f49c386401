"""A folder of ``.npy`` files and ``statistic.csv``: one step of a synchronous or asynchronous dump.

Files are listed, not opened. Names beyond 255 characters stand in ``mapping.csv`` beside a number.
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
from mindinsight.server.formats.dumps.names import Names, TensorFile, parse_npy_name, parse_npy_names
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

_KEY: Final = attrgetter("operator", "timestamp", "io", "slot")
LookUp = Callable[[Iterable[str]], Names]


def list_npy_folder(
    folder: StepFolder, layout: str, look_up: LookUp, constants: str = ""
) -> Listing[TensorEntry]:
    """Tensors of a folder in the order they were written; those of the folder ``constants`` go before."""
    damage: list[FileDamage] = []
    before = _in_order(npy_files(constants, damage)) if constants else []
    found = _in_order(_with_statistics(npy_files(folder.path, damage), folder.path, damage))
    files = before + found
    names = look_up({file.operator for file in files})

    def entry(position: int) -> TensorEntry:
        made = _entry(folder, layout, names, position, files[position])
        return made._replace(direction="constant") if position < len(before) else made

    return Listing(LazySequence(len(files), entry), tuple(damage))


def npy_header(ref: TensorRef) -> TensorHeader:
    """Shape and type of a ``.npy`` file."""
    header = read_npy_header(Path(ref.path))
    return TensorHeader(header.shape, header.dtype, header.size)


def npy_values(ref: TensorRef) -> Values:
    """The array of a ``.npy`` file, by parts where it is in C order."""
    path = Path(ref.path)
    return stored_npy(path, read_npy_header(path)) or Held(read_npy(path))


def read_mapping(folder: Path, damage: list[FileDamage]) -> dict[str, str]:
    """``mapping.csv``: name on disk to the name that was too long; empty without one."""
    path = folder / "mapping.csv"
    try:
        lines = [line.rstrip("\r\n") for line in read_lines(path, MAPPING)]
    except UnreadableError as error:
        if error.reason != "dump.missing":
            damage.append(FileDamage(str(path), error.reason, error.detail))
        return {}
    pairs = (line.partition(",") for line in lines)
    return {short.strip(): long.strip() for short, comma, long in pairs if comma}


def _in_order(files: list[TensorFile]) -> list[TensorFile]:
    """By time; where all of an operator has one time, inputs go before outputs, each by slot."""
    files.sort(key=lambda file: (file.timestamp, file.operator, file.io, int(file.slot)))
    return files


def npy_files(path: str, damage: list[FileDamage]) -> list[TensorFile]:
    """The ``.npy`` files of a folder by their names, in no order."""
    names = [name for name in files_of(Path(path)) if name.endswith(".npy")]
    parsed = parse_npy_names(names, path)
    found = [file for file in parsed if file]
    if len(found) < len(names):
        unknown = [name for name, file in zip(names, parsed, strict=True) if file is None]
        mapping = read_mapping(Path(path), damage)
        found += [_renamed(f"{path}/{name}", mapping.get(name, ""), damage) for name in unknown]
    if all(map(_is_text, names)):
        return found
    damage += [FileDamage(path, "dump.name_not_text", ascii(name)) for name in names if not _is_text(name)]
    return [_shown(file) for file in found]


def _shown(file: TensorFile) -> TensorFile:
    """The file with names that every encoder takes; its path stays what the file system has."""
    return file._replace(
        type=show_text(file.type),
        operator=show_text(file.operator),
        format=show_text(file.format),
        dtype=show_text(file.dtype),
    )


def _renamed(path: str, name: str, damage: list[FileDamage]) -> TensorFile:
    """The file under its mapped name; one whose name says nothing is still a tensor to look at."""
    file = parse_npy_name(name, path)
    if file:
        return file
    trouble = FileDamage(show_text(path), "dump.unknown_name")
    damage.append(trouble)
    return TensorFile("", Path(path).stem, 0, 0, 0, "output", "0", path=path, damage=trouble)


def _is_text(name: str) -> bool:
    if name.isascii():
        return True
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _with_statistics(files: list[TensorFile], path: str, damage: list[FileDamage]) -> list[TensorFile]:
    """Files and rows of ``statistic.csv`` joined; a row without a file is a tensor without values."""
    rows, trouble = read_statistics(Path(path) / "statistic.csv")
    damage += trouble
    by_key = {_KEY(row): row for row in rows}
    joined = [_described(file, by_key.pop(_KEY(file), None)) for file in files] if rows else files
    return joined + list(by_key.values())


def _described(file: TensorFile, row: TensorFile | None) -> TensorFile:
    if row is None:
        return file
    return file._replace(dtype=row.dtype or file.dtype, shape=row.shape, statistics=row.statistics)


def _entry(folder: StepFolder, layout: str, names: Names, position: int, file: TensorFile) -> TensorEntry:
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
