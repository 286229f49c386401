"""Target of a trial, read from its run: lineage, or any scalar."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from mindinsight.server.store.line import Line
from mindinsight.server.store.run import Run
from mindinsight.server.tuning.config import Target
from mindinsight.server.tuning.yaml_nodes import is_number
from mindinsight.server.types import Doubles


@dataclass(frozen=True, slots=True)
class Missing:
    """A target that was not written, and what was written instead."""

    target: str
    there: tuple[str, ...]


def target_value(runs: Mapping[str, Run], target: Target) -> float | Missing:
    """The value of a target in the runs of a trial, of which each rank has one; the first has it.

    It may be NaN or infinite.
    """
    there: set[str] = set()
    for _, run in sorted(runs.items()):
        values = run.scalars if target.group == "scalar" else lineage_targets(run, target.group)
        if target.name in values:
            if target.group == "scalar":
                return _of_line(run.scalars[target.name].line(), target)
            return float(values[target.name])  # type: ignore[arg-type]
        there |= set(values)
    return Missing(target.name, tuple(sorted(there)))


def lineage_targets(run: Run, group: str) -> dict[str, float]:
    """The numbers of a run's lineage that a target may name."""
    lineage = run.lineage
    if lineage is None:
        return {}
    if group == "system_defined":
        loss = lineage.train.loss if lineage.train is not None else None
        return {} if loss is None else {"loss": loss}
    metric: Mapping[str, Any] = lineage.evaluation.metric if lineage.evaluation is not None else {}
    return {name: _number(value) for name, value in metric.items() if is_number(value) or _is_named(value)}


def _number(value: Any) -> float:
    return float(value)


def _is_named(value: object) -> bool:
    """Whether it is a number that JSON has no sign for."""
    return isinstance(value, str) and value.lower().lstrip("+-") in ("nan", "inf", "infinity")


def line_of(runs: Mapping[str, Run], tag: str) -> Line | None:
    """The line of a scalar in the runs of a trial; None while there is none."""
    for _, run in sorted(runs.items()):
        if tag in run.scalars:
            return run.scalars[tag].line()
    return None


def _of_line(line: Line, target: Target) -> float:
    values = smoothed(np.asarray(line.values, np.float64), target.smooth)
    if target.value == "last":
        return float(values[-1])
    finite = values[np.isfinite(values)]
    if not len(finite):
        return math.nan
    return float(finite.min() if target.goal == "minimize" else finite.max())


def smoothed(values: Doubles, window: int) -> Doubles:
    """The mean of each value and those before it, ``window`` of them, or as many as there are."""
    if window == 1:
        return values
    return np.array([values[max(0, i - window + 1) : i + 1].mean() for i in range(len(values))])
