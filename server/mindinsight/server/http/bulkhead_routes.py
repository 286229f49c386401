"""Route classes that run in bulkheads: payloads of event files, dumps, graphs and checkpoints.

Each class of routes has a separate bulkhead, and each request a deadline. Whatever happens in one class, the
other classes, `/health`, `/metrics`, the pages and the series still respond.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import inspect
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Mapping
from concurrent.futures import BrokenExecutor
from contextvars import ContextVar
from typing import Annotated, Any, ClassVar, cast, get_args, get_origin

import anyio
from fastapi import Depends, Header, Query, params
from fastapi.routing import APIRoute
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from mindinsight.server.compute.bulkhead import Bulkhead, Full
from mindinsight.server.compute.cluster_executor import ClusterError
from mindinsight.server.compute.slices import Table, parse_slice
from mindinsight.server.errors import ApiError, memory_short
from mindinsight.server.http.responses import json_response
from mindinsight.server.http.service import Service, service_of
from mindinsight.server.http.sse import disconnected
from mindinsight.server.store.series import ReferenceSeries
from mindinsight.server.types import Kind

CurrentService = Annotated[Service, Depends(service_of)]
Accept = Annotated[str, Header()]
Row = Annotated[int, Query(ge=0, description="position among the steps")]
Dims = Annotated[
    str | None, Query(description="[0,:,1:3]: an integer or slice for each dimension, two slices at most")
]
Handler = Callable[[Request], Awaitable[Response]]

_bulkhead: ContextVar[Bulkhead] = ContextVar("bulkhead of this request")


class BulkheadRoute(APIRoute):
    """Route with synchronous functions and dependencies that run in the bulkhead `name`, with a deadline.

    The result is encoded as JSON in the bulkhead as well. Work is cancelled at its deadline, or when the
    client disconnects.
    """

    name_of_bulkhead: ClassVar[str]

    def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        super().__init__(path, _in_bulkhead(endpoint, answers=True), **options)

    def get_route_handler(self) -> Handler:  # type: ignore[override]
        """Return the handler of a request, with deadline and cancellation. The handler raises ApiError if
        the work is too late, refused, or short of memory."""
        handle: Handler = super().get_route_handler()
        name = self.name_of_bulkhead

        async def limited(request: Request) -> Response:
            service: Service = request.app.state.service
            seconds = service.settings.deadline
            _bulkhead.set(service.bulkhead(name))
            try:
                with anyio.fail_after(seconds):
                    return await _unless_left(request, handle)
            except TimeoutError:
                text = f"Not done within {seconds:g} seconds, and stopped. Ask again, or for less."
                raise ApiError(503, "too_late", text, seconds=f"{seconds:g}") from None
            except Full:
                text = "The server is busy with work of this kind. Ask again in a moment."
                raise ApiError(503, "busy", text) from None
            except MemoryError:
                raise memory_short() from None
            except BrokenExecutor as error:
                raise _broken(error) from error

        return limited


class PayloadRoute(BulkheadRoute):
    """Route that runs in the bulkhead of requests for payloads: pictures, tensors, histograms, landscapes."""

    name_of_bulkhead = "payloads"


class DumpRoute(BulkheadRoute):
    """Route that reads dumps."""

    name_of_bulkhead = "dumps"


class GraphRoute(BulkheadRoute):
    """Route that reads or draws computational graphs."""

    name_of_bulkhead = "graphs"


class CheckpointRoute(BulkheadRoute):
    """Route that reads checkpoint files."""

    name_of_bulkhead = "checkpoints"


def payload_series(kind: Kind) -> Any:
    """Return a FastAPI dependency: the series of a kind selected by `run` and `tag`. The dependency raises
    ApiError 404 if there is none."""

    async def series(service: CurrentService, run: str, tag: str) -> ReferenceSeries:
        return service.store.snapshot().payloads(run, kind, tag)

    return Depends(series)


def payload_row(kind: Kind, noun: str) -> Any:
    """Return a FastAPI dependency: the series of a kind selected by `run` and `tag`, which has the row
    `row`. The dependency raises ApiError 404 otherwise. `noun` names the payloads in its message."""

    async def series(service: CurrentService, run: str, tag: str, row: Row) -> ReferenceSeries:
        return check_row(service.store.snapshot().payloads(run, kind, tag), row, noun)

    return Depends(series)


def check_row(series: ReferenceSeries, row: int, noun: str) -> ReferenceSeries:
    """Return the series, after checking that it has the row. Raises ApiError 404, which counts its `noun`, if
    it has no such row."""
    if row >= series.count:
        raise ApiError(404, "unknown_step", f"This tag has {series.count} {noun}.", count=series.count)
    return series


def table_of(shape: tuple[int, ...], dims: str) -> Table:
    """Return the slice `dims` of an array of this `shape` as a table. Raises ApiError 422 if `dims` is not a
    slice of this shape."""
    try:
        return Table(shape, parse_slice(dims, shape))
    except ValueError as error:
        raise ApiError(422, "bad_slice", f"The slice {error}.", why=str(error)) from None


def stream(
    chunks: Iterator[bytes], headers: Mapping[str, str], media_type: str = "application/octet-stream"
) -> StreamingResponse:
    """Return a download, sent as its `chunks` are produced. Each chunk is produced in the bulkhead of this
    request, which holds no slot in between."""
    return _Download(_bulkhead.get().iterate(chunks), media_type=media_type, headers=dict(headers))


class _Download(StreamingResponse):
    """Streaming response that closes its source, such as an open file, however it ends."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with contextlib.aclosing(cast(AsyncGenerator[bytes, None], self.body_iterator)):
            await super().__call__(scope, receive, send)


