"""Discovery of runs, jobs, ranks and dumps below the base directories, by names and times only."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from mindinsight.server.ingest import folder_tree
from mindinsight.server.store import file_names
from mindinsight.server.store.mounts import BASE
from mindinsight.server.store.run import DirectoryDamage


@dataclass(frozen=True, slots=True)
class DiscoveredRun:
    """Run found by a scan: the files of one folder, or those of one rank if several ranks share the
    folder."""

    id: str  # id of the folder; for a further rank with files in the same folder, an id below it
    folder: str  # id
    path: str  # absolute
    name: str
    job: str
    rank: int | None
    created: float  # Unix seconds, the largest in the files' names
    updated: float  # Unix seconds of the newest write
    files: Mapping[str, folder_tree.Stamp]
    dumps: tuple[str, ...]
    console: bool = False  # what the training printed is in the folder
    dump_stamps: tuple[folder_tree.Stamp, ...] = ()  # of their folders, which change when a step is added


class _RankFiles(NamedTuple):
    """Files of one run: those of a folder, or those of one rank if several ranks write into the folder."""

    id: str
    home: str  # id of the folder
    folder: folder_tree.Folder  # with the files of this run only


@dataclass(frozen=True, slots=True)
class Discovery:
    """Result of discovery: runs below the base directories, and damage."""

    runs: tuple[DiscoveredRun, ...]  # newest write first
    left_out: int  # runs beyond the limit
    damage: tuple[DirectoryDamage, ...]
    missing: bool  # there is no base directory


def discover_runs(tree: folder_tree.FolderTree, limit: int) -> Discovery:
    """Return the ``limit`` runs with the newest writes among the folders of a tree."""
    dumps = _owners_of_dumps(tree)
    runs = {
        part.id: part
        for name, folder in tree.folders.items()
        if name in dumps or _is_run(folder) or _has_profile(tree, name)
        for part in _split_by_rank(tree, name)
    }
    taken = sorted(runs.values(), key=lambda part: (-_newest_write(part.folder), part.id))[:limit]
    devices = {part.id: frozenset(_device_ids(part.folder)) for part in taken}
    jobs = folder_tree.job_ranks(devices)
    records = tuple(
        _build_run(tree, part, jobs[part.id], tuple(sorted(dumps.get(part.id, ())))) for part in taken
    )
    return Discovery(records, len(runs) - len(taken), tuple(_directory_damage(tree)), tree.missing)


def _split_by_rank(tree: folder_tree.FolderTree, name: str) -> list[_RankFiles]:
    """Return the runs in a folder: one, or one for each rank if several ranks write into it. The lowest
    rank gets the id of the folder and all files without a rank. The others get the ids that folders of
    their own would have."""
    folder = tree.folders[name]
    ranks = (
        []
        if folder_tree.is_rank(name.rpartition("/")[2])
        else sorted(folder_tree.concurrent_ranks(folder.files))
    )
    ids = {rank: folder_tree.child(name, f"rank_{rank}") if rank != ranks[0] else name for rank in ranks}
    if len(ranks) < 2 or not tree.folders.keys().isdisjoint(ids[rank] for rank in ranks[1:]):
        return [_RankFiles(name, name, folder)]
    files: dict[int, dict[str, folder_tree.Stamp]] = {rank: {} for rank in ranks}
    for file, stamp in folder.files.items():
        rank = file_names.device(file)
        files[rank if rank in files else ranks[0]][file] = stamp
    return [_RankFiles(ids[rank], name, replace(folder, files=files[rank])) for rank in ranks]


def _directory_damage(tree: folder_tree.FolderTree) -> Iterator[DirectoryDamage]:
    """Yield the errors of directories."""
    if tree.full:
        yield DirectoryDamage(BASE, "directory.too_many")
    for mount in tree.mounts if tree.several else ():
        if mount.inside:
            yield DirectoryDamage(mount.path, "directory.nested")
        elif mount.id not in tree.folders:
            yield DirectoryDamage(mount.path, "directory.missing")
    for name, folder in tree.folders.items():
        if folder.reason:
            yield DirectoryDamage(name, folder.reason)


def _owners_of_dumps(tree: folder_tree.FolderTree) -> dict[str, list[str]]:
    """Return the dumps by the run they are shown with: the nearest run above, else their folder. A dump of
    all ranks next to their folders is shown with the lowest rank. A base directory has only the dumps
    directly in it, because dumps further down belong to other jobs."""
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


def _lowest_ranks(tree: folder_tree.FolderTree) -> dict[str, str]:
    """Return the run of the lowest rank in each folder."""
    ranks = [
        name
        for name, folder in tree.folders.items()
        if folder_tree.is_rank(name.rpartition("/")[2]) and _is_run(folder) and name not in tree.dumps
    ]
    ranks.sort(key=lambda name: (len(name), name), reverse=True)
    return {tree.parent(name): name for name in ranks}


def _is_run(folder: folder_tree.Folder) -> bool:
    """Return True if a folder holds files of a run."""
    return any(file_names.role(name) != "explain" for name in folder.files)


def _has_profile(tree: folder_tree.FolderTree, name: str) -> bool:
    """Return True if a folder holds a profile of a rank."""
    profiles = tree.folders[name].profiles
    return any(folder_tree.holds_profile(f"{tree.path(name)}/{profile}") for profile in profiles)


def _newest_write(folder: folder_tree.Folder) -> float:
    """Return the Unix seconds of the newest write in a folder."""
    return max((stamp.modified for stamp in folder.files.values()), default=folder.stamp.modified) / 1e9


def _creation_time(folder: folder_tree.Folder) -> float:
    """Return the latest time in the names of a folder's files, else that of the last write, in Unix
    seconds."""
    named = [seconds for seconds in map(file_names.created, folder.files) if seconds is not None]
    if named:
        return max(named)
    return max((stamp.changed for stamp in folder.files.values()), default=folder.stamp.changed) / 1e9


def _device_ids(folder: folder_tree.Folder) -> set[int]:
    """Return the device ids in the names of the files."""
    return {number for number in map(file_names.device, folder.files) if number is not None}


def _build_run(
    tree: folder_tree.FolderTree, part: _RankFiles, position: folder_tree.JobRank, dumps: tuple[str, ...]
) -> DiscoveredRun:
    """Return a run, given its files, job and dumps."""
    folder = part.folder
    return DiscoveredRun(
        id=part.id,
        folder=part.home,
        path=tree.path(part.home),
        name=part.id[len(BASE) :] or file_names.shown(Path(tree.path(BASE)).name),
        job=position.job,
        rank=position.rank,
        created=_creation_time(folder),
        updated=_newest_write(folder),
        files=folder.files,
        dumps=dumps,
        console=folder.console and part.id == part.home,
        dump_stamps=tuple(tree.folders[dump].stamp for dump in dumps),
    )
