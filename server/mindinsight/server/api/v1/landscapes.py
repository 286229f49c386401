"""Loss landscapes and the intervals they were made for."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Annotated, Any

from fastapi import Query

from mindinsight.server.api.v1.errors import Fault
from mindinsight.server.api.v1.jobs import CurrentService
from mindinsight.server.api.v1.json_router import JsonRouter
from mindinsight.server.api.v1.parameters import NeededText, Text, Texts, first, required, train
from mindinsight.server.formats.payloads import Landscape, Point, landscape
from mindinsight.server.store.run import Run

router = JsonRouter(prefix="/datavisual/landscape", tags=["landscapes"])


@router.get("/intervals")
def intervals(service: CurrentService, train_id: NeededText = None) -> dict[str, Any]:
    """First and last of the intervals of one job that have a landscape, by their start."""
    run = train(service.store.snapshot(), required(train_id, "train_id"))
    known = {landscape.intervals for landscape in _landscapes(run) if landscape.intervals}
    rows = sorted(known, key=lambda steps: steps[:1])
    return {"intervals": [{"id": interval_id(steps), "value": [steps[0], steps[-1]]} for steps in rows]}


@router.get("/landscapes")
def landscapes(
    service: CurrentService,
    train_id: Texts = None,
    type: Annotated[list[str] | None, Query(description="interval or final")] = None,
    interval_id: Text = None,
) -> dict[str, Any]:
    """One item for each job; an item that cannot be answered carries a code."""
    kind = first(type) or "interval"
    wanted = first(interval_id)
    runs = service.store.snapshot().runs
    return {"landscapes": [_item(run, runs.get(run), kind, wanted) for run in train_id or ()]}


def interval_id(interval: tuple[int, ...]) -> str:
    """The same for the same interval, at every start and for every job."""
    text = ",".join(map(str, interval))
    return str(int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big") >> 1)


def _landscapes(run: Run) -> Iterator[Landscape]:
    for series in run.references.get("landscape", {}).values():
        for row in series.line_rows.tolist():
            yield landscape(series.read(row))


def _item(train_id: str, run: Run | None, kind: str, wanted: str | None) -> dict[str, Any]:
    if not train_id.startswith("./"):
        return {"train_id": train_id, "error_code": Fault.VALUE.code}
    if run is None:
        return {"train_id": train_id, "error_code": Fault.JOB.code}
    shown = next((landscape for landscape in _landscapes(run) if _is_wanted(landscape, kind, wanted)), None)
    if shown is None or shown.grid is None:
        return {"train_id": train_id, "error_code": Fault.LANDSCAPE.code}
    item: dict[str, Any] = {
        "train_id": train_id,
        "points": _point(shown.grid),
        "convergence_point": _corner(shown.convergence),
        "metadata": {
            "decomposition": shown.decomposition,
            "unit": shown.unit,
            "step_per_epoch": shown.step_per_epoch,
            **_training(run),
        },
    }
    if shown.path is not None and shown.intervals:
        item["path"] = {**_point(shown.path), "intervals": list(shown.intervals)}
    return item


def _is_wanted(shown: Landscape, kind: str, interval: str | None) -> bool:
    """Whether a landscape is of a kind: the final one has no intervals, though it may have a path."""
    if kind == "final":
        return not shown.intervals
    return kind == "interval" and bool(shown.intervals) and interval in (None, interval_id(shown.intervals))


def _point(point: Point) -> dict[str, Any]:
    return {"x": point.x.tolist(), "y": point.y.tolist(), "z": point.z.tolist()}


def _corner(point: Point | None) -> list[float]:
    if point is None:
        return [0, 0, 0]
    return [float(axis.ravel()[0]) if axis.size else 0.0 for axis in (point.x, point.y, point.z)]


def _training(run: Run) -> dict[str, Any]:
    """What lineage says of the training that the landscape belongs to."""
    facts = run.lineage.train if run.lineage is not None else None
    known: dict[str, Any] = {"network": None, "optimizer": None, "learning_rate": None, "metric": {}}
    if run.lineage is not None and run.lineage.evaluation is not None:
        known["metric"] = run.lineage.evaluation.metric
    if facts is not None:
        known |= {"network": facts.network, "optimizer": facts.optimizer}
        known["learning_rate"] = None if facts.learning_rate is None else f"{facts.learning_rate:e}"
        known["loss"] = None if facts.loss is None else f"{facts.loss:e}"
    return known
