"""The base directories there are right now, each under the name with which the ids below it begin."""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final, NamedTuple

from mindinsight.server.files.folders import folders_of
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
    real: str
    names: tuple[str, ...]


def mounts_of(bases: Bases) -> tuple[Mount, ...]:
    """The base directories; patterns are matched anew. What fits a pattern and was named, too, is named."""
    if isinstance(bases, Path):
        return (Mount("", str(bases), str(bases.resolve())),)
    found: dict[str, _Place] = {}
    for base in sorted(bases, key=lambda base: base.pattern):
        for place in _matches(base) if base.pattern else [_named(base)]:
            found.setdefault(place.real, place)
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
    return Path(mount.real, below.removeprefix(mount.id).lstrip("/"))  # an absolute rest would lead out


def _named(base: Base) -> _Place:
    names = (shown(base.name),) if base.name else _tails(os.path.normpath(base.path), 1)
    return _Place(base.path, os.path.realpath(base.path), names)


def _matches(base: Base) -> Iterator[_Place]:
    """Directories that fit a pattern, called what its wildcards stand for: so one name needs no other.

    What fits a wildcard, and what lies below, may be anybody's: links are not followed there.
    """
    parts = Path(base.path).parts
    places = [place for place, part in enumerate(parts) if wild(part)]
    named = Path(*parts[: places[0]])
    real = Path(os.path.realpath(named))
    found = [Path()]  # below the named folder
    for part in parts[places[0] :]:
        found = [below / name for below in found for name in _fitting(real / below, part)]
    for below in found:
        path = str(named / below)
        these = Path(path).parts
        matched = [base.name, *(these[place] for place in places)]
        yield _Place(path, str(real / below), (_joined(matched), *_tails(path, len(parts) - places[0])))


def _fitting(folder: Path, part: str) -> list[str]:
    """Names of the directories in a folder that fit, in order."""
    hidden = part.startswith(".")
    return [
        path.name
        for path in folders_of(folder)
        if path.name == part or (fnmatchcase(path.name, part) and (hidden or path.name[0] != "."))
    ]


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
