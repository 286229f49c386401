"""Route for the metadata of a run: hyper-parameters and metrics as flat values, and the data pipeline."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends

from mindinsight.server.api.lineage_values import hyper_of, metrics_of
from mindinsight.server.compute.non_finite import non_finite_as_text
from mindinsight.server.http.service import Service, service_of

router = APIRouter(tags=["runs"])


@router.get("/v2/runs/facts")
def facts(run: str, service: Annotated[Service, Depends(service_of)]) -> dict[str, Any]:
    """Hyper-parameters, metrics and the pipeline of data (MindInsight's JSON form; null when unknown)."""
    record = service.store.snapshot().run(run)
    lineage = record.lineage
    return {
        "run": run,
        "hyper": non_finite_as_text(hyper_of(lineage)),
        "metrics": non_finite_as_text(metrics_of(lineage)),
        "dataset": lineage.dataset_graph if lineage else None,
    }
