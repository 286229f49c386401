"""Notes on runs of several base directories."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from mindinsight.server.store.mounts import BASE
from mindinsight.server.store.run import Watched
from mindinsight.server.workspace.file_lock import locked
from mindinsight.server.workspace.notes import Note, Notes


class MultiBaseNotes:
    """Each directory keeps the notes it has when it is the only one, whatever it is called here."""

    def __init__(self, folder: Path, bases: Callable[[], Iterable[Watched]]) -> None:
        """``bases`` tells which directories there are now."""
        self._folder = folder
        self._bases = bases
        self._each: dict[str, Notes] = {}  # by path
        self._lock = threading.RLock()  # they share a file, which is written as a whole

    @property
    def version(self) -> int:
        return sum(notes.version for notes in list(self._each.values()))

    def all(self) -> Mapping[str, Note]:
        """By run, with the name of its directory."""
        return {
            f"{BASE}{base.name}/{run.removeprefix(BASE)}".rstrip("/"): note
            for base in self._bases()
            for run, note in self._of(base).all().items()
        }

    def change(self, run: str, **fields: Any) -> Note:
        """Set the given fields of one run's note and keep it, as ``Notes.change``."""
        name, _, below = run.removeprefix(BASE).partition("/")
        base = next((base for base in self._bases() if base.name == name), None)
        if base is None:
            raise FileNotFoundError(f"the base directory of {run} is gone")
        with self._lock:
            if not fields.get("pinned"):
                return self._of(base).change(BASE + below, **fields)
            with locked(self._folder / "pins"):  # one run at most, of all directories
                for other in self._bases():
                    if other.name != name:
                        self._of(other).unpin()
                return self._of(base).change(BASE + below, **fields)

    def _of(self, base: Watched) -> Notes:
        with self._lock:
            if base.path not in self._each:
                self._each[base.path] = Notes(self._folder, Path(base.path))
            return self._each[base.path]
