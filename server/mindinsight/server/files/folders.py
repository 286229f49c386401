"""Listing folders without following links and without opening a file."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from mindinsight.server.files.opener import LinkError, entries_of


def folders_of(path: Path) -> list[Path]:
    """Directories directly inside, by name; nothing for what is gone or may not be read."""
    try:
        with entries_of(path) as entries:
            return sorted(path / entry.name for entry in entries if entry.is_dir(follow_symlinks=False))
    except OSError:
        return []


def files_of(path: Path) -> list[str]:
    """Names of the regular files directly inside, in no order; nothing for what is gone."""
    try:
        with entries_of(path) as entries:
            return [entry.name for entry in entries if entry.is_file(follow_symlinks=False)]
    except OSError:
        return []


def names_of(path: Path) -> list[str]:
    """Names of everything directly inside, whatever it is, in no order; nothing for what is gone."""
    try:
        with entries_of(path) as entries:
            return [entry.name for entry in entries]
    except OSError:
        return []


def refused_in(path: Path) -> Iterator[tuple[str, str]]:
    """What lies directly inside and is never opened: its name, and ``link`` or ``not_a_file``.

    A folder that is a link itself comes as ``("", "link")``.
    """
    try:
        with entries_of(path) as entries:
            yield from [(entry.name, reason) for entry in entries if (reason := _refusal(entry))]
    except LinkError:
        yield "", "link"
    except OSError:
        return


def _refusal(entry: os.DirEntry[str]) -> str:
    if entry.is_file(follow_symlinks=False) or entry.is_dir(follow_symlinks=False):
        return ""
    return "link" if entry.is_symlink() else "not_a_file"
