"""Discovery of runs, jobs, ranks and dumps below the base directories, by names and times alone."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, NamedTuple

from mindinsight.server.ingest.folder_tree import (
    Folder,
    FolderTree,
    JobRank,
    Stamp,
    child,
    concurrent_ranks,
    holds_profile,
    is_rank,
    job_ranks,
)
from mindinsight.server.settings.base_dirs import Bases
from mindinsight.server.store import file_names
from mindinsight.server.store.mounts import BASE
from mindinsight.server.store.run import Trouble

LIMIT: Final = 999  # runs


@dataclass(frozen=True, slots=True)
class DiscoveredRun:
    """A folder that is a run."""

    id: str  # that of the folder; of a further rank whose files lie in the same folder, an id below it
    folder: str  # id
    path: str  # absolute
    name: str
    job: str
    rank: int | None
    created: float  # Unix seconds, the largest in the files' names
    updated: float  # Unix seconds of the newest write
    files: Mapping[str, Stamp]
    dumps: tuple[str, ...]


class _RankFiles(NamedTuple):
    """A run: a folder, or the files of one rank where several ranks write into one folder."""

    id: str
    home: str  # id of the folder
    folder: Folder  # with the files of this run only


@dataclass(frozen=True, slots=True)
class Discovery:
    runs: tuple[DiscoveredRun, ...]  # newest write first
    left_out: int  # runs beyond the limit
    troubles: tuple[Trouble, ...]
    missing: bool  # there is no base directory


def discover(bases: Bases, limit: int = LIMIT) -> Discovery:
    """What lies below the base directories right now: the ``limit`` runs that were written to last."""
    tree = FolderTree(bases)
    tree.scan()
    return discover_runs(tree, limit)


def discover_runs(tree: FolderTree, limit: int = LIMIT) -> Discovery:
    """The runs among the folders of a tree."""
    dumps = _owners(tree)
    runs = {
        part.id: part
        for name, folder in tree.folders.items()
        if name in dumps or _is_run(folder) or _has_profile(tree, name)
        for part in _split(tree, name)
    }
    taken = sorted(runs.values(), key=lambda part: (-_updated(part.folder), part.id))[:limit]
    devices = {part.id: frozenset(_devices(part.folder)) for part in taken}
    jobs = job_ranks(devices)
    records = tuple(
        _found(tree, part, jobs[part.id], tuple(sorted(dumps.get(part.id, ())))) for part in taken
    )
    return Discovery(records, len(runs) - len(taken), tuple(_troubles(tree)), tree.missing)


def _split(tree: FolderTree, name: str) -> list[_RankFiles]:
    """The runs in a folder: one, or one for each rank whose files lie in it beside those of others.

    The lowest rank has the id of the folder, and all files that tell no rank; the others have the ids that
    folders of their own would have had.
    """
    folder = tree.folders[name]
    ranks = [] if is_rank(name.rpartition("/")[2]) else sorted(concurrent_ranks(folder.files))
    ids = {rank: child(name, f"rank_{rank}") if rank != ranks[0] else name for rank in ranks}
    if len(ranks) < 2 or not tree.folders.keys().isdisjoint(ids[rank] for rank in ranks[1:]):
        return [_RankFiles(name, name, folder)]
    files: dict[int, dict[str, Stamp]] = {rank: {} for rank in ranks}
    for file, stamp in folder.files.items():
        rank = file_names.device(file)
        files[rank if rank in files else ranks[0]][file] = stamp
    return [_RankFiles(ids[rank], name, replace(folder, files=files[rank])) for rank in ranks]


def _troubles(tree: FolderTree) -> Iterator[Trouble]:
    if tree.full:
        yield Trouble(BASE, "directory.too_many")
    for mount in tree.mounts if tree.several else ():
        if mount.inside:
            yield Trouble(mount.path, "directory.nested")
        elif mount.id not in tree.folders:
            yield Trouble(mount.path, "directory.missing")
    for name, folder in tree.folders.items():
        if folder.reason:
            yield Trouble(name, folder.reason)


def _owners(tree: FolderTree) -> dict[str, list[str]]:
    """Dumps by the run they are shown with: the nearest one above, else the folder they lie in.

    A dump of all ranks beside their folders is shown with the lowest rank. A base directory has only the
    dumps that lie directly in it: those further down are of other jobs.
    """
    owners: dict[str, list[str]] = defaultdict(list)
    lowest = _lowest_ranks(tree) if tree.dumps else {}
    for dump in tree.dumps:
        above = dump
        while not _is_run(tree.folders[above]) and above != tree.root(dump):
            above = tree.parent(above)
        is_owner = _is_run(tree.folders[above]) and above != tree.root(dump)
        parent = tree.parent(dump)
        beside = "" if _is_run(tree.folders[parent]) else lowest.get(parent, "")
        owners[above if is_owner else beside or parent].append(dump)
    return owners


def _lowest_ranks(tree: FolderTree) -> dict[str, str]:
    """By folder, the run of the lowest rank that lies in it."""
    ranks = [
        name
        for name, folder in tree.folders.items()
        if is_rank(name.rpartition("/")[2]) and _is_run(folder) and name not in tree.dumps
    ]
    ranks.sort(key=lambda name: (len(name), name), reverse=True)
    return {tree.parent(name): name for name in ranks}


def _is_run(folder: Folder) -> bool:
    return any(file_names.role(name) != "explain" for name in folder.files)


def _has_profile(tree: FolderTree, name: str) -> bool:
    profiles = tree.folders[name].profiles
    return any(holds_profile(f"{tree.path(name)}/{profile}") for profile in profiles)


def _updated(folder: Folder) -> float:
    return max((stamp.modified for stamp in folder.files.values()), default=folder.stamp.modified) / 1e9


def _created(folder: Folder) -> float:
    named = [seconds for seconds in map(file_names.created, folder.files) if seconds is not None]
    if named:
        return max(named)
    return max((stamp.changed for stamp in folder.files.values()), default=folder.stamp.changed) / 1e9


def _devices(folder: Folder) -> set[int]:
    return {number for number in map(file_names.device, folder.files) if number is not None}


def _found(tree: FolderTree, part: _RankFiles, position: JobRank, dumps: tuple[str, ...]) -> DiscoveredRun:
    folder = part.folder
    return DiscoveredRun(
        id=part.id,
        folder=part.home,
        path=tree.path(part.home),
        name=part.id[len(BASE) :] or file_names.shown(Path(tree.path(BASE)).name),
        job=position.job,
        rank=position.rank,
        created=_created(folder),
        updated=_updated(folder),
        files=folder.files,
        dumps=dumps,
    )
