"""Parser of the base directories of a server: one or several folders, or URLs of remote stores."""

import hashlib
import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path
from typing import Final, TypeAlias
from urllib.parse import urlsplit

from mindinsight.server.errors import bad_settings, os_reason, problem

MIRRORS: Final = "remote"  # folder of the workspace
_URL: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
# Schemes whose URLs name a user, or a container, before the @.
_WITH_USERS: Final = frozenset(("sftp", "ssh", "hdfs", "webhdfs", "smb", "ftp", "abfs", "abfss"))
_CHAIN: Final = "::"  # of fsspec: zip://inner::s3://bucket/archive.zip


def is_url(text: str) -> bool:
    """Return True if a text is the URL of a store and not a directory."""
    return _URL.match(text) is not None


def check_url(url: str) -> str:
    """Return the URL without trailing slashes. Raises BadSettings for a URL with a password, a query, a
    fragment, or a user for schemes without users. Pages, logs and the list of processes would show these
    secrets. Stores read credentials from other sources."""
    for part in url.split(_CHAIN):
        try:
            split = urlsplit(part)
            user = split.username is not None and split.scheme not in _WITH_USERS
            secret = user or split.password is not None or bool(split.query or split.fragment)
        except ValueError as error:
            raise bad_settings("store_url", why=error) from None
        if secret:
            raise bad_settings("store_secret", scheme=split.scheme)
    return url.rstrip("/") if not url.endswith("://") else url


def mirror_of(url: str, workspace: Path) -> Path:
    """Return the folder in the workspace for the local copy of a store's event files."""
    outer = url.split(_CHAIN, maxsplit=1)[0]
    tail = urlsplit(outer if urlsplit(outer).path.strip("/") else url.rsplit(_CHAIN, maxsplit=1)[-1])
    name = tail.path.rstrip("/").rpartition("/")[2] or tail.netloc.rpartition("@")[2] or "remote"
    digest = hashlib.sha256(url.encode("utf-8", "surrogateescape")).hexdigest()[:16]
    return workspace / MIRRORS / digest / (re.sub(r"[^\w.-]", "_", name).lstrip(".") or "remote")


_SEPARATOR: Final = re.compile(rf"(?<!:){re.escape(os.pathsep)}(?!//|:)")  # except in a URL


@dataclass(frozen=True, slots=True)
class Base:
    """One of several base directories, as the user wrote it."""

    path: str  # absolute; of a store the folder of its local copy
    name: str = ""  # empty: the name follows from the path
    pattern: bool = False
    url: str = ""  # of a store

    @property
    def source(self) -> str:
        """Return the origin of its runs: the path, or the URL of a store."""
        return self.url or self.path

    def __str__(self) -> str:
        return f"{self.name}={self.source}" if self.name else self.source


Bases: TypeAlias = Path | tuple[Base, ...]


def bases_of(texts: str | Path | Sequence[str | Path], workspace: Path | None = None) -> Bases:
    """Parse one or several base directories. Raises BadSettings for equal names, or if one directory is
    inside another. `workspace` is the parent of local copies of stores. Without it, URLs of stores are
    rejected."""
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
    """Return the directories in a text that `joined` made, or the text alone if it is an existing path."""
    return [text] if _exists(text) else _SEPARATOR.split(text)


def texts_of(bases: Bases) -> list[str]:
    """Return each directory as the user wrote it."""
    return [str(bases)] if isinstance(bases, Path) else [str(base) for base in bases]


def joined(bases: Bases) -> str:
    """Return the directories as one text, separated as in PATH, for an environment variable."""
    return os.pathsep.join(texts_of(bases))


def home(bases: Bases) -> Path:
    """Return the key of cache, views and rules: the base directory, or `several:` and the first one.
    Adding a directory to several keeps them."""
    return bases if isinstance(bases, Path) else Path(f"several:{bases[0]}")


