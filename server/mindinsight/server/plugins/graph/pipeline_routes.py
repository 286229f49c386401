"""Route for the profile of a run's data pipeline."""

from concurrent.futures import Executor
from pathlib import Path
from typing import Any

from fastapi import APIRouter

from mindinsight.server.claims import Claim
from mindinsight.server.formats.graphs.pipeline_profiles import (
    PipelineProfile,
    ProfileError,
    bottleneck,
    nodes_of,
    profile_of,
    read_profile,
)
from mindinsight.server.formats.graphs.pipelines import pipeline_steps
from mindinsight.server.formats.sanitizer import show_name
from mindinsight.server.http.bulkhead_routes import CurrentService, GraphRoute
from mindinsight.server.plugins.graph.tree_cache import TreeCache
from mindinsight.server.store.run import Run, pipeline_claim

router = APIRouter(route_class=GraphRoute)


@router.get("/pipeline")
def pipeline(service: CurrentService, run: str) -> dict[str, Any]:
    """Return the profile of a run's data pipeline by MindSpore's profiler: operators in the order of the
    data, with queue and processor time. If none can be read, a claim says so and all else is empty or null.
    Returns 404 for an unknown run.

    The queue is the one after the operator, `cpu` its processor time in percent of one processor. `node` is
    the index in the graph of the pipeline, or null. `batch_ms` is the mean time between two batches,
    `wait_ms` how long the training waited for one. `claims` names what holds the pipeline up.
    """
    snapshot = service.store.snapshot()
    record = snapshot.run(run)
    folder = Path(record.path)
    # the folder of a rank that is itself served has no neighbours here
    beside = record.rank is not None and record.id not in {f"./{base.name}" for base in snapshot.bases}
    folders = [folder, folder.parent] if beside else [folder]
    path, count = profile_of(folders, record.rank)
    answer: dict[str, Any] = {
        "run": run,
        "operators": [],
        "file": None,
        "batch_ms": None,
        "wait_ms": None,
        "interval_ms": None,
    }
    if path is None:
        return {**answer, "claims": [Claim("claim.pipeline_profile.none", "note").as_json()]}
    file = show_name(path.name)
    try:
        profile = read_profile(path)
    except (ProfileError, OSError) as error:
        claim = Claim("claim.pipeline_profile.unreadable", "unknown", {"file": file, "why": str(error)})
        return {**answer, "file": file, "claims": [claim.as_json()]}
    claim, slowest = bottleneck(profile)
    nodes = _nodes(service.parts.of(TreeCache), record, profile, service.openers)
    claims = [claim] if nodes else [claim, _unmarked(record)]
    if count > 1:
        claims.append(Claim("claim.pipeline_profile.newest", "note", {"file": file, "n": count}))
    return {
        **answer,
        "file": file,
        "interval_ms": profile.interval,
        "batch_ms": profile.batch_time,
        "wait_ms": profile.mean_wait,
        "operators": [
            _operator_json(profile, number, nodes.get(number), number in slowest)
            for number in profile.sources_first()
        ],
        "claims": [claim.as_json() for claim in claims],
    }


def _unmarked(run: Run) -> Claim:
    """Return the claim that no box has the profile's marks: the recorded pipeline is another one or missing,
    or it may not have been read so far."""
    recorded = pipeline_claim(run)
    if recorded.verdict == "unknown":
        return recorded
    is_missing = run.lineage is None or run.lineage.dataset_graph is None
    return Claim(f"claim.pipeline_profile.{'unrecorded' if is_missing else 'other'}", "note")


def _nodes(trees: TreeCache, run: Run, profile: PipelineProfile, openers: Executor) -> dict[int, int]:
    """Return the index in the graph of the recorded pipeline by operator, empty if it is another one."""
    if run.lineage is None or run.lineage.dataset_graph is None:
        return {}
    tree = trees.tree(run, "", "dataset", openers)
    paths = nodes_of(profile, pipeline_steps(run.lineage.dataset_graph))
    return {number: tree.indices[path] for number, path in paths.items() if path in tree.indices}


def _operator_json(profile: PipelineProfile, number: int, node: int | None, slowest: bool) -> dict[str, Any]:
    operator = profile.operators[number]
    queue = operator.queue
    return {
        "name": operator.name,
        "node": node,
        "workers": operator.workers,
        "samples": len(queue),
        "capacity": operator.capacity if queue else None,
        "mean": sum(queue) / len(queue) if queue else None,
        "empty": operator.empty if queue else None,
        "cpu": operator.cpu,
        "slowest": slowest,
    }
