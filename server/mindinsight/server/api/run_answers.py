"""Responses about runs, cached as bytes: the list, tags and lineage. Does not import FastAPI."""

from __future__ import annotations

import gzip
import json
import re
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import asdict
from math import isfinite
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from pydantic import BaseModel, Field
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers, State
from starlette.responses import Response

from mindinsight.server.claims import Claim, few
from mindinsight.server.compute.json_values import exact_as_text
from mindinsight.server.compute.lru_cache import LruCache
from mindinsight.server.curves.curve_statistics import divergence_claims, divergence_tags
from mindinsight.server.errors import Gone
from mindinsight.server.http.service import Service
from mindinsight.server.store.forks import PARENT
from mindinsight.server.store.recording_gaps import clock_claims
from mindinsight.server.store.run import DirectoryDamage, Run, Snapshot, has_events, last_step, torn_since
from mindinsight.server.workspace.colour_slots import jobs_by_age
from mindinsight.server.workspace.notes import Note
from mindinsight.server.workspace.saved_views import Default

if TYPE_CHECKING:
    from mindinsight.server.formats.lineage import Lineage


_NO_PARAMETERS: Final = ("train_dataset_path", "model_size", PARENT)  # of the lineage, and no settings


def hyper_of(lineage: Lineage | None) -> dict[str, Any]:
    """Return hyper-parameters by name: the trainer's settings and user-defined values, {} without lineage.
    Only numbers, booleans and texts of up to 200 characters are included. The texts true and false become
    booleans."""
    if lineage is None:
        return {}
    from mindinsight.server.formats.lineage import TRAIN_FACTS  # with protobuf, as reading lineage did

    names = (name for name in TRAIN_FACTS if name not in _NO_PARAMETERS)
    train = {name: getattr(lineage.train, name) for name in names} if lineage.train else {}
    own = {name: value for name, value in lineage.user_defined.items() if name not in _NO_PARAMETERS}
    values = {**train, **own}
    return {name: _as_boolean(value) for name, value in values.items() if _is_single(value)}


def _as_boolean(value: Any) -> Any:
    """Convert the texts true and false, in any case, to booleans. Other values are unchanged. Writers
    record booleans in different ways."""
    return {"true": True, "false": False}.get(value.lower(), value) if isinstance(value, str) else value


def metrics_of(lineage: Lineage | None) -> dict[str, Any]:
    """Return metrics by name, {} without lineage. Only numbers, booleans and texts of up to 200 characters
    are included."""
    metrics = lineage.metrics if lineage is not None else {}
    return {name: value for name, value in metrics.items() if _is_single(value)}


def _is_single(value: Any) -> bool:
    return isinstance(value, str | int | float) and (not isinstance(value, str) or len(value) <= 200)


FRESH: Final = 1.0  # seconds for which a response is shared, because it contains the current time
_LEVEL: Final = 1  # of gzip: twice as fast as the default, a fifth larger
_NO_NOTE: Final = Note()
_SNAPSHOT_FIELDS: Final = ("version", "base", "base_missing", "left_out", "watch", "scanned")
_RUN_FIELDS: Final = (
    *("id", "name", "job", "rank", "created", "updated", "first_event", "last_event", "finished", "failure"),
    *("size", "read", "total"),
)


class Encoded(NamedTuple):
    """Encoded response, plain and compressed."""

    plain: bytes
    packed: bytes  # gzip


class Marks(NamedTuple):
    """State of the workspace that responses show: notes by run, colour slots by job, default
    settings by page."""

    notes: Mapping[str, Note] = {}  # by run
    slots: Mapping[str, int] = {}  # colour slot by job
    defaults: Mapping[str, Default] = {}  # settings by page
    deletable: bool = False  # whether runs may be moved to the trash


