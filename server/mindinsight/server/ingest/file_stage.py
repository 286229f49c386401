"""Stage of one file while it is read: its content so far, in growing columns."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from mindinsight.server.ingest.cold_columns import ColdColumns
from mindinsight.server.ingest.folder_tree import NOWHERE, Stamp
from mindinsight.server.ingest.piece_reader import Fingerprint
from mindinsight.server.ingest.staged_columns import Axis, ReferenceGroup, ScalarTable
from mindinsight.server.store import file_names
from mindinsight.server.store.series import NO_ROWS, Part, ReferencePart, ScalarPart, Transcode
from mindinsight.server.types import (
    BELIEVABLE,
    TENSOR_KINDS,
    Damage,
    FileState,
    Ints,
    Kind,
    ReferenceColumns,
    Stretch,
)

if TYPE_CHECKING:
    from mindinsight.server.formats.lineage import Lineage

Key: TypeAlias = tuple[Kind, str]  # kind, tag
MOST_GRAPHS: Final = 1000  # of one file: each is a tag
MOST_FACTS: Final = 1000  # records of hyperparameters kept of one file
MOST_DAMAGE: Final = 1000  # entries kept of one file; what follows is added up in the last
_FEWEST_NUMBERS: Final = 3 * 4096  # of scalars, with their steps and times, that are worth compacting


class FileStage:
    """Content of one event file, or ``.pb`` graph file, up to where it has been read."""

    def __init__(self, name: str, path: str, stamp: Stamp = NOWHERE) -> None:
        self.name = name
        self.path = path
        self.role = file_names.role(name)
        self.tensorboard = file_names.is_tensorboard(name)
        self.stamp = stamp  # as the file is now
        self.checked = NOWHERE  # as it was when it was last read, or is being read
        self.busy = False  # is being read
        self.suspect = False  # a worker died reading it, or something beside it
        self.wait = 0.0  # seconds it was last left alone because of that
        self.fingerprint: Fingerprint | None = None
        self.read = 0
        self.pending = 0
        self.error = ""
        self.damage: list[Damage] = []
        self.skipped: dict[str, int] = {}
        self.first_event = 0.0  # Unix seconds; 0 while no event carries a believable time
        self.last_event = 0.0
        self.closing: str | None = None  # of its closing record: the error that ended the training, or ""
        self.lineage: Lineage | None = None
        self.sessions = 0  # starts of a session that were met
        self.hparams: list[bytes] = []  # contents of TensorBoard's plugin of that name
        self.scalars = ScalarTable()
        self._numbers = 0  # of all groups of scalars
        self._compacted = 0  # numbers there were when they were last compacted
        self.references: dict[Key, ReferenceGroup] = {}

    @cached_property
    def order(self) -> file_names.Order:
        """Files sorted by it are oldest first."""
        return file_names.order(self.name)

    @property
    def unread(self) -> int:
        """Bytes nobody has looked at, or that could complete a record that was cut."""
        return max(0, self.stamp.size - self.read)

    def goes_on(self, offset: int) -> bool:
        """Whether there is more to read right away, after a piece from ``offset`` on."""
        return self.stamp != self.checked or (self.read > offset and self.unread > self.pending)

    @property
    def seen(self) -> int:
        """Bytes that were looked at: those of an unfinished record and of an unreadable file count."""
        return self.stamp.size if self.error else min(self.read + self.pending, self.stamp.size)

    @property
    def _named_time(self) -> float:
        """Unix seconds in the name of a file of which no event could be read; 0 for others."""
        if self.scalars or self.references:
            return 0.0
        earliest, latest = BELIEVABLE
        seconds = file_names.created(self.name) or 0.0
        return seconds if earliest <= seconds < latest else 0.0

    def state(self) -> FileState:
        return FileState(
            name=file_names.shown(self.name),
            size=self.stamp.size,
            modified=self.stamp.modified / 1e9,
            read=self.read,
            pending=self.pending,
            damage=tuple(self.damage),
            error=self.error,
            skipped=tuple(sorted(self.skipped.items())),
            first_event=self.first_event or self._named_time,
            last_event=self.last_event or self._named_time,
            closed=self.stamp.closed or self.closing is not None,
            failure=self.closing or "",
        )

    def held(self) -> list[Key]:
        """Every kind and tag of which the file holds something."""
        scalars: list[Key] = [("scalar", tag) for tag in self.scalars.groups]
        return scalars + list(self.references)

    def fold(
        self, stretch: Stretch, lineage: Lineage | None = None, fingerprint: Fingerprint | None = None
    ) -> list[Key]:
        """Add what the stretch from ``read`` on holds; the kinds and tags of payloads that grew.

        Which scalars grew says ``settle``. ``lineage`` is the content of a lineage file, which is always read
        whole.
        """
        self.read, self.pending, self.fingerprint = stretch.next_offset, stretch.pending, fingerprint
        self.error, self.suspect, self.wait = "", False, 0.0
        if lineage is not None:
            self.lineage, self.damage = lineage, []
        self._note_damage(stretch.damage)
        self._note_times(stretch)
        starts = self._note_facts(stretch)
        self.closing = self.closing if stretch.closing is None else stretch.closing
        for what, count in stretch.skipped:
            self.skipped[what] = self.skipped.get(what, 0) + count
        grown: list[Key] = []
        for block in stretch.blocks:
            self.scalars.fold(block, self._sessions_of(block.offsets, starts))
            self._numbers += (len(block.tags) + 2) * len(block.steps)
        for rows in stretch.rows:
            self.scalars.fold(rows, self._sessions_of(rows.offsets, starts))
            self._numbers += 3 * len(rows.steps)
        for columns in stretch.references:
            if columns.kind == "graph":
                grown += self._fold_graphs(columns)
            else:
                sessions = self._sessions_of(columns.offsets, starts)
                key = (self._known_kind(columns), columns.tag)
                grown.append(self._fold_references(key, columns, sessions))
        self.sessions += len(starts)
        return grown

    def settle(self) -> list[Key]:
        """Put all scalars in their columns; the tags that grew since this was last done."""
        return [("scalar", tag) for tag in self.scalars.take_grown()]

    def compact(self, cold: ColdColumns | None = None) -> list[Key]:
        """Hold columns in less memory once the file was read to its end; the tags whose columns moved."""
        if self.unread > self.pending or self._numbers < max(_FEWEST_NUMBERS, 2 * self._compacted):
            return []
        self._compacted = self._numbers
        return [("scalar", tag) for tag in self.scalars.compact(cold)]

    def fold_whole(self) -> list[Key]:
        """A ``.pb`` file: one payload, the graph."""
        self.read = self.stamp.size
        self.error = ""
        if not self.stamp.size:
            return []
        axis = Axis(np.zeros(1, np.int64), np.array([self.stamp.modified / 1e9]))
        size = np.array([self.stamp.size], np.int64)
        key: Key = ("graph", file_names.shown(self.name))
        self.references[key] = ReferenceGroup(axis, np.zeros(1, np.int64), size)
        return [key]

    def part(self, key: Key) -> Part:
        """The rows of one tag."""
        return self._scalar_part(key[1]) if key[0] == "scalar" else self._reference_part(key)

    def _scalar_part(self, tag: str) -> ScalarPart:
        group = self.scalars.groups[tag]
        axis = group.axis
        return ScalarPart(
            axis.steps.view(),
            axis.walls.view(),
            group.values[tag].view(),
            axis.starts.view(),
            _session_rows(axis),
        )

    def _reference_part(self, key: Key) -> ReferencePart:
        group = self.references[key]
        axis = group.axis
        return ReferencePart(
            path=self.path,
            device=self.stamp.device,
            inode=self.stamp.inode,
            steps=axis.steps.view(),
            walls=axis.walls.view(),
            offsets=group.offsets.view(),
            sizes=group.sizes.view(),
            starts=axis.starts.view(),
            sessions=_session_rows(axis),
            transcode=_transcoder() if self.tensorboard else None,
        )

    def _fold_graphs(self, columns: ReferenceColumns) -> list[Key]:
        """Each graph is a tag of its own: the file's name, from the second on with a number behind it."""
        name = file_names.shown(self.name)
        count = sum(kind == "graph" for kind, _ in self.references)
        keys: list[Key] = []
        for row in range(min(len(columns.steps), MOST_GRAPHS - count)):
            number = count + row + 1
            tag = name if number == 1 else f"{name}#{number}"
            keys.append(self._fold_references(("graph", tag), columns.row(row)))
        return keys

    def _fold_references(self, key: Key, columns: ReferenceColumns, sessions: Ints | None = None) -> Key:
        group = self.references.get(key)
        if group is None:
            axis = Axis(columns.steps, columns.walls, None, sessions)
            self.references[key] = ReferenceGroup(axis, columns.offsets, columns.sizes)
        else:
            group.append(columns, sessions)
        return key

    def _known_kind(self, columns: ReferenceColumns) -> Kind:
        """The kind of a tag's payloads: only the first event of a tag may say what its tensors are."""
        if not self.tensorboard or columns.kind != "tensor" or ("tensor", columns.tag) in self.references:
            return columns.kind
        kinds = (kind for kind in TENSOR_KINDS if (kind, columns.tag) in self.references)
        return next(kinds, columns.kind)

    def _note_facts(self, stretch: Stretch) -> Ints:
        """Keep what the stretch says about the run; the offsets at which a session starts."""
        for note in stretch.notes:
            if note.name == "hparams" and len(self.hparams) < MOST_FACTS:
                self.hparams.append(note.content)
        return np.array([note.offset for note in stretch.notes if note.name == "session"], np.int64)

    def _sessions_of(self, offsets: Ints, starts: Ints) -> Ints | None:
        """The session in which each of some rows was written; None where none has started but the first."""
        if not (self.sessions or len(starts)):
            return None
        return self.sessions + np.searchsorted(starts, offsets, side="right")

    def _note_times(self, stretch: Stretch) -> None:
        self.last_event = max(self.last_event, stretch.last_event)
        if stretch.first_event:
            self.first_event = min(self.first_event or stretch.first_event, stretch.first_event)

    def _note_damage(self, damage: Iterable[Damage]) -> None:
        for stretch in damage:
            if len(self.damage) < MOST_DAMAGE:
                self.damage.append(stretch)
            else:
                last = self.damage[-1]
                self.damage[-1] = Damage(last.offset, last.size + stretch.size, "damage.more")


def _session_rows(axis: Axis) -> Ints:
    return np.array(axis.session_rows, np.int64) if axis.session_rows else NO_ROWS


def _transcoder() -> Transcode:
    from mindinsight.server.formats.tensorboard import transcode  # most directories have no such file

    return transcode
