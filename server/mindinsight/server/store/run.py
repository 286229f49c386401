"""Immutable records that readers see: runs with their states, and the snapshot of all runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from mindinsight.server.claims import Claim, few
from mindinsight.server.errors import unknown_run, unknown_tag
from mindinsight.server.store import file_names
from mindinsight.server.store.series import ReferenceSeries, ScalarSeries
from mindinsight.server.types import BELIEVABLE, FileState, Kind

if TYPE_CHECKING:
    from mindinsight.server.formats.lineage import Lineage


SYSTEM: Final = "system/"  # of tags of scalars that describe the machine and no training


@dataclass(frozen=True, slots=True)
class Run:
    """Run: one directory of event files."""

    id: str  # path below the base, "./a/b"; "./" is the base itself
    name: str  # displayed name: the path below the base, or the name of the base
    path: str  # absolute
    job: str  # id of the directory of the ranks of one training, else the id of the run
    rank: int | None
    created: float  # Unix seconds, from the newest file name
    updated: float  # Unix seconds of the newest write
    size: int  # bytes of all its files
    files: tuple[FileState, ...] = ()
    scalars: Mapping[str, ScalarSeries] = field(default_factory=dict)
    system: Mapping[str, ScalarSeries] = field(default_factory=dict)  # of the machine, tags below SYSTEM
    references: Mapping[Kind, Mapping[str, ReferenceSeries]] = field(default_factory=dict)
    lineage: Lineage | None = None
    dumps: tuple[str, ...] = ()  # dump directories, as ids below the base: "./job/dump"
    console: bool = False  # what the training printed is in its directory
    read: int = 0  # bytes examined so far
    total: int = 0  # bytes to read
    version: int = 0  # of the snapshot in which the run last changed
    first_event: float = 0.0  # Unix seconds, from the events if they have believable times
    last_event: float = 0.0  # Unix seconds, no later than the newest write
    finished: bool = False  # the writer closed its files
    failure: str = ""  # the exception that ended the training, if the writer recorded one

    def tags(self, kind: Kind) -> Mapping[str, Any]:
        """Return the series of a kind by tag, or {} if the run has none. ``system`` are scalars of the
        machine."""
        named: dict[str, Mapping[str, Any]] = {"scalar": self.scalars, "system": self.system}
        return named[kind] if kind in named else self.references.get(kind, {})

    def curve(self, tag: str) -> ScalarSeries | None:
        """Return a scalar of the training or of the machine, or None if there is none of this name."""
        return self.scalars.get(tag) or self.system.get(tag)


@dataclass(frozen=True, slots=True)
class Watched:
    """State of a base directory: how changes are noticed, and whether it is missing."""

    name: str  # first part of the ids below it; empty when it is the only one
    path: str  # absolute
    watch: str  # "events" or "polling"
    missing: bool


@dataclass(frozen=True, slots=True)
class DirectoryDamage:
    """Damage: a directory that could not be listed."""

    path: str  # id below the base, or the path of a base directory
    reason: str  # a key of the locale files: directory.permission, ...


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Immutable state of the store at one time: all runs, and the state of the base directories.

    A newer snapshot replaces it.
    """

    version: int
    runs: Mapping[str, Run]  # by id, newest write first when the snapshot was made from a scan
    left_out: int  # runs beyond the limit
    base: str  # absolute path; several paths are joined by ``base_dirs.joined``
    watch: str  # "events", "polling", or "both" if base directories differ
    scanned: float  # Unix seconds of the last scan of the base; 0 before the first
    base_missing: bool = False
    errors: tuple[DirectoryDamage, ...] = ()
    bases: tuple[Watched, ...] = ()

    def run(self, run_id: str) -> Run:
        """Return the run with an id. Raises ApiError 404 for an unknown id."""
        if run_id not in self.runs:
            raise unknown_run(run_id)
        return self.runs[run_id]

    def payloads(self, run_id: str, kind: Kind, tag: str) -> ReferenceSeries:
        """Return the payload references of a tag. Raises ApiError 404 for an unknown run or tag."""
        series = self.run(run_id).references.get(kind, {}).get(tag)
        if series is None:
            raise unknown_tag(tag)
        return series


