"""The list of alerts, newest first."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from typing import Annotated, Any, Final

import numpy as np
from fastapi import APIRouter, Depends, Query

from mindinsight.server.plugins.alert.finding import Finding, Source, finding_of
from mindinsight.server.service import Service, service_of
from mindinsight.server.types import Ints, Level

router = APIRouter()

MOST: Final = 1000  # alerts in one answer


@router.get("/list")
def alerts(
    service: Annotated[Service, Depends(service_of)],
    finding: Annotated[Finding, Depends(finding_of)],
    run: Annotated[list[str] | None, Query(description="run ids; all when left out", max_length=1000)] = None,
    level: Annotated[list[Level] | None, Query(description="all when left out")] = None,
    since: Annotated[float | None, Query(description="Unix seconds: only what is later")] = None,
    skip: Annotated[int, Query(ge=0, le=100_000)] = 0,
    limit: Annotated[int, Query(ge=0, le=MOST)] = 100,
) -> dict[str, Any]:
    """Alerts of the training code and of rules, newest first; ``total`` says how many there are.

    One of a rule over scalars stands for a stretch of ``count`` points from ``step`` on, ``ongoing`` when the
    newest point is one of them; ``value`` is that of the first. A value that is not finite is text.
    """
    now = time.time()
    found = finding.sources(service.store.snapshot(), service.workspace.rules.all(), now)
    chosen = [one for one in found if (run is None or one.run in run) and (not level or one.level in level)]
    walls = np.nan_to_num(np.concatenate([np.zeros(0), *(one.walls for one in chosen)]), nan=-1.0)
    later = np.flatnonzero(walls > (-np.inf if since is None else since))
    newest = later[np.argsort(-walls[later], kind="stable")][skip : skip + limit]
    return {"alerts": _shown_at(chosen, newest), "total": len(later), "now": now}


def _shown_at(sources: Sequence[Source], places: Ints) -> list[dict[str, Any]]:
    """The alerts at ``places`` among those of all ``sources``, one source after the other."""
    ends = np.cumsum([len(one.walls) for one in sources])
    numbers = np.searchsorted(ends, places, side="right").tolist()
    return [
        _shown(sources[number], place - int(ends[number]) + len(sources[number].walls))
        for number, place in zip(numbers, places.tolist(), strict=True)
    ]


def _shown(source: Source, row: int) -> dict[str, Any]:
    last = row == len(source.steps) - 1
    content = source.contents[row] if source.contents else None
    return {
        "id": f"{source.run}|{source.rule}|{source.tag}|{source.keys[row]}",
        "run": source.run,
        "level": source.level,
        "step": int(source.steps[row]),
        "wall": _number(float(source.walls[row])),
        "title": content.title if content else "",
        "text": content.text if content else "",
        "rule": source.rule or None,
        "tag": source.tag or None,
        "value": None if source.values is None else _number(float(source.values[row])),
        "count": 1 if source.counts is None else int(source.counts[row]),
        "ongoing": source.ongoing and last,
    }


def _number(value: float) -> float | str:
    return value if math.isfinite(value) else str(value)
