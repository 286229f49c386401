"""Stage of one run while it is read: merges its files and publishes them as a snapshot."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, cast

from mindinsight.server.ingest.cold_columns import ColdColumns
from mindinsight.server.ingest.file_stage import FileStage, Key
from mindinsight.server.ingest.piece_reader import Fingerprint
from mindinsight.server.ingest.run_discovery import DiscoveredRun
from mindinsight.server.store.file_names import Order
from mindinsight.server.store.run import Run, failure, first_event, is_finished, last_event
from mindinsight.server.store.series import Part, ReferencePart, ReferenceSeries, ScalarPart, ScalarSeries
from mindinsight.server.store.store import ChangedKind
from mindinsight.server.types import FileState, Kind, Stretch

if TYPE_CHECKING:
    from mindinsight.server.formats.lineage import Lineage


class TagParts:
    """Parts of one tag by file, oldest file first."""

    __slots__ = ("_changed", "_files", "_key", "_moved", "_parts")

    def __init__(self, key: Key) -> None:
        self._key = key
        self._files: list[FileStage] = []
        self._parts: list[Part] = []
        self._changed: dict[str, FileStage] = {}
        self._moved = False  # rows before the end changed

    def touch(self, file: FileStage) -> None:
        """The file got rows of this tag, or the place where they lie changed."""
        self._changed[file.name] = file
        if self._files and file is not self._files[-1] and file.order < self._files[-1].order:
            self._moved = True

    def remove(self, file: FileStage) -> None:
        """The file went away."""
        self._changed.pop(file.name, None)
        index = self._index(file)
        if self._holds(file, index):
            del self._files[index], self._parts[index]
            self._moved = True

    def take(self) -> tuple[bool, tuple[Part, ...]]:
        """Whether rows before the end changed since the last time, and every part."""
        for file in self._changed.values():
            index = self._index(file)
            if self._holds(file, index):
                self._files[index], self._parts[index] = file, file.part(self._key)
            else:
                self._files.insert(index, file)
                self._parts.insert(index, file.part(self._key))
        moved, self._moved, self._changed = self._moved, False, {}
        return moved, tuple(self._parts)

    def _index(self, file: FileStage) -> int:
        """Where the file is among the others, or belongs; a single file is not compared with anything."""
        return bisect_left(self._files, file.order, key=_order_of) if self._files else 0

    def _holds(self, file: FileStage, index: int) -> bool:
        return index < len(self._files) and self._files[index].order == file.order


def _order_of(file: FileStage) -> Order:
    return file.order


class RunStage:
    """Files of one run by name, and what changed since the run was last published."""

    def __init__(self, discovered: DiscoveredRun, cold: ColdColumns | None = None) -> None:
        """``cold`` takes columns of files that were read to their end."""
        self.discovered = discovered
        self._cold = cold
        self.files: dict[str, FileStage] = {}
        self.changed = True
        self._ordered: list[FileStage] | None = None  # oldest first; None after files came or went
        self._states: dict[str, FileState] = {}
        self._parts: dict[Key, TagParts] = {}
        self._keys: dict[Key, None] = {}  # what changed, in the order it first did
        self._others: set[ChangedKind] = set()
        self._scalars: dict[str, ScalarSeries] = {}
        self._references: dict[Kind, dict[str, ReferenceSeries]] = {}
        self._lineage: Lineage | None = None
        self._metrics: frozenset[str] = frozenset()  # tags of scalars that the lineage repeats

    @property
    def updated(self) -> float:
        """Unix seconds of the newest write."""
        times = [file.stamp.modified for file in self.files.values()]
        return max(times) / 1e9 if times else self.discovered.updated

    def update(self, discovered: DiscoveredRun) -> None:
        """Take over what discovery says about the folder as a whole."""
        if discovered.dumps != self.discovered.dumps:
            self._others.add("dump")
        mine = (self.discovered.job, self.discovered.rank, self.discovered.created, self.discovered.dumps)
        self.changed |= mine != (discovered.job, discovered.rank, discovered.created, discovered.dumps)
        self.discovered = discovered

    def add(self, file: FileStage) -> None:
        """A file that appeared, perhaps with what the cache knows of it."""
        self.files[file.name] = file
        self._ordered = None
        if file.hparams:
            self._others.add("lineage")
        self._note(file, file.held())

    def remove(self, name: str) -> None:
        """A file that went away, and with it everything that was read from it."""
        file = self.files.pop(name)
        self._ordered = None
        self._states.pop(name, None)
        for key in file.held():
            if key in self._parts:  # not where adding the file failed halfway
                self._parts[key].remove(file)
                self._keys[key] = None
        if file.lineage is not None or file.hparams:
            self._others.add("lineage")
        self.changed = True

    def fold(
        self,
        file: FileStage,
        stretch: Stretch,
        lineage: Lineage | None = None,
        fingerprint: Fingerprint | None = None,
    ) -> None:
        """Add what was read from a file of this run."""
        if lineage is not None or any(note.name == "hparams" for note in stretch.notes):
            self._others.add("lineage")
        grown = file.fold(stretch, lineage, fingerprint)
        self._note(file, grown + file.compact(self._cold))

    def settle(self, file: FileStage) -> None:
        """Note which scalars of a file grew; before the run is published."""
        self._note_keys(file, file.settle())

    def fold_whole(self, file: FileStage) -> None:
        """Add a ``.pb`` file."""
        self._note(file, file.fold_whole())

    def touch(self, file: FileStage) -> None:
        """What is known about a file, other than its rows, changed."""
        self._note(file, [])

    def relocate(self, file: FileStage) -> None:
        """The file is another one on disk, with the same bytes: payloads are to be read from that one."""
        self._note(file, file.references)

    def publish(self, version: int) -> tuple[Run, frozenset[ChangedKind]]:
        """The run as it is now, and the kinds of which something changed since the last time."""
        for file in self.files.values():
            self.settle(file)
        self._scalars = dict(self._scalars)
        self._references = {kind: dict(tags) for kind, tags in self._references.items()}
        for key in self._keys:
            self._renew(key, version)
        if self._metrics and any(kind == "scalar" and tag in self._metrics for kind, tag in self._keys):
            self._others.add("lineage")
        if "lineage" in self._others:
            self._lineage = self._merged_lineage()
        kinds = frozenset({kind for kind, _ in self._keys} | self._others)
        run = self._assemble(version)
        self.changed = False
        self._keys, self._others = {}, set()
        return run, kinds

    def _note_keys(self, file: FileStage, keys: Iterable[Key]) -> None:
        for key in keys:
            if key not in self._parts:
                self._parts[key] = TagParts(key)
            self._parts[key].touch(file)
            self._keys[key] = None

    def _note(self, file: FileStage, keys: Iterable[Key]) -> None:
        self._note_keys(file, keys)
        self._states[file.name] = file.state()
        self.changed = True

    def _renew(self, key: Key, version: int) -> None:
        """Make the series of one tag anew from its parts."""
        kind, tag = key
        moved, parts = self._parts[key].take()
        if not parts:
            del self._parts[key]
            known: dict[str, Any] = self._scalars if kind == "scalar" else self._references.get(kind, {})
            known.pop(tag, None)
        elif kind == "scalar":
            before = self._scalars.get(tag)
            generation = version if before is None or moved else before.generation
            scalar_parts = cast("Sequence[ScalarPart]", parts)
            self._scalars[tag] = ScalarSeries(tag, scalar_parts, version, generation)
        else:
            reference_parts = cast("Sequence[ReferencePart]", parts)
            self._references.setdefault(kind, {})[tag] = ReferenceSeries(kind, tag, reference_parts, version)

    def _merged_lineage(self) -> Lineage | None:
        from mindinsight.server.formats.lineage import merge_lineages  # few runs have lineage files

        lineages = [file.lineage for file in self._in_order() if file.lineage is not None]
        contents = [content for file in self._in_order() for content in file.hparams]
        if contents:
            lineages.append(self._session_lineage(contents))
        return merge_lineages(lineages) if lineages else None

    def _session_lineage(self, contents: Sequence[bytes]) -> Lineage:
        """Lineage of TensorBoard's hparams; a metric is the newest value of its scalar."""
        from mindinsight.server.formats.lineage import EvaluationLineage, Lineage
        from mindinsight.server.formats.tensorboard.hparams import read_session

        session = read_session(contents)
        self._metrics = frozenset(session.metrics)
        metric = {tag: self._scalars[tag].last_value for tag in session.metrics if tag in self._scalars}
        return Lineage(evaluation=EvaluationLineage(metric) if metric else None, user_defined=session.hparams)

    def _in_order(self) -> list[FileStage]:
        if self._ordered is None:
            files = list(self.files.values())
            self._ordered = files if len(files) < 2 else sorted(files, key=lambda file: file.order)
        return self._ordered

    def _assemble(self, version: int) -> Run:
        discovered = self.discovered
        total = sum(file.stamp.size for file in self.files.values())
        states = tuple(self._states[file.name] for file in self._in_order())
        return Run(
            id=discovered.id,
            name=discovered.name,
            path=discovered.path,
            job=discovered.job,
            rank=discovered.rank,
            created=discovered.created,
            updated=self.updated,
            size=total,
            files=states,
            scalars=self._scalars,
            references={kind: tags for kind, tags in self._references.items() if tags},
            lineage=self._lineage,
            dumps=discovered.dumps,
            read=sum(file.seen for file in self.files.values()),
            total=total,
            version=version,
            first_event=first_event(states, discovered.created),
            last_event=last_event(states, self.updated),
            finished=is_finished(states),
            failure=failure(states),
        )
