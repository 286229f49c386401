"""Mounts: the base directories that exist now, and the ids of dumps below them."""

import hashlib
import os
import posixpath
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final, NamedTuple

from mindinsight.server.files.opener import folders_of
from mindinsight.server.settings.base_dirs import Base, Bases, wild
from mindinsight.server.store.file_names import shown
from mindinsight.server.store.run import Run

BASE: Final = "./"


class Mount(NamedTuple):
    """Base directory with its name. It need not exist."""

    name: str  # first part of the ids below it; empty for a single base directory
    path: str  # as the user wrote it, or a match of the pattern
    real: str  # with links resolved
    inside: str = ""  # name of the base directory around it, which shows its content

    @property
    def id(self) -> str:
        """Return the id of the directory."""
        return BASE + self.name


class _Candidate(NamedTuple):
    """Directory and its possible names, the shortest first."""

    path: str
    real: str
    names: tuple[str, ...]


def mounts_of(bases: Bases) -> tuple[Mount, ...]:
    """Return a mount for each base directory, and for each directory that matches a pattern now. A base
    directory without wildcards takes precedence over a match of the same directory."""
    if isinstance(bases, Path):
        return (Mount("", str(bases), str(bases.resolve())),)
    candidates: dict[str, _Candidate] = {}
    for base in sorted(bases, key=lambda base: base.pattern):
        for candidate in _matches(base) if base.pattern else [_named(base)]:
            candidates.setdefault(candidate.real, candidate)
    choices = [candidate.names for candidate in candidates.values()]
    names = dict(zip(candidates, _distinct_names(choices), strict=True))
    return tuple(
        Mount(names[real], candidate.path, real, inside=_enclosing(real, names))
        for real, candidate in candidates.items()
    )


def mount_of(bases: Bases, below: str) -> Mount:
    """Return the mount of the base directory in an id such as ``./lab/run1``. Raises KeyError if there is
    none."""
    name = "" if isinstance(bases, Path) else below.removeprefix(BASE).partition("/")[0]
    return {mount.name: mount for mount in mounts_of(bases) if not mount.inside}[name]


def disk_path(bases: Bases, below: str) -> Path:
    """Return the path on disk of a run, dump or folder, given its id such as ``./lab/run1``. The path need
    not exist. Raises KeyError for an unknown base directory. The result is not checked to be below the
    base directory."""
    mount = mount_of(bases, below)
    return Path(mount.real, below.removeprefix(mount.id).lstrip("/"))  # an absolute rest would lead out


def _named(base: Base) -> _Candidate:
    """Return a base directory without wildcards with its possible names."""
    names = (shown(base.name),) if base.name else _tails(os.path.normpath(base.path), 1)
    return _Candidate(base.source, os.path.realpath(base.path), names)


def _matches(base: Base) -> Iterator[_Candidate]:
    """Yield the directories that match a pattern, named by the text matched by its wildcards. A match and
    its content may belong to any user, so links are not followed there."""
    parts = Path(base.path).parts
    wildcards = [index for index, part in enumerate(parts) if wild(part)]
    named = Path(*parts[: wildcards[0]])
    real = Path(os.path.realpath(named))
    matches = [Path()]  # below the named folder
    for part in parts[wildcards[0] :]:
        matches = [below / name for below in matches for name in _matching_names(real / below, part)]
    for below in matches:
        path = str(named / below)
        matched = Path(path).parts
        stem = [base.name, *(matched[index] for index in wildcards)]
        yield _Candidate(path, str(real / below), (_joined(stem), *_tails(path, len(parts) - wildcards[0])))


def _matching_names(folder: Path, part: str) -> list[str]:
    """Return the names of the directories in a folder that match one part of a pattern, in order."""
    hidden = part.startswith(".")
    return [
        path.name
        for path in folders_of(folder)
        if path.name == part or (fnmatchcase(path.name, part) and (hidden or path.name[0] != "."))
    ]


def _tails(path: str, least: int) -> tuple[str, ...]:
    """Return possible names for a path: its last ``least`` parts, then one part more each, up to the whole
    path. The last name, with a hash of the path, is unique."""
    parts = Path(path).parts[1:] or (path,)
    tails = [_joined(parts[-count:]) for count in range(least, len(parts) + 1)]
    return (*tails, f"{_joined(parts[-least:])}-{hashlib.sha256(os.fsencode(path)).hexdigest()[:8]}")


def _joined(parts: Iterable[str]) -> str:
    """Return the parts of a path joined with "-" to a name."""
    return "-".join(shown(part.replace("/", "-")) for part in parts if part)


def _distinct_names(choices: Sequence[Sequence[str]]) -> list[str]:
    """Return the first name of each list that no other list uses. Clashing lists move to their next name."""
    ranks = [0] * len(choices)
    while True:
        names = [choice[rank] for choice, rank in zip(choices, ranks, strict=True)]
        times = Counter(names)
        clashing = [n for n, name in enumerate(names) if times[name] > 1 and ranks[n] + 1 < len(choices[n])]
        if not clashing:
            return names
        for n in clashing:
            ranks[n] += 1


def _enclosing(real: str, names: dict[str, str]) -> str:
    """Return the name of the outermost base directory that contains another, "" if there is none."""
    return next((names[str(outer)] for outer in reversed(Path(real).parents) if str(outer) in names), "")


def dump_id(run: Run, relative: str, known: Container[str]) -> str | None:
    """Return the id of the dump at a path relative to a run's directory, or None if it is not in ``known``.

    None too for an empty path. ``known`` are the discovered dumps, so that nothing outside the base is named.
    A path that leads to none from the run is also tried from its job: ranks with files in one folder have ids
    of folders that do not exist.
    """
    if not relative:
        return None
    for folder in (run.id, run.job):
        path = posixpath.normpath(posixpath.join(folder.removeprefix(BASE), relative))
        if BASE + path in known:
            return BASE + path
    return None
