"""Route of the timeline of a series of checkpoints."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Final

from fastapi import APIRouter, Query

from mindinsight.server.compute.background_job import BackgroundJob
from mindinsight.server.compute.non_finite import non_finite_as_text
from mindinsight.server.debug.checkpoints.timeline import TimelineRow, timeline_claims, weight_timeline
from mindinsight.server.http.bulkhead_routes import CheckpointRoute
from mindinsight.server.plugins.dump.checkpoints import open_checkpoint
from mindinsight.server.plugins.dump.dependencies import Sessions, Uses

router = APIRouter(route_class=CheckpointRoute)

_MOST: Final = 200  # checkpoints
_WAIT: Final = 0.5  # seconds that a response waits for the job to complete


@router.get("/checkpoint/timeline")
def timeline(
    service: Uses,
    sessions: Sessions,
    file: Annotated[
        list[str], Query(description="files in the order they were saved", min_length=2, max_length=_MOST)
    ],
    offset: Annotated[int, Query(ge=0, description="rows that are known already")] = 0,
) -> dict[str, Any]:
    """Rows of tensors from ``offset`` on, as far as computed; repeat until ``done``.

    Each has a state, a relative change (L2) and a number of non-finite elements for each checkpoint. There
    are ``claims`` once all rows are computed.
    """
    files = [open_checkpoint(service, name) for name in file]
    key = tuple((weights.path, weights.path.lstat().st_mtime_ns) for weights in files)
    total = len({weight.name for weights in files for weight in weights.weights})
    job = sessions.get(
        ("timeline", key),
        BackgroundJob,
        lambda: BackgroundJob(service.jobs, lambda: weight_timeline(files, service.executor), total),
    )
    job.wait(_WAIT)
    done = job.done  # before the rows are read: none comes after it
    known = done and not job.error
    claims = timeline_claims(list(job.items), [Path(name).name for name in file]) if known else []
    return {
        "done": done,
        "error": job.error,
        "total": total,
        "offset": offset,
        "claims": [claim.as_json() for claim in claims],
        "rows": [_row_json(row) for row in list(job.items)[offset:]],
    }


def _row_json(row: TimelineRow) -> dict[str, Any]:
    return {
        "name": row.name,
        "shape": row.shape,
        "states": [cell.state for cell in row.cells],
        "changes": non_finite_as_text([cell.change for cell in row.cells]),
        "non_finite": [cell.non_finite for cell in row.cells],
    }
