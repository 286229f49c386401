"""Metadata of a run from its lineage: hyper-parameters and metrics as flat values, and the data pipeline."""

from __future__ import annotations

from math import isfinite
from typing import Annotated, Any

from fastapi import APIRouter, Depends

from mindinsight.server.formats.lineage import Lineage
from mindinsight.server.http.service import Service, service_of

router = APIRouter(tags=["runs"])

HYPER = (
    "network",
    "optimizer",
    "loss_function",
    "learning_rate",
    "epoch",
    "batch_size",
    "device_num",
    "parallel_mode",
    "train_dataset_size",
)


@router.get("/v2/runs/facts")
def facts(run: str, service: Annotated[Service, Depends(service_of)]) -> dict[str, Any]:
    """Hyper-parameters, metrics and the pipeline of data (MindInsight's JSON form; null when unknown)."""
    record = service.store.snapshot().run(run)
    lineage = record.lineage
    return {
        "run": run,
        "hyper": finite(hyper_of(lineage)),
        "metrics": finite(metrics_of(lineage)),
        "dataset": lineage.dataset_graph if lineage else None,
    }


def hyper_of(lineage: Lineage | None) -> dict[str, Any]:
    """What was chosen: the trainer's settings and what the user defined, without what is not one value."""
    if lineage is None:
        return {}
    train = {name: getattr(lineage.train, name) for name in HYPER} if lineage.train else {}
    return {name: value for name, value in {**train, **lineage.user_defined}.items() if _is_single(value)}


def metrics_of(lineage: Lineage | None) -> dict[str, Any]:
    """What came out, without what is not one value."""
    metrics = lineage.metrics if lineage is not None else {}
    return {name: value for name, value in metrics.items() if _is_single(value)}


def finite(values: dict[str, Any]) -> dict[str, Any]:
    """The same with NaN and infinities as text: JSON has no numbers for them."""
    odd = {
        name: str(value) for name, value in values.items() if isinstance(value, float) and not isfinite(value)
    }
    return {**values, **odd}


def _is_single(value: Any) -> bool:
    return isinstance(value, str | int | float) and (not isinstance(value, str) or len(value) <= 200)
