"""Metadata of a run from its lineage: hyper-parameters and metrics as flat values, and the data pipeline."""

from __future__ import annotations

from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends

from mindinsight.server.compute.non_finite import non_finite_as_text
from mindinsight.server.formats.lineage import TRAIN_FACTS, Lineage
from mindinsight.server.http.service import Service, service_of

router = APIRouter(tags=["runs"])

HYPER: Final = tuple(name for name in TRAIN_FACTS if name not in ("train_dataset_path", "model_size"))


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


def hyper_of(lineage: Lineage | None) -> dict[str, Any]:
    """Hyper-parameters by name: the trainer's settings and what the user defined; single values only."""
    if lineage is None:
        return {}
    train = {name: getattr(lineage.train, name) for name in HYPER} if lineage.train else {}
    return {name: value for name, value in {**train, **lineage.user_defined}.items() if _is_single(value)}


def metrics_of(lineage: Lineage | None) -> dict[str, Any]:
    """Metrics by name; single values only."""
    metrics = lineage.metrics if lineage is not None else {}
    return {name: value for name, value in metrics.items() if _is_single(value)}


def _is_single(value: Any) -> bool:
    return isinstance(value, str | int | float) and (not isinstance(value, str) or len(value) <= 200)
