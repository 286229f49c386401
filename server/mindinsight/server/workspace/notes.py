"""What people write on runs: notes, labels, colours, hidden, pinned."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from mindinsight.server.workspace.json_store import JsonStore

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


class Notes:
    """The notes of one base directory by run, in ``<folder>/notes.json``."""

    def __init__(self, folder: Path, base: Path) -> None:
        self._kept = JsonStore(folder / "notes.json", base, _note)

    @property
    def version(self) -> int:
        return self._kept.version

    def all(self) -> Mapping[str, Note]:
        return self._kept.values()

    def change(self, run: str, **fields: Any) -> Note:
        """Set the given fields of one run's note and keep it; raises OSError when it cannot be kept."""

        def written(notes: dict[str, Note]) -> dict[str, Note]:
            notes[run] = replace(notes.get(run, Note()), **fields)
            if notes[run] == Note():
                del notes[run]
            return notes

        return self._kept.change(written).get(run, Note())


def _note(fields: dict[str, Any]) -> Note:
    """A note from what the file says; unknown fields of later versions are left out."""
    known = {name: fields[name] for name in Note.__slots__ if name in fields}
    return replace(Note(), **{**known, "labels": tuple(known.get("labels", ()))})
