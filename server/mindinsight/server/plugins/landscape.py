"""Loss landscapes: the loss on a grid around the weights, and the way training took over it."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Header, Query, Response

from mindinsight.server.formats.payloads import Landscape, Point
from mindinsight.server.formats.payloads import landscape as read_landscape
from mindinsight.server.http.responses import answer
from mindinsight.server.http.service import Service, service_of
from mindinsight.server.plugins import Plugin
from mindinsight.server.store.run import Run

router = APIRouter()


@router.get("/all")
def all_of(
    service: Annotated[Service, Depends(service_of)],
    run: Annotated[list[str], Query(max_length=1000)],
    accept: Annotated[str, Header()] = "",
) -> Response:
    """Every landscape of the runs: axes, the grid row by row, path, convergence point, how it was made."""
    runs = service.store.snapshot().runs
    found = [one for each in run if each in runs for one in _landscapes(runs[each])]
    return answer({"landscapes": found}, accept)


def _landscapes(run: Run) -> list[dict[str, Any]]:
    """The newest landscape of each tag of a run that has a grid."""
    found = []
    for tag, series in run.references.get("landscape", {}).items():
        one = read_landscape(series.read(series.count - 1))
        if one.grid is not None:
            found.append({"run": run.id, "tag": tag, **_described(one, one.grid)})
    return found


def _described(one: Landscape, grid: Point) -> dict[str, Any]:
    return {
        "x": grid.x.ravel(),
        "y": grid.y.ravel(),
        "z": grid.z.ravel(),
        "path": None if one.path is None else _columns(one.path),
        "intervals": list(one.intervals),
        "convergence": None if one.convergence is None else _columns(one.convergence),
        "decomposition": one.decomposition,
        "unit": one.unit,
        "step_per_epoch": one.step_per_epoch,
    }


def _columns(point: Point) -> dict[str, Any]:
    return {"x": point.x.ravel(), "y": point.y.ravel(), "z": point.z.ravel()}


PLUGIN = Plugin(name="landscape", order=70, router=router)
