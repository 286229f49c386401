"""One run while it is being read: its files put together, and published as an immutable ``Run``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from mindinsight.server.ingest.discovery.run_discovery import Found
from mindinsight.server.ingest.staging.file_stage import FileStage, Key
from mindinsight.server.ingest.staging.tag_parts import TagPart
from mindinsight.server.store.parts import ReferencePart, ScalarPart
from mindinsight.server.store.run import Run
from mindinsight.server.store.run_state import failure, first_event, is_finished, last_event
from mindinsight.server.store.series import ReferenceSeries, ScalarSeries
from mindinsight.server.store.store import ChangedKind
from mindinsight.server.types import FileState, Kind, Stretch

if TYPE_CHECKING:
    from mindinsight.server.formats.lineage import Lineage


class RunStage:
    """Files of one run by name, and what changed since the run was last published."""

    def __init__(self, found: Found) -> None:
        self.found = found
        self.files: dict[str, FileStage] = {}
        self.changed = True
        self._ordered: list[FileStage] | None = None  # oldest first; None after files came or went
        self._states: dict[str, FileState] = {}
        self._scalar_lanes: dict[str, TagPart[ScalarPart]] = {}
        self._reference_lanes: dict[Key, TagPart[ReferencePart]] = {}
        self._keys: dict[Key, None] = {}  # what changed, in the order it first did
        self._others: set[ChangedKind] = set()
        self._scalars: dict[str, ScalarSeries] = {}
        self._references: dict[Kind, dict[str, ReferenceSeries]] = {}
        self._lineage: Lineage | None = None

    @property
    def updated(self) -> float:
        """Unix seconds of the newest write."""
        times = [file.stamp.modified for file in self.files.values()]
        return max(times) / 1e9 if times else self.found.updated

    def place(self, found: Found) -> None:
        """Take over what discovery says about the folder as a whole."""
        if found.dumps != self.found.dumps:
            self._others.add("dump")
        mine = (self.found.job, self.found.rank, self.found.created, self.found.dumps)
        self.changed |= mine != (found.job, found.rank, found.created, found.dumps)
        self.found = found

    def add(self, file: FileStage) -> None:
        """A file that appeared, perhaps with what the cache knows of it."""
        self.files[file.name] = file
        self._ordered = None
        self._note(file, file.held())

    def remove(self, name: str) -> None:
        """A file that went away, and with it everything that was read from it."""
        file = self.files.pop(name)
        self._ordered = None
        self._states.pop(name, None)
        for key in file.held():
            self._lane(key).remove(file)
            self._keys[key] = None
        if file.lineage is not None:
            self._others.add("lineage")
        self.changed = True

    def fold(self, file: FileStage, stretch: Stretch, lineage: Lineage | None = None) -> None:
        """Add what was read from a file of this run."""
        if lineage is not None:
            file.fold_lineage(lineage, stretch.next_offset)
            self._others.add("lineage")
            self._note(file, [])
        else:
            self._note(file, file.fold(stretch))

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
        self._scalars = dict(self._scalars)
        self._references = {kind: dict(tags) for kind, tags in self._references.items()}
        for key in self._keys:
            self._renew(key, version)
        if "lineage" in self._others:
            self._lineage = self._merged_lineage()
        kinds = frozenset({kind for kind, _ in self._keys} | self._others)
        run = self._assemble(version)
        self.changed = False
        self._keys, self._others = {}, set()
        return run, kinds

    def _note(self, file: FileStage, keys: Iterable[Key]) -> None:
        for key in keys:
            self._lane(key).touch(file)
            self._keys[key] = None
        self._states[file.name] = file.state()
        self.changed = True

    def _lane(self, key: Key) -> TagPart[ScalarPart] | TagPart[ReferencePart]:
        kind, tag = key
        if kind == "scalar":
            if tag not in self._scalar_lanes:
                self._scalar_lanes[tag] = TagPart(lambda file: file.scalar_part(tag))
            return self._scalar_lanes[tag]
        if key not in self._reference_lanes:
            self._reference_lanes[key] = TagPart(lambda file: file.reference_part(key))
        return self._reference_lanes[key]

    def _renew(self, key: Key, version: int) -> None:
        kind, tag = key
        if kind == "scalar":
            self._renew_scalar(tag, version)
        elif parts := self._reference_lanes[key].parts():
            self._references.setdefault(kind, {})[tag] = ReferenceSeries(kind, tag, parts, version)
        else:
            del self._reference_lanes[key]
            self._references.get(kind, {}).pop(tag, None)

    def _renew_scalar(self, tag: str, version: int) -> None:
        lane = self._scalar_lanes[tag]
        before = self._scalars.get(tag)
        generation = version if before is None or lane.moved else before.generation
        if parts := lane.parts():
            self._scalars[tag] = ScalarSeries(tag, parts, version, generation)
        else:
            del self._scalar_lanes[tag]
            self._scalars.pop(tag, None)

    def _merged_lineage(self) -> Lineage | None:
        from mindinsight.server.formats.lineage import merge_lineages  # few runs have lineage files

        found = [file.lineage for file in self._in_order() if file.lineage is not None]
        return merge_lineages(found) if found else None

    def _in_order(self) -> list[FileStage]:
        if self._ordered is None:
            files = list(self.files.values())
            self._ordered = files if len(files) < 2 else sorted(files, key=lambda file: file.order)
        return self._ordered

    def _assemble(self, version: int) -> Run:
        found = self.found
        total = sum(file.stamp.size for file in self.files.values())
        states = tuple(self._states[file.name] for file in self._in_order())
        return Run(
            id=found.id,
            name=found.name,
            path=found.path,
            job=found.job,
            rank=found.rank,
            created=found.created,
            updated=self.updated,
            size=total,
            files=states,
            scalars=self._scalars,
            references={kind: tags for kind, tags in self._references.items() if tags},
            lineage=self._lineage,
            dumps=found.dumps,
            read=sum(file.seen for file in self.files.values()),
            total=total,
            version=version,
            first_event=first_event(states, found.created),
            last_event=last_event(states, self.updated),
            finished=is_finished(states),
            failure=failure(states),
        )
