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
    DecodedSection,
    FileState,
    Ints,
    Kind,
    ReferenceColumns,
)

if TYPE_CHECKING:
    from mindinsight.server.formats.lineage import Lineage

Key: TypeAlias = tuple[Kind, str]  # kind, tag
MAX_GRAPHS: Final = 1000  # graphs of one file, each of which is a tag
MAX_FACTS: Final = 1000  # records of hyperparameters that are kept of one file
MAX_DAMAGE: Final = 1000  # entries that are kept of one file; the last one adds up all further damage
MAX_IN_MEMORY: Final = 1 << 22  # values of a file in memory; with more, groups are moved to disk
_MIN_SECTION: Final = 1 << 16  # values of a group that are moved while the file is read
_MIN_STORED: Final = 1 << 20  # values of a group that are moved after the file was read
_MIN_NUMBERS: Final = 3 * 4096  # numbers in scalar columns; compacting fewer saves nothing


class FileStage:
    """Content of one event file or ``.pb`` graph file, up to the offset where it has been read."""

    def __init__(self, name: str, path: str, stamp: Stamp = NOWHERE) -> None:
        self.name = name
        self.path = path
        self.role = file_names.role(name)
        self.tensorboard = file_names.is_tensorboard(name)
        self.stamp = stamp  # as the file is now
        self.checked = NOWHERE  # as it was when the last read began
        self.busy = False  # is being read
        self.suspect = False  # a worker crashed or hung reading it, or a file read with it
        self.wait = 0.0  # seconds of the last wait because of that
        self.fingerprint: Fingerprint | None = None
        self.read = 0
        self.pending = 0
        self.error = ""
        self.damage: list[Damage] = []
        self.skipped: dict[str, int] = {}
        self.first_event = 0.0  # Unix seconds; 0 while no event carries a believable time
        self.last_event = 0.0
        self.closing: str | None = None  # error in its closing record, "" after a normal end
        self.lineage: Lineage | None = None
        self.sessions = 0  # starts of a session that were read
        self.hparams: list[bytes] = []  # contents of TensorBoard's hparams plugin
        self.scalars = ScalarTable()
        self._numbers = 0  # numbers in all groups of scalars
        self._compacted = 0  # numbers when they were last compacted
        self.references: dict[Key, ReferenceGroup] = {}

    @cached_property
    def order(self) -> file_names.Order:
        """Return the sort key by age, oldest first."""
        return file_names.order(self.name)

    @property
    def unread(self) -> int:
        """Return the number of bytes that were not read, including those of an incomplete record."""
        return max(0, self.stamp.size - self.read)

    def has_more(self, offset: int) -> bool:
        """Return True if another section can be read, after the section that began at ``offset``."""
        return self.stamp != self.checked or (self.read > offset and self.unread > self.pending)

    @property
    def bytes_seen(self) -> int:
        """Return the number of bytes examined, including those of an incomplete record or an unreadable
        file."""
        return self.stamp.size if self.error else min(self.read + self.pending, self.stamp.size)

    @property
    def _time_in_name(self) -> float:
        """Return the Unix seconds in the name of a file without events, else 0."""
        if self.scalars or self.references:
            return 0.0
        earliest, latest = BELIEVABLE
        seconds = file_names.created(self.name) or 0.0
        return seconds if earliest <= seconds < latest else 0.0

    def state(self) -> FileState:
        """Return the state of the file that readers see."""
        return FileState(
            name=file_names.shown(self.name),
            size=self.stamp.size,
            modified=self.stamp.modified / 1e9,
            read=self.read,
            pending=self.pending,
            damage=tuple(self.damage),
            error=self.error,
            skipped=tuple(sorted(self.skipped.items())),
            first_event=self.first_event or self._time_in_name,
            last_event=self.last_event or self._time_in_name,
            closed=self.stamp.closed or self.closing is not None,
            failure=self.closing or "",
        )

    def list_keys(self) -> list[Key]:
        """Return every kind and tag in the file."""
        scalars: list[Key] = [("scalar", tag) for tag in self.scalars.groups]
        return scalars + list(self.references)

    def fold(
        self, section: DecodedSection, lineage: Lineage | None = None, fingerprint: Fingerprint | None = None
    ) -> list[Key]:
        """Add the next section of the file, and return the kinds and tags of payloads that grew.
        ``settle`` returns the scalars that grew. ``lineage`` is the content of a lineage file, which is
        always read whole."""
        self.read, self.pending, self.fingerprint = section.next_offset, section.pending, fingerprint
        self.error, self.suspect, self.wait = "", False, 0.0
        if lineage is not None:
            self.lineage, self.damage = lineage, []
        self._add_damage(section.damage)
        self._add_times(section)
        starts = self._add_notes(section)
        self.closing = self.closing if section.closing is None else section.closing
        for what, count in section.skipped:
            self.skipped[what] = self.skipped.get(what, 0) + count
        grown: list[Key] = []
        for block in section.blocks:
            self.scalars.fold(block, self._sessions_of(block.offsets, starts))
            self._numbers += (len(block.tags) + 2) * len(block.steps)
        for rows in section.rows:
            self.scalars.fold(rows, self._sessions_of(rows.offsets, starts))
            self._numbers += 3 * len(rows.steps)
        for columns in section.references:
            if columns.kind == "graph":
                grown += self._fold_graphs(columns)
            else:
                sessions = self._sessions_of(columns.offsets, starts)
                key = (self._resolve_kind(columns), columns.tag)
                grown.append(self._fold_references(key, columns, sessions))
        self.sessions += len(starts)
        return grown

    def settle(self) -> list[Key]:
        """Add waiting scalars to their columns, and return kind and tag of those that grew since the last
        call."""
        return [("scalar", tag) for tag in self.scalars.take_grown()]

    def compact(self, cold: ColdColumns | None = None) -> list[Key]:
        """Reduce the memory of large columns, or of a file read to its end, and return the kinds and tags
        whose rows moved."""
        moved: list[str] = []
        if cold is not None and self.scalars.in_memory >= MAX_IN_MEMORY:
            moved = self.scalars.store(cold, _MIN_SECTION)
        if self.unread <= self.pending and self._numbers >= max(_MIN_NUMBERS, 2 * self._compacted):
            self._compacted = self._numbers
            if cold is not None:
                moved += self.scalars.store(cold, _MIN_STORED)
            moved += self.scalars.compact(cold)
        return [("scalar", tag) for tag in moved]

    def fold_whole(self) -> list[Key]:
        """Add a ``.pb`` file, which is one graph payload, and return [its kind and tag], [] for an empty
        file."""
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
        """Return a snapshot of the rows of one kind and tag. Raises KeyError if there are none."""
        return self._scalar_part(key[1]) if key[0] == "scalar" else self._reference_part(key)

    def _scalar_part(self, tag: str) -> ScalarPart:
        """Return the rows of one scalar tag."""
        group = self.scalars.groups[tag]
        axis = group.axis
        return ScalarPart(
            axis.steps.view(),
            axis.walls.view(),
            group.values[group.tags[tag]],
            axis.starts.view(),
            _session_rows(axis),
            group.stored(tag),
        )

    def _reference_part(self, key: Key) -> ReferencePart:
        """Return the payload references of one tag."""
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
        """Add graphs and return their keys. Each is a tag: the name of the file, with a number from the
        second graph on."""
        name = file_names.shown(self.name)
        count = sum(kind == "graph" for kind, _ in self.references)
        keys: list[Key] = []
        for row in range(min(len(columns.steps), MAX_GRAPHS - count)):
            number = count + row + 1
            tag = name if number == 1 else f"{name}#{number}"
            keys.append(self._fold_references(("graph", tag), columns.row(row)))
        return keys

    def _fold_references(self, key: Key, columns: ReferenceColumns, sessions: Ints | None = None) -> Key:
        """Add references to the payloads of one tag and return its key."""
        group = self.references.get(key)
        if group is None:
            axis = Axis(columns.steps, columns.walls, None, sessions)
            self.references[key] = ReferenceGroup(axis, columns.offsets, columns.sizes)
        else:
            group.append(columns, sessions)
        return key

    def _resolve_kind(self, columns: ReferenceColumns) -> Kind:
        """Return the kind of a tag's payloads, which may be known only from the tag's first TensorBoard
        event."""
        if not self.tensorboard or columns.kind != "tensor" or ("tensor", columns.tag) in self.references:
            return columns.kind
        kinds = (kind for kind in TENSOR_KINDS if (kind, columns.tag) in self.references)
        return next(kinds, columns.kind)

    def _add_notes(self, section: DecodedSection) -> Ints:
        """Add the hyper-parameters that a section of the file notes, and return the offsets at which sessions
        start."""
        for note in section.notes:
            if note.name == "hparams" and len(self.hparams) < MAX_FACTS:
                self.hparams.append(note.content)
        return np.array([note.offset for note in section.notes if note.name == "session"], np.int64)

    def _sessions_of(self, offsets: Ints, starts: Ints) -> Ints | None:
        """Return the session of each row, or None if only one session has started."""
        if not (self.sessions or len(starts)):
            return None
        return self.sessions + np.searchsorted(starts, offsets, side="right")

    def _add_times(self, section: DecodedSection) -> None:
        """Update the times of the first and the last event."""
        self.last_event = max(self.last_event, section.last_event)
        if section.first_event:
            self.first_event = min(self.first_event or section.first_event, section.first_event)

    def _add_damage(self, damage: Iterable[Damage]) -> None:
        """Add damage, summed up in the last entry beyond MAX_DAMAGE."""
        for section in damage:
            if len(self.damage) < MAX_DAMAGE:
                self.damage.append(section)
            else:
                last = self.damage[-1]
                self.damage[-1] = Damage(last.offset, last.size + section.size, "damage.more")


def _session_rows(axis: Axis) -> Ints:
    """Return the rows at which sessions begin."""
    return np.array(axis.session_rows, np.int64) if axis.session_rows else NO_ROWS


def _transcoder() -> Transcode:
    """Return the transcoder of TensorBoard payloads, imported on first use."""
    from mindinsight.server.formats.tensorboard import transcode  # most directories have no such file

    return transcode
