"""Incremental evaluation of alert rules over series, and over the ranks of a job."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Final, TypeAlias, get_args

import numpy as np

from mindinsight.server.curves.curve_statistics import NO_INTERVALS, Condition, Intervals, extend, holds
from mindinsight.server.curves.formulas import BadFormula, parse_formula
from mindinsight.server.curves.rank_anomaly import OutlierKind, RankOutlier
from mindinsight.server.curves.rank_outliers import find_outliers
from mindinsight.server.store.formula_series import PREFIX, FormulaSeries, formula_series
from mindinsight.server.store.run import Run
from mindinsight.server.store.series import ScalarSeries
from mindinsight.server.types import Doubles, Floats, Ints
from mindinsight.server.workspace.alert_rules import Rule


@dataclass(frozen=True, slots=True)
class RuleIntervals:
    """Intervals of a series in which a rule holds, with the first point of each."""

    version: int  # of the evaluated series
    generation: int
    intervals: Intervals
    steps: Ints  # [e]
    walls: Doubles  # [e] Unix seconds
    values: Doubles  # [e]
    recovered: Ints  # [e] step of the first value after each, `NOT_YET` without one


NOT_YET: Final = np.iinfo(np.int64).min
_NO_ROWS: Final = NO_INTERVALS.rows
_NOTHING: Final = RuleIntervals(-1, -1, NO_INTERVALS, _NO_ROWS, np.zeros(0), np.zeros(0), _NO_ROWS)


def rule_intervals(
    before: RuleIntervals | None,
    series: ScalarSeries | FormulaSeries,
    condition: Condition,
    limit: float,
    since: float = 0.0,
) -> RuleIntervals:
    """Return the intervals of rows at which a series fulfils `condition`, compared with `limit`.

    Only points recorded at Unix time `since` or later count. `before` is the result for an older state of the
    series and the same condition, or None. Only rows after those of `before` are evaluated, except for
    formulas, of which every value may change.
    """
    if before is None or before.generation != series.generation or before.intervals.end > series.count:
        before = _NOTHING
    if before.version == series.version:
        return before
    if isinstance(series, FormulaSeries):
        line = series.line()
        before, starts = _NOTHING, NO_INTERVALS.rows
        steps, walls, values = line.steps, line.walls, line.values
    else:
        waits = len(before.recovered) and before.recovered[-1] == NOT_YET
        new_values = series.values_from(before.intervals.end)
        if not waits and not holds(condition, limit, new_values).any():  # almost always: no copies
            unchanged = replace(before.intervals, end=series.count)
            return replace(before, version=series.version, generation=series.generation, intervals=unchanged)
        new = series.tail(before.intervals.end)
        steps, walls, values, starts = new.steps, new.walls, new.values, new.starts
    known = before.intervals.end
    intervals = extend(before.intervals, holds(condition, limit, values) & (walls >= since), starts)
    first = intervals.rows[len(before.steps) :] - known
    return RuleIntervals(
        series.version,
        series.generation,
        intervals,
        np.concatenate([before.steps, steps[first]]),
        np.concatenate([before.walls, walls[first]]),
        np.concatenate([before.values, values[first].astype(np.float64)]),
        _recovered(before.recovered, intervals, known, steps, values),
    )


def _recovered(before: Ints, intervals: Intervals, known: int, steps: Ints, values: Floats) -> Ints:
    """Return the first step after each interval with a value, `NOT_YET` if there is none. `before` are those
    of the intervals that were known. `steps` and `values` are the rows from row `known` on. NaN is neither
    above nor below a limit, so it ends an interval and is no recovery."""
    there = steps[~np.isnan(values)]
    rows = np.flatnonzero(~np.isnan(values))
    after = np.searchsorted(rows, intervals.rows + intervals.counts - known)
    recovered = np.append(there, NOT_YET)[after]
    recovered[: len(before)] = np.where(before == NOT_YET, recovered[: len(before)], before)
    return recovered


_BETWEEN: Final = 10  # points that end a stretch: of a scalar that flickers about a limit fewer lie between
_STRETCHES: Final = 20  # of one rule and scalar; the last one holds all later intervals


def stretches(intervals: Intervals) -> Ints:
    """Return the indices of the intervals at which a stretch begins: the first one, and each one ten points
    or more after the one before."""
    ends = intervals.rows + intervals.counts
    apart = intervals.rows[1:] - ends[:-1] >= _BETWEEN
    return np.flatnonzero(np.concatenate([[True], apart]))[:_STRETCHES]


def recoveries(state: RuleIntervals, first: Ints) -> tuple[int | None, ...]:
    """Return the step of the first value after each stretch, None without one. ``first`` are the intervals at
    which stretches begin."""
    last = state.recovered[np.append(first[1:], len(state.recovered)) - 1]
    return tuple(None if step == NOT_YET else step for step in last.tolist())


def series_of_rule(run: Run, tags: str) -> dict[str, ScalarSeries | FormulaSeries]:
    """Return the scalars of a run that match a rule's name or pattern, or its formula, by name. {} if none
    matches. An invalid formula, which only an edited file can hold, matches nothing."""
    if not tags.startswith(PREFIX) or tags in run.scalars:
        return {tag: series for tag, series in run.scalars.items() if matches(tag, tags)}
    try:
        series = formula_series(run, parse_formula(tags.removeprefix(PREFIX)))
    except BadFormula:
        return {}
    return {tags: series} if series else {}


def matches(tag: str, pattern: str) -> bool:
    """Return True if the tag is `pattern` or matches it, with `*` and `?` as wildcards."""
    return pattern in ("*", tag) or fnmatchcase(tag, pattern.replace("[", "[[]"))


def silent_since(run: Run, minutes: float, now: float) -> float | None:
    """Return the Unix time at which a run had been silent for `minutes`. Return None if that is after
    `now`, or if the run has ended, has no file, or is still being read. A training that was killed or
    hangs has not closed its files, so it has not ended."""
    when = run.last_event + 60 * minutes
    unread = any(file.read + file.pending < file.size and not file.error for file in run.files)
    return when if when <= now and run.files and not (run.finished or unread) else None


_KINDS: Final = get_args(OutlierKind)
# Factor by which the points of a job grow before it is evaluated again. An evaluation reads all points, so
# that each point of a growing job is read about a hundred times.
_GROWTH: Final = 1.01
_Key: TypeAlias = tuple[str, str]  # job and tag


@dataclass(frozen=True, slots=True)
class Divergences:
    """Divergences of one tag of one rank, or of two ranks that differ from each other."""

    run: str
    other: str  # run of the other of two ranks, else ""
    ranks: tuple[int | None, ...]  # [1 or 2]
    tag: str
    strays: tuple[RankOutlier, ...]  # [n]
    walls: Doubles  # [n] Unix seconds, of the first step of each

    def since(self, wall: float) -> "Divergences | None":
        """Return the divergences that began at Unix time `wall` or later, or None if there are none."""
        if all(self.walls >= wall):
            return self
        rows = np.flatnonzero(self.walls >= wall).tolist()
        strays = tuple(self.strays[row] for row in rows)
        return replace(self, strays=strays, walls=self.walls[rows]) if rows else None

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
    ranks: tuple[Divergences, ...]


class JobWatch:
    """Cache of the divergences of all jobs. A job is evaluated again once its points have grown by 1 %."""

    def __init__(self) -> None:
        self._judged: dict[_Key, _Judged] = {}

    def outliers(self, runs: Iterable[Run], rules: Mapping[str, Rule]) -> Iterator[tuple[str, Divergences]]:
        """Yield (rule id, divergences of a rank and tag) for each enabled `strays` rule and each job of
        several ranks, from the rule's `since` on.
        """
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
            for rule_id, rule in wanted.items() if len(members) > 1 else ():
                held = [(run, series_of_rule(run, rule.tags)) for run in members]
                for tag in sorted({tag for _, scalars in held for tag in scalars}):
                    holders = [(run, scalars[tag]) for run, scalars in held if tag in scalars]
                    if len(holders) < 2:
                        continue
                    key = (job, tag)
                    judged[key] = judged.get(key) or _renewed(self._judged.get(key), holders, tag)
                    yield from (
                        (rule_id, new) for rank in judged[key].ranks if (new := rank.since(rule.since))
                    )
        self._judged = judged


def _renewed(
    before: _Judged | None, holders: Sequence[tuple[Run, ScalarSeries | FormulaSeries]], tag: str
) -> _Judged:
    """Return the outliers among the curves of a tag, or ``before`` if these have few new points."""
    runs, series = [run for run, _ in holders], [member for _, member in holders]
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
        Divergences(
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
