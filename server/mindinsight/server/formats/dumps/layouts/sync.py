"""Layout of MindSpore's synchronous dumps: ``rank_{R}/{net}/{graph}/{iteration}/`` with ``.npy`` files.

All three naming generations are read, with or without ``.dump_metadata``, and also the directory of one rank
or of one iteration alone (as a conversion tool leaves it).
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from mindinsight.server.files.opener import files_of, folders_of
from mindinsight.server.formats.dumps import dump_types
from mindinsight.server.formats.dumps.dump_layout import Arguments, Layout, assemble_operators
from mindinsight.server.formats.dumps.dump_names import GraphFiles, parse_npy_name
from mindinsight.server.formats.dumps.npy_folder import STATISTICS_FILE, list_npy_folder
from mindinsight.server.formats.dumps.recorder_files import recorder_logs
from mindinsight.server.formats.text_files import read_json, read_text

NAME: Final = "sync"
CONSTANTS: Final = "constants"
_RANK: Final = re.compile(r"rank_(\d+)")
_NOT_NETS: Final = frozenset(("graphs", "execution_order", ".dump_metadata", "rdr"))
_PROBED_FILES: Final = 20  # file names that decide whether a folder is one iteration


_REQUIRES_GRAD: Final = "requires_grad.json"  # of DumpRecorder, in the folder of an iteration


class SyncLayout(Layout):
    """Layout of MindSpore's synchronous dumps."""

    name = NAME
    growing = ("", STATISTICS_FILE)

    def match(self, path: Path) -> float:
        """Return 0.9 for ranks with graphs or iterations, 0.7 for one rank, 0.3 for only tensors, else -1."""
        if any(_is_rank(folder) for folder in _ranks(path)):
            return 0.9
        if _RANK.fullmatch(path.name) and _is_rank(path):
            return 0.7
        return 0.3 if _is_iteration(path) else -1.0

    def open_dump(self, path: Path) -> dump_types.Dump:
        """Return the dump with its ranks, nets, graphs and iterations; a folder without ranks is one step.
        The metadata are those of the first rank that has any."""
        damage: list[dump_types.FileDamage] = []
        ranks = [folder for folder in _ranks(path) if _is_rank(folder)]
        if not ranks and _RANK.fullmatch(path.name):
            ranks = [path]
        folders = [folder for rank in ranks for folder in _step_folders(rank)]
        if not ranks:
            folders = [dump_types.StepFolder(0, 0, "", str(path), str(path))]
        configurations = [_metadata(rank, damage) for rank in ranks]
        not_recorded = tuple(gap for rank in ranks for gap in _not_recorded(rank, damage))
        metadata, config = next((folder for folder in configurations if folder != ({}, "")), ({}, ""))
        return dump_types.Dump(
            str(path),
            NAME,
            tuple(sorted(folders, key=lambda folder: (folder.rank, folder.step, folder.graph))),
            tuple((_number(rank), rank.name) for rank in sorted(ranks, key=_number)) or ((0, ""),),
            framework=str(metadata.get("framework", "mindspore")),
            version=str(metadata.get("ms_version", metadata.get("framework_version", ""))),
            device=str(metadata.get("device_target", "")),
            task=_saved_data(config),
            config=config,
            logs=recorder_logs(path),
            damage=tuple(damage),
            not_recorded=not_recorded,
        )

    def tensors(self, folder: dump_types.StepFolder) -> dump_types.Listing[dump_types.TensorEntry]:
        """Return the tensors of one iteration. The constants of its graph come first."""
        constants = Path(folder.path).parent / CONSTANTS
        graph_files = GraphFiles(folder, [])
        listing = list_npy_folder(
            folder, NAME, graph_files.resolve_names, str(constants) if folder.graph else ""
        )
        return dump_types.Listing(listing.items, (*listing.damage, *graph_files.damage))

    def operators(self, folder: dump_types.StepFolder) -> dump_types.Listing[dump_types.Operator]:
        """Return the operators of one iteration, with the sources and call stacks of the graph files."""
        listing, graph_files = self.tensors(folder), GraphFiles(folder, [])
        kernels = {name for name in files_of(Path(folder.path)) if name.endswith(".json")}
        trained = Path(folder.path) / _REQUIRES_GRAD
        parameters = dict(_kernel_arguments(trained, graph_files.damage) if _REQUIRES_GRAD in kernels else ())

        def arguments(kind: str, recorded: str) -> Arguments:
            if kind == "Parameter":
                return (("requires_grad", parameters[recorded]),) if recorded in parameters else ()
            name = f"{kind}.{recorded}.json"
            return _kernel_arguments(Path(folder.path) / name, graph_files.damage) if name in kernels else ()

        operators = assemble_operators(
            folder.graph, listing, graph_files.order(), graph_files.nodes(), arguments
        )
        return dump_types.Listing(operators, (*listing.damage, *graph_files.damage))


