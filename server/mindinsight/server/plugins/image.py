"""Routes for images: every recorded step, as recorded."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Response

from mindinsight.server.errors import ApiError
from mindinsight.server.formats.media_types import picture_type
from mindinsight.server.formats.payloads.media_payloads import image
from mindinsight.server.http.bulkhead_routes import Accept, CurrentService, PayloadRoute
from mindinsight.server.http.responses import answer
from mindinsight.server.plugins import Plugin

router = APIRouter(route_class=PayloadRoute)


@router.get("/steps")
def steps(service: CurrentService, run: str, tag: str, accept: Accept = "") -> Response:
    """Return steps and times of all images of a tag, in the order written, and the size of the newest."""
    series = service.store.snapshot().payloads(run, "image", tag)
    picture = image(series.read(series.count - 1))
    content: dict[str, Any] = {"run": run, "tag": tag, "step": series.steps, "wall": series.walls}
    return answer({**content, "width": picture.width, "height": picture.height}, accept)


@router.get("/picture", response_class=Response)
def picture(
    service: CurrentService,
    run: str,
    tag: str,
    row: Annotated[int, Query(ge=0, description="place among the steps")],
) -> Response:
    """Return the recorded bytes of one image."""
    series = service.store.snapshot().payloads(run, "image", tag)
    if row >= series.count:
        raise ApiError(404, "unknown_step", f"This tag has {series.count} images.", count=series.count)
    encoded = image(series.read(row)).encoded
    kind = picture_type(encoded)
    headers = {"Cache-Control": "private, max-age=3600"}
    if kind is None:
        headers["Content-Disposition"] = "attachment"
    return Response(
        encoded, media_type=kind.media_type if kind else "application/octet-stream", headers=headers
    )


PLUGIN = Plugin(name="image", router=router)
