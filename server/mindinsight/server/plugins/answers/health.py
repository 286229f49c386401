"""Health of the ranks of jobs: what is wrong with each, over the scalars that tell the most."""

from __future__ import annotations

import re
import threading
from collections import Counter, OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from mindinsight.server.curves.rank_differences import Stray
from mindinsight.server.curves.strays import strays
from mindinsight.server.store.run import Run

_TAGS: Final = 6  # scalars of a job that are looked at
_JOBS: Final = 256  # that are remembered
_GROWTH: Final = 1.01  # more points than when a job was looked at last, before it is looked at again
_TELLING: Final = (r"step_?time|time_per|duration|throughput|tokens|samples_per", r"loss", r"norm", r"acc")


@dataclass(frozen=True, slots=True)
class RankStray:
    """What is wrong with a rank in one scalar; ``stray.row`` is the place of the rank among ``ranks``."""

    tag: str
    stray: Stray


@dataclass(frozen=True, slots=True)
class JobHealth:
    """The ranks of a job, in order, with what is wrong with them."""

    runs: tuple[str, ...]  # [r]
    ranks: tuple[int | None, ...]  # [r]
    tags: tuple[str, ...]  # that were looked at
    strays: tuple[RankStray, ...]


@dataclass(frozen=True, slots=True)
class _Judged:
    generations: tuple[int, ...]
    points: int
    health: JobHealth


class HealthCache:
    """Cache of the health of jobs; a job is looked at again when a hundredth more points have come."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._judged: OrderedDict[str, _Judged] = OrderedDict()

    def of(self, members: Sequence[Run]) -> JobHealth:
        """The health of the job of these runs, which are all its ranks."""
        ranks = sorted(members, key=lambda run: (run.rank is None, run.rank or 0, run.id))
        tags = telling_tags(ranks)
        series = [run.scalars[tag] for run in ranks for tag in tags if tag in run.scalars]
        generations = tuple(member.generation for member in series)
        points = sum(member.count for member in series)
        with self._lock:
            before = self._judged.get(ranks[0].job)
        if before is not None and before.generations == generations and before.health.tags == tags:
            same_ranks = before.health.runs == tuple(run.id for run in ranks)
            if same_ranks and before.points <= points < max(before.points * _GROWTH, 1):
                return before.health
        health = job_health(ranks, tags)
        with self._lock:
            self._judged[ranks[0].job] = _Judged(generations, points, health)
            while len(self._judged) > _JOBS:
                self._judged.popitem(last=False)
        return health


def job_health(ranks: Sequence[Run], tags: Sequence[str]) -> JobHealth:
    """Compare ``ranks`` with each other in each of ``tags``."""
    rank_strays = []
    for tag in tags:
        rows = [row for row, run in enumerate(ranks) if tag in run.scalars]
        lines = [ranks[row].scalars[tag].line() for row in rows]
        for stray in strays([(line.steps, line.values) for line in lines]):
            rank_strays.append(RankStray(tag, replace(stray, row=rows[stray.row])))
    return JobHealth(
        tuple(run.id for run in ranks), tuple(run.rank for run in ranks), tuple(tags), tuple(rank_strays)
    )


def telling_tags(ranks: Sequence[Run]) -> tuple[str, ...]:
    """Scalars that at least half of the ranks have: times of steps, losses and norms before others."""
    holders = Counter(tag for run in ranks for tag in run.scalars)
    common = [tag for tag, count in holders.items() if count >= 2 and count * 2 >= len(ranks)]
    return tuple(sorted(common, key=_interest)[:_TAGS])


def _interest(tag: str) -> tuple[int, int, str]:
    matching = [i for i, pattern in enumerate(_TELLING) if re.search(pattern, tag, re.IGNORECASE)]
    return min(matching, default=len(_TELLING)), len(tag), tag
