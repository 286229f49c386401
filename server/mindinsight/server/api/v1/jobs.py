"""Train jobs and what they hold."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import Annotated, Any, Final

from fastapi import Body, Depends

from mindinsight.server.api.v1.errors import Fault, V1Error
from mindinsight.server.api.v1.json_router import JsonRouter
from mindinsight.server.api.v1.parameters import NeededText, Number, Text, first, integer, required, train
from mindinsight.server.api.v1.plugins import NAMES, tags_of
from mindinsight.server.files.folders import folders_of, names_of
from mindinsight.server.http.service import Service, service_of
from mindinsight.server.store import file_names
from mindinsight.server.store.run import Run, Snapshot

router = JsonRouter(prefix="/datavisual", tags=["jobs"])

CurrentService = Annotated[Service, Depends(service_of)]

_MOST_JOBS: Final = 999
_PROFILER_FILES: Final = {
    "ascend": re.compile(r"ascend_timeline_display|output_op_compute_time"),
    "gpu": re.compile(r"gpu_op_detail_info|gpu_activity_data|gpu_op_type_info"),
    "cpu": re.compile(r"cpu_op_detail_info|cpu_op_type_info"),
}


@router.get("/train-jobs")
def train_jobs(
    service: CurrentService, offset: Number = None, limit: Number = None, train_id: Text = None
) -> dict[str, Any]:
    """All train jobs, the most recently written first, a page of them."""
    page = integer(offset, "offset", 0, 0)
    rows = integer(limit, "limit", 10, 1, _MOST_JOBS)
    snapshot = service.store.snapshot()
    wanted = first(train_id)
    jobs = in_order(snapshot)
    if wanted is not None:
        jobs = [run for run in jobs if run.id == wanted]
        page, rows = 0, 1
    return {
        "name": ", ".join(base.name for base in snapshot.bases if base.name) or Path(snapshot.base).name,
        "total": len(jobs),
        "load_status": load_status(snapshot),
        "train_jobs": [_job(run) for run in jobs[page * rows : (page + 1) * rows]],
    }


@router.get("/plugins")
def plugins(
    service: CurrentService, train_id: NeededText = None, manual_update: Text = None
) -> dict[str, Any]:
    """The tags of each plugin; ``manual_update`` asks for the job to be read next."""
    wanted = required(train_id, "train_id")
    update = (first(manual_update) or "false").lower()
    if update not in ("true", "false"):
        raise V1Error(Fault.VALUE, "Parameter manual_update must be true or false.")
    run = train(service.store.snapshot(), wanted)
    if update == "true":
        service.loader.want([run.id])
    return {"plugins": tags_of(run)}


@router.get("/single-job")
def single_job(
    service: CurrentService, plugin_name: NeededText = None, train_id: NeededText = None
) -> dict[str, Any]:
    """The tags of one plugin of one job."""
    plugin = required(plugin_name, "plugin_name")
    wanted = required(train_id, "train_id")
    if plugin not in NAMES:
        raise V1Error(Fault.PLUGIN, "Parameter plugin_name names no plugin.")
    run = train(service.store.snapshot(), wanted)
    return {"train_jobs": [{"id": run.id, "name": run.id, "tags": sorted(tags_of(run)[plugin])}]}


@router.post("/train-job-caches")
def train_job_caches(service: CurrentService, body: Annotated[Any, Body()] = None) -> dict[str, Any]:
    """Ask for jobs to be read next. Everything is read sooner or later without being asked."""
    if not isinstance(body, dict) or "train_ids" not in body:
        raise V1Error(Fault.MISSING, "Parameter train_ids is missing.")
    ids = body["train_ids"]
    if not isinstance(ids, list) or not all(isinstance(run_id, str) for run_id in ids):
        raise V1Error(Fault.TYPE, "Parameter train_ids must be a list of texts.")
    runs = service.store.snapshot().runs
    known = [runs[run_id] for run_id in ids if run_id in runs]
    service.loader.want([run.id for run in known])
    return {"cache_result": [{"train_id": run.id, "cache_status": _status(run)} for run in known]}


def in_order(snapshot: Snapshot) -> list[Run]:
    """Newest write first; equal times in the order of names."""
    return sorted(snapshot.runs.values(), key=lambda run: (-run.updated, run.id))


def load_status(snapshot: Snapshot) -> str:
    if not snapshot.scanned:
        return "init"
    return "loaded" if all(_status(run) == "CACHED" for run in snapshot.runs.values()) else "loading"


def _status(run: Run) -> str:
    return "CACHED" if run.read >= run.total else "CACHING"


def _job(run: Run) -> dict[str, Any]:
    names = [Path(file.name).name for file in run.files]
    lineage = sum(name.endswith("_lineage") for name in names)
    graphs = sum(name.endswith(".pb") for name in names)
    explain = sum(name.endswith("_explain") for name in names)
    whole = not any(file.pending or file.damage for file in run.files)
    return {
        "train_id": run.id,
        "relative_path": run.id,
        "create_time": _text(run.created),
        "update_time": _text(run.updated),
        **_profiler(run.path),
        "dump_dir": run.dumps[0] if run.dumps else None,
        "summary_files": len(names) - lineage - graphs - explain,
        "graph_files": graphs,
        "lineage_files": lineage,
        "cache_status": _status(run),
        "is_integrity": whole,
        "plugins": tags_of(run),
    }


def _text(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(seconds))


def _profiler(path: str) -> dict[str, Any]:
    """The first profiler folder of a job that holds data, and for which device it was made."""
    for folder in _folders(path):
        names = names_of(folder)
        if not any(map(file_names.is_profile_of_rank, names)):
            continue
        kind = next((kind for kind, pattern in _PROFILER_FILES.items() if any(map(pattern.match, names))), "")
        profile: dict[str, Any] = {"profiler_dir": f"./{folder.name}", "profiler_type": kind}
        if kind:
            dynamic = any(name.startswith("dynamic_shape_info") for name in names)
            profile["graph_mode"] = "dynamic" if dynamic else "static"
        return profile
    return {"profiler_dir": None, "profiler_type": ""}


def _folders(path: str) -> list[Path]:
    return [folder for folder in folders_of(Path(path)) if file_names.is_profile(folder.name)]
