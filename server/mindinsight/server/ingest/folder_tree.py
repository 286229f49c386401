"""Tree of the folders below the base directories, with their event files, grouped into jobs and ranks."""

import os
import re
import stat
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Final, NamedTuple

from mindinsight.server.files.opener import LinkError, entries_of
from mindinsight.server.settings.base_dirs import Bases
from mindinsight.server.store import file_names
from mindinsight.server.store.file_names import shown
from mindinsight.server.store.mounts import BASE, Mount, mounts_of

_WRITABLE: Final = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH


class Stamp(NamedTuple):
    """Change stamp of a file or folder: its identity, size and times.

    Compared for equality only, because clocks can be set back.
    """

    device: int
    inode: int
    size: int
    modified: int  # nanoseconds
    changed: int  # nanoseconds, of owner and permission too
    closed: bool = False  # read-only: a writer makes its files read-only when it closes them


NOWHERE = Stamp(0, 0, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class Folder:
    """Listing of a folder."""

    stamp: Stamp
    looked: int  # nanoseconds, Unix
    files: dict[str, Stamp] = field(default_factory=dict)  # event, lineage, explain and graph files
    below: tuple[str, ...] = ()  # names of folders to look into
    profiles: tuple[str, ...] = ()  # names of folders that a profiler may have written
    reason: str = ""  # a key of the locale files if the folder could not be listed
    console: bool = False  # has files of what a training printed

    @property
    def settled(self) -> bool:
        """Return True if the folder was looked at more than 3 s after it changed, so that its next change
        gets another modification time. File systems count time in steps of up to 2 s."""
        return abs(self.looked - self.stamp.modified) > 3_000_000_000


def stamp_of(path: str) -> Stamp | None:
    """Return the stamp of a file or folder, or None if it is missing or cannot be examined. Raises
    PermissionError. A link is not followed."""
    try:
        return _stamp(os.lstat(path))
    except PermissionError:
        raise
    except OSError:
        return None


def list_folder(path: str, now: int) -> Folder | None:
    """Return the listing of the folder ``path``, or None if it is missing or a link. The listing of a
    folder that cannot be read is empty and has a `reason`. ``now`` is in nanoseconds, Unix time."""
    try:
        stamp = stamp_of(path)
        if stamp is None:
            return None
        with entries_of(path) as entries:
            files, below, profiles, console = _classify(entries)
    except PermissionError:
        return Folder(NOWHERE, now, reason="directory.permission")
    except (FileNotFoundError, NotADirectoryError, LinkError):
        return None
    except OSError:
        return Folder(NOWHERE, now, reason="directory.unreadable")
    return Folder(stamp, now, files, tuple(below), tuple(profiles), console=console)


def holds_profile(path: str) -> bool:
    """Return True if a folder holds a profile of a rank by MindSpore's profiler, False if unreadable."""
    try:
        with entries_of(path) as entries:
            return any(file_names.is_profile_of_rank(entry.name) for entry in entries)
    except OSError:
        return False


def _classify(
    entries: Iterator[os.DirEntry[str]],
) -> tuple[dict[str, Stamp], list[str], list[str], bool]:
    """Return files with their stamps, folders to search, profilers' folders, and whether there is a
    console."""
    files: dict[str, Stamp] = {}
    below: list[str] = []
    profiles: list[str] = []
    console = False
    for entry in entries:
        folder = entry.is_dir(follow_symlinks=False)
        if file_names.role(entry.name) and not folder:  # a link or a pipe is refused when it is read
            try:
                files[entry.name] = _stamp(entry.stat(follow_symlinks=False))
            except OSError:  # removed meanwhile
                continue
        elif folder and file_names.is_profile(entry.name):
            profiles.append(entry.name)
        elif folder and not file_names.bulky(entry.name):
            below.append(entry.name)
        elif not folder:
            console |= file_names.console_part(entry.name) is not None
    return files, below, profiles, console


def _stamp(status: os.stat_result) -> Stamp:
    """Return the stamp of a stat result."""
    closed = not status.st_mode & _WRITABLE
    return Stamp(status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns, closed)


class JobRank(NamedTuple):
    """Job and rank of a run."""

    job: str  # id
    rank: int | None


_RANK: Final = re.compile(r"(?:rank|device)[_-]?(\d{1,9})", re.IGNORECASE)
_START_APART: Final = 600.0  # seconds between the starts of two ranks of one job, at most
_NUMBERED: Final = re.compile(r"(.*?)[_.-]?(\d{1,9})")


def is_rank(name: str) -> bool:
    """Return True if a folder is named like one rank of a job."""
    return _RANK.fullmatch(name) is not None


def concurrent_ranks(files: Mapping[str, Stamp]) -> frozenset[int]:
    """Return the ranks in the names of a folder's event files if two ranks wrote at the same time, else
    none. A training resumed on another device names its files after that device, but writes after the
    earlier one has stopped. The ranks of a job start together."""
    if len(files) < 2:
        return frozenset()
    events = sorted(
        (seconds, rank, stamp.modified / 1e9)
        for name, stamp in files.items()
        if file_names.role(name) == "summary"
        and (rank := file_names.device(name)) is not None
        and (seconds := file_names.created(name)) is not None
    )
    together = any(
        rank != other and created - started <= _START_APART and created <= written
        for (started, rank, written), (created, other, _) in pairwise(events)
    )
    return frozenset(rank for _, rank, _ in events) if together else frozenset()


def job_ranks(devices: Mapping[str, frozenset[int]]) -> dict[str, JobRank]:
    """Return job and rank of each run. The job of a run outside of jobs is the run, its rank None.

    ``devices`` has the runs' ids, and the device ids in the names of their files.

    Known forms: ``job/rank_0``, ``job/rank_1``; ``job0``, ``job1`` next to each other; both together,
    ``job0/rank_0``, ``job1/rank_1``; and ``job`` with the files of one rank next to folders of the others.
    Siblings count only if the number of the folder is the rank (or the device id in the file names), because
    experiments are numbered too, but each of them ran on device 0.
    """
    jobs = {run: _by_folder(run) or JobRank(run, None) for run in devices}
    jobs.update(_by_numbered_jobs(jobs))
    alone = {run: ids for run, ids in devices.items() if jobs[run].rank is None and len(ids) == 1}
    jobs.update(_numbered({run: next(iter(ids)) for run, ids in alone.items()}))
    jobs.update(_above_ranks(jobs, devices))
    return jobs


def _by_folder(run: str) -> JobRank | None:
    """Return job and rank by the name of the folder or of a folder above it, or None."""
    parts = run.split("/")
    for depth in range(len(parts) - 1, 0, -1):
        match = _RANK.fullmatch(parts[depth])
        if match:
            return JobRank("/".join(parts[:depth]) if depth > 1 else "./", int(match[1]))
    return None


def _by_numbered_jobs(runs: Mapping[str, JobRank]) -> dict[str, JobRank]:
    """Return job and rank of runs with jobs named after their rank: ``job0/rank_0``, ``job1/rank_1``."""
    ranks: dict[str, set[int]] = defaultdict(set)
    for job, rank in runs.values():
        if rank is not None:
            ranks[job].add(rank)
    joined = _numbered({job: next(iter(numbers)) for job, numbers in ranks.items() if len(numbers) == 1})
    return {run: joined[job] for run, (job, rank) in runs.items() if rank is not None and job in joined}


def _above_ranks(runs: Mapping[str, JobRank], devices: Mapping[str, frozenset[int]]) -> dict[str, JobRank]:
    """Return job and rank of runs that lie above rank folders and hold the files of one more rank."""
    taken = {position for position in runs.values() if position.rank is not None}
    jobs = {job for job, _ in taken}
    numbers = {run: next(iter(ids)) for run, ids in devices.items() if run in jobs and len(ids) == 1}
    return {run: JobRank(run, rank) for run, rank in numbers.items() if (run, rank) not in taken}


def _numbered(numbers: Mapping[str, int]) -> dict[str, JobRank]:
    """Return job and rank of folders that differ in a number at the end, which is the number of the rank."""
    groups: dict[str, dict[str, int]] = defaultdict(dict)
    for folder, number in numbers.items():
        parent, _, name = folder.rpartition("/")
        match = _NUMBERED.fullmatch(name)
        if match and number == int(match[2]):
            groups[f"{parent}/{match[1]}"][folder] = number
    return {
        folder: JobRank(job if job == "./" else job.rstrip("/"), rank)
        for job, ranks in groups.items()
        if len(ranks) > 1 and len(set(ranks.values())) == len(ranks)
        for folder, rank in ranks.items()
    }


DEPTH: Final = 4  # levels of folders below a base directory
MAX_FOLDERS: Final = 20_000  # folders that are listed; more are reported as damage


def is_dump(path: str) -> bool:
    """Return True if a folder is the top of a tensor dump in any layout."""
    from mindinsight.server.formats.dumps import find_layout  # most bases have nothing that may be one

    return find_layout(path) is not None


def child(parent: str, name: str) -> str:
    """Return the id of a folder below another."""
    return f"{parent}{name}" if parent == BASE else f"{parent}/{name}"


def depth(folder: str) -> int:
    """Return the depth of a folder's id: 0 for the base, 1 directly below it."""
    return 0 if folder == BASE else folder.count("/")


@dataclass(frozen=True, slots=True)
class FolderChange:
    """Changes in a folder since it was last listed."""

    structure: bool = False  # files or folders were added, removed or became unreadable
    written: tuple[str, ...] = ()  # names of files that were written to


class FolderTree:
    """Tree of the folders below the base directories, by id.

    Links are never followed, and nothing is searched below a dump.
    """

    def __init__(self, bases: Bases, dump: Callable[[str], bool] = is_dump) -> None:
        self.folders: dict[str, Folder] = {}
        self.dumps: set[str] = set()
        self.several = isinstance(bases, tuple)
        self._bases = bases
        self._folder_paths: dict[str, str] = {}
        self._is_dump = dump
        self.mount()

    def mount(self) -> None:
        """Find the base directories again, because other directories may match their patterns now. The next
        scan lists them."""
        self.mounts: tuple[Mount, ...] = mounts_of(self._bases)
        self.roots = {mount.real: mount.id for mount in self.mounts if not mount.inside}
        self._folder_paths.update({folder: path for path, folder in self.roots.items()})

    @property
    def missing(self) -> bool:
        """Return True if no base directory was found by the last scan."""
        return self.folders.keys().isdisjoint(self.roots.values())

    @property
    def full(self) -> bool:
        """Return True if there may be more folders than the limit."""
        return len(self.folders) >= MAX_FOLDERS

    def path(self, folder: str) -> str:
        """Return the absolute path of a folder by its id. Raises KeyError if it is unknown."""
        return self._folder_paths[folder]

    def scan(self) -> None:
        """List all folders again. Folders that are gone are removed from the tree."""
        self._visit(BASE, deep=True)

    def check_folder(self, folder: str, only: Iterable[str] = ()) -> FolderChange:
        """Check a folder, or only its files with the names ``only``, update the tree, and return the
        changes. There are none for an unknown folder. If the folder's own stamp has changed, all of it is
        listed again, otherwise only its files are checked. Without names all files are."""
        before = self.folders.get(folder)
        if before is None or self._nowhere(folder):
            return FolderChange()
        written = self._changed_stamps(folder, before, only)
        if written is not None:
            before.files.update(written)
            return FolderChange(written=tuple(written))
        was_dump = folder in self.dumps
        self._visit(folder, deep=False)
        now = self.folders.get(folder)
        if now is None or _names_of(now) != _names_of(before) or was_dump != (folder in self.dumps):
            return FolderChange(structure=True)
        return FolderChange(
            written=tuple(name for name in now.files if now.files[name] != before.files[name])
        )

    def known(self, path: str) -> str | None:
        """Return the id of the folder at an absolute path, or None if it is not in the tree."""
        for root, folder in self.roots.items():
            if path == root:
                return folder
            if path.startswith(root.rstrip("/") + "/"):
                below = child(folder, shown(path[len(root.rstrip("/")) + 1 :]))
                return below if below in self.folders else None
        return None

    def root(self, folder: str) -> str:
        """Return the id of the base directory that contains the folder with this id."""
        return "/".join(folder.split("/", 2)[:2]) if self.several else BASE

    def parent(self, folder: str) -> str:
        """Return the id of the folder above, for a base directory its own id."""
        if folder in self.roots.values():
            return folder
        return folder.rpartition("/")[0] if folder.count("/") > 1 else BASE

    def _nowhere(self, folder: str) -> bool:
        """Return True for the virtual folder above several base directories."""
        return self.several and folder == BASE

    def _changed_stamps(self, folder: str, before: Folder, only: Iterable[str]) -> dict[str, Stamp] | None:
        """Return the new stamps of changed files, or None if the folder itself must be listed."""
        path = self._folder_paths[folder]
        if not before.settled or before.reason:
            return None
        written: dict[str, Stamp] = {}
        try:
            if stamp_of(path) != before.stamp:
                return None
            for name in [name for name in only if name in before.files] if only else before.files:
                stamp = stamp_of(f"{path}/{name}")
                if stamp is None:
                    return None
                if stamp != before.files[name]:
                    written[name] = stamp
        except PermissionError:
            return None
        return written

    def _visit(self, folder: str, deep: bool) -> None:
        """List a folder and new folders below it, with ``deep`` all folders below it."""
        before = self.folders.get(folder)
        if self._list(folder):
            self._visit_below(folder, () if before is None else before.below, deep)
        else:
            self._forget(folder)

    def _list(self, folder: str) -> bool:
        """List a folder again, and return False if it is missing. An unreadable folder keeps its last
        listing."""
        before = self.folders.get(folder)
        now = self._read_folder(folder)
        if now is None:
            return False
        if now.reason and before is not None:
            now = replace(before, reason=now.reason, looked=now.looked)
        self.folders[folder] = now
        return True

    def _read_folder(self, folder: str) -> Folder | None:
        """Return the listing of a folder, or None if it is missing."""
        if self._nowhere(folder):
            below = tuple(mount.name for mount in self.mounts if not mount.inside)
            return Folder(NOWHERE, time.time_ns(), below=below)
        return list_folder(self._folder_paths[folder], time.time_ns())

    def _visit_below(self, folder: str, before: tuple[str, ...], deep: bool) -> None:
        """List the folders below a folder. ``before`` are the names from its last listing."""
        below = self.folders[folder].below if depth(folder) < DEPTH + self.several else ()
        for name in set(before) - set(below):
            self._forget(child(folder, shown(name)))
        fresh = {}
        for name in below:
            inner = child(folder, shown(name))
            known = self.folders.get(inner)
            if known is not None and not deep:
                continue
            if known is None and self.full:
                break
            if not self._nowhere(folder):
                self._folder_paths[inner] = f"{self._folder_paths[folder]}/{name}"
            if self._list(inner):
                fresh[inner] = () if known is None else known.below
            else:
                self._forget(inner)
        if self._check_dump(folder, below):
            return
        for inner, known_below in fresh.items():
            self._visit_below(inner, known_below, deep)

    def _check_dump(self, folder: str, below: tuple[str, ...]) -> bool:
        """Return True if a folder is a dump. A parent of runs is not, unless these are its ranks."""
        if self.folders[folder].reason or self._nowhere(folder):
            return folder in self.dumps
        inner = {name: self.folders.get(child(folder, shown(name))) for name in below}
        runs = {name for name, inner_folder in inner.items() if inner_folder and inner_folder.files}
        if not below or not all(map(is_rank, runs)) or not self._is_dump(self._folder_paths[folder]):
            self.dumps.discard(folder)
            return False
        self.dumps.add(folder)
        for name in inner.keys() - runs:
            self._forget(child(folder, shown(name)))
        return True

    def _forget(self, folder: str) -> None:
        """Remove a folder and everything below it from the tree."""
        gone = self.folders.pop(folder, None)
        self.dumps.discard(folder)
        for name in gone.below if gone else ():
            self._forget(child(folder, shown(name)))


def _names_of(folder: Folder) -> tuple[set[str], set[str], set[str], bool, str]:
    """Return all names in a folder, whether it has a console, and the reason if it could not be listed."""
    return set(folder.files), set(folder.below), set(folder.profiles), folder.console, folder.reason
