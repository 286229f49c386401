"""Alerts of a server, newest first, as JSON values. Without FastAPI."""

from __future__ import annotations

import time
from collections.abc import Collection, Container, Iterator, Sequence
from dataclasses import asdict
from typing import Any, Final

import numpy as np

from mindinsight.server.compute.non_finite import non_finite_as_text
from mindinsight.server.http.service import Service
from mindinsight.server.plugins.alert.alert_cache import AlertCache, Source, left_out
from mindinsight.server.store.dump_ids import dump_id
from mindinsight.server.store.run import Run
from mindinsight.server.types import Ints, Level
from mindinsight.server.workspace.rules import Rule

MOST: Final = 1000  # alerts in one answer
LIMIT: Final = 100  # unless a request says how many
MOST_RUNS: Final = 1000
MOST_SKIPPED: Final = 100_000


def alert_list(
    service: Service,
    run: Collection[str] | None = None,
    level: Collection[Level] | None = None,
    since: float | None = None,
    skip: int = 0,
    limit: int = LIMIT,
    without: Collection[str] = (),
) -> dict[str, Any]:
    """Alerts of some runs, not of those ``without``, and levels, later than ``since``.

    The route ``/v2/alert/list`` has the fields.
    """
    now = time.time()
    rules, snapshot = service.workspace.rules.all(), service.store.snapshot()
    sources = service.parts.of(AlertCache).sources(snapshot, rules, now)
    chosen = [
        source
        for source in sources
        if (run is None or source.run in run)
        and source.run not in without
        and (not level or source.level in level)
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
