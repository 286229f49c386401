"""Routes for lineage: search, annotation, importance of hyper-parameters, dataset graph of a job."""

from __future__ import annotations

import re
from typing import Annotated, Any, Final

from fastapi import Body

from mindinsight.server.api.v1.errors import Fault, V1Error
from mindinsight.server.api.v1.jobs import CurrentService, newest_first
from mindinsight.server.api.v1.json_router import JsonRouter
from mindinsight.server.api.v1.lineage_rows import LineageRow, custom_columns, lineage_rows
from mindinsight.server.api.v1.lineage_search import Search, parse_search
from mindinsight.server.api.v1.parameters import (
    RawBody,
    RequiredText,
    find_run,
    is_train_id,
    parse_json,
    required,
)
from mindinsight.server.api.v1.targets import targets_answer
from mindinsight.server.http.service import Service
from mindinsight.server.workspace.storage_errors import storing

router = JsonRouter(tags=["lineage"])

_LONGEST_REMARK: Final = 128
_LARGEST_TAG: Final = 10
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_SEARCH: Final = {
    "requestBody": {
        "description": "conditions on fields, sorted_name, sorted_type, limit, offset, lineage_type",
        "content": {"application/json": {"schema": {"type": "object"}}},
    }
}


@router.post("/lineagemgr/lineages", openapi_extra=_SEARCH)
def search(service: CurrentService, body: RawBody) -> dict[str, Any]:
    """Search rows of lineage: filtered, sorted, paged; the body is parsed whatever its content type."""
    query, rows = _search_rows(service, body)
    page = list(query.page(rows))
    return {
        "customized": custom_columns(page),
        "object": [row.response_json(query.halves) for row in page],
        "count": len(rows),
    }


@router.put("/lineagemgr/lineages")
def annotate(
    service: CurrentService, body: Annotated[Any, Body()] = None, train_id: RequiredText = None
) -> dict[str, str]:
    """Set a tag and a remark on a job; they are stored in the workspace."""
    run_id = required(train_id, "train_id")
    if not is_train_id(run_id):
        raise V1Error(Fault.VALUE, "Parameter train_id must begin with ./")
    if not isinstance(body, dict):
        raise V1Error(Fault.VALUE, "The body must be an object.")
    if find_run(service.store.snapshot(), run_id).lineage is None:
        raise V1Error(Fault.VALUE, "This train job has no lineage.")
    changes = _validated_changes(body)
    if changes:
        with storing({}):
            service.workspace.notes.change(run_id, **changes)
    return {"status": "success"}


@router.post("/optimizer/targets/search", openapi_extra=_SEARCH)
def targets(service: CurrentService, body: RawBody) -> dict[str, Any]:
    """Objectives, hyper-parameters, and the importance of each."""
    search, rows = _search_rows(service, body)
    return targets_answer([row.flat for row in search.page(rows)])


@router.get("/datasets/dataset_graph")
def dataset_graph(service: CurrentService, train_id: RequiredText = None) -> dict[str, Any]:
    """Dataset graph of a job; an empty object if it has none."""
    run_id = required(train_id, "train_id")
    if not is_train_id(run_id):
        raise V1Error(Fault.VALUE, "Parameter train_id must begin with ./")
    run = service.store.snapshot().runs.get(run_id)
    if run is None or run.lineage is None or not run.lineage.dataset_graph:
        return {}
    return {"dataset_graph": run.lineage.dataset_graph, "summary_dir": run_id}


def _search_rows(service: Service, body: bytes) -> tuple[Search, list[LineageRow]]:
    """Parse a search body and find its rows. Slow: to be called in a thread. Raises V1Error."""
    search = parse_search(parse_json(body))
    rows = lineage_rows(newest_first(service.store.snapshot()), service.workspace.notes.all())
    by_run = {row.flat["summary_dir"]: row for row in rows}
    return search, [by_run[flat["summary_dir"]] for flat in search.matching(row.flat for row in rows)]


def _validated_changes(body: dict[str, Any]) -> dict[str, Any]:
    """Validate the fields of an annotation. Raises V1Error, also for any other field."""
    if set(body) - {"tag", "remark"}:
        raise V1Error(Fault.LINEAGE_VALUE, "Only tag and remark can be set.")
    changes: dict[str, Any] = {}
    if "tag" in body:
        tag = body["tag"]
        if not isinstance(tag, int) or isinstance(tag, bool) or not 0 <= tag <= _LARGEST_TAG:
            raise V1Error(Fault.LINEAGE_VALUE, f"tag must be an integer from 0 to {_LARGEST_TAG}.")
        changes["tag"] = tag
    if "remark" in body:
        remark = body["remark"]
        if not isinstance(remark, str) or len(remark) > _LONGEST_REMARK:
            raise V1Error(
                Fault.LINEAGE_VALUE, f"remark must be a string of at most {_LONGEST_REMARK} characters."
            )
        if _SURROGATE.search(remark):
            raise V1Error(Fault.LINEAGE_VALUE, "remark contains an incomplete character (a lone surrogate).")
        changes["note"] = remark
    return changes
