"""Routes for comparison with a baseline: difference curves and the first step of divergence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import numpy as np
from fastapi import APIRouter, Depends, Header, Query, Response

from mindinsight.server.curves.compare import difference
from mindinsight.server.curves.sampling import sample_rows
from mindinsight.server.http.responses import answer
from mindinsight.server.http.service import Service, service_of
from mindinsight.server.plugins.scalar.lines import line_of
from mindinsight.server.store.line import Line
from mindinsight.server.store.run import Run

router = APIRouter()


@router.get("/compare")
async def compare(
    service: Annotated[Service, Depends(service_of)],
    tag: str,
    run: Annotated[list[str], Query(description="run ids", max_length=1000)],
    baseline: Annotated[str, Query(description="run id that the others are measured against")],
    tolerance: Annotated[float, Query(ge=0, description="share of the baseline's value")] = 1e-3,
    other: Annotated[str, Query(description="the tag in the other runs, where it has another name")] = "",
    px: Annotated[int, Query(ge=0, le=4000)] = 600,
    accept: Annotated[str, Header()] = "",
) -> Response:
    """Difference and relative difference of each run to the baseline, at the steps both have.

    ``other`` is a tag of the other runs that is measured against ``tag`` of the baseline. A run that is not
    there, or has no such tag, has no row; where the baseline is such a run, nobody has one.
    ``parted`` is the first step whose relative difference is above the tolerance, null when there is none.
    ``not_finite`` is the first step at which a value is NaN or infinite and the baseline's is another.
    """
    runs = service.store.snapshot().runs
    base = _line(runs, baseline, tag)
    others = [(run_id, _line(runs, run_id, other or tag)) for run_id in run if run_id != baseline]
    rows = [
        _row(run_id, line, base, tolerance, px)
        for run_id, line in others
        if line is not None and base is not None
    ]
    head = {"tag": tag, "other": other or tag, "baseline": baseline, "tolerance": tolerance}
    return answer({**head, "series": rows}, accept)


def _line(runs: Mapping[str, Run], run: str, tag: str) -> Line | None:
    return line_of(runs[run], tag) if run in runs else None


def _row(run: str, line: Line, base: Line, tolerance: float, pixels: int) -> dict[str, Any]:
    compared = difference(line.steps, line.values, base.steps, base.values, tolerance)
    steps = compared.steps.astype(np.float64)
    picked = sample_rows(steps, compared.relative, pixels) if pixels else slice(None)
    broken = np.flatnonzero(~np.isfinite(compared.difference))
    finite = np.abs(compared.relative[np.isfinite(compared.relative)])
    return {
        "run": run,
        "shared": len(compared.steps),
        "parted": None if compared.parted is None else int(compared.steps[compared.parted]),
        "not_finite": int(compared.steps[broken[0]]) if len(broken) else None,
        "largest": float(finite.max()) if len(finite) else None,
        "step": compared.steps[picked],
        "difference": compared.difference[picked],
        "relative": compared.relative[picked],
    }
