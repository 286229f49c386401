"""Routes for lineage: search, annotation, and the importance of hyper-parameters."""

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final, TypeAlias

import numpy as np
from fastapi import Body, Depends

from mindinsight.server.compute.json_values import non_finite_as_null
from mindinsight.server.curves.correlations import FEWEST_PAIRS, pearson
from mindinsight.server.formats.lineage import EvaluationLineage, Lineage, TrainLineage
from mindinsight.server.http.bulkhead_routes import CurrentService
from mindinsight.server.http.service import Service
from mindinsight.server.store.run import Run
from mindinsight.server.v1.jobs import newest_first
from mindinsight.server.v1.lineage_search import Row, Search, parse_search
from mindinsight.server.v1.payload_routes import bucket_rows
from mindinsight.server.v1.v1_parameters import RawBody, TrainId, find_run, is_train_id, parse_json
from mindinsight.server.v1.v1_responses import Fault, JsonRouter, V1Error
from mindinsight.server.workspace.json_store import storing
from mindinsight.server.workspace.notes import Note

_NO_DATASET: Final = "1"
_TRAIN_FIELDS: Final = (
    *("loss_function", "train_dataset_path", "network", "optimizer", "learning_rate"),
    *("epoch", "batch_size", "device_num", "loss", "model_size"),
)


@dataclass(frozen=True, slots=True)
class LineageRow:
    """Lineage of one run, flat for searches and nested for responses."""

    flat: Row  # field -> value, with metric/<x>, user_defined/<x> and tag
    model: Mapping[str, Any]
    dataset: Mapping[str, Any]
    annotations: Mapping[str, Any]

    def response_json(self, halves: frozenset[str]) -> dict[str, Any]:
        """Return the row as JSON: `added_info` (notes), and with the given halves `summary_dir`,
        `model_lineage` (model) and `dataset_graph` (dataset). Without halves there are only the notes."""
        item: dict[str, Any] = {"added_info": self.annotations}
        if halves:
            item["summary_dir"] = self.flat["summary_dir"]
        if "model" in halves:
            item["model_lineage"] = self.model
        if "dataset" in halves:
            item["dataset_graph"] = self.dataset
        return item


def lineage_rows(runs: Iterable[Run], notes: Mapping[str, Note]) -> list[LineageRow]:
    """Return the rows of the runs that have lineage, in the order of `runs`."""
    rows: list[LineageRow] = []
    marks: dict[str, str] = {}
    for run in runs:
        if run.lineage is not None:
            mark = _dataset_mark(run.lineage, marks)
            rows.append(_row(run.id, run.lineage, mark, notes.get(run.id, Note())))
    return rows


def _dataset_mark(lineage: Lineage, marks: dict[str, str]) -> str:
    """Return the number of a run's dataset graph, equal for equal graphs: from 2 on, or 1 without a graph."""
    if not lineage.dataset_graph:
        return _NO_DATASET
    text = json.dumps(lineage.dataset_graph, sort_keys=True)
    return marks.setdefault(text, str(len(marks) + 2))


def _row(run: str, lineage: Lineage, mark: str, note: Note) -> LineageRow:
    train, evaluation = lineage.train or TrainLineage(), lineage.evaluation or EvaluationLineage()
    fields = {
        **{name: getattr(train, name) for name in _TRAIN_FIELDS},
        "train_dataset_count": train.train_dataset_size,
        "test_dataset_path": evaluation.valid_dataset_path,
        "test_dataset_count": evaluation.valid_dataset_size,
        "dataset_mark": mark,
    }
    model = {**fields, "metric": evaluation.metric, "user_defined": lineage.user_defined}
    flat = {"summary_dir": run, **fields, "tag": note.tag}
    flat |= {f"metric/{name}": value for name, value in evaluation.metric.items()}
    flat |= {f"user_defined/{name}": value for name, value in lineage.user_defined.items()}
    return LineageRow(flat, model, lineage.dataset_graph or {}, _annotations(note))


def _annotations(note: Note) -> dict[str, Any]:
    annotations: dict[str, Any] = {}
    if note.tag is not None:
        annotations["tag"] = note.tag
    if note.note:
        annotations["remark"] = note.note
    return annotations


def custom_columns(rows: Sequence[LineageRow]) -> dict[str, Any]:
    """Return label, required and type of each metric and user-defined column of the rows, by its name. The
    type of values of several types is `mixed`, or `float` if all are numbers."""
    kinds: dict[str, set[str]] = {}
    for row in rows:
        for name, value in row.flat.items():
            if name.startswith(("metric/", "user_defined/")) and value is not None:
                kinds.setdefault(name, set()).add(type(value).__name__)
    return {
        name: {"label": name, "required": name.startswith("metric/"), "type": _type_name(types)}
        for name, types in sorted(kinds.items())
    }


def _type_name(types: set[str]) -> str:
    if len(types) == 1:
        return next(iter(types))
    return "float" if types == {"int", "float"} else "mixed"


Numbers: TypeAlias = list[float | int | None]

NOT_NUMBERS: Final = 1  # reason codes of MindInsight, here and below
TOO_FEW_ROWS: Final = 2
NOT_COMPUTABLE: Final = 3
_BUCKETS: Final = 5  # of a target's distribution
_MOST_USER_COLUMNS: Final = 100  # of a response
_MODEL_COLUMNS: Final = ("learning_rate", "epoch", "batch_size")
_PREFIXES: Final = {"metric/": "[M]", "user_defined/": "[U]"}


