"""Incremental evaluation of alert rules over series, and over the ranks of a job."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Final, TypeAlias, get_args

import numpy as np

from mindinsight.server.curves.curve_statistics import NO_INTERVALS, Condition, Intervals, extend, holds
from mindinsight.server.curves.rank_anomaly import OutlierKind, RankOutlier
from mindinsight.server.curves.rank_outliers import find_outliers
from mindinsight.server.store.run import Run
from mindinsight.server.store.series import ScalarSeries
from mindinsight.server.types import Doubles, Ints
from mindinsight.server.workspace.alert_rules import Rule


@dataclass(frozen=True, slots=True)
class RuleEpisodes:
    """Intervals of a series in which a rule holds, with the first point of each."""

    version: int  # of the evaluated series
    generation: int
    episodes: Intervals
    steps: Ints  # [e]
    walls: Doubles  # [e] Unix seconds
    values: Doubles  # [e]


_NOTHING: Final = RuleEpisodes(-1, -1, NO_INTERVALS, NO_INTERVALS.rows, np.zeros(0), np.zeros(0))


def rule_episodes(
    before: RuleEpisodes | None, series: ScalarSeries, condition: Condition, limit: float
) -> RuleEpisodes:
    """Return the intervals of the whole series. Only rows after those of `before` are evaluated.

    `before` is the result for an older state of the series and the same condition, or None.
    """
    if before is None or before.generation != series.generation or before.episodes.end > series.count:
        before = _NOTHING
    if before.version == series.version:
        return before
    known = before.episodes.end
    if not holds(condition, limit, series.values_from(known)).any():  # almost always: no copies
        nothing_new = Intervals(before.episodes.rows, before.episodes.counts, series.count)
        first_points = before.steps, before.walls, before.values
        return RuleEpisodes(series.version, series.generation, nothing_new, *first_points)
    new = series.tail(known)
    episodes = extend(before.episodes, holds(condition, limit, new.values), new.starts)
    first = episodes.rows[len(before.steps) :] - known
    return RuleEpisodes(
        series.version,
        series.generation,
        episodes,
        np.concatenate([before.steps, new.steps[first]]),
        np.concatenate([before.walls, new.walls[first]]),
        np.concatenate([before.values, new.values[first].astype(np.float64)]),
    )


def tags_of(run: Run, pattern: str) -> list[str]:
    """Return the scalars of a run that match a rule's name or pattern with `*` and `?`."""
    return [tag for tag in run.scalars if matches(tag, pattern)]


def matches(tag: str, pattern: str) -> bool:
    """Return True if the tag is `pattern` or matches it, with `*` and `?` as wildcards."""
    return pattern in ("*", tag) or fnmatchcase(tag, pattern.replace("[", "[[]"))


def silent_since(run: Run, minutes: float, now: float) -> float | None:
    """Return the Unix time at which a run had been silent for `minutes`, or None if it has not, or has ended.

    A training that was killed or hangs has not closed its files.
    """
    when = run.last_event + 60 * minutes
    return when if when <= now and run.files and not run.finished else None


_KINDS: Final = get_args(OutlierKind)
_GROWTH: Final = 1.01  # factor by which the points of a job grow before it is evaluated again
_Key: TypeAlias = tuple[str, str]  # job and tag


@dataclass(frozen=True, slots=True)
class RankStrays:
    """Divergences of one tag of one rank, or of two ranks that differ from each other."""

    run: str
    other: str  # run of the other of two ranks, else ""
    ranks: tuple[int | None, ...]  # [1 or 2]
    tag: str
    strays: tuple[RankOutlier, ...]  # [n]
    walls: Doubles  # [n] Unix seconds, of the first step of each

    @property
    def steps(self) -> Ints:
        """Return the first step of each divergence [n]."""
        return np.array([stray.step for stray in self.strays], np.int64)

    @property
    def keys(self) -> Ints:
        """Return numbers that are unique within this run and tag [n]."""
        return np.array(
            [stray.step * len(_KINDS) + _KINDS.index(stray.kind) for stray in self.strays], np.int64
        )


@dataclass(frozen=True, slots=True)
class _Judged:
    """The verdict on one tag of one job, and the points it was made of."""

    runs: tuple[str, ...]
    generations: tuple[int, ...]
    points: int
    ranks: tuple[RankStrays, ...]


class JobWatch:
    """Cache of the divergences of all jobs. A job is evaluated again once its points have grown by 1 %."""

    def __init__(self) -> None:
        self._judged: dict[_Key, _Judged] = {}

    def strays(self, runs: Iterable[Run], rules: Mapping[str, Rule]) -> Iterator[tuple[str, RankStrays]]:
        """Yield the divergences found by each rule that is on, with the rule's id."""
        wanted = {rule_id: rule for rule_id, rule in rules.items() if rule.on and rule.condition == "strays"}
        if not wanted:
            self._judged = {}
            return
        ranks: dict[str, list[Run]] = defaultdict(list)
        for run in runs:
            if run.rank is not None:
                ranks[run.job].append(run)
        judged: dict[_Key, _Judged] = {}
        for job, members in ranks.items():
            members.sort(key=lambda run: (run.rank or 0, run.id))
            tags = {tag for run in members for tag in run.scalars} if len(members) > 1 else set()
            for rule_id, rule in wanted.items():
                for tag in sorted(tags):
                    holders = [run for run in members if tag in run.scalars]
                    if len(holders) < 2 or not matches(tag, rule.tags):
                        continue
                    key = (job, tag)
                    judged[key] = judged.get(key) or _renewed(self._judged.get(key), holders, tag)
                    yield from ((rule_id, rank) for rank in judged[key].ranks)
        self._judged = judged


def _renewed(before: _Judged | None, runs: list[Run], tag: str) -> _Judged:
    series = [run.scalars[tag] for run in runs]
    ids, generations = tuple(run.id for run in runs), tuple(member.generation for member in series)
    points = sum(member.count for member in series)
    same = before is not None and (before.runs, before.generations) == (ids, generations)
    if before is not None and same and before.points <= points < before.points * _GROWTH:
        return before
    lines = [member.line() for member in series]
    by_rows: dict[tuple[int, ...], list[RankOutlier]] = defaultdict(list)
    for stray in find_outliers([(line.steps, line.values) for line in lines]):
        by_rows[(stray.row,) if stray.other is None else (stray.row, stray.other)].append(stray)
    verdicts = tuple(
        RankStrays(
            ids[rows[0]],
            ids[rows[1]] if len(rows) > 1 else "",
            tuple(runs[row].rank for row in rows),
            tag,
            tuple(of_rank),
            np.array([_wall(lines[rows[0]].steps, lines[rows[0]].walls, stray.step) for stray in of_rank]),
        )
        for rows, of_rank in sorted(by_rows.items())
    )
    return _Judged(ids, generations, points, verdicts)


def _wall(steps: Ints, walls: Doubles, step: int) -> float:
    """Return the wall time of a step."""
    return float(walls[min(int(np.searchsorted(steps, step)), len(walls) - 1)])
