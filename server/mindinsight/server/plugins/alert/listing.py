"""Route for the list of alerts, newest first."""

from __future__ import annotations

import time
from collections.abc import Container, Iterator, Sequence
from dataclasses import asdict
from typing import Annotated, Any, Final

import numpy as np
from fastapi import APIRouter, Depends, Query

from mindinsight.server.compute.non_finite import non_finite_as_text
from mindinsight.server.http.service import Service, service_of
from mindinsight.server.plugins.alert.alert_cache import AlertCache, Source, left_out
from mindinsight.server.store.dump_ids import dump_id
from mindinsight.server.store.run import Run
from mindinsight.server.types import Ints, Level
from mindinsight.server.workspace.rules import Rule

router = APIRouter()

MOST: Final = 1000  # alerts in one answer


@router.get("/list")
def alerts(
    service: Annotated[Service, Depends(service_of)],
    run: Annotated[list[str] | None, Query(description="run ids; all when left out", max_length=1000)] = None,
    level: Annotated[list[Level] | None, Query(description="all when left out")] = None,
    since: Annotated[float | None, Query(description="Unix seconds: only what is later")] = None,
    skip: Annotated[int, Query(ge=0, le=100_000)] = 0,
    limit: Annotated[int, Query(ge=0, le=MOST)] = 100,
) -> dict[str, Any]:
    """Alerts of the training code and of rules, newest first; ``total`` says how many there are.

    One of a rule over scalars stands for a stretch of ``count`` points from ``step`` on, ``ongoing`` when the
    newest point is one of them; ``value`` is that of the first. A value that is not finite is text.
    ``dump`` is the dump of this step that the training code recorded with it, of rank ``dump_rank``.
    ``left_out`` counts recorded ones that are none of these, whatever their level: they cannot be read, or
    there are too many newer ones of their run.
    """
    now = time.time()
    rules, snapshot = service.workspace.rules.all(), service.store.snapshot()
    sources = service.parts.of(AlertCache).sources(snapshot, rules, now)
    chosen = [
        source
        for source in sources
        if (run is None or source.run in run) and (not level or source.level in level)
    ]
    walls = np.nan_to_num(np.concatenate([np.zeros(0), *(source.walls for source in chosen)]), nan=-1.0)
    later = np.flatnonzero(walls > (-np.inf if since is None else since))
    newest = later[np.argsort(-walls[later], kind="stable")][skip : skip + limit]
    known = {dump for record in snapshot.runs.values() for dump in record.dumps}
    shown = [
        {
            **_shown(source, row, rules.get(source.rule)),
            **_dump_json(source, row, snapshot.runs.get(source.run), known),
        }
        for source, row in _places(chosen, newest)
    ]
    runs = [record for record in snapshot.runs.values() if run is None or record.id in run]
    return {"alerts": shown, "total": len(later), "left_out": left_out(sources, runs), "now": now}


def _places(sources: Sequence[Source], numbers: Ints) -> Iterator[tuple[Source, int]]:
    """Source and row of the alerts with these numbers among those of all ``sources``, one after the other."""
    ends = np.cumsum([len(source.walls) for source in sources])
    for index, number in zip(np.searchsorted(ends, numbers, side="right"), numbers.tolist(), strict=True):
        source = sources[index]
        yield source, number - int(ends[index]) + len(source.walls)


def _dump_json(source: Source, row: int, run: Run | None, known: Container[str]) -> dict[str, Any]:
    """The dump that shows an alert, by its id, and the rank to look at there; null where there is none."""
    relative = source.contents[row].dump if source.contents else ""
    dump = dump_id(run, relative, known) if run else None
    return {"dump": dump, "dump_rank": (run.rank or 0) if run and dump else None}


def _shown(source: Source, row: int, rule: Rule | None) -> dict[str, Any]:
    last = row == len(source.steps) - 1
    content = source.contents[row] if source.contents else None
    return {
        "id": f"{source.run}|{source.rule}|{source.tag}|{source.keys[row]}",
        "run": source.run,
        "level": source.level,
        "step": int(source.steps[row]),
        "wall": non_finite_as_text(float(source.walls[row])),
        "title": content.title if content else "",
        "text": content.text if content else "",
        "rule": source.rule or None,
        "condition": rule.condition if rule else None,
        "limit": rule.limit if rule else None,
        "tag": source.tag or None,
        "value": None if source.values is None else non_finite_as_text(float(source.values[row])),
        "count": 1 if source.counts is None else int(source.counts[row]),
        "ongoing": source.ongoing and last,
        "stray": asdict(source.strays[row]) if source.strays else None,
    }