State: TypeAlias = Literal["running", "quiet", "stopped", "finished", "failed", "unrecorded"]

# Seconds without an event after which an unclosed run is not called running, and is called stopped. No data
# decides them: a training that records less often is called quiet meanwhile, never failed.
QUIET: Final = 120.0
STOPPED: Final = 3600.0


def has_events(run: Run) -> bool:
    """Return True if the directory has event files. Those that were not read yet count."""
    return any(file_names.role(file.name) in ("summary", "lineage") for file in run.files)


_LEAST_LEFT: Final = 10.0  # s: ranks end apart by less, and what they recorded last is on its way
_LEFT_SHARE: Final = 1 / 10  # of the time that a job took


def is_left(run: Run, runs: Iterable[Run]) -> bool:
    """Return True if a run has no end although all other ranks of its job, among ``runs``, were finished
    long after its last event. False for a run that is finished or has no other ranks."""
    others = [] if run.finished else [rank for rank in runs if rank.job == run.job and rank.id != run.id]
    if not others or not all(rank.finished for rank in others):
        return False
    took = max(rank.last_event - rank.first_event for rank in others)
    later = min(rank.last_event for rank in others) - run.last_event
    return later >= min(QUIET, max(_LEAST_LEFT, took * _LEFT_SHARE))


def state_of(run: Run, now: float, runs: Iterable[Run] = ()) -> State:
    """Return a run's state at Unix time ``now``: running, quiet, stopped, finished, failed or unrecorded.

    ``finished`` or ``failed`` if the writer closed the files, otherwise ``running``, ``quiet`` or ``stopped``
    by the time since the last event. A rank that its job, among ``runs``, left behind is ``stopped``: see
    `is_left`. ``unrecorded`` without event files: a directory of dumps, graphs or profiles says nothing of a
    training.
    """
    if run.finished:
        return "failed" if run.failure else "finished"
    if not has_events(run):
        return "unrecorded"
    age = STOPPED if is_left(run, runs) else now - run.last_event
    return "running" if age < QUIET else "quiet" if age < STOPPED else "stopped"


_STEPLESS: Final = ("graph", "alert", "layout", "landscape", "code")  # kinds that are recorded once


def last_step(run: Run) -> int | None:
    """Return the last step of a run's scalars, or of its other series if it has no scalars, None without
    series. Kinds that are recorded once, such as graphs, do not count."""
    if run.scalars:
        return max(series.last_step for series in run.scalars.values())
    return max(
        (
            int(series.steps[-1])
            for kind, tags in run.references.items()
            for series in tags.values()
            if kind not in _STEPLESS and series.count
        ),
        default=None,
    )


def is_finished(files: Iterable[FileState]) -> bool:
    """Return True if the newest event file of every rank is closed, readable and complete. ``files`` are
    in order, oldest first. Without event files all files count. False without files."""
    newest = _newest(files).values()
    return bool(newest) and all(file.closed and not file.pending and not file.error for file in newest)


def failure(files: Iterable[FileState]) -> str:
    """Return the exception that ended the training, or an empty text. It is taken from the newest event
    file of any rank."""
    return next((file.failure for file in _newest(files).values() if file.failure), "")


def last_event(files: Iterable[FileState], updated: float) -> float:
    """Return the Unix seconds of the last event, or ``updated`` if no event has a believable time.
    ``updated`` is the time of the newest write. A later time is not believable, unless the files' times
    were set back to before the first event."""
    files = list(files)
    latest = max((file.last_event for file in files), default=0.0)
    believable = latest and (latest <= updated or updated < first_event(files, updated))
    return latest if believable else updated