async def _unless_left(request: Request, handle: Handler) -> Response:
    """Return the response of `handle`. If the client disconnects first, cancel the work and raise
    ApiError."""
    with contextlib.suppress(ClientDisconnect):
        await request.body()  # read whole, so that the next message can only be the disconnect
        answer = asyncio.ensure_future(handle(request))
        left = asyncio.ensure_future(disconnected(request.receive))
        try:
            await asyncio.wait((answer, left), return_when=asyncio.FIRST_COMPLETED)
            if answer.done():
                return answer.result()
        finally:
            left.cancel()
            answer.cancel()
    raise ApiError(499, "client_left", "The client has left.")


def _broken(error: BrokenExecutor) -> ApiError:
    if isinstance(error, ClusterError):
        return ApiError(503, "cluster", f"The cluster cannot do this: {error}.", why=str(error))
    text = "The processes that read this file were ended"
    return ApiError(503, "reader_ended", f"{text}: {error}.")


@functools.cache  # FastAPI calls a dependency once per request if its function is the same object
def _in_bulkhead(function: Callable[..., Any], answers: bool = False) -> Callable[..., Any]:
    """Wrap `function` in a coroutine function that runs it and its dependencies in the bulkhead. With
    `answers` the result is converted to a response, unless it is one already."""
    signature = inspect.signature(function, eval_str=True)
    parameters = list(signature.parameters.values())
    own = [parameter.replace(annotation=_isolated(parameter.annotation)) for parameter in parameters]
    waits = inspect.iscoroutinefunction(function)
    if waits and own == parameters:
        return function

    async def run(**arguments: Any) -> Any:
        work = functools.partial(function, **arguments)
        if waits:
            return await work()
        return await _bulkhead.get().run(functools.partial(_answer, work) if answers else work)

    run.__name__, run.__doc__, run.__module__ = function.__name__, function.__doc__, function.__module__
    run.__signature__ = signature.replace(parameters=own)  # type: ignore[attr-defined]
    return run


def _isolated(annotation: Any) -> Any:
    """Return an annotation whose FastAPI dependencies run in the bulkhead."""
    if get_origin(annotation) is not Annotated:
        return annotation
    kind, *about = get_args(annotation)
    return Annotated[(kind, *(_dependency(item) for item in about))]


def _dependency(item: Any) -> Any:
    """Return a FastAPI dependency wrapped so that it runs in the bulkhead, and any other item unchanged. A
    class is returned unchanged as well, because it only holds parameters."""
    if not isinstance(item, params.Depends) or item.dependency is None or inspect.isclass(item.dependency):
        return item
    return Depends(_in_bulkhead(item.dependency), use_cache=item.use_cache)


def _answer(work: Callable[[], Any]) -> Response:
    result = work()
    return result if isinstance(result, Response) else json_response(result)
