"""Directories that a training writes to."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Final

_log: Final = logging.getLogger(__name__)


def private_folder(path: Path) -> Path:
    """``path``, made with everything above it that is missing for this user alone (mode 0700)."""
    if not path.is_dir():
        private_folder(path.parent)
        path.mkdir(mode=0o700, exist_ok=True)
    return path


def make_log_dir(path: Path, strict: bool) -> None:
    """Make the directory of a run, mode 0700.

    Raises NotADirectoryError where something else lies; what the system refuses is raised if ``strict``, else
    logged, as the first record tries again.
    """
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError) as error:
        raise NotADirectoryError(f"log_dir is not a directory: {path}") from error
    except OSError as error:
        if strict:
            raise
        _log.error("cannot make %s: %s; trying again with the first record", path, error)