def first_event(files: Iterable[FileState], created: float) -> float:
    """Return the Unix seconds of the first event, or ``created`` if no event has a believable time. If
    ``created`` is not believable, the oldest write takes its place."""
    files = list(files)
    earliest, latest = BELIEVABLE
    if not earliest <= created < latest:
        created = min((file.modified for file in files), default=created)
    first = min((file.first_event for file in files if file.first_event), default=created)
    # a lineage file has whole seconds, those in its name: an event in the same second is more exact
    return min(
        (time for file in files if (time := file.first_event) % 1 and time // 1 == first), default=first
    )


def torn_since(run: Run) -> dict[str, float]:
    """Return by file name the Unix seconds from which an incomplete last record is not expected to be
    completed, 0 if the file is closed or a newer one follows it. Files without such a record are omitted.
    Of other files it is the time at which the run is no longer running."""
    newest = {file.name for file in _newest(run.files).values()}
    return {
        file.name: run.last_event + QUIET if file.name in newest and not file.closed else 0.0
        for file in run.files
        if file.pending
    }


def torn_files(run: Run, now: float) -> list[FileState]:
    """Return the files whose last record is incomplete and, at the Unix time ``now``, not expected to be
    completed."""
    since = torn_since(run)
    return [file for file in run.files if since.get(file.name, now + 1) <= now]


def file_claims(file: FileState, torn: bool) -> list[Claim]:
    """Return the claims about one file: damage, skipped events, and whether all bytes were read. ``torn``
    says that an incomplete last record will not be completed."""
    claims = []
    if file.error:
        claims.append(Claim("claim.file.unreadable", "found", {"why": Claim(file.error, "note")}))
    if file.damage:
        claims.append(Claim("claim.file.damaged", "found", {"n": len(file.damage)}))
    if file.pending and torn:
        claims.append(Claim("claim.file.torn", "found", {"n": file.pending}))
    elif file.pending:
        claims.append(Claim("claim.file.incomplete", "note", {"n": file.pending}))
    if file.read + file.pending < file.size and not file.error:
        claims.append(Claim("claim.file.reading", "unknown", {"read": file.read, "n": file.size}))
    elif not claims:
        claims.append(Claim("claim.file.read" if file.size else "claim.file.empty", "clear"))
    for kind, count in file.skipped:
        name = "rounded" if kind == "rounded_integer" else "skipped"
        claims.append(Claim(f"claim.file.{name}", "note", {"n": count, "kind": kind}))
    return claims


def run_claims(run: Run, now: float) -> list[Claim]:
    """Return a list with the claim that all files of a run were read whole, or [] if one was not or all are
    empty."""
    torn = {file.name for file in torn_files(run, now)}
    claims = [claim for file in run.files for claim in file_claims(file, file.name in torn)]
    written = [claim for claim in claims if claim.key == "claim.file.read"]
    whole = all(claim.verdict in ("clear", "note") for claim in claims) and run.read >= run.total
    if not written or not whole or any(file.pending for file in run.files):
        return []
    return [Claim("claim.file.all_read", "clear", {"n": len(run.files)})]


def overwritten_claims(run: Run) -> list[Claim]:
    """Return the claim that the recording went back to earlier steps, as after a restart, or an empty
    list. Raises Gone if stored values cannot be read. A step that was recorded twice in succession is no
    restart."""
    intervals = {tag: lines for tag, series in run.scalars.items() if (lines := series.overwritten())}
    if not intervals:
        return []
    every = [line.steps for lines in intervals.values() for line in lines]
    facts = {"n": sum(map(len, every)), "tags": few(sorted(intervals), 3)}
    ends = {"first": int(min(steps[0] for steps in every)), "last": int(max(steps[-1] for steps in every))}
    return [Claim("claim.file.overwritten", "note", {**facts, **ends})]


def pipeline_claim(run: Run) -> Claim:
    """Return the claim about a run's data pipeline: how many operations, none, or unknown during reading."""
    graph = run.lineage.dataset_graph if run.lineage else None
    if graph:
        return Claim("claim.pipeline.operations", "note", {"n": _operations(graph)})
    if run.read < run.total:
        return Claim("claim.pipeline.reading", "unknown")
    return Claim("claim.pipeline.none", "note")


def _operations(graph: Mapping[str, Any]) -> int:
    return 1 + sum(_operations(child) for child in graph.get("children") or ())


def _newest(files: Iterable[FileState]) -> dict[int | None, FileState]:
    """Return the newest event file of each rank. Without event files, return all files by number."""
    every = list(files)
    if len(every) < 2:
        return dict(enumerate(every))
    events = {file_names.device(file.name): file for file in every if file_names.role(file.name) == "summary"}
    return events or dict(enumerate(every))