def _ranks(path: Path) -> list[Path]:
    """Return the folders of ranks directly inside a folder."""
    return [folder for folder in folders_of(path) if _RANK.fullmatch(folder.name)]


def _number(rank: Path) -> int:
    """Return the number of a rank folder, 0 for other names."""
    match = _RANK.fullmatch(rank.name)
    return int(match[1]) if match else 0


def _is_rank(path: Path) -> bool:
    """Return True if a folder has graphs, iterations or metadata."""
    names = {folder.name for folder in folders_of(path)}
    return not names.isdisjoint(("graphs", "execution_order", ".dump_metadata")) or any(_graphs(path))


def _graphs(rank: Path) -> Iterator[tuple[str, list[Path]]]:
    """Yield ``{net}/{graph}`` and its folders, if there is an iteration or constants among them."""
    for net in folders_of(rank):
        for graph in folders_of(net) if net.name not in _NOT_NETS else ():
            subfolders = folders_of(graph) if graph.name.isdecimal() else []
            if any(folder.name.isdecimal() or folder.name == CONSTANTS for folder in subfolders):
                yield f"{net.name}/{graph.name}", subfolders


def _is_iteration(path: Path) -> bool:
    """Return True if a folder holds dumped tensors."""
    names = files_of(path)
    return STATISTICS_FILE in names or any(parse_npy_name(name) for name in names[:_PROBED_FILES])


def _step_folders(rank: Path) -> list[dump_types.StepFolder]:
    """Return the iterations of a rank."""
    return [
        dump_types.StepFolder(_number(rank), int(step.name), graph, str(step), str(rank))
        for graph, folders in _graphs(rank)
        for step in folders
        if step.name.isdecimal()
    ]


def _metadata(rank: Path, damage: list[dump_types.FileDamage]) -> tuple[dict[str, Any], str]:
    """Return the parsed ``config.json`` and the text of ``data_dump.json``. Both may be missing."""
    folder = rank / ".dump_metadata"
    metadata = dump_types.read_or_report(folder / "config.json", read_json, damage)
    config = dump_types.read_or_report(folder / "data_dump.json", read_text, damage)
    return metadata if isinstance(metadata, dict) else {}, config or ""


def _not_recorded(rank: Path, damage: list[dump_types.FileDamage]) -> Iterator[dump_types.NotRecorded]:
    """Yield the entries of ``not_recorded.json``. Invalid entries are skipped, because other tools may
    write there."""
    entries = dump_types.read_or_report(rank / ".dump_metadata" / "not_recorded.json", read_json, damage)
    for entry in entries if isinstance(entries, list) else ():
        if isinstance(entry, dict) and isinstance(entry.get("kind"), str):
            yield dump_types.NotRecorded(
                _number(rank),
                entry["kind"],
                tuple(name for name in _items(entry, "names") if isinstance(name, str)),
                next((count for count in [entry.get("count")] if type(count) is int), 0),
                str(entry.get("detail", "")),
                tuple(step for step in _items(entry, "iterations") if type(step) is int),
            )


def _items(entry: dict[str, Any], key: str) -> list[Any]:
    """Return the list ``key`` of an entry, or an empty list."""
    items = entry.get(key)
    return items if isinstance(items, list) else []


def _saved_data(config: str) -> str:
    """Return the kind of data in the text of a configuration, empty if it is not stated."""
    match = re.search(r'"saved_data"\s*:\s*"(\w+)"', config)
    return match[1] if match else ""


def _kernel_arguments(path: Path, damage: list[dump_types.FileDamage]) -> Arguments:
    """Return the arguments in the JSON file of a kernel. Adds to ``damage``."""
    document = dump_types.read_or_report(path, read_json, damage, optional=False)
    items = document.items() if isinstance(document, dict) else ()
    return tuple((str(key), str(value)) for key, value in items)
