"""Listing directories without following links and without opening a file."""

from __future__ import annotations

import os
from pathlib import Path


def folders_of(path: Path) -> list[Path]:
    """Directories directly inside, by name; nothing for what is gone or may not be read."""
    try:
        with os.scandir(path) as entries:
            return sorted(path / e.name for e in entries if e.is_dir(follow_symlinks=False))
    except OSError:
        return []


def files_of(path: Path) -> list[str]:
    """Names of the plain files directly inside, in no order; nothing for what is gone."""
    try:
        with os.scandir(path) as entries:
            return [e.name for e in entries if e.is_file(follow_symlinks=False)]
    except OSError:
        return []
