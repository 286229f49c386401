"""Parser of the base directories of a server: one, or several beside each other.

With one directory the ids of its runs begin below it: ``./run1``. With several each has a name, and ids begin
with that: ``./lab/run1``. Each of several is written as a path, as ``name=path``, or as a glob pattern with
``*``, ``?`` and ``[…]`` in it, whose matches come and go. A text that exists on disk is a path, whatever it
looks like.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path
from typing import Final, TypeAlias

from mindinsight.server.errors import BadSettings
from mindinsight.server.settings.remote_urls import check_url, is_url, mirror_of

_SEPARATOR: Final = re.compile(rf"(?<!:){re.escape(os.pathsep)}(?!//|:)")  # not those in a URL


@dataclass(frozen=True, slots=True)
class Base:
    """One of several base directories, as the user wrote it."""

    path: str  # absolute; of a store the folder of its local copy
    name: str = ""  # empty: the name follows from the path
    pattern: bool = False
    url: str = ""  # of a store

    @property
    def source(self) -> str:
        """Where its runs come from: the path, or the URL of a store."""
        return self.url or self.path

    def __str__(self) -> str:
        return f"{self.name}={self.source}" if self.name else self.source


Bases: TypeAlias = Path | tuple[Base, ...]


def bases_of(texts: str | Path | Sequence[str | Path], workspace: Path | None = None) -> Bases:
    """Parse texts; raises BadSettings where two have one name, or one lies in another.

    ``workspace`` is where local copies of stores are kept; without it a URL of a store is refused.
    """
    every = [texts] if isinstance(texts, str | Path) else texts
    bases = tuple(
        _parsed(text, workspace) if isinstance(text, str) else Base(_absolute(text)) for text in every
    )
    if len(bases) == 1 and not (bases[0].name or bases[0].pattern or bases[0].url):
        return Path(bases[0].path)
    _refuse_equal_names(bases)
    _refuse_nested(bases)
    return bases


def split(text: str) -> list[str]:
    """The inverse of ``joined``; an existing path is one text, with any character in it."""
    return [text] if _exists(text) else _SEPARATOR.split(text)


def texts_of(bases: Bases) -> list[str]:
    """Each directory as the user wrote it."""
    return [str(bases)] if isinstance(bases, Path) else [str(base) for base in bases]


def joined(bases: Bases) -> str:
    """The directories as one text, separated as in PATH; for an environment variable."""
    return os.pathsep.join(texts_of(bases))


def home(bases: Bases) -> Path:
    """The key of cache, views and rules: of several directories the first, so that more can be added."""
    return bases if isinstance(bases, Path) else Path(f"several:{bases[0]}")


def absent(bases: Bases) -> list[str]:
    """Directories that do not exist; a pattern without a match is not one."""
    every = (Base(str(bases)),) if isinstance(bases, Path) else bases
    return [base.path for base in every if not (base.pattern or base.url) and not Path(base.path).is_dir()]


def directory_problem(path: str | os.PathLike[str]) -> str:
    """Return what keeps this process from listing a directory, as a sentence; "" if nothing does."""
    try:
        with os.scandir(path):
            pass
    except FileNotFoundError:
        return f"There is no directory {path}."
    except NotADirectoryError:
        return f"{path} is a file, not a directory."
    except OSError as error:
        return f"The directory {path} cannot be read: {error.strerror}."
    if not os.access(path, os.X_OK):
        return f"The files in the directory {path} cannot be opened: Permission denied."
    return ""


def empty_directory(path: str | os.PathLike[str]) -> bool:
    """Whether nothing lies in a directory that can be listed."""
    with os.scandir(path) as entries:
        return next(entries, None) is None


def base_problems(bases: Bases) -> list[str]:
    """Return a sentence for each directory that cannot be listed. Stores and patterns have none."""
    every = (Base(str(bases)),) if isinstance(bases, Path) else bases
    problems = (directory_problem(base.path) for base in every if not (base.pattern or base.url))
    return [problem for problem in problems if problem]


def stores(bases: Bases) -> tuple[Base, ...]:
    """Those that are stores behind a URL."""
    return () if isinstance(bases, Path) else tuple(base for base in bases if base.url)


def wild(text: str) -> bool:
    """Whether there are wildcards in a path or a part of one."""
    return any(sign in text for sign in "*?[")


def _parsed(text: str, workspace: Path | None) -> Base:
    name, equals, path = text.partition("=")
    if is_url(text):
        return _store(text, "", workspace)
    if is_url(path) and Path(name).name == name != "..":
        return _store(path, name, workspace)
    if _exists(text) or not (name and equals and path and Path(name).name == name != ".."):
        return _base(text)
    return _base(path, name)


def _store(text: str, name: str, workspace: Path | None) -> Base:
    url = check_url(text)
    if workspace is None:
        raise BadSettings(f"{url}: only the server (mindinsight start) reads from stores.")
    return Base(str(mirror_of(url, workspace)), name, url=url)


def _base(text: str, name: str = "") -> Base:
    return Base(_absolute(Path(text)), name, pattern=wild(text) and not _exists(text))


def _absolute(path: Path) -> str:
    return str(path.expanduser().absolute())


def _exists(text: str) -> bool:
    return os.access(Path(text).expanduser(), os.F_OK)  # never raises, unlike Path.exists


def _refuse_equal_names(bases: Iterable[Base]) -> None:
    owners: dict[str, Base] = {}
    for base in bases:
        if base.name and not base.pattern and owners.setdefault(base.name, base) is not base:
            both = f"{owners[base.name].source} and {base.source}"
            raise BadSettings(f"{both} cannot both be called {base.name!r}; give one another name.")


def _refuse_nested(bases: Iterable[Base]) -> None:
    real = [(os.path.realpath(base.path), base.source) for base in bases if not base.pattern]
    for (inner, shown), (outer, around) in permutations(real, 2):
        if inner == outer:
            raise BadSettings(f"{shown} and {around} are the same directory; name it once.")
        if Path(inner).is_relative_to(outer):
            why = f"{shown} lies in {around}: its runs would be shown twice."
            raise BadSettings(f"{why} Leave one of the two out of --summary-base-dir.")
