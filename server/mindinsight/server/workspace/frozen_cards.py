"""Frozen cards: what a card of a report showed when it was frozen, one JSON file each.

A file has a random name, in a folder of its report. It is written once and never changed, so that several
servers on one workspace need no lock for it.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import shutil
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from mindinsight.server.files.own_files import own_folder, read_own

_NAME: Final = re.compile(r"[0-9a-f]{32}")


class FrozenCards:
    """The files ``<folder>/<report>/<name>.json``; the ids of reports are the caller's own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def keep(self, report: str, content: str) -> str:
        """Name of the file with ``content``; OSError when it cannot be written."""
        data = content.encode("utf-8", "backslashreplace")
        name = secrets.token_hex(16)
        file = self._file(report, name)
        for folder in (self._folder, file.parent):
            own_folder(folder)
        handle, temporary = tempfile.mkstemp(dir=file.parent, prefix=".card-")  # mode 0600
        try:
            with os.fdopen(handle, "wb") as output:
                output.write(data)
            Path(temporary).replace(file)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
        return name

    def content(self, report: str, name: str) -> bytes:
        """KeyError when there is none of this name; OSError for one that is not ours."""
        if not _NAME.fullmatch(name):
            raise KeyError(name)
        try:
            return read_own(self._file(report, name))
        except FileNotFoundError:
            raise KeyError(name) from None

    def remove(self, report: str, names: Iterable[str]) -> None:
        """Remove files of a report; what cannot be removed stays."""
        for name in names:
            with contextlib.suppress(OSError):
                self._file(report, name).unlink(missing_ok=True)

    def drop(self, report: str) -> None:
        """Remove all files of a report."""
        shutil.rmtree(self._folder / report, ignore_errors=True)

    def _file(self, report: str, name: str) -> Path:
        return self._folder / report / f"{name}.json"
