"""Stage of one run while it is read: merges its files and publishes them as a snapshot."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Any, cast

from mindinsight.server.ingest.cold_columns import ColdColumns
from mindinsight.server.ingest.file_stage import FileStage, Key
from mindinsight.server.ingest.piece_reader import Fingerprint
from mindinsight.server.ingest.run_discovery import DiscoveredRun
from mindinsight.server.ingest.trial_settings import trial_settings
from mindinsight.server.store.run import SYSTEM, Run, failure, first_event, is_finished, last_event
from mindinsight.server.store.series import (
    JoinedColumns,
    Part,
    ReferencePart,
    ReferenceSeries,
    ScalarPart,
    ScalarSeries,
)
from mindinsight.server.store.store import ChangedKind
from mindinsight.server.types import DecodedSection, FileState, Kind

if TYPE_CHECKING:
    from mindinsight.server.formats.lineage import Lineage


class TagParts:
    """Rows of one tag by file, oldest file first."""

    __slots__ = ("_changed", "_files", "_key", "_moved", "_parts")

    def __init__(self, key: Key) -> None:
        self._key = key
        self._files: list[FileStage] = []
        self._parts: list[Part] = []
        self._changed: dict[str, FileStage] = {}
        self._moved = False  # rows other than new ones at the end changed

    def touch(self, file: FileStage) -> None:
        """Mark a file as changed: it has new rows of this tag, or its rows were read again."""
        self._changed[file.name] = file
        if self._files and file is not self._files[-1] and file.order < self._files[-1].order:
            self._moved = True

    def remove(self, file: FileStage) -> None:
        """Remove the rows of a file. Do nothing if it has none."""
        self._changed.pop(file.name, None)
        index = self._index(file)
        if self._holds(file, index):
            del self._files[index], self._parts[index]
            self._moved = True

    def take(self) -> tuple[bool, tuple[Part, ...]]:
        """Return a flag, and the rows of all files. The flag is True if rows changed since the last call,
        other than new ones at the end."""
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
        """Return the index of a file, or the index at which it must be inserted."""
        return bisect_left(self._files, file.order, key=attrgetter("order")) if self._files else 0

    def _holds(self, file: FileStage, index: int) -> bool:
        """Return True if the file is at this position."""
        return index < len(self._files) and self._files[index].order == file.order


class RunStage:
    """Files of one run by name, and the changes since the run was last published."""

    def __init__(
        self, discovered: DiscoveredRun, cold: ColdColumns | None = None, joined: JoinedColumns | None = None
    ) -> None:
        """Create an empty run. ``cold`` takes columns of files that were read to their end. ``joined`` is
        that of the store."""
        self.discovered = discovered
        self._cold = cold
        self._joined = joined
        self.files: dict[str, FileStage] = {}
        self.changed = True
        self._ordered: list[FileStage] | None = None  # oldest first; None after files were added or removed
        self._states: dict[str, FileState] = {}
        self._parts: dict[Key, TagParts] = {}
        self._keys: dict[Key, None] = {}  # changed tags, in the order of their first change
        self._others: set[ChangedKind] = set()
        self._scalars: dict[str, ScalarSeries] = {}
        self._system: dict[str, ScalarSeries] = {}  # scalars of the machine
        self._latest = 0.0  # Unix seconds of the last value of the training itself
        self._references: dict[Kind, dict[str, ReferenceSeries]] = {}
        self._lineage: Lineage | None = None
        self._metrics: frozenset[str] = frozenset()  # tags of scalars that are metrics of the lineage
        self._given = trial_settings(discovered.folder, discovered.path)
        if self._given:
            self._others.add("lineage")

    @property
    def updated(self) -> float:
        """Return the Unix seconds of the newest write."""
        times = [file.stamp.modified for file in self.files.values()]
        return max(times) / 1e9 if times else self.discovered.updated

    def update(self, discovered: DiscoveredRun) -> None:
        """Replace the facts that discovery found about the run, and mark the run as changed if they
        differ."""
        before, self.discovered = self.discovered, discovered
        if (given := trial_settings(discovered.folder, discovered.path)) != self._given:
            self._given = given
            self._others.add("lineage")
            self.changed = True
        if (before.dumps, before.dump_stamps) != (discovered.dumps, discovered.dump_stamps):
            self._others.add("dump")
            self.changed = True
        mine = (before.job, before.rank, before.created, before.console)
        self.changed |= mine != (discovered.job, discovered.rank, discovered.created, discovered.console)

    def add(self, file: FileStage) -> None:
        """Add a file to the run. It may already hold content restored from the cache."""
        self.files[file.name] = file
        self._ordered = None
        if file.hparams:
            self._others.add("lineage")
        self._note(file, file.list_keys())

    def remove(self, name: str) -> None:
        """Remove a file and everything that was read from it. Raises KeyError if the run lacks the file."""
        file = self.files.pop(name)
        self._ordered, self._latest = None, 0.0
        self._keys.update(dict.fromkeys(self._parts))  # all of which tell again when their last value was
        self._states.pop(name, None)
        for key in file.list_keys():
            if key in self._parts:  # missing if adding the file failed halfway
                self._parts[key].remove(file)
                self._keys[key] = None
        if file.lineage is not None or file.hparams:
            self._others.add("lineage")
        self.changed = True

    def fold(
        self,
        file: FileStage,
        section: DecodedSection,
        lineage: Lineage | None = None,
        fingerprint: Fingerprint | None = None,
    ) -> None:
        """Add a section that was read from a file of this run."""
        if lineage is not None or any(note.name == "hparams" for note in section.notes):
            self._others.add("lineage")
        grown = file.fold(section, lineage, fingerprint)
        self._note(file, grown + file.compact(self._cold))

    def settle(self, file: FileStage) -> None:
        """Add waiting scalars of a file to its columns, before the run is published."""
        self._note_keys(file, file.settle())

    def fold_whole(self, file: FileStage) -> None:
        """Add the content of a ``.pb`` file."""
        self._note(file, file.fold_whole())

    def touch(self, file: FileStage) -> None:
        """Note that facts about a file changed, such as its size or error, but none of its rows."""
        self._note(file, [])

    def relocate(self, file: FileStage) -> None:
        """Note that a file was replaced by an equal copy, from which payloads must be read."""
        self._note(file, file.references)

    def publish(self, version: int) -> tuple[Run, frozenset[ChangedKind]]:
        """Return the run as readers see it, and the kinds that changed since the last call."""
        for file in self.files.values():
            self.settle(file)
        self._scalars, self._system = dict(self._scalars), dict(self._system)
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

    @property
    def only_describes(self) -> bool:
        """Return True if the files hold only TensorBoard's list of hyperparameters, and no values of a
        run."""
        empty = not (self._scalars or self._system or self._references or self.discovered.dumps)
        described = all(file.hparams and not (file.damage or file.error) for file in self.files.values())
        known = self._lineage
        return empty and described and known is not None and not (known.user_defined or known.metrics)

    def _note_keys(self, file: FileStage, keys: Iterable[Key]) -> None:
        """Note that tags of a file changed."""
        for key in keys:
            if key not in self._parts:
                self._parts[key] = TagParts(key)
            self._parts[key].touch(file)
            self._keys[key] = None

    def _note(self, file: FileStage, keys: Iterable[Key]) -> None:
        """Note that a file and some of its tags changed."""
        self._note_keys(file, keys)
        self._states[file.name] = file.state()
        self.changed = True

    def _renew(self, key: Key, version: int) -> None:
        """Rebuild the series of one tag from its parts."""
        kind, tag = key
        moved, parts = self._parts[key].take()
        if parts and not (kind == "scalar" and tag.startswith(SYSTEM)):
            ends = (float(part.walls[-1]) for part in parts if len(part.walls))
            self._latest = max(self._latest, *ends, 0.0)
        if not parts:
            del self._parts[key]
            known: dict[str, Any] = self._of(tag) if kind == "scalar" else self._references.get(kind, {})
            known.pop(tag, None)
        elif kind == "scalar":
            before = self._of(tag).get(tag)
            generation = version if before is None or moved else before.generation
            scalar_parts = cast("Sequence[ScalarPart]", parts)
            self._of(tag)[tag] = ScalarSeries(tag, scalar_parts, version, generation, self._joined)
        else:
            reference_parts = cast("Sequence[ReferencePart]", parts)
            self._references.setdefault(kind, {})[tag] = ReferenceSeries(kind, tag, reference_parts, version)

    def _of(self, tag: str) -> dict[str, ScalarSeries]:
        """Return the mapping of scalar series that a tag belongs to: that of the machine, or of the
        training."""
        return self._system if tag.startswith(SYSTEM) else self._scalars

    def _merged_lineage(self) -> Lineage | None:
        """Return the lineage of all files and the settings of the study, or None without both."""
        from mindinsight.server.formats.lineage import merge_lineages, with_settings  # few runs have any

        lineages = [file.lineage for file in self._in_order() if file.lineage is not None]
        contents = [content for file in self._in_order() for content in file.hparams]
        if contents:
            lineages.append(self._session_lineage(contents))
        merged = merge_lineages(lineages) if lineages else None
        return with_settings(merged, self._given) if self._given else merged

    def _session_lineage(self, contents: Sequence[bytes]) -> Lineage:
        """Return the lineage of TensorBoard's hparams. A metric is the newest value of its scalar."""
        from mindinsight.server.formats.lineage import EvaluationLineage, Lineage
        from mindinsight.server.formats.tensorboard.hparams import read_session

        session = read_session(contents)
        self._metrics = frozenset(session.metrics)
        metric = {tag: self._scalars[tag].last_value for tag in session.metrics if tag in self._scalars}
        return Lineage(evaluation=EvaluationLineage(metric) if metric else None, user_defined=session.hparams)

    def _last_event(self, states: Sequence[FileState]) -> float:
        """Return the Unix seconds of the training's last event, without later samples of the machine."""
        latest = last_event(states, self.updated)
        return min(self._latest, latest) if self._system and self._latest else latest

    def _in_order(self) -> list[FileStage]:
        """Return the files, oldest first."""
        if self._ordered is None:
            files = list(self.files.values())
            self._ordered = files if len(files) < 2 else sorted(files, key=attrgetter("order"))
        return self._ordered

    def _assemble(self, version: int) -> Run:
        """Return the record that readers see."""
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
            system=self._system,
            references={kind: tags for kind, tags in self._references.items() if tags},
            lineage=self._lineage,
            dumps=discovered.dumps,
            console=discovered.console,
            read=sum(file.bytes_seen for file in self.files.values()),
            total=total,
            version=version,
            first_event=first_event(states, discovered.created),
            last_event=self._last_event(states),
            finished=is_finished(states),
            failure=failure(states),
        )
