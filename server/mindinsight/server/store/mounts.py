"""The base directories there are right now, each under the name with which the ids below it begin."""

from __future__ import annotations

import hashlib
import os
import stat
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final, NamedTuple

from mindinsight.server.settings.base_dirs import Base, Bases, wild
from mindinsight.server.store.file_names import shown

BASE: Final = "./"


class Mount(NamedTuple):
    """A base directory; it need not exist."""

    name: str  # first part of the ids below it; empty when it is the only one
    path: str  # as it was given, or fits the pattern
    real: str  # without links
    inside: str = ""  # name of the one it lies in, which shows what is in it

    @property
    def id(self) -> str:
        return BASE + self.name


class _Place(NamedTuple):
    """A directory that was given, or fits a pattern, and what it may be called: what is shortest first."""

    path: str
    names: tuple[str, ...]


def mounts_of(bases: Bases) -> tuple[Mount, ...]:
    """The base directories; patterns are matched anew. What fits a pattern and was named, too, is named."""
    if isinstance(bases, Path):
        return (Mount("", str(bases), str(bases.resolve())),)
    found: dict[str, _Place] = {}
    for base in sorted(bases, key=lambda base: base.pattern):
        for place in _matches(base) if base.pattern else [_named(base)]:
            found.setdefault(os.path.realpath(place.path), place)
    names = dict(zip(found, _told_apart([place.names for place in found.values()]), strict=True))
    return tuple(
        Mount(names[real], place.path, real, inside=_around(real, names)) for real, place in found.items()
    )


def mount_of(bases: Bases, below: str) -> Mount:
    """The base directory an id, ``./lab/run1``, begins with; raises KeyError when there is none."""
    name = "" if isinstance(bases, Path) else below.removeprefix(BASE).partition("/")[0]
    return {mount.name: mount for mount in mounts_of(bases) if not mount.inside}[name]


def place_of(bases: Bases, below: str) -> Path:
    """Where an id is on disk, if there is anything; raises KeyError when there is no such base directory.

    Whether that is below the base directory is not looked at.
    """
    mount = mount_of(bases, below)
    return Path(mount.path, below.removeprefix(mount.id).removeprefix("/"))


def _named(base: Base) -> _Place:
    return _Place(base.path, (shown(base.name),) if base.name else _tails(os.path.normpath(base.path), 1))


def _matches(base: Base) -> Iterator[_Place]:
    """Directories that fit a pattern, called what its wildcards stand for: so one name needs no other.

    What fits a wildcard, and what lies below, may be anybody's: links are not followed there.
    """
    parts = Path(base.path).parts
    places = [place for place, part in enumerate(parts) if wild(part)]
    found = [str(Path(*parts[: places[0]]))]
    for part in parts[places[0] :]:
        found = [inner for folder in found for inner in _fitting(folder, part)]
    for path in found:
        these = Path(path).parts
        matched = [base.name, *(these[place] for place in places)]
        yield _Place(path, (_joined(matched), *_tails(path, len(parts) - places[0])))


def _fitting(folder: str, part: str) -> list[str]:
    """Directories in a folder by the names that fit, in order."""
    try:
        names = sorted(os.listdir(folder)) if wild(part) else [part]  # noqa: PTH208
    except OSError:
        return []
    hidden = part.startswith(".")
    fitting = [one for one in names if one == part or (fnmatchcase(one, part) and (hidden or one[0] != "."))]
    return [path for path in (f"{folder.rstrip('/')}/{name}" for name in fitting) if _is_folder(path)]


def _is_folder(path: str) -> bool:
    try:
        return stat.S_ISDIR(os.lstat(path).st_mode)
    except OSError:
        return False


def _tails(path: str, least: int) -> tuple[str, ...]:
    """Names for a path, from its last ``least`` parts on ever more of them; the last is nobody else's."""
    parts = Path(path).parts[1:] or (path,)
    tails = [_joined(parts[-count:]) for count in range(least, len(parts) + 1)]
    return (*tails, f"{_joined(parts[-least:])}-{hashlib.sha256(os.fsencode(path)).hexdigest()[:8]}")


def _joined(parts: Iterable[str]) -> str:
    return "-".join(shown(part.replace("/", "-")) for part in parts if part)


def _told_apart(choices: Sequence[Sequence[str]]) -> list[str]:
    """Of each the first name that no other has. All that clash take the next, whatever their order."""
    taken = [0] * len(choices)
    while True:
        names = [each[place] for each, place in zip(choices, taken, strict=True)]
        times = Counter(names)
        clashing = [n for n, name in enumerate(names) if times[name] > 1 and taken[n] + 1 < len(choices[n])]
        if not clashing:
            return names
        for n in clashing:
            taken[n] += 1


def _around(real: str, names: dict[str, str]) -> str:
    """Name of the outermost base directory that another lies in."""
    return next((names[str(outer)] for outer in reversed(Path(real).parents) if str(outer) in names), "")
