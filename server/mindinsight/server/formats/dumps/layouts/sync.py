"""MindSpore's synchronous dump: ``rank_{R}/{net}/{graph}/{iteration}/*.npy`` and ``statistic.csv``.

All three naming generations, with or without ``.dump_metadata``. The directory of one rank, or of
one iteration alone (as a conversion tool leaves it), is read too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final, TypeVar

from mindinsight.server.files.folders import files_of, folders_of
from mindinsight.server.formats.dumps.graph_files import Surroundings
from mindinsight.server.formats.dumps.layout import Layout
from mindinsight.server.formats.dumps.names import parse_npy_name
from mindinsight.server.formats.dumps.npy_folder import list_npy_folder
from mindinsight.server.formats.dumps.operators import Arguments, put_together
from mindinsight.server.formats.dumps.recorder_files import recorder_logs
from mindinsight.server.formats.dumps.types import (
    Dump,
    FileDamage,
    Listing,
    Operator,
    StepFolder,
    TensorEntry,
)
from mindinsight.server.formats.text_files import read_json, read_text
from mindinsight.server.formats.unreadable import UnreadableError

Content = TypeVar("Content")
NAME: Final = "sync"
CONSTANTS: Final = "constants"
_RANK: Final = re.compile(r"rank_(\d+)")
_BESIDE: Final = frozenset(("graphs", "execution_order", ".dump_metadata", "rdr"))
_LOOKED_AT: Final = 20  # files of a folder that may be one iteration


class SyncLayout(Layout):
    """MindSpore"s synchronous dump."""

    name = NAME

    def match(self, path: Path) -> float:
        """Ranks with graphs or iterations below: sure. One rank, or a folder of dumped tensors: likely."""
        if any(_is_rank(folder) for folder in _ranks(path)):
            return 0.9
        if _RANK.fullmatch(path.name) and _is_rank(path):
            return 0.7
        return 0.3 if _is_iteration(path) else -1.0

    def open_dump(self, path: Path) -> Dump:
        """Ranks, nets, graphs and iterations of a dump."""
        damage: list[FileDamage] = []
        ranks = [folder for folder in _ranks(path) if _is_rank(folder)]
        if not ranks and _RANK.fullmatch(path.name):
            ranks = [path]
        folders = [found for rank in ranks for found in _step_folders(rank)]
        if not ranks:
            folders = [StepFolder(0, 0, "", str(path), str(path))]
        settings = [_metadata(rank, damage) for rank in ranks]
        about, config = next((found for found in settings if found != ({}, "")), ({}, ""))
        return Dump(
            str(path),
            NAME,
            tuple(sorted(folders, key=lambda folder: (folder.rank, folder.step, folder.graph))),
            tuple((_number(rank), rank.name) for rank in sorted(ranks, key=_number)) or ((0, ""),),
            framework=str(about.get("framework", "mindspore")),
            version=str(about.get("ms_version", about.get("framework_version", ""))),
            device=str(about.get("device_target", "")),
            task=_saved_data(config),
            config=config,
            logs=recorder_logs(path),
            damage=tuple(damage),
        )

    def tensors(self, folder: StepFolder) -> Listing[TensorEntry]:
        """Tensors of one iteration; the constants of its graph come first."""
        constants = Path(folder.path).parent / CONSTANTS
        beside = Surroundings(folder, [])
        found = list_npy_folder(folder, NAME, beside.look_up, str(constants) if folder.graph else "")
        return Listing(found.items, (*found.damage, *beside.damage))

    def operators(self, folder: StepFolder) -> Listing[Operator]:
        """Operators of one iteration with sources and source lines from the graph beside it."""
        listed, beside = self.tensors(folder), Surroundings(folder, [])
        kernels = {name for name in files_of(Path(folder.path)) if name.endswith(".json")}

        def arguments(kind: str, recorded: str) -> Arguments:
            name = f"{kind}.{recorded}.json"
            return _kernel_arguments(Path(folder.path) / name, beside.damage) if name in kernels else ()

        found = put_together(folder.graph, listed, beside.order(), beside.nodes(), arguments)
        return Listing(found, (*listed.damage, *beside.damage))


def _ranks(path: Path) -> list[Path]:
    return [folder for folder in folders_of(path) if _RANK.fullmatch(folder.name)]


def _number(rank: Path) -> int:
    found = _RANK.fullmatch(rank.name)
    return int(found[1]) if found else 0


def _is_rank(path: Path) -> bool:
    inside = folders_of(path)
    named = any(folder.name in ("graphs", "execution_order", ".dump_metadata") for folder in inside)
    return named or any(True for _ in _graphs(path))


def _graphs(rank: Path) -> Iterator[tuple[str, list[Path]]]:
    """``{net}/{graph}`` and the folders in it, where there is an iteration or constants among them."""
    for net in folders_of(rank):
        for graph in folders_of(net) if net.name not in _BESIDE else ():
            inside = folders_of(graph) if graph.name.isdecimal() else []
            if any(folder.name.isdecimal() or folder.name == CONSTANTS for folder in inside):
                yield f"{net.name}/{graph.name}", inside


def _is_iteration(path: Path) -> bool:
    names = files_of(path)
    return "statistic.csv" in names or any(parse_npy_name(name) for name in names[:_LOOKED_AT])


def _step_folders(rank: Path) -> list[StepFolder]:
    return [
        StepFolder(_number(rank), int(step.name), graph, str(step), str(rank))
        for graph, inside in _graphs(rank)
        for step in inside
        if step.name.isdecimal()
    ]


def _metadata(rank: Path, damage: list[FileDamage]) -> tuple[dict[str, Any], str]:
    """``config.json`` as values, ``data_dump.json`` as text; both can be missing."""
    folder = rank / ".dump_metadata"
    about = _read_where_there(folder / "config.json", read_json, damage)
    config = _read_where_there(folder / "data_dump.json", read_text, damage)
    return about if isinstance(about, dict) else {}, config or ""


def _read_where_there(
    path: Path, read: Callable[[Path], Content], damage: list[FileDamage]
) -> Content | None:
    try:
        return read(path)
    except UnreadableError as error:
        if error.reason != "dump.missing":
            damage.append(FileDamage(str(path), error.reason, error.detail))
        return None


def _saved_data(config: str) -> str:
    found = re.search(r'"saved_data"\s*:\s*"(\w+)"', config)
    return found[1] if found else ""


def _kernel_arguments(path: Path, damage: list[FileDamage]) -> Arguments:
    try:
        found = read_json(path)
    except UnreadableError as error:
        damage.append(FileDamage(str(path), error.reason, error.detail))
        return ()
    return tuple((str(key), str(value)) for key, value in found.items()) if isinstance(found, dict) else ()
