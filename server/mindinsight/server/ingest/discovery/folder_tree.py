"""Tree of the folders below the base directories, as deep as runs are looked for, updated incrementally.

Where there are several, the base is a folder that is nowhere on disk, and they are what is in it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Final

from mindinsight.server.ingest.discovery.folder_listing import NOWHERE, Folder, Stamp, list_folder, stamp_of
from mindinsight.server.ingest.discovery.ranks import is_rank
from mindinsight.server.settings.base_dirs import Bases
from mindinsight.server.store.file_names import shown
from mindinsight.server.store.mounts import BASE, Mount, mounts_of

DEPTH: Final = 4  # folders below a base directory
MOST_FOLDERS: Final = 20_000


def is_dump(path: str) -> bool:
    """Whether a folder is the top of a tensor dump, whatever its layout."""
    from mindinsight.server.formats.dumps import find_layout  # most bases have nothing that may be one

    return find_layout(path) is not None


def child(parent: str, name: str) -> str:
    """Id of a folder below another."""
    return f"{parent}{name}" if parent == BASE else f"{parent}/{name}"


def depth(folder: str) -> int:
    """Folders between the base and this one, itself included."""
    return 0 if folder == BASE else folder.count("/")


@dataclass(frozen=True, slots=True)
class FolderChange:
    """What changed in a folder since it was last listed."""

    structure: bool = False  # files or folders came or went, or can no longer be looked at
    written: tuple[str, ...] = ()  # names of files that were written to


class FolderTree:
    """Folders by id. Links are never followed; below a dump nothing is looked for."""

    def __init__(self, bases: Bases, dump: Callable[[str], bool] = is_dump) -> None:
        self.folders: dict[str, Folder] = {}
        self.dumps: set[str] = set()
        self.several = isinstance(bases, tuple)
        self._bases = bases
        self._folder_paths: dict[str, str] = {}
        self._is_dump = dump
        self.mount()

    def mount(self) -> None:
        """Find out which base directories there are; the next scan looks at them."""
        self.mounts: tuple[Mount, ...] = mounts_of(self._bases)
        self.roots = {mount.real: mount.id for mount in self.mounts if not mount.inside}
        self._folder_paths.update({folder: path for path, folder in self.roots.items()})

    @property
    def missing(self) -> bool:
        """Whether there is no base directory at all."""
        return self.folders.keys().isdisjoint(self.roots.values())

    @property
    def full(self) -> bool:
        """Whether there may be more folders than are looked at."""
        return len(self.folders) >= MOST_FOLDERS

    def path(self, folder: str) -> str:
        return self._folder_paths[folder]

    def scan(self) -> None:
        """Look at everything again."""
        self._visit(BASE, deep=True)

    def check_folder(self, folder: str, only: Iterable[str] = ()) -> FolderChange:
        """Look at one folder as cheaply as possible: if nothing came or went, at its files alone.

        ``only`` names the files to look at; none means all.
        """
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
        if now is None or _outline(now) != _outline(before) or was_dump != (folder in self.dumps):
            return FolderChange(structure=True)
        return FolderChange(
            written=tuple(name for name in now.files if now.files[name] != before.files[name])
        )

    def known(self, path: str) -> str | None:
        """Id of the folder at an absolute path, None when it is not one of ours."""
        for root, folder in self.roots.items():
            if path == root:
                return folder
            if path.startswith(root.rstrip("/") + "/"):
                below = child(folder, shown(path[len(root.rstrip("/")) + 1 :]))
                return below if below in self.folders else None
        return None

    def root(self, folder: str) -> str:
        """Id of the base directory a folder lies in."""
        return "/".join(folder.split("/", 2)[:2]) if self.several else BASE

    def parent(self, folder: str) -> str:
        """Id of the folder above; a base directory is its own."""
        if folder in self.roots.values():
            return folder
        return folder.rpartition("/")[0] if folder.count("/") > 1 else BASE

    def _nowhere(self, folder: str) -> bool:
        return self.several and folder == BASE

    def _changed_stamps(self, folder: str, before: Folder, only: Iterable[str]) -> dict[str, Stamp] | None:
        """New stamps of files that changed, or None when the folder itself has to be looked at."""
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
        """Look at a folder and at what is new below it; with ``deep`` at everything below it."""
        before = self.folders.get(folder)
        if self._look(folder):
            self._descend(folder, () if before is None else before.below, deep)
        else:
            self._forget(folder)

    def _look(self, folder: str) -> bool:
        """Whether there is such a folder. One that may no longer be looked into keeps what was seen."""
        before = self.folders.get(folder)
        now = self._seen(folder)
        if now is None:
            return False
        if now.reason and before is not None:
            now = replace(before, reason=now.reason, looked=now.looked)
        self.folders[folder] = now
        return True

    def _seen(self, folder: str) -> Folder | None:
        if self._nowhere(folder):
            below = tuple(mount.name for mount in self.mounts if not mount.inside)
            return Folder(NOWHERE, time.time_ns(), below=below)
        return list_folder(self._folder_paths[folder], time.time_ns())

    def _descend(self, folder: str, before: tuple[str, ...], deep: bool) -> None:
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
            if self._look(inner):
                fresh[inner] = () if known is None else known.below
            else:
                self._forget(inner)
        if self._sort_dump(folder, below):
            return
        for inner, known_below in fresh.items():
            self._descend(inner, known_below, deep)

    def _sort_dump(self, folder: str, below: tuple[str, ...]) -> bool:
        """Whether a folder is a dump. A parent of runs is not, unless these are its ranks."""
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
        gone = self.folders.pop(folder, None)
        self.dumps.discard(folder)
        for name in gone.below if gone else ():
            self._forget(child(folder, shown(name)))


def _outline(folder: Folder) -> tuple[set[str], set[str], set[str], str]:
    return set(folder.files), set(folder.below), set(folder.profiles), folder.reason
