"""Route for layers: one scalar of all layers of a run as a layer x step picture."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Annotated

import numpy as np
from fastapi import APIRouter, Depends, Header, Query, Response
from starlette.concurrency import run_in_threadpool

from mindinsight.server.curves.bands import cells
from mindinsight.server.http.responses import answer
from mindinsight.server.http.service import Service, service_of

router = APIRouter()

_DIGITS = 9  # of the number of a layer


@router.get("/layers")
async def layers(
    service: Annotated[Service, Depends(service_of)],
    run: str,
    stem: Annotated[str, Query(description="tag with * in place of the layer's number", max_length=10_000)],
    px: Annotated[int, Query(ge=1, le=2000, description="columns of the picture")] = 300,
    accept: Annotated[str, Header()] = "",
) -> Response:
    """The layer x step picture: ``mean`` holds layers x columns numbers, row by row, NaN where there is none.

    ``not_finite`` holds the numbers of the cells with values that are not finite; ``tags`` and ``layers`` are
    those of the rows.
    """
    scalars = service.store.snapshot().run(run).scalars
    rows = layer_tags(scalars, stem)

    def made() -> Response:
        lines = [scalars[tag].line() for _, tag in rows]
        grid = cells([(line.steps, line.values) for line in lines], px)
        return answer(
            {
                "run": run,
                "stem": stem,
                "layers": [number for number, _ in rows],
                "tags": [tag for _, tag in rows],
                "step": grid.steps,
                "mean": grid.mean.ravel(),
                "not_finite": np.flatnonzero(grid.bad),
            },
            accept,
        )

    return await run_in_threadpool(made)


def layer_tags(tags: Iterable[str], stem: str) -> list[tuple[int, str]]:
    """Number and tag of each layer: tags that are ``stem`` with a number in place of its first ``*``."""
    before, star, behind = stem.partition("*")
    if not star:
        return []
    pattern = re.compile(rf"{re.escape(before)}(\d{{1,{_DIGITS}}}){re.escape(behind)}", re.ASCII)
    return sorted((int(match[1]), tag) for tag in tags if (match := pattern.fullmatch(tag)))
