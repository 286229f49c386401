"""Routes of runs: the list, files, tags, notes, metadata, and the columns of the run table."""

import time
from collections.abc import Mapping
from dataclasses import asdict
from typing import Annotated, Any

import numpy as np
from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from mindinsight.server.api.checkpoint_faults import checkpoint_files, known_claim
from mindinsight.server.api.run_answers import MOST_RUNS, hyper_of, metrics_of, run_divergence
from mindinsight.server.compute.json_values import exact_as_text
from mindinsight.server.debug.checkpoint_weights import find_series
from mindinsight.server.errors import unknown_run
from mindinsight.server.http.bulkhead_routes import CurrentService
from mindinsight.server.http.responses import encode
from mindinsight.server.http.service import Service
from mindinsight.server.plugins.dump.checkpoint_routes import searched_checkpoints
from mindinsight.server.plugins.dump.dump_requests import Sessions
from mindinsight.server.store.forks import fork_claims
from mindinsight.server.store.mounts import disk_path
from mindinsight.server.store.recording_gaps import recording_claims
from mindinsight.server.store.run import Run, file_claims, pipeline_claim, run_claims, torn_files
from mindinsight.server.types import Doubles, FileState, Floats
from mindinsight.server.workspace.json_store import storing
from mindinsight.server.workspace.notes import MAX_LABELS, MAX_NAME, MAX_NOTE

router = APIRouter(tags=["runs"])
Runs = Annotated[list[str], Query(max_length=200)]
Label = Annotated[str, Field(min_length=1, max_length=100)]


@router.get("/v2/runs/files")
def files(service: CurrentService, run: str) -> dict[str, Any]:
    """Return the files of one run: reading progress, and every section that could not be read. `claims` of
    a file name its damage. `claims` of the run say whether everything was read."""
    record = service.store.snapshot().run(run)
    service.loader.want([run])
    now = time.time()
    torn = {file.name for file in torn_files(record, now)}
    return {
        "run": run,
        "claims": [claim.as_json() for claim in run_claims(record, now)],
        "files": [_file(file, file.name in torn) for file in record.files],
    }


def _file(file: FileState, torn: bool) -> dict[str, Any]:
    names = ("name", "size", "modified", "read", "pending", "error", "closed")
    return {
        "torn": torn,
        "claims": [claim.as_json() for claim in file_claims(file, torn)],
        **{name: getattr(file, name) for name in names},
        "skipped": dict(file.skipped),
        "damage": [asdict(section) for section in file.damage],
    }


class NoteChange(BaseModel):
    """Changes of a run's note. Omitted fields are unchanged."""

    run: str
    note: str | None = Field(None, max_length=MAX_NOTE)
    labels: list[Label] | None = Field(None, max_length=MAX_LABELS)
    hidden: bool | None = None
    archived: bool | None = None
    pinned: bool | None = None
    name: str | None = Field(None, max_length=MAX_NAME, description="shown in place of the directory's name")
    group: str | None = Field(None, max_length=MAX_NAME)
    colour: str | None = Field(None, pattern="^(#[0-9a-fA-F]{6})?$")


class NoteChanges(BaseModel):
    """Changes of several notes."""

    changes: Annotated[list[NoteChange], Field(min_length=1, max_length=MOST_RUNS)]


@router.patch("/v2/runs/notes")
def annotate(change: NoteChange, service: CurrentService) -> dict[str, Any]:
    """Store fields of a run's note, and return the note. Omitted fields are unchanged. Returns 404 for an
    unknown run. `pinned` is the baseline: at most one run is pinned."""
    return _annotated(service, [change])[0]


@router.patch("/v2/runs/notes/many")
def annotate_many(change: NoteChanges, service: CurrentService) -> dict[str, Any]:
    """Store the changes of many notes together, and return the changed notes. Returns 404, and stores
    nothing, if a run is unknown."""
    return {"notes": _annotated(service, change.changes)}


def _annotated(service: Service, changes: list[NoteChange]) -> list[dict[str, Any]]:
    """Store changes and return the notes. Raises ApiError for an unknown run or a failed write."""
    runs = service.store.snapshot().runs
    for change in changes:
        if change.run not in runs:
            raise unknown_run(change.run)
    fields: dict[str, dict[str, Any]] = {}  # of a run that is named twice, the later ones win
    for change in changes:
        fields.setdefault(change.run, {}).update(change.model_dump(exclude={"run"}, exclude_none=True))
    for values in fields.values():
        if "labels" in values:
            values["labels"] = tuple(dict.fromkeys(values["labels"]))
    with storing({}):
        notes = service.workspace.notes.change_all(fields)
    return [{"run": run, **asdict(note)} for run, note in notes.items()]


