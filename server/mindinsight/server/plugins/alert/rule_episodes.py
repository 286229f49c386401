"""Incremental evaluation of one rule over one series: where the condition begins to hold."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Final

import numpy as np

from mindinsight.server.curves.episodes import NO_EPISODES, Condition, Episodes, extended, holds
from mindinsight.server.store.run import Run
from mindinsight.server.store.series import ScalarSeries
from mindinsight.server.types import Doubles, Floats, Ints


@dataclass(frozen=True, slots=True)
class RuleEpisodes:
    """The episodes of a series so far, with the first point of each."""

    version: int  # of the series that was looked at
    generation: int
    episodes: Episodes
    steps: Ints  # [e]
    walls: Doubles  # [e] Unix seconds
    values: Doubles  # [e]


_NOTHING: Final = RuleEpisodes(-1, -1, NO_EPISODES, NO_EPISODES.rows, np.zeros(0), np.zeros(0))


def rule_episodes(
    before: RuleEpisodes | None, series: ScalarSeries, condition: Condition, limit: float
) -> RuleEpisodes:
    """The episodes of the whole series; only rows behind those of ``before`` are looked at.

    ``before`` is what this gave for an older state of the series and the same condition, None at first.
    """
    if before is None or before.generation != series.generation or before.episodes.end > series.count:
        before = _NOTHING
    if before.version == series.version:
        return before
    known = before.episodes.end
    if not holds(condition, limit, _values_behind(series, known)).any():  # nearly always: kept quick
        nothing_new = Episodes(before.episodes.rows, before.episodes.counts, series.count)
        first_points = before.steps, before.walls, before.values
        return RuleEpisodes(series.version, series.generation, nothing_new, *first_points)
    new = series.tail(known)
    episodes = extended(before.episodes, holds(condition, limit, new.values), new.starts)
    first = episodes.rows[len(before.steps) :] - known
    return RuleEpisodes(
        series.version,
        series.generation,
        episodes,
        np.concatenate([before.steps, new.steps[first]]),
        np.concatenate([before.walls, new.walls[first]]),
        np.concatenate([before.values, new.values[first].astype(np.float64)]),
    )


def _values_behind(series: ScalarSeries, row: int) -> Floats:
    """The values from ``row`` on."""
    last = series.parts[-1].values
    first = series.count - len(last)
    return last[row - first :] if row >= first else series.tail(row).values


def tags_of(run: Run, pattern: str) -> list[str]:
    """The scalars that a rule is about, by name or by a pattern with ``*`` and ``?``."""
    return [tag for tag in run.scalars if matches(tag, pattern)]


def matches(tag: str, pattern: str) -> bool:
    """Whether ``pattern`` is the tag, or fits it."""
    return pattern in ("*", tag) or fnmatchcase(tag, pattern.replace("[", "[[]"))


def silent_since(run: Run, minutes: float, now: float) -> float | None:
    """When a run had been silent for so long, in Unix seconds; None when it is not, or has ended.

    A training that was killed, or hangs, has not closed its files.
    """
    when = run.last_event + 60 * minutes
    return when if when <= now and run.files and not run.finished else None
