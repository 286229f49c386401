"""Routes for scalars: one line of points for each tag, overwritten steps left out."""

from __future__ import annotations

from typing import Any

from mindinsight.server.api.v1.errors import Fault, V1Error
from mindinsight.server.api.v1.jobs import CurrentService
from mindinsight.server.api.v1.json_router import JsonRouter
from mindinsight.server.api.v1.parameters import FullFlag, RequiredText, Texts, find_run, required
from mindinsight.server.api.v1.sampling import SCALARS, extreme_rows
from mindinsight.server.api.v1.tags import scalar_of
from mindinsight.server.store.series import ScalarSeries

router = JsonRouter(prefix="/datavisual", tags=["scalars"])


@router.get("/scalar/metadata")
def metadata(
    service: CurrentService, train_id: RequiredText = None, tag: RequiredText = None, full: FullFlag = False
) -> dict[str, Any]:
    """Points of one tag, ascending by step; null for values that are not finite."""
    run_id, name = required(train_id, "train_id"), required(tag, "tag")
    series = scalar_of(find_run(service.store.snapshot(), run_id), name)
    if series is None:
        raise V1Error(Fault.SCALAR, "Parameter tag does not match any scalar of this train job.")
    return {"metadatas": _points(series, full)}


@router.get("/scalars")
def scalars(
    service: CurrentService, train_id: Texts = None, tag: Texts = None, full: FullFlag = False
) -> dict[str, Any]:
    """Points of all existing pairs of job and tag, in the order of the parameters."""
    runs = service.store.snapshot().runs
    items = []
    for run_id in train_id or ():
        for name in tag or ():
            series = scalar_of(runs[run_id], name) if run_id in runs else None
            if series is not None:
                items.append({"train_id": run_id, "tag": name, "values": _points(series, full)})
    return {"scalars": items}


def _points(series: ScalarSeries, full: bool) -> list[dict[str, Any]]:
    line = series.line()
    rows = slice(None) if full else extreme_rows(line.values, SCALARS)
    columns = (line.walls[rows].tolist(), line.steps[rows].tolist(), line.values[rows].tolist())
    return [
        {"wall_time": wall, "step": step, "value": value} for wall, step, value in zip(*columns, strict=True)
    ]
