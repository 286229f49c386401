"""Kind of data: routes below `v2/confusion`. Its page is in `view/confusion` beside this module."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter

from mindinsight.extension import ApiError, CurrentService, PayloadRoute, Plugin, opened_tensor

from .matrix import PREFIX, summary

router = APIRouter(route_class=PayloadRoute)


@router.get("/tags")
def tags(run: str, service: CurrentService) -> dict[str, Any]:
    """Return the tags of a run that hold confusion matrices, and their steps."""
    tensors = service.store.snapshot().run(run).references.get("tensor", {})
    names = sorted(tag for tag in tensors if tag.startswith(PREFIX))
    return {"tags": [{"tag": tag, "steps": tensors[tag].steps.tolist()} for tag in names]}


@router.get("/matrix")
def matrix(run: str, tag: str, row: int, service: CurrentService) -> dict[str, Any]:
    """Return the matrix at a position among the steps of a tag, with accuracy and recall."""
    series = service.store.snapshot().payloads(run, "tensor", tag)
    if not 0 <= row < series.count:
        raise ApiError(404, "unknown_row", f"{tag} has {series.count} steps.", row=row)
    with opened_tensor(series, row) as tensor:
        try:
            content = summary(tensor.values.part(()))
        except ValueError as error:
            raise ApiError(422, "no_matrix", str(error)) from error
    return {"step": int(series.steps[row]), **content}


PLUGIN = Plugin("confusion", router)
