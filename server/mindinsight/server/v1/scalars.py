"""Routes for scalars: one line of points for each tag, cached as encoded answers."""

import gzip
from collections.abc import Callable, Sequence
from itertools import product
from typing import Annotated, Final, NamedTuple

from fastapi import Header
from pydantic_core import to_json
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from mindinsight.server.api.run_answers import Encoded
from mindinsight.server.compute.lru_cache import LruCache
from mindinsight.server.http.bulkhead_routes import CurrentService
from mindinsight.server.http.service import Service
from mindinsight.server.store.series import ScalarSeries
from mindinsight.server.v1.jobs import scalar_of
from mindinsight.server.v1.row_sampling import SCALARS, extreme_rows
from mindinsight.server.v1.v1_parameters import FullFlag, LoadedRun, Tag, Texts
from mindinsight.server.v1.v1_responses import Fault, JsonRouter, V1Error, encode

_ANSWERS: Final = 64  # cached responses, about 80 KB for each of their series
_MOST_SERIES: Final = 4  # of a cached response
_LEVEL: Final = 1  # of gzip: a sixth more bytes than at level 4, in half the time
_PART: Final = 1000  # points encoded at a time, because that holds the interpreter lock


class Pair(NamedTuple):
    """Requested job and tag, with the series of that tag."""

    run: str
    tag: str
    series: ScalarSeries

    def key(self) -> tuple[str, str, int, int, int]:
        """Return the cache key of responses with this pair, which changes when points are added or
        replaced."""
        return self.run, self.tag, self.series.version, self.series.generation, self.series.count


class ScalarAnswers:
    """Cache of encoded responses by route, pairs, and versions of their series."""

    def __init__(self) -> None:
        self._answers = LruCache[Encoded](_ANSWERS)

    def find(self, route: str, pairs: Sequence[Pair]) -> Encoded | None:
        """Return the response of a route with the sampled points of these pairs, or None if it is not
        cached.
        """
        return self._answers.find((route, *(pair.key() for pair in pairs)))

    def get(self, route: str, pairs: Sequence[Pair], content: Callable[[], bytes]) -> Encoded:
        """Return the response of a route, from the cache or else `content()`, compressed. With more than four
        pairs it is not cached.
        """
        if len(pairs) > _MOST_SERIES:
            return _encoded(content())
        key = (route, *(pair.key() for pair in pairs))
        return self._answers.get(key, lambda: _encoded(content()))


def _encoded(plain: bytes) -> Encoded:
    return Encoded(plain, gzip.compress(plain, _LEVEL, mtime=0))


def scalars_json(pairs: Sequence[Pair], full: bool) -> bytes:
    """Return the body of a response with the points of all pairs: `scalars`, a list of tag, train_id and
    values. The values are a sample unless `full`."""
    names = ((encode(pair.tag).encode(), encode(pair.run).encode(), pair.series) for pair in pairs)
    parts = (
        b'{"tag":%b,"train_id":%b,"values":%b}' % (tag, run, points_json(series, full))
        for tag, run, series in names
    )
    return b'{"scalars":[%b]}\n' % b",".join(parts)


def points_json(series: ScalarSeries, full: bool) -> bytes:
    """Return step, value and wall_time of the line's points as a JSON list, ascending by step, or of a sample
    of them unless `full`. Non-finite values are null."""
    line = series.line()
    rows = slice(None) if full else extreme_rows(line.values, SCALARS)
    columns = (line.steps[rows].tolist(), line.values[rows].tolist(), line.walls[rows].tolist())
    points = [
        {"step": step, "value": value, "wall_time": wall} for step, value, wall in zip(*columns, strict=True)
    ]
    starts = range(0, len(points), _PART)
    parts = (to_json(points[start : start + _PART], inf_nan_mode="null")[1:-1] for start in starts)
    return b"[%b]" % b",".join(parts)


router = JsonRouter(prefix="/datavisual", tags=["scalars"])

_LEAST_PACKED: Final = 1000  # bytes; a shorter body fits into one packet uncompressed


AcceptEncoding = Annotated[str, Header(include_in_schema=False)]


@router.get("/scalar/metadata")
async def metadata(
    service: CurrentService,
    tag: Tag,
    run: LoadedRun,
    full: FullFlag = False,
    accept_encoding: AcceptEncoding = "",
) -> Response:
    """Return the points of one tag as `metadatas`, ascending by step, with null for non-finite values, and
    only a sample unless `full`. Returns an error for an unknown tag."""
    series = scalar_of(run, tag)
    if series is None:
        raise V1Error(Fault.SCALAR, "Parameter tag does not match any scalar of this train job.")

    def content() -> bytes:
        return b'{"metadatas":%b}\n' % points_json(series, full)

    if full:
        return Response(await run_in_threadpool(content), media_type="application/json")
    return await _sampled(service, "metadata", [Pair(run.id, tag, series)], content, accept_encoding)


@router.get("/scalars")
async def scalars(
    service: CurrentService,
    train_id: Texts = None,
    tag: Texts = None,
    full: FullFlag = False,
    accept_encoding: AcceptEncoding = "",
) -> Response:
    """Return the points of all existing pairs of job and tag as `scalars`, in the order of the parameters,
    and only a sample unless `full`. Returns an error for a tag of another plugin."""
    runs = service.store.snapshot().runs
    requested = product((run_id for run_id in train_id or () if run_id in runs), tag or ())
    found_series = ((run_id, name, scalar_of(runs[run_id], name)) for run_id, name in requested)
    pairs = [Pair(run_id, name, series) for run_id, name, series in found_series if series is not None]
    if full:
        return Response(await run_in_threadpool(scalars_json, pairs, full), media_type="application/json")
    return await _sampled(service, "scalars", pairs, lambda: scalars_json(pairs, full), accept_encoding)


async def _sampled(
    service: Service,
    route: str,
    pairs: list[Pair],
    content: Callable[[], bytes],
    accept_encoding: str,
) -> Response:
    """Return a cached response, or else compute the response in a thread. Compress it if the client accepts
    gzip."""
    answers = service.parts.of(ScalarAnswers)
    answer = answers.find(route, pairs)
    if answer is None:
        answer = await run_in_threadpool(answers.get, route, pairs, content)
    if "gzip" not in accept_encoding or len(answer.plain) < _LEAST_PACKED:
        return Response(answer.plain, media_type="application/json")
    headers = {"Content-Encoding": "gzip", "Vary": "Accept-Encoding"}
    return Response(answer.packed, media_type="application/json", headers=headers)
