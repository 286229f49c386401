"""Routes for loss landscapes and their intervals of epochs or steps."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import suppress
from typing import Annotated, Any

from fastapi import Query

from mindinsight.server.errors import Gone
from mindinsight.server.formats.payloads.chart_payloads import Landscape, Point, landscape
from mindinsight.server.formats.read_limits import UnreadableError
from mindinsight.server.http.bulkhead_routes import PayloadRoute
from mindinsight.server.store.run import Run
from mindinsight.server.v1.jobs import CurrentService
from mindinsight.server.v1.v1_parameters import (
    RequiredText,
    Text,
    Texts,
    first_value,
    is_loadable,
    loaded_run,
    required,
)
from mindinsight.server.v1.v1_responses import Fault, JsonRouter

router = JsonRouter(route_class=PayloadRoute, prefix="/datavisual/landscape", tags=["landscapes"])


@router.get("/intervals")
def intervals(service: CurrentService, train_id: RequiredText = None) -> dict[str, Any]:
    """Return the intervals of a job that have a landscape, as [first, last], sorted by start."""
    run = loaded_run(service.store.snapshot(), required(train_id, "train_id"))
    found_intervals = {landscape.intervals for landscape in _landscapes(run) if landscape.intervals}
    rows = sorted(found_intervals, key=lambda steps: steps[:1])
    return {"intervals": [{"id": interval_id(steps), "value": [steps[0], steps[-1]]} for steps in rows]}


@router.get("/landscapes")
def landscapes(
    service: CurrentService,
    train_id: Texts = None,
    type: Annotated[list[str] | None, Query(description="interval or final")] = None,
    interval_id: Text = None,
) -> dict[str, Any]:
    """Return the landscape of each job. A job without one gets an error code."""
    kind = first_value(type) or "interval"
    interval = first_value(interval_id)
    runs = service.store.snapshot().runs
    return {"landscapes": [_item(run, runs.get(run), kind, interval) for run in train_id or ()]}


def interval_id(interval: tuple[int, ...]) -> str:
    """Return a stable id of an interval: a hash, equal for equal intervals in every job and after a
    restart.
    """
    text = ",".join(map(str, interval))
    return str(int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big") >> 1)


def _landscapes(run: Run) -> Iterator[Landscape]:
    """Yield the landscapes of a run that can be read."""
    for series in run.references.get("landscape", {}).values():
        for row in series.line_rows.tolist():
            with suppress(Gone, UnreadableError):
                yield landscape(series.read(row))


def _item(train_id: str, run: Run | None, kind: str, interval: str | None) -> dict[str, Any]:
    if not train_id.startswith("./"):
        return {"train_id": train_id, "error_code": Fault.VALUE.code}
    if run is None or not is_loadable(run):
        return {"train_id": train_id, "error_code": Fault.JOB.code}
    match = next((landscape for landscape in _landscapes(run) if _matches(landscape, kind, interval)), None)
    if match is None or match.grid is None:
        return {"train_id": train_id, "error_code": Fault.LANDSCAPE.code}
    item: dict[str, Any] = {
        "train_id": train_id,
        "points": _grid_json(match.grid),
        "convergence_point": _point_json(match.convergence),
        "metadata": {
            **{name: getattr(match, name) for name in ("decomposition", "unit", "step_per_epoch")},
            **_training_json(run),
        },
    }
    if match.path is not None and match.intervals:
        item["path"] = {**_grid_json(match.path), "intervals": list(match.intervals)}
    return item


def _matches(candidate: Landscape, kind: str, interval: str | None) -> bool:
    """Return True if a landscape has the given kind and interval. Final landscapes have no intervals."""
    if kind == "final":
        return not candidate.intervals
    return (
        kind == "interval"
        and bool(candidate.intervals)
        and interval in (None, interval_id(candidate.intervals))
    )


def _grid_json(point: Point) -> dict[str, Any]:
    return {"x": point.x.tolist(), "y": point.y.tolist(), "z": point.z.tolist()}


def _point_json(point: Point | None) -> list[float]:
    if point is None:
        return [0, 0, 0]
    return [float(axis.ravel()[0]) if axis.size else 0.0 for axis in (point.x, point.y, point.z)]


def _training_json(run: Run) -> dict[str, Any]:
    """Return the metadata of the landscape's training, from its lineage."""
    train = run.lineage.train if run.lineage is not None else None
    metadata: dict[str, Any] = {"network": None, "optimizer": None, "learning_rate": None, "metric": {}}
    if run.lineage is not None and run.lineage.evaluation is not None:
        metadata["metric"] = run.lineage.evaluation.metric
    if train is not None:
        metadata |= {"network": train.network, "optimizer": train.optimizer}
        metadata["learning_rate"] = None if train.learning_rate is None else f"{train.learning_rate:e}"
        metadata["loss"] = None if train.loss is None else f"{train.loss:e}"
    return metadata