def targets_answer(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return `metadata` with the hyper-parameters, and `targets` with their importance for each objective, as
    JSON, for lineage `rows`, flat mappings with `summary_dir`."""
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
    """Return numeric columns by displayed name, and the names of user-defined columns that are not
    numeric.
    """
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
    """Convert values to numbers, None where missing. Return None if any is not a number or all
    are missing."""
    numbers: Numbers = [_number(value) for value in values if not _is_missing(value)]
    if not numbers or None in numbers:
        return None
    if len(numbers) == len(values):
        return numbers
    return [None if _is_missing(value) else float(value) for value in values]


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
    ranked.sort(key=lambda row: (-row["importance"], row["name"].startswith("[U]"), row["name"]))
    return {"name": name, "data": data, "buckets": _distribution(data), "hyper_parameters": ranked}


def _importance(name: str, values: Numbers, target: Numbers) -> dict[str, Any]:
    pairs = [(a, b) for a, b in zip(values, target, strict=True) if a is not None and b is not None]
    if len(pairs) < FEWEST_PAIRS:
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
    return bucket_rows(edges * unit, counts.astype(np.float64))


router = JsonRouter(tags=["lineage"])

_LONGEST_REMARK: Final = 128  # characters, as in MindInsight
_LARGEST_TAG: Final = 10  # as in MindInsight
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_SEARCH: Final = "conditions on fields, sorted_name, sorted_type, limit, offset, lineage_type"


async def well_formed_id(train_id: TrainId) -> str:
    """Return the parameter train_id. Raises V1Error unless it has the form of an id. FastAPI dependency."""
    if not is_train_id(train_id):
        raise V1Error(Fault.VALUE, "Parameter train_id must begin with ./")
    return train_id


WellFormedId = Annotated[str, Depends(well_formed_id)]


@router.post_json("/lineagemgr/lineages", _SEARCH)
def search(service: CurrentService, body: RawBody) -> dict[str, Any]:
    """Return rows of lineage as `object`, filtered, sorted and paged as the body requests, and their
    number on all pages as `count`. Returns an error if the body is invalid. The body is parsed whatever
    its content type."""
    query, rows = _search_rows(service, body)
    page = list(query.page(rows))
    items = [row.response_json(query.halves) for row in page]
    return {"customized": custom_columns(page), "object": items, "count": len(rows)}


@router.put("/lineagemgr/lineages")
def annotate(
    service: CurrentService, run_id: WellFormedId, body: Annotated[Any, Body()] = None
) -> dict[str, str]:
    """Store a tag and a remark on a job in the workspace, and return the status `success`. Returns an error
    if the job is unknown or has no lineage, or a value is invalid."""
    if not isinstance(body, dict):
        raise V1Error(Fault.VALUE, "The body must be an object.")
    if find_run(service.store.snapshot(), run_id).lineage is None:
        raise V1Error(Fault.VALUE, "This train job has no lineage.")
    changes = _validated_changes(body)
    if changes:
        with storing({}):
            service.workspace.notes.change(run_id, **changes)
    return {"status": "success"}


@router.post_json("/optimizer/targets/search", _SEARCH)
def targets(service: CurrentService, body: RawBody) -> dict[str, Any]:
    """Return objectives as `targets`, each with the importance of every hyper-parameter. The body is that of
    a search. Returns an error if it is invalid."""
    search, rows = _search_rows(service, body)
    return targets_answer([row.flat for row in search.page(rows)])


@router.get("/datasets/dataset_graph")
def dataset_graph(service: CurrentService, run_id: WellFormedId) -> dict[str, Any]:
    """Return the dataset graph of a job as `dataset_graph`, or an empty object if it has none or the job is
    unknown. Returns an error for an id of another form than `./a`."""
    run = service.store.snapshot().runs.get(run_id)
    if run is None or run.lineage is None or not run.lineage.dataset_graph:
        return {}
    return {"dataset_graph": run.lineage.dataset_graph, "summary_dir": run_id}


def _search_rows(service: Service, body: bytes) -> tuple[Search, list[LineageRow]]:
    """Parse a search body and return its rows. Slow, so call it in a thread. Raises V1Error."""
    search = parse_search(parse_json(body))
    rows = lineage_rows(newest_first(service.store.snapshot()), service.workspace.notes.all())
    by_run = {row.flat["summary_dir"]: row for row in rows}
    return search, [by_run[flat["summary_dir"]] for flat in search.matching(row.flat for row in rows)]


def _validated_changes(body: dict[str, Any]) -> dict[str, Any]:
    """Return the changes of an annotation. Raises V1Error for other fields and invalid values."""
    if set(body) - {"tag", "remark"}:
        raise V1Error(Fault.LINEAGE_VALUE, "Only tag and remark can be set.")
    tag, remark = body.get("tag", 0), body.get("remark", "")
    if not isinstance(tag, int) or isinstance(tag, bool) or not 0 <= tag <= _LARGEST_TAG:
        raise V1Error(Fault.LINEAGE_VALUE, f"tag must be an integer from 0 to {_LARGEST_TAG}.")
    if not isinstance(remark, str) or len(remark) > _LONGEST_REMARK:
        text = f"remark must be a string of at most {_LONGEST_REMARK} characters."
        raise V1Error(Fault.LINEAGE_VALUE, text)
    if _SURROGATE.search(remark):
        raise V1Error(Fault.LINEAGE_VALUE, "remark contains an incomplete character (a lone surrogate).")
    return {"note" if name == "remark" else name: value for name, value in body.items()}
