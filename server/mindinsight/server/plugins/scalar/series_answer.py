"""Answer with the curves of one tag, and the LRU cache of such answers in bytes. Without FastAPI."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from mindinsight.server.compute.lru_cache import LruCache
from mindinsight.server.http.responses import COLUMNS, encoded, encoded_answers, encoded_response
from mindinsight.server.http.service import Service
from mindinsight.server.plugins.scalar.job_series import job_series
from mindinsight.server.plugins.scalar.lines import View, drawn_series
from mindinsight.server.store.run import Run

PIXELS: Final = 600  # of a chart of which nothing is said
MOST_PIXELS: Final = 4000
MOST_RUNS: Final = 1000
MOST_TAGS: Final = 16  # beside the first
_AT_ONCE: Final = 500_000  # points, a few milliseconds: while more are drawn, other requests do not wait
_SMOOTHING: Final = 10  # times as long
_ANSWERS: Final = 64
_LARGEST: Final = 1 << 17  # bytes of an answer that is cached: 8 MB for all


@dataclass(frozen=True, slots=True)
class CurveQuery:
    """Tag, runs in the order of the answer, view, whether overwritten stretches are asked for, and the jobs
    whose ranks come as one."""

    tag: str
    runs: tuple[str, ...]
    view: View
    overwritten: bool = False
    fold: frozenset[str] = frozenset()


class SeriesAnswers:
    """LRU cache of encoded answers by query and by the versions of the runs in them."""

    def __init__(self) -> None:
        self.cache = LruCache[bytes](_ANSWERS)


async def series_answer(
    service: Service, query: CurveQuery, accept: str, also: Sequence[str] = ()
) -> Response:
    """The curves of one tag in the form that ``accept`` asks for; a run without the tag is left out.

    With further tags in ``also`` the answer is a list of such answers, one for each tag.
    """
    body = await _body(service, query, accept)
    if also:
        others = [await _body(service, replace(query, tag=tag), accept) for tag in also]
        body = encoded_answers([body, *others], accept)
    return encoded_response(body, accept)


async def _body(service: Service, query: CurveQuery, accept: str) -> bytes:
    """The encoded answer of one tag, from the cache if it is there."""
    snapshot = service.store.snapshot()
    runs = [snapshot.runs[member] for member in query.runs if member in snapshot.runs]
    service.loader.want(member.id for member in runs)
    having = [member for member in runs if query.tag in member.scalars]
    cache = service.parts.of(SeriesAnswers).cache
    key = query, tuple((member.id, member.version) for member in having), COLUMNS in accept
    body = cache.find(key)
    if body is None:
        points = sum(member.scalars[query.tag].count for member in having)
        much = points * (_SMOOTHING if query.view.weight else 1) > _AT_ONCE
        body = (
            await run_in_threadpool(_drawn, query, having, accept) if much else _drawn(query, having, accept)
        )
        if len(body) <= _LARGEST:
            made = body
            cache.get(key, lambda: made)
    return body


def _drawn(query: CurveQuery, runs: list[Run], accept: str) -> bytes:
    ranks: dict[str, list[Run]] = {}  # of the jobs that are folded
    for member in runs:
        if member.job in query.fold:
            ranks.setdefault(member.job, []).append(member)
    series: list[dict[str, Any]] = []
    for member in runs:
        of_job = ranks.get(member.job, [])
        if len(of_job) < 2:
            series.append(drawn_series(member, query.tag, query.view, query.overwritten))
        elif member is of_job[0]:
            series.append(job_series(of_job, query.tag, query.view))
    return encoded({"tag": query.tag, "x": query.view.x, "series": series}, accept)
