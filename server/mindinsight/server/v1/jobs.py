"""Routes for train jobs (runs), and the tags by which v1 names their series."""

import re
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Final

from fastapi import Body

from mindinsight.server.files.opener import folders_of, names_of
from mindinsight.server.http.bulkhead_routes import CurrentService
from mindinsight.server.store import file_names
from mindinsight.server.store.run import Run, Snapshot
from mindinsight.server.store.series import ReferenceSeries, ScalarSeries
from mindinsight.server.types import Kind
from mindinsight.server.v1 import v1_parameters
from mindinsight.server.v1.v1_parameters import Page, TrainId, find_run, loaded_run
from mindinsight.server.v1.v1_responses import Fault, JsonRouter, V1Error

NAMES: Final = ("image", "scalar", "graph", "optimized_graph", "histogram", "tensor", "loss_landscape")
OPTIMIZED: Final = " (optimized)"
_KINDS: Final[Mapping[str, Kind]] = {
    **{kind: kind for kind in ("image", "histogram", "tensor")},
    "loss_landscape": "landscape",
}
_FIRST_GRAPH: Final = "ms_output_optimize.pb"


def tags_of(run: Run) -> dict[str, list[str]]:
    """Return the sorted tags of each of the seven plugins, [] without any. Tags end in `/<plugin>`, those of
    optimized graphs in ` (optimized)`, those of graphs are as recorded. The optimized graph file comes first.
    """
    graphs = sorted(run.references.get("graph", {}), key=lambda name: (name != _FIRST_GRAPH, name))
    named = {"graph": graphs, "optimized_graph": [name + OPTIMIZED for name in graphs]}
    for plugin in NAMES:
        if plugin not in named:
            tags = run.scalars if plugin == "scalar" else run.references.get(_KINDS[plugin], {})
            named[plugin] = sorted(f"{tag}/{plugin}" for tag in tags)
    return {name: named[name] for name in NAMES}


def scalar_of(run: Run, tag: str) -> ScalarSeries | None:
    """Return the scalar series of a tag, or None if it is unknown. Raises V1Error for a tag of another
    plugin."""
    series = run.scalars.get(tag.removesuffix("/scalar")) if tag.endswith("/scalar") else None
    if series is None and any(tag in tags for tags in tags_of(run).values()):
        raise V1Error(Fault.TYPE, "Parameter tag is not a scalar.")
    return series


def payloads_of(run: Run, tag: str, plugin: str, fault: Fault) -> ReferenceSeries:
    """Return the payload series of a tag of a plugin. Raises V1Error with `fault` if there is none."""
    name = tag.removesuffix(f"/{plugin}") if tag.endswith(f"/{plugin}") else None
    series = run.references.get(_KINDS[plugin], {}).get(name) if name is not None else None
    if series is None:
        raise V1Error(fault, f"Parameter tag does not match any {plugin} of this train job.")
    return series


def time_and_step(series: ReferenceSeries, row: int) -> dict[str, Any]:
    """Return wall time and step of a row as JSON."""
    return {"wall_time": float(series.walls[row]), "step": int(series.steps[row])}


router = JsonRouter(prefix="/datavisual", tags=["jobs"])

_MOST_JOBS: Final = 999  # of a page, as in MindInsight
_PROFILER_FILES: Final = {
    "ascend": re.compile(r"ascend_timeline_display|output_op_compute_time"),
    "gpu": re.compile(r"gpu_op_detail_info|gpu_activity_data|gpu_op_type_info"),
    "cpu": re.compile(r"cpu_op_detail_info|cpu_op_type_info"),
}


@router.get("/train-jobs")
def train_jobs(
    service: CurrentService,
    page: Page,
    rows: Annotated[int, v1_parameters.integer("limit", 10, 1, _MOST_JOBS)],
    train_id: Annotated[str | None, v1_parameters.optional_text("train_id")],
) -> dict[str, Any]:
    """Return a page of the train jobs as `train_jobs`, the most recently updated first, with their `total`.
    With `train_id` there is only this job, or none if it is unknown."""
    snapshot = service.store.snapshot()
    jobs = newest_first(snapshot)
    if train_id is not None:
        jobs = [run for run in jobs if run.id == train_id]
        page, rows = 0, 1
    return {
        "name": ", ".join(base.name for base in snapshot.bases if base.name) or Path(snapshot.base).name,
        "total": len(jobs),
        "load_status": load_status(snapshot),
        "train_jobs": [_job_json(run) for run in jobs[page * rows : (page + 1) * rows]],
    }


