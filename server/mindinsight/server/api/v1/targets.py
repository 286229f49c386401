"""Importance of hyper-parameters for objectives, the response of ``optimizer/targets/search``.

Importance is the absolute Pearson correlation over the rows that have both values.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, TypeAlias

import numpy as np

from mindinsight.server.compute.non_finite import non_finite_as_null
from mindinsight.server.curves.correlation import FEWEST, pearson
from mindinsight.server.curves.overflow import differences

Numbers: TypeAlias = list[float | int | None]

NOT_NUMBERS: Final = 1
TOO_FEW_ROWS: Final = 2
NOT_COMPUTABLE: Final = 3
_BUCKETS: Final = 5
_MOST_USER_COLUMNS: Final = 100
_MODEL_COLUMNS: Final = ("learning_rate", "epoch", "batch_size")
_PREFIXES: Final = {"metric/": "[M]", "user_defined/": "[U]"}


def targets_answer(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The response for lineage ``rows`` (flat mappings with ``summary_dir``) as JSON."""
    columns, unrecognized = _columns(rows)
    targets = {name: data for name, data in columns.items() if name.startswith("[M]") or name == "loss"}
    parameters = {name: data for name, data in columns.items() if name not in targets}
    return {
        "metadata": {
            "train_ids": [row["summary_dir"] for row in rows],
            "possible_hyper_parameters": [{"name": name, "data": data} for name, data in parameters.items()],
            "unrecognized_params": [
                {"name": name, "unselected": True, "reason_code": NOT_NUMBERS} for name in unrecognized
            ],
        },
        "targets": [_target(name, targets[name], parameters) for name in sorted(targets)],
    }


def _columns(rows: Sequence[Mapping[str, Any]]) -> tuple[dict[str, Numbers], list[str]]:
    """Numeric columns by displayed name, and names of user-defined columns that are not numeric."""
    columns: dict[str, Numbers] = {}
    unrecognized: list[str] = []
    for name in _field_names(rows):
        label = _label(name)
        numbers = _numbers([row.get(name) for row in rows])
        if numbers is not None:
            columns[label] = numbers
        elif label.startswith("[U]"):
            unrecognized.append(label)
    return columns, unrecognized


def _field_names(rows: Sequence[Mapping[str, Any]]) -> Iterable[str]:
    names = sorted({name for row in rows for name in row})
    yield from (name for name in (*_MODEL_COLUMNS, "loss") if name in names)
    yield from (name for name in names if name.startswith("metric/"))
    yield from [name for name in names if name.startswith("user_defined/")][:_MOST_USER_COLUMNS]


def _label(name: str) -> str:
    for prefix, short in _PREFIXES.items():
        if name.startswith(prefix):
            return short + name[len(prefix) :]
    return name


def _numbers(values: Sequence[Any]) -> Numbers | None:
    """``values`` as numbers, None where missing; None if any is not a number or all are missing."""
    numbers: Numbers = [_number(value) for value in values]
    wrong = any(
        number is None and not _is_missing(value) for number, value in zip(numbers, values, strict=True)
    )
    if wrong or all(number is None for number in numbers):
        return None
    gaps = any(number is None for number in numbers)
    return [float(n) if n is not None and gaps else n for n in numbers]


def _number(value: Any) -> float | int | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    number: float | int | None = non_finite_as_null(value)
    return number


def _is_missing(value: Any) -> bool:
    if isinstance(value, float):
        return not math.isfinite(value)
    return value is None or (isinstance(value, str) and value.strip().lower() in ("nan", "inf", "-inf"))


def _target(name: str, data: Numbers, parameters: Mapping[str, Numbers]) -> dict[str, Any]:
    ranked = [_importance(parameter, values, data) for parameter, values in parameters.items()]
    ranked.sort(
        key=lambda parameter: (
            -parameter["importance"],
            parameter["name"].startswith("[U]"),
            parameter["name"],
        )
    )
    return {"name": name, "data": data, "buckets": _distribution(data), "hyper_parameters": ranked}


def _importance(name: str, values: Numbers, target: Numbers) -> dict[str, Any]:
    pairs = [(a, b) for a, b in zip(values, target, strict=True) if a is not None and b is not None]
    if len(pairs) < FEWEST:
        return {"name": name, "importance": 0, "reason_code": TOO_FEW_ROWS}
    correlation = pearson(np.asarray(pairs, np.float64))
    if correlation is None:
        return {"name": name, "importance": 0, "reason_code": NOT_COMPUTABLE}
    return {"name": name, "importance": abs(correlation)}


def _distribution(data: Numbers) -> list[list[float]]:
    numbers = np.asarray([number for number in data if number is not None], np.float64)
    spread = float(numbers.max()) - float(numbers.min()) if len(numbers) else 0.0
    unit = 1.0 if np.isfinite(spread) else 4.0  # NumPy needs a finite range
    counts, edges = np.histogram(numbers / unit, bins=_BUCKETS)
    edges = edges * unit
    widths = differences(edges)
    rows = zip(edges[:-1].tolist(), widths.tolist(), counts.astype(np.float64).tolist(), strict=True)
    return [[left, width, count] for left, width, count in rows]
