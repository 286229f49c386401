"""Routes for lineage: the table of hyper-parameters and metrics, parameter importance, data pipelines."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final

import numpy as np
from fastapi import APIRouter, Depends, Query

from mindinsight.server.compute.lru_cache import LruCache
from mindinsight.server.compute.non_finite import non_finite_as_text
from mindinsight.server.curves.forest_importance import ForestImportance, forest_importance, has_forest
from mindinsight.server.curves.importance import importance
from mindinsight.server.errors import ApiError
from mindinsight.server.formats.lineage import TRAIN_FACTS, Lineage
from mindinsight.server.http.bulkhead_routes import PayloadRoute
from mindinsight.server.http.service import Service, service_of
from mindinsight.server.plugins import Plugin

router = APIRouter()
forests = APIRouter(route_class=PayloadRoute)

_ANSWERS: Final = 16

Uses = Annotated[Service, Depends(service_of)]
SEED: Final = re.compile(
    r"(^|[:._-])seed($|[:._-])", re.IGNORECASE
)  # what a run was drawn with is no setting
Runs = Annotated[list[str] | None, Query(description="run ids; all runs when left out", max_length=1000)]


class ForestAnswers:
    """LRU cache of importance by the values that it is of."""

    def __init__(self) -> None:
        self.answers = LruCache[ForestImportance | None](_ANSWERS)


@router.get("/table")
def table(
    service: Uses,
    run: Runs = None,
    objective: Annotated[
        str | None, Query(description="key of the column that importance is asked for")
    ] = None,
) -> dict[str, Any]:
    """One row for each run with lineage. Columns are ``train:``, ``user:``, ``metric:`` or ``data:`` keys.

    ``importance`` says of every other column how strongly it goes with the objective, from 0 to 1.
    """
    rows = _lineage_rows(service, run)
    keys = sorted({key for row in rows.values() for key in row}, key=_in_order)
    if not rows:
        objective = None  # the runs are gone since a page learnt what columns they have
    if objective is not None and objective not in keys:
        raise ApiError(404, "unknown_column", f"There is no column {objective!r}.", column=objective)
    columns = [{"key": key, "numeric": _is_numeric([row.get(key) for row in rows.values()])} for key in keys]
    return {
        "columns": columns,
        "rows": [{"run": run_id, "values": non_finite_as_text(row)} for run_id, row in rows.items()],
        "objective": objective,
        "importance": _importance(list(rows.values()), keys, objective) if objective else [],
    }


@forests.get("/importance")
def importance_of(
    service: Uses,
    objective: Annotated[str, Query(description="key of a numeric column", max_length=1000)],
    run: Runs = None,
) -> dict[str, Any]:
    """How much each parameter matters for the objective, by permutation on random forests (scikit-learn).

    ``method`` is ``forest`` where it could be done: then each column has the interval ``low`` to ``high`` and
    a ``sign`` (+1, -1, or 0 where there is none), and ``explained`` is the share of the objective's variance
    that the forests explain of runs they have not seen. Else it is ``association``, as in the table, and
    ``why`` says whether runs are too ``few`` or the package is ``missing``. Seeds are left out.
    """
    rows = _lineage_rows(service, run)
    keys = {key for row in rows.values() for key in row}
    if objective not in keys:
        raise ApiError(404, "unknown_column", f"There is no column {objective!r}.", column=objective)
    values = list(rows.values())
    settings = {key for key in keys if not (key.startswith("metric:") or SEED.search(key))}
    others = sorted(settings - {objective}, key=_in_order)
    target = [_number(row.get(objective)) for row in values]
    columns = {key: [row.get(key) for row in values] for key in others}
    answer = _forest_answer(service, columns, target) if has_forest() else None
    if answer is not None:
        return answer
    why = "few" if has_forest() else "missing"
    return {"method": "association", "why": why, "columns": _importance(values, others, objective)}


@router.get("/dataset")
def dataset(service: Uses, run: str) -> dict[str, Any]:
    """The pipeline of data of a run: operations with their parameters, from the source on; or nothing."""
    record = service.store.snapshot().run(run)
    graph = record.lineage.dataset_graph if record.lineage is not None else None
    return {"run": run, "stages": stages(graph) if graph else []}


def _lineage_rows(service: Service, run: list[str] | None) -> dict[str, dict[str, Any]]:
    """What is known of the chosen runs, or of all, by run id; those without lineage are left out."""
    runs = service.store.snapshot().runs
    chosen = runs.values() if run is None else [runs[run_id] for run_id in run if run_id in runs]
    return {record.id: row_of(record.lineage) for record in chosen if record.lineage is not None}


def _forest_answer(
    service: Service, columns: Mapping[str, Sequence[Any]], target: Sequence[float]
) -> dict[str, Any] | None:
    """The answer of random forests, computed in a worker process; None where there are too few runs."""
    key = json.dumps([columns, target])
    cache = service.parts.of(ForestAnswers).answers
    computed = cache.get(key, lambda: service.openers.submit(forest_importance, columns, target).result())
    if computed is None:
        return None
    return {
        "method": "forest",
        "explained": computed.explained,
        "runs": computed.runs,
        "columns": [
            {
                "key": column.name,
                "importance": column.importance,
                "low": column.low,
                "high": column.high,
                "sign": column.sign,
            }
            for column in computed.columns
        ],
    }


def row_of(lineage: Lineage) -> dict[str, Any]:
    """Everything one run's lineage says, by column key."""
    row: dict[str, Any] = {}
    if lineage.train is not None:
        row |= {f"train:{name}": getattr(lineage.train, name) for name in TRAIN_FACTS}
    if lineage.evaluation is not None:
        row["data:valid_dataset_size"] = lineage.evaluation.valid_dataset_size
    row |= {f"metric:{name}": value for name, value in lineage.metrics.items()}
    row |= {f"user:{name}": value for name, value in lineage.user_defined.items()}
    if lineage.dataset_graph:
        row["data:pipeline"] = " → ".join(stage["name"] for stage in stages(lineage.dataset_graph))
    return {key: _single(value) for key, value in row.items() if value is not None}


def stages(graph: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The operations of a dataset graph from the source to the output; branches one after the other."""
    before = [stage for child in graph.get("children", ()) for stage in stages(child)]
    own = {name: value for name, value in graph.items() if name not in ("children", "op_type")}
    return [
        *before,
        {"name": str(graph.get("op_type", "?")), "inputs": len(graph.get("children", ())), "parameters": own},
    ]


def _single(value: Any) -> Any:
    return value if isinstance(value, (int, float, str)) else str(value)


def _in_order(key: str) -> tuple[int, int, str]:
    group, _, name = key.partition(":")
    position = TRAIN_FACTS.index(name) if group == "train" else 0
    return ("user", "train", "data", "metric").index(group), position, name


def _is_numeric(values: Sequence[Any]) -> bool:
    there = [value for value in values if value is not None]
    return bool(there) and all(
        isinstance(value, (int, float)) and not isinstance(value, bool) for value in there
    )


def _importance(
    rows: Sequence[Mapping[str, Any]], keys: Sequence[str], objective: str
) -> list[dict[str, Any]]:
    target = np.array([_number(row.get(objective)) for row in rows], np.float64)
    others = [key for key in keys if not key.startswith("metric:") and key != objective]
    scored = [(key, importance([row.get(key) for row in rows], target)) for key in others]
    known = [{"key": key, "importance": score} for key, score in scored if score is not None]
    return sorted(known, key=lambda column: -float(column["importance"]))


def _number(value: Any) -> float:
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else math.nan


router.include_router(forests)

PLUGIN = Plugin(name="lineage", router=router)
