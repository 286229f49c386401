"""Routes for images: every recorded step, as recorded."""

from typing import Annotated

from fastapi import APIRouter, Response

from mindinsight.server.formats.media_types import picture_type
from mindinsight.server.formats.payloads.media_payloads import image
from mindinsight.server.http.bulkhead_routes import Accept, PayloadRoute, Row, payload_row, payload_series
from mindinsight.server.http.responses import steps_answer
from mindinsight.server.plugins import Plugin
from mindinsight.server.store.series import ReferenceSeries

router = APIRouter(route_class=PayloadRoute)
Images = Annotated[ReferenceSeries, payload_series("image")]


@router.get("/steps")
def steps(run: str, series: Images, accept: Accept = "") -> Response:
    """Return steps and times of all images of a tag, in the order written, and the size of the newest."""
    picture = image(series.read(series.count - 1))
    return steps_answer(run, series, accept, width=picture.width, height=picture.height)


@router.get("/picture", response_class=Response)
def picture(series: Annotated[ReferenceSeries, payload_row("image", "images")], row: Row) -> Response:
    """Return the recorded bytes of one image."""
    encoded = image(series.read(row)).encoded
    kind = picture_type(encoded)
    headers = {"Cache-Control": "private, max-age=3600"}
    if kind is None:
        headers["Content-Disposition"] = "attachment"
    media_type = kind.media_type if kind else "application/octet-stream"
    return Response(encoded, media_type=media_type, headers=headers)


PLUGIN = Plugin(name="image", router=router)
