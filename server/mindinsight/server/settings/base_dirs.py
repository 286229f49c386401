"""Which directories a server shows: one, or several beside each other.

One directory is all there is, and the ids of its runs begin below it: ``./run1``. Of several each has a name,
and ids begin with that: ``./lab/run1``. One of several is given as a path, as ``name=path``, or as a pattern
with ``*``, ``?`` and ``[…]`` in it, whose matches come and go. What exists by the name that was given is a
path, whatever it looks like.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path
from typing import TypeAlias

from mindinsight.server.errors import BadSettings


@dataclass(frozen=True, slots=True)
class Base:
    """One of several, as it was given."""

    path: str  # absolute
    name: str = ""  # empty when it is to be told from the path
    pattern: bool = False

    def __str__(self) -> str:
        return f"{self.name}={self.path}" if self.name else self.path


Bases: TypeAlias = Path | tuple[Base, ...]


def bases_of(texts: str | Path | Sequence[str | Path]) -> Bases:
    """What texts say; raises BadSettings where two have one name, or one lies in another."""
    every = [texts] if isinstance(texts, str | Path) else texts
    found = tuple(_read(text) if isinstance(text, str) else Base(_absolute(text)) for text in every)
    if len(found) == 1 and not found[0].name and not found[0].pattern:
        return Path(found[0].path)
    _refuse_one_name(found)
    _refuse_nested(found)
    return found


def split(text: str) -> list[str]:
    """The texts in what ``told`` told; an existing path is one, with any sign in it."""
    return [text] if _exists(text) else text.split(os.pathsep)


def each(bases: Bases) -> list[str]:
    """Every one of them as it was given."""
    return [str(bases)] if isinstance(bases, Path) else [str(base) for base in bases]


def told(bases: Bases) -> str:
    """The directories as one text, as the environment may hold it."""
    return os.pathsep.join(each(bases))


def home(bases: Bases) -> Path:
    """What cache, views and rules are kept for: of several for the first, so that more can come."""
    return bases if isinstance(bases, Path) else Path(f"several:{bases[0]}")


def absent(bases: Bases) -> list[str]:
    """Directories that are not there; of a pattern nothing is missed."""
    every = (Base(str(bases)),) if isinstance(bases, Path) else bases
    return [one.path for one in every if not one.pattern and not Path(one.path).is_dir()]


def wild(text: str) -> bool:
    """Whether there are wildcards in a path or a part of one."""
    return any(sign in text for sign in "*?[")


def _read(text: str) -> Base:
    name, equals, rest = text.partition("=")
    if _exists(text) or not (name and equals and rest and Path(name).name == name != ".."):
        return _place(text)
    return _place(rest, name)


def _place(text: str, name: str = "") -> Base:
    return Base(_absolute(Path(text)), name, pattern=wild(text) and not _exists(text))


def _absolute(path: Path) -> str:
    return str(path.expanduser().absolute())


def _exists(text: str) -> bool:
    return os.access(Path(text).expanduser(), os.F_OK)  # never raises, unlike Path.exists


def _refuse_one_name(bases: Iterable[Base]) -> None:
    taken: dict[str, Base] = {}
    for base in bases:
        if base.name and not base.pattern and taken.setdefault(base.name, base) is not base:
            both = f"{taken[base.name].path} and {base.path}"
            raise BadSettings(f"{both} cannot both be called {base.name!r}; give one another name.")


def _refuse_nested(bases: Iterable[Base]) -> None:
    real = [(os.path.realpath(base.path), base.path) for base in bases if not base.pattern]
    for (inner, shown), (outer, around) in permutations(real, 2):
        if inner == outer:
            raise BadSettings(f"{shown} and {around} are the same directory; name it once.")
        if Path(inner).is_relative_to(outer):
            why = f"{shown} lies in {around}: its runs would be shown twice."
            raise BadSettings(f"{why} Leave one of the two out of --summary-base-dir.")
