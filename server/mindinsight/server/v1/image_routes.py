"""Routes for recorded images."""

from __future__ import annotations

from typing import Any

from fastapi import Response

from mindinsight.server.formats.media_types import picture_type
from mindinsight.server.formats.payloads.media_payloads import image
from mindinsight.server.http.bulkhead_routes import PayloadRoute
from mindinsight.server.v1.jobs import CurrentService, payloads_of, time_and_step
from mindinsight.server.v1.row_sampling import IMAGES, line_rows
from mindinsight.server.v1.v1_parameters import (
    FullFlag,
    RequiredNumber,
    RequiredText,
    loaded_run,
    required,
    to_integer,
)
from mindinsight.server.v1.v1_responses import Fault, JsonRouter, V1Error

router = JsonRouter(route_class=PayloadRoute, prefix="/datavisual/image", tags=["images"])


@router.get("/metadata")
def metadata(
    service: CurrentService, train_id: RequiredText = None, tag: RequiredText = None, full: FullFlag = False
) -> dict[str, Any]:
    """Return step, time, width and height of the images of one tag."""
    run_id, name = required(train_id, "train_id"), required(tag, "tag")
    series = payloads_of(loaded_run(service.store.snapshot(), run_id), name, "image", Fault.IMAGE)
    rows = line_rows(series, IMAGES, full)
    return {"metadatas": [{**time_and_step(series, row), **_size(series.read(row))} for row in rows.tolist()]}


def _size(payload: bytes) -> dict[str, int]:
    picture = image(payload)
    return {"width": picture.width, "height": picture.height}


@router.get(
    "/single-image",
    response_class=Response,
    responses={200: {"content": {"image/*": {}, "application/octet-stream": {}}}},
)
def single_image(
    service: CurrentService,
    train_id: RequiredText = None,
    tag: RequiredText = None,
    step: RequiredNumber = None,
) -> Response:
    """Return the recorded bytes of one image. Step -1 is the newest."""
    run_id, name = required(train_id, "train_id"), required(tag, "tag")
    number = to_integer(required(step, "step"), "step")
    series = payloads_of(loaded_run(service.store.snapshot(), run_id), name, "image", Fault.IMAGE)
    rows = [row for row in series.line_rows.tolist() if number in (-1, int(series.steps[row]))]
    if not rows:
        raise V1Error(Fault.IMAGE, "Parameter step does not match any image of this tag.")
    encoded = image(series.read(rows[-1])).encoded
    return Response(encoded, media_type=media_type(encoded))


def media_type(encoded: bytes) -> str:
    """Return the media type by the first bytes of an encoded image."""
    kind = picture_type(encoded)
    return kind.media_type if kind else "application/octet-stream"
