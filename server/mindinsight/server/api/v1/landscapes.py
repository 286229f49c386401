"""Loss landscapes and the intervals they were made for."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Annotated, Any

from fastapi import APIRouter, Query

from mindinsight.server.api.v1.errors import Fault
from mindinsight.server.api.v1.jobs import Uses
from mindinsight.server.api.v1.parameters import NeededText, Text, Texts, first, required, train
from mindinsight.server.formats.payloads import Landscape, Point, landscape
from mindinsight.server.store.run import Run

router = APIRouter(prefix="/datavisual/landscape", tags=["landscapes"])


@router.get("/intervals")
def intervals(service: Uses, train_id: NeededText = None) -> dict[str, Any]:
    """First and last of the intervals of one job that have a landscape, by their start."""
    run = train(service.store.snapshot(), required(train_id, "train_id"))
    with_path = (one for one in _landscapes(run) if one.path is not None and one.intervals)
    known = sorted({one.intervals for one in with_path}, key=lambda one: one[:1])
    return {"intervals": [{"id": interval_id(one), "value": [one[0], one[-1]]} for one in known]}


@router.get("/landscapes")
def landscapes(
    service: Uses,
    train_id: Texts = None,
    type: Annotated[list[str] | None, Query(description="interval or final")] = None,
    interval_id: Text = None,
) -> dict[str, Any]:
    """One item for each job; an item that cannot be answered carries a code."""
    kind = first(type) or "interval"
    wanted = first(interval_id)
    runs = service.store.snapshot().runs
    return {"landscapes": [_item(one, runs.get(one), kind, wanted) for one in train_id or ()]}


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
    found = next((one for one in _landscapes(run) if _asked(one, kind, wanted)), None)
    if found is None or found.grid is None:
        return {"train_id": train_id, "error_code": Fault.LANDSCAPE.code}
    answer: dict[str, Any] = {
        "train_id": train_id,
        "points": _point(found.grid),
        "convergence_point": _corner(found.convergence),
        "metadata": {
            "decomposition": found.decomposition,
            "unit": found.unit,
            "step_per_epoch": found.step_per_epoch,
            **_training(run),
        },
    }
    if found.path is not None:
        answer["path"] = {**_point(found.path), "intervals": list(found.intervals)}
    return answer


def _asked(one: Landscape, kind: str, wanted: str | None) -> bool:
    if kind == "final":
        return one.path is None
    return kind == "interval" and one.path is not None and wanted in (None, interval_id(one.intervals))


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
