"""Routes for lineage: the table of hyper-parameters and metrics, parameter importance, data pipelines."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Annotated, Any, Final

from fastapi import APIRouter, Query

from mindinsight.server.api.mixed_runs import mixed_claims
from mindinsight.server.api.recorded_results import repeated_results, result_claims
from mindinsight.server.cancellation import result_of
from mindinsight.server.claims import Claim, few
from mindinsight.server.compute.json_values import exact_as_text
from mindinsight.server.compute.lru_cache import LruCache
from mindinsight.server.curves.importance import Importance, importance, plain
from mindinsight.server.errors import ApiError
from mindinsight.server.formats.lineage import TRAIN_FACTS, Lineage, repeated_facts
from mindinsight.server.http.bulkhead_routes import CurrentService, PayloadRoute
from mindinsight.server.http.service import Service
from mindinsight.server.plugins import Plugin
from mindinsight.server.store.forks import PARENT, ancestors
from mindinsight.server.store.run import Run

router = APIRouter()
forests = APIRouter(route_class=PayloadRoute)

_SCALARS: Final = 500  # names in a menu; a run may have 10,000
_SCALAR: Final = "scalar:"  # before the tag of a scalar whose last value is the objective
_NAMED: Final = 8  # settings that one sentence lists
_UNLIKE: Final = {"claim.why.mixed_settings", "claim.why.unlike_settings"}  # runs of different experiments
_ANSWERS: Final = 16  # cached results, one for each objective and selection of runs

Runs = Annotated[list[str] | None, Query(description="run ids; default: all runs", max_length=1000)]


class ImportanceCache(LruCache[Importance]):
    """LRU cache of importance by the values that it was computed from."""

    def __init__(self) -> None:
        super().__init__(_ANSWERS)


@router.get("/table")
def table(
    service: CurrentService,
    run: Runs = None,
    objective: Annotated[str | None, Query(description="key of the column to explain")] = None,
) -> dict[str, Any]:
    """Return `rows`, one for each run with lineage, and their `columns`: `train:`, `user:`, `metric:` or
    `data:` keys. Unknown runs are left out. Returns 404 for an unknown objective.

    A `repeated` column has the values of a `user:` column. An objective `scalar:TAG` is a column, too: the
    last value of the scalar. `scalars` are the tags that most of the runs have, `forks` the runs that
    continue another from a step on.
    """
    records = _with_lineage(service, run)
    rows = _rows(records, objective)
    keys = sorted({key for row in rows.values() for key in row}, key=_in_order)
    if not rows:
        objective = None  # the runs were deleted after the page had read their columns
    if objective is not None and objective not in keys:
        raise ApiError(404, "unknown_column", f"There is no column {objective!r}.", column=objective)
    repeated = _repeated(records)
    numeric = {key: _is_numeric([row.get(key) for row in rows.values()]) for key in keys}
    columns = [{"key": key, "numeric": numeric[key], "repeated": key in repeated} for key in keys]
    values = [{"run": run_id, "values": exact_as_text(row)} for run_id, row in rows.items()]
    shared = _shared_scalars(records)
    forks = list(_forks(records, service.store.snapshot().runs))
    return {"columns": columns, "rows": values, "objective": objective, "scalars": shared, "forks": forks}


def _forks(records: Iterable[Run], runs: Mapping[str, Run]) -> Iterator[dict[str, Any]]:
    """Yield run, parent and step of the runs that continue another."""
    for record in records:
        for parent, step in ancestors(record, runs)[:1]:
            yield {"run": record.id, "parent": parent.id, "step": step}


@forests.get("/importance")
def importance_of(
    service: CurrentService,
    objective: Annotated[str, Query(description="key of a numeric column", max_length=1000)],
    run: Runs = None,
) -> dict[str, Any]:
    """Return how much each setting matters for the objective, by permutation on a random forest. Returns 404
    if no run has the objective.

    `claims` state that runs may be of several experiments, which settings matter beyond chance, where the
    best runs lie, what was omitted, or why nothing can be said. Settings that change together are shuffled
    together. Each of `columns` has the interval `low` to `high` of the shuffles, a `sign` (+1 or
    -1 only if the relation is monotone) and the number of runs that have it (`carried`). `explained` is the
    share of the variance that the forest explains of unseen runs.
    """
    records = _with_lineage(service, run)
    rows = list(_rows(records, objective).values())
    keys = {key for row in rows for key in row}
    if objective not in keys:
        everywhere = _rows(_with_lineage(service, None), objective)
        if not any(objective in row for row in everywhere.values()):
            raise ApiError(404, "unknown_column", f"There is no column {objective!r}.", column=objective)
    keys -= {objective, *_repeated(records)}
    settings = sorted((key for key in keys if not key.startswith("metric:")), key=_in_order)
    columns = {key: [row.get(key) for row in rows] for key in settings}
    results = repeated_results(records, columns, objective.partition(":")[2])
    columns = {key: column for key, column in columns.items() if key not in results}
    mixed = list(mixed_claims(records))
    values = [row.get(objective) for row in rows]
    partly = _partly_recorded(columns, values) if _UNLIKE & {claim.key for claim in mixed} else []
    columns = {key: column for key, column in columns.items() if key not in partly}
    answer = _importance(service, objective, columns, values)
    facts = {"n": len(partly), "settings": few([plain(key) for key in partly], _NAMED)}
    notes = [Claim("claim.lineage.partly", "note", facts)] if partly else []
    return {
        "objective": objective,
        "runs": answer.runs,
        "explained": answer.explained,
        "columns": [asdict(column) for column in answer.columns],
        "claims": [claim.as_json() for claim in (*mixed, *answer.claims, *notes, *result_claims(results))],
    }


def _partly_recorded(columns: Mapping[str, Sequence[Any]], values: Sequence[Any]) -> list[str]:
    """Return the settings that some, but not all, of the runs with the objective recorded. Where runs are of
    different experiments, such a setting tells the experiments apart, whatever its values do."""
    rows = [number for number, value in enumerate(values) if value is not None]
    counts = {key: sum(column[row] is not None for row in rows) for key, column in columns.items()}
    return [key for key, count in counts.items() if 0 < count < len(rows)]


@router.get("/dataset")
def dataset(service: CurrentService, run: str) -> dict[str, Any]:
    """Return the data pipeline of a run as `stages`: operations with their parameters, from the source on, or
    an empty list. Returns 404 for an unknown run."""
    record = service.store.snapshot().run(run)
    graph = record.lineage.dataset_graph if record.lineage is not None else None
    return {"run": run, "stages": stages(graph) if graph else []}


def _with_lineage(service: Service, run: list[str] | None) -> list[Run]:
    """Return the given runs, or all, that have lineage."""
    runs = service.store.snapshot().runs
    chosen = runs.values() if run is None else [runs[run_id] for run_id in run if run_id in runs]
    return [record for record in chosen if record.lineage is not None]


def _rows(records: Iterable[Run], objective: str | None) -> dict[str, dict[str, Any]]:
    """Return the lineage by run id, with the last value of the scalar that is the objective."""
    rows = {record.id: row_of(record.lineage) for record in records if record.lineage is not None}
    if objective is not None and objective.startswith(_SCALAR):
        for record in records:
            series = record.scalars.get(objective.removeprefix(_SCALAR))
            if series is not None:
                rows[record.id][objective] = series.last_value
    return rows


def _repeated(records: Iterable[Run]) -> set[str]:
    """Return the columns of training facts that repeat a setting of the user in all records."""
    lineages = (record.lineage for record in records if record.lineage is not None)
    return {f"train:{name}" for name in repeated_facts(lineages)}


def _shared_scalars(records: Sequence[Run]) -> list[str]:
    """Return the tags that most of the runs have, those of most runs first."""
    counts = Counter(tag for record in records for tag in record.scalars)
    return [tag for tag, count in counts.most_common(_SCALARS) if 2 * count > len(records)]


def _importance(
    service: Service, objective: str, columns: Mapping[str, Sequence[Any]], values: Sequence[Any]
) -> Importance:
    """Return the importance of settings, computed once in a worker process."""
    key = json.dumps([objective, columns, values])
    cache = service.parts.of(ImportanceCache)
    return cache.get(key, lambda: result_of(service.openers.submit(importance, objective, columns, values)))


def row_of(lineage: Lineage) -> dict[str, Any]:
    """Return all known values of one run's lineage by column key. Values other than numbers, booleans and
    texts become text."""
    row: dict[str, Any] = {}
    if lineage.train is not None:
        row |= {f"train:{name}": getattr(lineage.train, name) for name in TRAIN_FACTS}
    if lineage.evaluation is not None:
        row["data:valid_dataset_size"] = lineage.evaluation.valid_dataset_size
    row |= {f"metric:{name}": value for name, value in lineage.metrics.items()}
    row |= {f"user:{name}": value for name, value in lineage.user_defined.items() if name != PARENT}
    if lineage.dataset_graph:
        row["data:pipeline"] = " → ".join(stage["name"] for stage in stages(lineage.dataset_graph))
    known = {key: value for key, value in row.items() if value is not None}
    return {
        key: value if isinstance(value, int | float | str) else str(value) for key, value in known.items()
    }


def stages(graph: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the operations of a dataset graph from the source to the output, one branch after the other."""
    before = [stage for child in graph.get("children", ()) for stage in stages(child)]
    own = {name: value for name, value in graph.items() if name not in ("children", "op_type")}
    inputs = len(graph.get("children", ()))
    return [*before, {"name": str(graph.get("op_type", "?")), "inputs": inputs, "parameters": own}]


def _in_order(key: str) -> tuple[int, int, str]:
    group, _, name = key.partition(":")
    position = TRAIN_FACTS.index(name) if group == "train" else 0
    return ("user", "train", "data", "metric", "scalar").index(group), position, name


def _is_numeric(values: Sequence[Any]) -> bool:
    known = [value for value in values if value is not None]
    return bool(known) and all(isinstance(v, int | float) and not isinstance(v, bool) for v in known)


router.include_router(forests)

PLUGIN = Plugin(name="lineage", router=router)
