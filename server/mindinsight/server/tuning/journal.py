"""Journals of studies: Optuna's own append-only files in the workspace, one for each study.

``optuna-dashboard <file>`` and ``JournalStorage(JournalFileBackend(<file>))`` open them as they are.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from mindinsight.server.errors import BadSettings
from mindinsight.server.files.file_lock import locked
from mindinsight.server.files.own_files import NotOursError, check_file, check_folder, own_folder

if TYPE_CHECKING:
    from optuna.storages import JournalStorage

FOLDER: Final = "studies"
SUFFIX: Final = ".journal"
_BRIEF: Final = 1.0  # seconds for which a page may hold the lock to see whether a tuner does


def journal_path(workspace: Path, base: Path, study: str) -> Path:
    """The journal of the study of that name over a base directory."""
    mark = hashlib.sha256(os.path.realpath(base).encode(errors="surrogateescape")).hexdigest()[:8]
    return workspace / FOLDER / f"{study}-{mark}{SUFFIX}"


def journals(workspace: Path) -> list[Path]:
    """Return the journals of a workspace by name; none that another user owns or could have put there."""
    return sorted(path for path in (workspace / FOLDER).glob(f"*{SUFFIX}") if _is_ours(path))


def open_journal(path: Path) -> JournalStorage:
    """The journal as a storage of Optuna. Raises BadSettings when Optuna is not installed."""
    try:
        from optuna.storages import JournalStorage
        from optuna.storages.journal import JournalFileBackend
    except ModuleNotFoundError as error:
        raise BadSettings(f"Tuning needs {error.name}: pip install 'mindinsight[tune]'.") from error
    return JournalStorage(JournalFileBackend(str(path)))


@contextmanager
def tuning(path: Path) -> Iterator[None]:
    """Hold the journal for one tuner; what a killed one wrote by half is cut off. Raises BadSettings."""
    try:
        own_folder(path.parent)
        with locked(_tuner_file(path), _BRIEF):
            _cut_half_line(path)
            yield
    except TimeoutError:
        raise BadSettings(
            f"Another process is tuning this study ({path}). Wait for it, or take another --study."
        ) from None
    except NotOursError as error:
        raise BadSettings(f"{error.filename}: {error.strerror}. Name another --workspace.") from None


def is_tuned(path: Path) -> bool:
    """Whether a tuner is at work on the study."""
    try:
        with locked(_tuner_file(path), 0):
            return False
    except TimeoutError:
        return True
    except OSError:  # a workspace that may only be read
        return False


def study_name(path: Path) -> str:
    """The name of the study in a journal, from the file's name."""
    return re.sub(r"-[0-9a-f]{8}$", "", path.name.removesuffix(SUFFIX))


def _is_ours(path: Path) -> bool:
    try:
        check_folder(path.parent)
        check_file(path, writable=0)  # Optuna makes it with the mode of the umask, in a folder with mode 0700
    except OSError:
        return False
    return True


def _tuner_file(path: Path) -> Path:
    return path.with_suffix(".tuner")  # its lock is not that of Optuna, which ends in .journal.lock


def _cut_half_line(path: Path) -> None:
    """Optuna takes a journal whose last line has no end for damaged as soon as another line follows."""
    if not path.exists():
        return
    check_file(path, writable=0)
    with path.open("r+b") as file:
        end = file.seek(0, os.SEEK_END)
        while end > 0:
            start = max(0, end - 4096)
            file.seek(start)
            newline = file.read(end - start).rfind(b"\n")
            if newline >= 0:
                file.truncate(start + newline + 1)
                return
            end = start
        file.truncate(0)