@router.get("/v2/runs/facts")
def facts(run: str, service: CurrentService, sessions: Sessions) -> dict[str, Any]:
    """Return hyper-parameters, metrics and the data pipeline (MindInsight's JSON, null if unknown).

    `claims`, `divergence`, `recording` and `fork` are lists of claims: about the number of operations of the
    pipeline, about a loss that is non-finite to its end, about gaps of the recording, and about the run that
    this run continues. `divergence` is empty until all files have been read. `checkpoints` are the checkpoint
    files in the folder of the run: their number, the steps in their names, the newest one, and
    `claims` about NaN and infinity in them if a timeline of them was computed.
    """
    snapshot = service.store.snapshot()
    record = snapshot.run(run)
    lineage = record.lineage
    return {
        "run": run,
        "hyper": exact_as_text(hyper_of(lineage)),
        "metrics": exact_as_text(metrics_of(lineage)),
        "dataset": lineage.dataset_graph if lineage else None,
        "claims": [pipeline_claim(record).as_json()],
        "fork": [claim.as_json() for claim in fork_claims(record, snapshot.runs)],
        "divergence": [claim.as_json() for claim in run_divergence(record)],
        "recording": [claim.as_json() for claim in recording_claims(record)],
        "checkpoints": _checkpoints(service, sessions, record, snapshot.runs),
    }


def _checkpoints(
    service: Service, sessions: Sessions, record: Run, runs: Mapping[str, Run]
) -> dict[str, Any]:
    others = {*runs, *(dump for run in runs.values() for dump in run.dumps)}
    try:
        path = disk_path(service.settings.summary_base_dir, record.id)
        files = checkpoint_files(record.id, path, others)
        series = find_series(files)
        grouped = [[files[saved.id] for saved in member.checkpoints] for member in series]
        searched = [known for paths in grouped for known in searched_checkpoints(sessions, paths)]
    except (KeyError, OSError):
        series, searched = [], []  # the folder was removed
    saved = [checkpoint for member in series for checkpoint in member.checkpoints]
    steps = [checkpoint.step for checkpoint in saved if checkpoint.step is not None]
    return {
        "count": len(saved),
        "first_step": min(steps, default=None),
        "last_step": max(steps, default=None),
        "file": saved[-1].id if saved else None,
        "claims": [known_claim(searched, len(saved)).as_json()] if saved else [],
    }


POINTS = 48  # of a sparkline


@router.get("/v2/runs/columns")
def columns(service: CurrentService, tag: Annotated[list[str], Query(max_length=50)]) -> dict[str, Any]:
    """Return for each tag the runs that have it, with the last, first finite, lowest and highest value of
    each run. The last three are NaN without a finite value. No run is listed for an unknown tag."""
    snapshot = service.store.snapshot()
    tables = {}
    for name in tag:
        series = {run.id: run.scalars[name] for run in snapshot.runs.values() if name in run.scalars}
        values = [curve.line().values for curve in series.values()]
        tables[name] = {
            "runs": list(series),
            "last": encode(np.array([curve.last_value for curve in series.values()], dtype=np.float64)),
            "first": encode(np.array([_first(row) for row in values], dtype=np.float64)),
            "min": encode(np.array([lowest(row) for row in values], dtype=np.float64)),
            "max": encode(np.array([-lowest(-row) for row in values], dtype=np.float64)),
        }
    return {"version": snapshot.version, "tables": tables}


@router.get("/v2/runs/sparklines")
def sparklines(service: CurrentService, tag: str, run: Runs) -> dict[str, Any]:
    """Return sparklines of one tag for some runs: up to 48 values each, evenly spaced. Unknown runs, and
    runs without the tag, are left out."""
    runs = service.store.snapshot().runs
    service.loader.want(run)
    chosen = {run_id: runs[run_id].scalars for run_id in run if run_id in runs}
    lines = {run_id: scalars[tag].line() for run_id, scalars in chosen.items() if tag in scalars}
    return {"tag": tag, "curves": {run_id: encode(thinned(line.values)) for run_id, line in lines.items()}}


def lowest(values: Floats) -> float:
    """Return the lowest finite value, or NaN."""
    finite = values[np.isfinite(values)]
    return float(finite.min()) if len(finite) else float("nan")


def _first(values: Floats) -> float:
    return float(next(iter(values[np.isfinite(values)]), np.nan))


def thinned(values: Floats) -> Doubles:
    """Return at most `POINTS` of the values, evenly spaced, including the first and the last."""
    rows = np.linspace(0, len(values) - 1, min(POINTS, len(values))).round().astype(np.int64)
    return values[rows].astype(np.float64)