class Listing:
    """Thread-safe cache of the list of runs as encoded JSON: the row of each run, and the whole list."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._making = LruCache[Encoded](0)  # concurrent requests wait for the first one's result
        self._rows: dict[str, tuple[Run, Note, int, bytes]] = {}
        self._whole: tuple[Any, float, Encoded] = (None, 0.0, Encoded(b"", b""))

    def whole(
        self, snapshot: Snapshot, marks: Marks, key: Any, damage: Iterable[DirectoryDamage] = ()
    ) -> Encoded:
        """Return every run as encoded JSON. `damage` is listed before that of the snapshot. `key` has to
        differ whenever another argument differs: for an equal key, the earlier response is returned for up
        to a second."""
        known, made, answer = self._whole
        if known == key and self._clock() - made <= FRESH:
            return answer

        def make() -> Encoded:
            plain = self.some(snapshot, marks, snapshot.runs.values(), damage)
            answer = Encoded(plain, gzip.compress(plain, _LEVEL, mtime=0))
            self._whole = (key, self._clock(), answer)
            self._rows = {run: row for run, row in self._rows.copy().items() if run in snapshot.runs}
            return answer

        return self._making.get(key, make)

    def some(
        self, snapshot: Snapshot, marks: Marks, runs: Iterable[Run], damage: Iterable[DirectoryDamage] = ()
    ) -> bytes:
        """Return the given runs of a snapshot as encoded JSON. `marks` and `damage` are as for `whole`."""
        notes, slots = marks.notes, marks.slots
        rows = [self._row(run, notes.get(run.id, _NO_NOTE), slots.get(run.job, 0)) for run in runs]
        return _json(_head(snapshot, damage, marks))[:-1] + b',"runs":[' + b",".join(rows) + b"]}"

    def _row(self, run: Run, note: Note, slot: int) -> bytes:
        known = self._rows.get(run.id)
        if known is None or known[0] is not run or known[1] is not note or known[2] != slot:
            known = self._rows[run.id] = (run, note, slot, _json({**run_summary(run, note), "slot": slot}))
        return known[3]


def _json(content: Any) -> bytes:
    """Encode JSON in UTF-8, with escaped lone surrogates."""
    text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.encode("utf-8", "backslashreplace")


def _head(snapshot: Snapshot, damage: Iterable[DirectoryDamage], marks: Marks) -> dict[str, Any]:
    return {
        **{name: getattr(snapshot, name) for name in _SNAPSHOT_FIELDS},
        "bases": [asdict(base) for base in snapshot.bases],
        "now": time.time(),
        "deletable": marks.deletable,
        "defaults": {view: default.query for view, default in marks.defaults.items()},
        "errors": [{"path": error.path, "reason": error.reason} for error in (*damage, *snapshot.errors)],
    }


def run_summary(run: Run, note: Note) -> dict[str, Any]:
    """Return the row of a run in the list of runs, for JSON. `step` is -1 if no step is known."""
    kinds = {kind: len(tags) for kind, tags in sorted(run.references.items()) if tags}
    kinds |= {"system": len(run.system)} if run.system else {}
    kinds |= {"console": 1} if run.console else {}
    return {
        **{name: getattr(run, name) for name in _RUN_FIELDS},
        "events": has_events(run),
        "torn_since": min(torn_since(run).values(), default=None),
        "damage": sum(len(file.damage) + bool(file.error) for file in run.files),
        "step": -1 if (step := last_step(run)) is None else step,
        "kinds": {**({"scalar": len(run.scalars)} if run.scalars else {}), **kinds},
        "lineage": run.lineage is not None,
        "pipeline": run.lineage is not None and run.lineage.dataset_graph is not None,
        "hyper": exact_as_text(hyper_of(run.lineage)),
        "metrics": exact_as_text(metrics_of(run.lineage)),
        "dumps": list(run.dumps),
        "clock": [claim.as_json() for claim in clock_claims(run)],
        "divergence": [claim.as_json() for claim in run_divergence(run)],
        "fault_dumps": [claim.as_json() for claim in recorder_claims(run)],
        **{name: getattr(note, name) for name in ("hidden", "archived", "pinned", "note", "labels", "group")},
        "name": note.name or run.name,
        "directory": run.name,
        "chosen": note.colour,
    }


def run_divergence(run: Run) -> list[Claim]:
    """Return, in a list, the claim that a loss of a run is non-finite to its end or throughout, else [].
    Also [] until all files have been read, and if a file was removed or shortened."""
    if run.read < run.total:
        return []
    try:
        every = {tag: run.scalars[tag] for tag in divergence_tags(run.scalars)}
        lines = {tag: series.line() for tag, series in every.items() if not isfinite(series.last_value)}
    except Gone:
        return []
    curves = {tag: (line.steps, line.values) for tag, line in lines.items()}
    return divergence_claims(curves, len(every) - len(lines))


def recorder_claims(run: Run) -> list[Claim]:
    """Return, in a list, the claim that a flight recorder has dumped steps, by the names of its folders, else
    []."""
    dumps = [dump for dump in run.dumps if _FLIGHT_DUMP.search(dump)]
    if not dumps:
        return []
    facts = {"n": len(dumps), "dumps": few([dump.removeprefix("./") for dump in dumps], _NAMED)}
    return [Claim("claim.run.recorder", "found", facts, tuple({"dump": dump} for dump in dumps))]


_FLIGHT_DUMP: Final = re.compile(r"(?:^|/)flight_dump(?:_\d+)?$")
_NAMED: Final = 3
MOST_RUNS: Final = 1000  # in a query; a server shows 999 runs by default


class RunsQuery(BaseModel):
    """Query of the list of runs: the ids of the runs to list, None for all."""

    run: list[str] | None = Field(None, max_length=MOST_RUNS)


class TagsQuery(BaseModel):
    """Query of the tags of one kind in some runs, by default in all."""

    kind: str = "scalar"
    run: list[str] | None = Field(None, max_length=MOST_RUNS)
    job: str | None = Field(None, description="only the ranks of this job")
    brief: bool = Field(False, description="the number of runs with each tag instead of their ids")


async def runs(state: State, headers: Headers, query: RunsQuery) -> Response:
    """Return the list of runs: one row per run with its summary, for every run or those in the query.
    Unknown runs are left out. Returns 304 if the client has the current list."""
    accepted = headers.get("if-none-match", ""), headers.get("accept-encoding", "")
    # in a thread, because it may write the colours of new runs
    return await run_in_threadpool(run_list, state.service, *accepted, query.run)


async def tags(state: State, headers: Headers, query: TagsQuery) -> Response:
    """Return the tags of a kind, sorted, with the runs that have them, or with `brief` their number. With
    `run` or `job` only these runs count. Unknown ones are left out."""
    # in a thread, because a second passes with 100,000 tags
    return await run_in_threadpool(_tag_list, state.service.store.snapshot(), query)


def _tag_list(snapshot: Snapshot, query: TagsQuery) -> Response:
    chosen = None if query.run is None else frozenset(query.run)
    holders: dict[str, list[str]] = {}
    for run in snapshot.runs.values():
        if (chosen is None or run.id in chosen) and query.job in (None, run.job):
            for tag in run.tags(query.kind):
                holders.setdefault(tag, []).append(run.id)
    rows: list[dict[str, Any]] = [{"tag": tag, "count": len(holders[tag])} for tag in sorted(holders)]
    for row in () if query.brief else rows:
        row["runs"] = holders[row["tag"]]
    return Response(_json({"version": snapshot.version, "tags": rows}), media_type="application/json")


def run_list(
    service: Service, if_none_match: str, accept_encoding: str, runs: Collection[str] | None = None
) -> Response:
    """Return every run, or those in `runs`, as JSON. Return 304 if the client has the current list.
    Unknown runs are left out."""
    snapshot, listing = service.store.snapshot(), service.parts.of(Listing)
    damage = [DirectoryDamage("", "workers.missing")] if service.workers_missing else []
    notes, defaults = service.workspace.notes, service.workspace.defaults
    etag = f'"{snapshot.version}-{notes.version}-{defaults.version}-{len(damage)}"'
    headers = {"ETag": etag}
    if etag == if_none_match:
        return Response(status_code=304, headers=headers)
    every, slots = snapshot.runs, service.workspace.slots.of(jobs_by_age(snapshot.runs.values()))
    deletable = service.settings.allow_delete and service.settings.guarded
    marks = Marks(notes.all(), slots, defaults.all(), deletable)
    if runs is not None:
        body = listing.some(snapshot, marks, [every[run_id] for run_id in runs if run_id in every], damage)
    else:
        whole = listing.whole(snapshot, marks, etag, damage)
        packed = "gzip" in accept_encoding
        body = whole.packed if packed else whole.plain
        headers |= {"Vary": "Accept-Encoding", **({"Content-Encoding": "gzip"} if packed else {})}
    return Response(body, media_type="application/json", headers=headers)