@router.get("/plugins")
def plugins(
    service: CurrentService,
    run_id: TrainId,
    manual_update: Annotated[str | None, v1_parameters.optional_text("manual_update")],
) -> dict[str, Any]:
    """Return the tags of a job by plugin as `plugins`. `manual_update` loads the job next. Returns an error
    for an unknown job."""
    update = (manual_update or "false").lower()
    if update not in ("true", "false"):
        raise V1Error(Fault.VALUE, "Parameter manual_update must be true or false.")
    run = find_run(service.store.snapshot(), run_id)
    if update == "true":
        service.loader.want([run.id])
    return {"plugins": tags_of(run)}


@router.get("/single-job")
def single_job(
    service: CurrentService,
    plugin: Annotated[str, v1_parameters.required_text("plugin_name")],
    train_id: TrainId,
) -> dict[str, Any]:
    """Return the tags of one plugin of a job as `tags` of the only item of `train_jobs`. Returns an error if
    the plugin or the job is unknown."""
    if plugin not in NAMES:
        raise V1Error(Fault.PLUGIN, "Parameter plugin_name does not match any plugin.")
    run = loaded_run(service.store.snapshot(), train_id)
    return {"train_jobs": [{"id": run.id, "name": run.id, "tags": sorted(tags_of(run)[plugin])}]}


@router.post("/train-job-caches")
def train_job_caches(service: CurrentService, body: Annotated[Any, Body()] = None) -> dict[str, Any]:
    """Load the given jobs next, and return their status as `cache_result`. Unknown ones are left out.
    Returns an error if the body has no list of ids. All others are loaded in the background anyway."""
    if not isinstance(body, dict) or "train_ids" not in body:
        raise V1Error(Fault.MISSING, "Parameter train_ids is missing.")
    ids = body["train_ids"]
    if not isinstance(ids, list) or not all(isinstance(run_id, str) for run_id in ids):
        raise V1Error(Fault.TYPE, "Parameter train_ids must be a list of strings.")
    runs = service.store.snapshot().runs
    known = [runs[run_id] for run_id in ids if run_id in runs]
    service.loader.want([run.id for run in known])
    return {"cache_result": [{"train_id": run.id, "cache_status": _cache_status(run)} for run in known]}


def newest_first(snapshot: Snapshot) -> list[Run]:
    """Return the runs by time of last update, newest first, and equal times by id."""
    return sorted(snapshot.runs.values(), key=lambda run: (-run.updated, run.id))


def load_status(snapshot: Snapshot) -> str:
    """Return the status of the whole base directory: init, loading or loaded."""
    if not snapshot.scanned:
        return "init"
    return "loaded" if all(_cache_status(run) == "CACHED" for run in snapshot.runs.values()) else "loading"


def _cache_status(run: Run) -> str:
    return "CACHED" if run.read >= run.total else "CACHING"


def _job_json(run: Run) -> dict[str, Any]:
    endings = ("_lineage", ".pb", "_explain")
    lineage, graphs, explain = (sum(file.name.endswith(end) for file in run.files) for end in endings)
    return {
        "train_id": run.id,
        "relative_path": run.id,
        "create_time": _text(run.created),
        "update_time": _text(run.updated),
        **_profiler_json(run.path),
        "dump_dir": run.dumps[0] if run.dumps else None,
        "summary_files": len(run.files) - lineage - graphs - explain,
        "graph_files": graphs,
        "lineage_files": lineage,
        "cache_status": _cache_status(run),
        "is_integrity": not any(file.pending or file.damage for file in run.files),
        "plugins": tags_of(run),
    }


def _text(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(seconds))


def _profiler_json(path: str) -> dict[str, Any]:
    """Return the first profiler directory of a job that contains data, and its type of device."""
    for folder in folders_of(Path(path)):
        if not file_names.is_profile(folder.name):
            continue
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
