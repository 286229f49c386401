"""Routes for scalars: one line of points for each tag, overwritten steps left out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Final

from fastapi import Header
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from mindinsight.server.api.v1.errors import Fault, V1Error
from mindinsight.server.api.v1.jobs import CurrentService
from mindinsight.server.api.v1.json_router import JsonRouter, json_response
from mindinsight.server.api.v1.parameters import FullFlag, RequiredText, Texts, loaded_run, required
from mindinsight.server.api.v1.scalar_points import Pair, ScalarAnswers, points_of, scalar_items
from mindinsight.server.api.v1.tags import scalar_of
from mindinsight.server.http.service import Service

router = JsonRouter(prefix="/datavisual", tags=["scalars"])

_LEAST_PACKED: Final = 1000  # bytes


AcceptEncoding = Annotated[str, Header(include_in_schema=False)]


@router.get("/scalar/metadata")
async def metadata(
    service: CurrentService,
    train_id: RequiredText = None,
    tag: RequiredText = None,
    full: FullFlag = False,
    accept_encoding: AcceptEncoding = "",
) -> Any:
    """Points of one tag, ascending by step; null for values that are not finite."""
    run_id, name = required(train_id, "train_id"), required(tag, "tag")
    series = scalar_of(loaded_run(service.store.snapshot(), run_id), name)
    if series is None:
        raise V1Error(Fault.SCALAR, "Parameter tag does not match any scalar of this train job.")
    if full:
        return await run_in_threadpool(lambda: json_response({"metadatas": points_of(series, full)}))
    pairs = [Pair(run_id, name, series)]
    return await _thinned(
        service, "metadata", pairs, lambda: {"metadatas": points_of(series, full)}, accept_encoding
    )


@router.get("/scalars")
async def scalars(
    service: CurrentService,
    train_id: Texts = None,
    tag: Texts = None,
    full: FullFlag = False,
    accept_encoding: AcceptEncoding = "",
) -> Any:
    """Points of all existing pairs of job and tag, in the order of the parameters."""
    runs = service.store.snapshot().runs
    pairs = [
        Pair(run_id, name, series)
        for run_id in train_id or ()
        for name in tag or ()
        if run_id in runs and (series := scalar_of(runs[run_id], name)) is not None
    ]
    if full:
        return await run_in_threadpool(lambda: json_response(scalar_items(pairs, full)))
    return await _thinned(service, "scalars", pairs, lambda: scalar_items(pairs, full), accept_encoding)


async def _thinned(
    service: Service,
    route: str,
    pairs: list[Pair],
    content: Callable[[], dict[str, Any]],
    accept_encoding: str,
) -> Response:
    """Return a cached answer at once, another from a thread; compressed if the client takes that."""
    answers = service.parts.of(ScalarAnswers)
    answer = answers.find(route, pairs)
    if answer is None:
        answer = await run_in_threadpool(answers.get, route, pairs, content)
    if "gzip" not in accept_encoding or len(answer.plain) < _LEAST_PACKED:
        return Response(answer.plain, media_type="application/json")
    headers = {"Content-Encoding": "gzip", "Vary": "Accept-Encoding"}
    return Response(answer.packed, media_type="application/json", headers=headers)
