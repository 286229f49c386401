"""What people write on runs: notes, labels, colours, hidden, pinned. JSON in the workspace, theirs alone."""

from __future__ import annotations

import json
import os
import tempfile
import threading
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

MAX_NOTE = 20_000  # characters
MAX_LABELS = 50


@dataclass(frozen=True, slots=True)
class Note:
    """What is remembered about one run."""

    note: str = ""
    labels: tuple[str, ...] = ()
    hidden: bool = False
    pinned: bool = False
    colour: str = ""  # "#rrggbb", or empty for the palette's
    tag: int | None = None  # v1's number from 0 to 10


class Workspace:
    """The notes of one base directory, kept in ``<folder>/notes.json`` beside those of other bases.

    Written to a temporary file and renamed, mode 0600. A file that is not ours to read is put aside
    as ``notes.json.damaged`` and never overwritten.
    """

    def __init__(self, folder: Path, base: Path) -> None:
        self.folder = folder
        self._file = folder / "notes.json"
        self._base = str(base)
        self._lock = threading.Lock()
        self._notes: Mapping[str, Note] = {
            run: _note(fields) for run, fields in self._read().get(self._base, {}).items()
        }
        self.version = 1

    def notes(self) -> Mapping[str, Note]:
        return self._notes

    def change(self, run: str, **fields: Any) -> Note:
        """Set the given fields of one run's note and keep it; raises OSError when it cannot be kept."""
        with self._lock:
            note = replace(self._notes.get(run, Note()), **fields)
            notes = {**self._notes, run: note}
            if note == Note():
                del notes[run]
            self._write({**self._read(), self._base: {name: asdict(kept) for name, kept in notes.items()}})
            self._notes = notes
            self.version += 1
            return note

    def _read(self) -> dict[str, Any]:
        try:
            content = json.loads(self._file.read_text(encoding="utf-8"))
            if not all(isinstance(runs, dict) for runs in content.values()):
                raise ValueError("not notes")
        except FileNotFoundError:
            return {}
        except (ValueError, AttributeError):
            self._file.replace(self._file.with_suffix(".json.damaged"))
            return {}
        return dict(content)

    def _write(self, content: dict[str, Any]) -> None:
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle, name = tempfile.mkstemp(dir=self.folder, prefix=".notes-")  # mode 0600
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                json.dump(content, file, ensure_ascii=False)
            Path(name).replace(self._file)
        except OSError:
            Path(name).unlink(missing_ok=True)
            raise


def _note(fields: Any) -> Note:
    """A note from what the file says; unknown fields of later versions are left out."""
    known = {name: fields[name] for name in Note.__slots__ if name in fields}
    return replace(Note(), **{**known, "labels": tuple(known.get("labels", ()))})
