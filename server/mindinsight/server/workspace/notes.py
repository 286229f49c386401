"""Notes of users on runs of one or several base directories: name, text, labels, group, colour, marks."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from mindinsight.server.store.mounts import BASE
from mindinsight.server.store.run import Watched
from mindinsight.server.workspace.json_store import JsonStore

MAX_NOTE = 20_000  # characters
MAX_NAME = 200  # characters of a name or group, which a list shows whole
MAX_LABELS = 50  # of a run; all notes are in one file, which each change writes again


@dataclass(frozen=True, slots=True)
class Note:
    """Note on one run: text and labels, and whether and how it is shown."""

    note: str = ""
    labels: tuple[str, ...] = ()
    hidden: bool = False
    pinned: bool = False
    colour: str = ""  # "#rrggbb", or empty for the palette's
    tag: int | None = None  # v1's number from 0 to 10
    name: str = ""  # shown in place of the directory's
    group: str = ""
    archived: bool = False
    pin: int = field(default=0, compare=False)  # counter of pins in the workspace; the highest is the newest


class Notes(JsonStore[Note]):
    """Notes of one base directory by run, in `<folder>/notes.json`."""

    def __init__(self, folder: Path, base: Path) -> None:
        super().__init__(folder / "notes.json", base, _note)

    def all(self) -> Mapping[str, Note]:
        """Return the notes by run. Of several pinned runs, only the one pinned last stays pinned."""
        return newest_pin_only(super().all())

    def change(self, run: str, **fields: Any) -> Note:
        """Set the given fields of one run's note, store it, and return it. Raises as `change_all`."""
        return self.change_all({run: fields})[run]

    def change_all(
        self, changes: Mapping[str, Mapping[str, Any]], others: Iterable[str] = ()
    ) -> dict[str, Note]:
        """Set the given fields by run in one write, and return the notes of these runs. Raises OSError.

        Other fields are unchanged.

        Pinning or unpinning a run unpins the others of this base directory and of the directories `others`,
        in the same write. A server over one base directory and a server over several may change the file in
        turn.
        """

        def written(notes: dict[str, dict[str, Note]]) -> dict[str, dict[str, Note]]:
            changed = {self._base: notes.get(self._base, {})}
            for run, values in changes.items():
                fields = {name: _encodable(value) for name, value in values.items()}
                before = changed[self._base].get(run, Note())
                pin = fields.get("pinned", before.pinned)
                if "pinned" in fields and (pin or before.pinned):
                    pins = 1 + max((note.pin for base in notes.values() for note in base.values()), default=0)
                    changed |= {base: notes[base] for base in others if base in notes}
                    changed = {base: _unpinned(values) for base, values in changed.items()}
                    fields["pin"] = pins if pin else 0
                changed[self._base][run] = replace(before, **fields)
                if changed[self._base][run] == Note():
                    del changed[self._base][run]
            return changed

        notes = self.change_bases(written)
        return {run: notes.get(run, Note()) for run in changes}


def newest_pin_only(notes: Mapping[str, Note]) -> Mapping[str, Note]:
    """Return the notes with at most one pinned run, the one pinned last."""
    pinned = {run: note.pin for run, note in notes.items() if note.pinned}
    if len(pinned) < 2:
        return notes
    newest = max(pinned, key=lambda run: (pinned[run], run))
    return {run: replace(note, pinned=note.pinned and run == newest) for run, note in notes.items()}


def _unpinned(notes: dict[str, Note]) -> dict[str, Note]:
    bare = {run: replace(note, pinned=False, pin=0) for run, note in notes.items()}
    return {run: note for run, note in bare.items() if note != Note()}


# In JSON. A tag can also be null, its default.
_TYPES: Final = {
    "note": str,
    "labels": list,
    "hidden": bool,
    "pinned": bool,
    "colour": str,
    "name": str,
    "group": str,
    "archived": bool,
    "pin": int,
    "tag": int,
}


def _note(content: dict[str, Any]) -> Note:
    """Parse a note. Unknown fields, of later versions, and invalid ones are ignored."""
    good: dict[str, Any] = {name: value for name, value in content.items() if type(value) is _TYPES.get(name)}
    labels = good.get("labels", [])
    are_texts = all(isinstance(label, str) for label in labels)
    return Note(**{**good, "labels": tuple(labels) if are_texts else ()})


def _encodable(value: Any) -> Any:
    """Return text without lone surrogates, which JSON responses cannot encode."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    return tuple(_encodable(text) for text in value) if isinstance(value, tuple) else value


class MultiBaseNotes:
    """Notes of several base directories. Each directory has the same notes as when it is the only one."""

    def __init__(self, folder: Path, bases: Callable[[], Iterable[Watched]]) -> None:
        """Open the notes in `folder`, where `bases` returns the base directories that currently exist."""
        self._folder = folder
        self._bases = bases
        self._notes: dict[str, Notes] = {}  # by path

    @property
    def version(self) -> int:
        """Return a number that changes after every change by any server."""
        return sum(notes.version for notes in list(self._notes.values()))

    def all(self) -> Mapping[str, Note]:
        """Return the notes by run, with the name of its directory."""
        every: dict[str, Note] = {}
        for base in self._bases():
            for run, note in self._of(base).all().items():
                every[_run_in(base.name, run)] = note
        return newest_pin_only(every)

    def change(self, run: str, **fields: Any) -> Note:
        """Set the given fields of one run's note, store it, and return it. Raises as `change_all`."""
        return self.change_all({run: fields})[run]

    def change_all(self, changes: Mapping[str, Mapping[str, Any]]) -> dict[str, Note]:
        """Set the given fields by run, in one write for each base directory, and return the notes of these
        runs. Raises FileNotFoundError if a base directory was removed, OSError if the file cannot be written.
        """
        bases = {base.name: base for base in self._bases()}
        below: dict[str, dict[str, Mapping[str, Any]]] = {}  # changes by base directory
        for run, fields in changes.items():
            name, _, path = run.removeprefix(BASE).partition("/")
            if name not in bases:
                raise FileNotFoundError(f"the base directory of {run} was removed")
            below.setdefault(name, {})[BASE + path] = fields
        changed: dict[str, Note] = {}
        for name, runs in below.items():
            others = [str(Path(other.path)) for other in bases.values() if other.name != name]
            notes = self._of(bases[name]).change_all(runs, others)
            changed |= {_run_in(name, run): note for run, note in notes.items()}
        return changed

    def _of(self, base: Watched) -> Notes:
        if base.path not in self._notes:
            self._notes.setdefault(base.path, Notes(self._folder, Path(base.path)))
        return self._notes[base.path]


def _run_in(name: str, run: str) -> str:
    """Return the id of a run of the base directory `name` among several, from its id in that directory."""
    return f"{BASE}{name}/{run.removeprefix(BASE)}".rstrip("/")
