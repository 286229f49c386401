"""Flat values of a lineage: hyper-parameters and metrics by name. Without FastAPI and protobuf."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from mindinsight.server.formats.lineage import Lineage

_NO_PARAMETERS: Final = ("train_dataset_path", "model_size")  # of what a lineage tells of a training


def hyper_of(lineage: Lineage | None) -> dict[str, Any]:
    """Hyper-parameters by name: the trainer's settings and what the user defined; single values only."""
    if lineage is None:
        return {}
    from mindinsight.server.formats.lineage import TRAIN_FACTS  # loads protobuf, which the run's reader did

    names = (name for name in TRAIN_FACTS if name not in _NO_PARAMETERS)
    train = {name: getattr(lineage.train, name) for name in names} if lineage.train else {}
    return {name: value for name, value in {**train, **lineage.user_defined}.items() if _is_single(value)}


def metrics_of(lineage: Lineage | None) -> dict[str, Any]:
    """Metrics by name; single values only."""
    metrics = lineage.metrics if lineage is not None else {}
    return {name: value for name, value in metrics.items() if _is_single(value)}


def _is_single(value: Any) -> bool:
    return isinstance(value, str | int | float) and (not isinstance(value, str) or len(value) <= 200)
