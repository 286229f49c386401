"""Notes on runs of several base directories."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from mindinsight.server.store.mounts import BASE
from mindinsight.server.store.run import Watched
from mindinsight.server.workspace.notes import Note, Notes, newest_pin_only


class MultiBaseNotes:
    """Each directory keeps the notes it has when it is the only one, whatever it is called here."""

    def __init__(self, folder: Path, bases: Callable[[], Iterable[Watched]]) -> None:
        """``bases`` tells which directories there are now."""
        self._folder = folder
        self._bases = bases
        self._notes: dict[str, Notes] = {}  # by path

    @property
    def version(self) -> int:
        return sum(notes.version for notes in list(self._notes.values()))

    def all(self) -> Mapping[str, Note]:
        """By run, with the name of its directory."""
        return newest_pin_only(
            {
                f"{BASE}{base.name}/{run.removeprefix(BASE)}".rstrip("/"): note
                for base in self._bases()
                for run, note in self._of(base).all().items()
            }
        )

    def change(self, run: str, **fields: Any) -> Note:
        """Set the given fields of one run's note and keep it, as ``Notes.change``."""
        name, _, below = run.removeprefix(BASE).partition("/")
        bases = list(self._bases())
        base = next((base for base in bases if base.name == name), None)
        if base is None:
            raise FileNotFoundError(f"the base directory of {run} is gone")
        others = [self._of(other).base for other in bases if other.name != name]
        return self._of(base).change(BASE + below, others, **fields)

    def _of(self, base: Watched) -> Notes:
        if base.path not in self._notes:
            self._notes.setdefault(base.path, Notes(self._folder, Path(base.path)))
        return self._notes[base.path]