def absent(bases: Bases) -> list[str]:
    """Return the directories that do not exist, ignoring patterns and stores."""
    every = (Base(str(bases)),) if isinstance(bases, Path) else bases
    return [base.path for base in every if not (base.pattern or base.url) and not Path(base.path).is_dir()]


def directory_problem(path: str | os.PathLike[str]) -> str:
    """Return the reason why this process cannot list a directory, as a sentence, or ""."""
    try:
        with os.scandir(path):
            pass
    except FileNotFoundError:
        return problem("no_directory", path=path)
    except NotADirectoryError:
        return problem("not_directory", path=path)
    except OSError as error:
        return problem("unreadable_directory", path=path, why=os_reason(error))
    if not os.access(path, os.X_OK):
        return problem("closed_directory", path=path)
    return ""


def empty_directory(path: str | os.PathLike[str]) -> bool:
    """Return True if a directory is empty. Raises OSError if it cannot be listed."""
    with os.scandir(path) as entries:
        return next(entries, None) is None


def base_problems(bases: Bases) -> list[str]:
    """Return a sentence for each directory that cannot be listed, ignoring stores and patterns."""
    every = (Base(str(bases)),) if isinstance(bases, Path) else bases
    problems = (directory_problem(base.path) for base in every if not (base.pattern or base.url))
    return [problem for problem in problems if problem]


def stores(bases: Bases) -> tuple[Base, ...]:
    """Return the base directories that are stores behind a URL."""
    return () if isinstance(bases, Path) else tuple(base for base in bases if base.url)


_SEVERAL: Final = re.compile(r"several:(?:[^/=]*=)?")  # before the path in a key of `home`


def normalized_home(key: str) -> str:
    """Convert a key of `home` from an earlier version, in which ``..`` was not resolved, to the current
    form."""
    prefix = known[0] if (known := _SEVERAL.match(key)) else ""
    path = key[len(prefix) :]
    return prefix + without_parents(path) if Path(path).is_absolute() else key


def wild(text: str) -> bool:
    """Return True if a path contains wildcards."""
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
        raise bad_settings("store_server_only", url=url)
    return Base(str(mirror_of(url, workspace)), name, url=url)


def _base(text: str, name: str = "") -> Base:
    return Base(_absolute(Path(text)), name, pattern=wild(text) and not _exists(text))


def _absolute(path: Path) -> str:
    return without_parents(str(path.expanduser().absolute()))


def without_parents(path: str) -> str:
    """Return an absolute path with ``..`` resolved: after a link it is the parent of the link's target.
    From the first wildcard of a pattern on it stays as it is."""
    parts = Path(path).parts
    if ".." not in parts:
        return path
    if wild(path) and not _exists(path):
        wildcard = next(index for index, part in enumerate(parts) if wild(part))
        return str(Path(without_parents(str(Path(*parts[:wildcard]))), *parts[wildcard:]))
    plain, real = os.path.normpath(path), os.path.realpath(path)
    return plain if os.path.realpath(plain) == real else real


def _exists(text: str) -> bool:
    return os.access(Path(text).expanduser(), os.F_OK)  # never raises, unlike Path.exists


def _refuse_equal_names(bases: Iterable[Base]) -> None:
    owners: dict[str, Base] = {}
    for base in bases:
        if base.name and not base.pattern and owners.setdefault(base.name, base) is not base:
            first, second = owners[base.name].source, base.source
            raise bad_settings("equal_names", first=first, second=second, name=base.name)


def _refuse_nested(bases: Iterable[Base]) -> None:
    real = [(os.path.realpath(base.path), base.source) for base in bases if not base.pattern]
    for (inner, shown), (outer, around) in permutations(real, 2):
        if inner == outer:
            raise bad_settings("same_directory", first=shown, second=around)
        if Path(inner).is_relative_to(outer):
            raise bad_settings("nested_directory", inner=shown, outer=around)
