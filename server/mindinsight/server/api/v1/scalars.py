"""Scalars: one merged line for each tag."""

from __future__ import annotations

import math
from typing import Any

from mindinsight.server.api.v1.errors import Fault, V1Error
from mindinsight.server.api.v1.jobs import CurrentService
from mindinsight.server.api.v1.json_router import JsonRouter
from mindinsight.server.api.v1.parameters import Full, NeededText, Texts, required, train
from mindinsight.server.api.v1.plugins import scalar_of
from mindinsight.server.api.v1.sampling import SCALARS, extreme_rows
from mindinsight.server.store.series import ScalarSeries

router = JsonRouter(prefix="/datavisual", tags=["scalars"])


@router.get("/scalar/metadata")
def metadata(
    service: CurrentService, train_id: NeededText = None, tag: NeededText = None, full: Full = False
) -> dict[str, Any]:
    """The points of one tag, ascending by step; null for what is not finite."""
    wanted, name = required(train_id, "train_id"), required(tag, "tag")
    series = scalar_of(train(service.store.snapshot(), wanted), name)
    if series is None:
        raise V1Error(Fault.SCALAR, "Parameter tag names no scalar of this train job.")
    return {"metadatas": _points(series, full)}


@router.get("/scalars")
def scalars(
    service: CurrentService, train_id: Texts = None, tag: Texts = None, full: Full = False
) -> dict[str, Any]:
    """The points of all pairs of job and tag that exist, in the order asked."""
    runs = service.store.snapshot().runs
    items = []
    for wanted in train_id or ():
        for name in tag or ():
            series = scalar_of(runs[wanted], name) if wanted in runs else None
            if series is not None:
                items.append({"train_id": wanted, "tag": name, "values": _points(series, full)})
    return {"scalars": items}


def _points(series: ScalarSeries, full: bool) -> list[dict[str, Any]]:
    line = series.line()
    rows = slice(None) if full else extreme_rows(line.values, SCALARS)
    columns = (line.walls[rows].tolist(), line.steps[rows].tolist(), line.values[rows].tolist())
    return [
        {"wall_time": wall, "step": step, "value": value if math.isfinite(value) else None}
        for wall, step, value in zip(*columns, strict=True)
    ]
