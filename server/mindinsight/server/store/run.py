"""Immutable records that readers see: a run, and the snapshot of all runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mindinsight.server.errors import unknown_run, unknown_tag
from mindinsight.server.store.series import ReferenceSeries, ScalarSeries
from mindinsight.server.types import FileState, Kind

if TYPE_CHECKING:
    from mindinsight.server.formats.lineage import Lineage


@dataclass(frozen=True, slots=True)
class Run:
    """One directory of event files."""

    id: str  # path below the base, "./a/b"; "./" is the base itself
    name: str  # what people call it: the path below the base, or the base's own name
    path: str  # absolute
    job: str  # id of the directory that holds the ranks of one training; the run's own id when it has none
    rank: int | None
    created: float  # Unix seconds, from the newest file name
    updated: float  # Unix seconds of the newest write
    size: int  # bytes of all its files
    files: tuple[FileState, ...] = ()
    scalars: Mapping[str, ScalarSeries] = field(default_factory=dict)
    references: Mapping[Kind, Mapping[str, ReferenceSeries]] = field(default_factory=dict)
    lineage: Lineage | None = None
    dumps: tuple[str, ...] = ()  # dump directories, as ids below the base: "./job/dump"
    read: int = 0  # bytes looked at so far
    total: int = 0  # bytes there are to read
    version: int = 0  # of the snapshot in which the run last changed
    first_event: float = 0.0  # Unix seconds, from the events themselves where they tell
    last_event: float = 0.0  # Unix seconds, no later than the newest write
    finished: bool = False  # the writer closed its files
    failure: str = ""  # the exception that ended the training, where the writer noted one


@dataclass(frozen=True, slots=True)
class Watched:
    """State of a base directory."""

    name: str  # first part of the ids below it; empty when it is the only one
    path: str  # absolute
    watch: str  # "events" or "polling"
    missing: bool


@dataclass(frozen=True, slots=True)
class Trouble:
    """Error of a directory that could not be listed."""

    path: str  # id below the base, or the path of a base directory
    reason: str  # a key of the locale files: directory.permission, ...


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Everything that is known at one moment. A new one replaces it; none is ever changed."""

    version: int
    runs: Mapping[str, Run]  # by id, newest write first when the snapshot was made from a scan
    left_out: int  # runs beyond the limit
    base: str  # absolute path; of several as ``base_dirs.joined`` has them
    watch: str  # "events", "polling", or "both" where base directories differ
    scanned: float  # Unix seconds of the last look at the base; 0 before the first
    base_missing: bool = False
    errors: tuple[Trouble, ...] = ()
    bases: tuple[Watched, ...] = ()

    def run(self, run_id: str) -> Run:
        """Raises ApiError 404 for a run that is not there."""
        if run_id not in self.runs:
            raise unknown_run(run_id)
        return self.runs[run_id]

    def payloads(self, run_id: str, kind: Kind, tag: str) -> ReferenceSeries:
        """The series of a tag whose payloads stay in the file. Raises ApiError 404."""
        series = self.run(run_id).references.get(kind, {}).get(tag)
        if series is None:
            raise unknown_tag(tag)
        return series
