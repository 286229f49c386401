"""Notes of users on runs: text, labels, colour, hidden, pinned."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from mindinsight.server.workspace.json_store import JsonStore

MAX_NOTE = 20_000  # characters
MAX_LABELS = 50


@dataclass(frozen=True, slots=True)
class Note:
    """Note on one run."""

    note: str = ""
    labels: tuple[str, ...] = ()
    hidden: bool = False
    pinned: bool = False
    colour: str = ""  # "#rrggbb", or empty for the palette's
    tag: int | None = None  # v1's number from 0 to 10


class Notes:
    """The notes of one base directory by run, in ``<folder>/notes.json``."""

    def __init__(self, folder: Path, base: Path) -> None:
        self._store = JsonStore(folder / "notes.json", base, _note)

    @property
    def version(self) -> int:
        return self._store.version

    def all(self) -> Mapping[str, Note]:
        return self._store.values()

    def change(self, run: str, **fields: Any) -> Note:
        """Set the given fields of one run's note and keep it; OSError when it cannot be kept.

        A run that is pinned takes the pin from the others, in the same change.
        """
        fields = {name: _encodable(value) for name, value in fields.items()}

        def written(notes: dict[str, Note]) -> dict[str, Note]:
            if fields.get("pinned"):
                notes = _unpinned(notes)
            notes[run] = replace(notes.get(run, Note()), **fields)
            if notes[run] == Note():
                del notes[run]
            return notes

        return self._store.change(written).get(run, Note())

    def unpin(self) -> None:
        """Take the pin from whichever run has it; OSError when that cannot be kept."""
        if any(note.pinned for note in self.all().values()):
            self._store.change(_unpinned)


def _unpinned(notes: dict[str, Note]) -> dict[str, Note]:
    bare = {run: replace(note, pinned=False) for run, note in notes.items()}
    return {run: note for run, note in bare.items() if note != Note()}


def _note(content: dict[str, Any]) -> Note:
    """A note from what the file says. Unknown fields, of later versions, and wrong ones are left out."""
    good = {name: value for name, value in content.items() if name in _CHECKS and _CHECKS[name](value)}
    return Note(**{**good, "labels": tuple(good.get("labels", ()))})


def _encodable(value: Any) -> Any:
    """A text, or texts, without lone surrogates, which no answer could carry."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    return tuple(_encodable(text) for text in value) if isinstance(value, tuple) else value


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_flag(value: Any) -> bool:
    return isinstance(value, bool)


_CHECKS: Final[Mapping[str, Callable[[Any], bool]]] = {
    "note": _is_text,
    "labels": lambda value: isinstance(value, list) and all(map(_is_text, value)),
    "hidden": _is_flag,
    "pinned": _is_flag,
    "colour": _is_text,
    "tag": lambda value: value is None or (isinstance(value, int) and not _is_flag(value)),
}
