"""Routes for loss landscapes: the loss on a grid around the weights, and the path of the training."""

from typing import Annotated, Any

from fastapi import APIRouter, Query, Response

from mindinsight.server.formats.payloads import chart_payloads
from mindinsight.server.formats.payloads.chart_payloads import Landscape, Point
from mindinsight.server.http.bulkhead_routes import Accept, CurrentService, PayloadRoute
from mindinsight.server.http.responses import answer
from mindinsight.server.plugins import Plugin
from mindinsight.server.store.run import Run

router = APIRouter(route_class=PayloadRoute)
Runs = Annotated[list[str], Query(max_length=1000)]


@router.get("/all")
def all_of(service: CurrentService, run: Runs, accept: Accept = "") -> Response:
    """Return the newest landscape of each tag of the runs as `landscapes`: axes, the grid row by row,
    path, convergence point, and metadata. Unknown runs, and landscapes without a grid, are omitted. Path
    and convergence point are null if they were not recorded."""
    runs = service.store.snapshot().runs
    landscapes = [landscape for run_id in run if run_id in runs for landscape in _landscapes(runs[run_id])]
    return answer({"landscapes": landscapes}, accept)


def _landscapes(run: Run) -> list[dict[str, Any]]:
    """Return the newest landscape of each tag of a run that has a grid."""
    landscapes = []
    for tag, series in run.references.get("landscape", {}).items():
        landscape = chart_payloads.landscape(series.read(series.count - 1))
        if landscape.grid is not None:
            landscapes.append({"run": run.id, "tag": tag, **_described(landscape, landscape.grid)})
    return landscapes


def _described(landscape: Landscape, grid: Point) -> dict[str, Any]:
    return {
        **_columns(grid),
        "path": None if landscape.path is None else _columns(landscape.path),
        "intervals": list(landscape.intervals),
        "convergence": None if landscape.convergence is None else _columns(landscape.convergence),
        **{name: getattr(landscape, name) for name in ("decomposition", "unit", "step_per_epoch")},
    }


def _columns(point: Point) -> dict[str, Any]:
    return {"x": point.x.ravel(), "y": point.y.ravel(), "z": point.z.ravel()}


PLUGIN = Plugin(name="landscape", router=router)
