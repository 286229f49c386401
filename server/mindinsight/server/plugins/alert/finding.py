"""Every alert there is, run by run: kept from one question to the next, renewed where something is new."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from mindinsight.server.curves.rank_differences import Stray
from mindinsight.server.errors import Gone
from mindinsight.server.formats.payloads import Alert, alert
from mindinsight.server.formats.unreadable import UnreadableError
from mindinsight.server.plugins.alert.jobs import JobWatch, RankStrays
from mindinsight.server.plugins.alert.watching import Watched, silent_since, tags_of, watched
from mindinsight.server.store.run import Run, Snapshot
from mindinsight.server.store.series import ReferenceSeries
from mindinsight.server.types import LEVELS, Doubles, Ints, Level
from mindinsight.server.workspace.rules import Rule

MOST_RECORDED: Final = 1000  # alerts of the training code of one run: the newest

_NO_ROWS: Final = np.zeros(0, np.int64)


@dataclass(frozen=True, slots=True)
class Source:
    """Alerts of one run that have one origin and one level, in the order recorded."""

    run: str
    level: Level
    steps: Ints  # [n]
    walls: Doubles  # [n] Unix seconds
    keys: Ints  # [n] what tells one from the others of this run and origin
    rule: str = ""  # id; empty when the training code raised them
    tag: str = ""
    values: Doubles | None = None  # [n] of the first point, for rules over scalars
    counts: Ints | None = None  # [n] points, for rules over scalars
    ongoing: bool = False  # whether the last one has not ended
    contents: tuple[Alert, ...] = ()  # [n] of the training code
    strays: tuple[Stray, ...] = ()  # [n] for rules over the ranks of a job


class _OfRun:
    """What was found in one run."""

    def __init__(self) -> None:
        self.known: tuple[int, Mapping[str, Rule]] = (-1, {})
        self.watched: dict[tuple[str, str], Watched] = {}
        self.recorded: tuple[int, tuple[Source, ...]] = (-1, ())
        self.sources: tuple[Source, ...] = ()

    def renew(self, run: Run, rules: Mapping[str, Rule]) -> None:
        version, before = self.known
        if version == run.version and before == rules:
            return
        series = _series(run)
        if series is None:
            self.recorded = (-1, ())
        elif series.version != self.recorded[0]:
            self.recorded = (series.version, tuple(_recorded(run.id, series)))
        same = {one for one, rule in rules.items() if before.get(one) == rule}
        self.watched = dict(self._watch(run, rules, same))
        self.known = (run.version, rules)
        found = (_source(run.id, key, rules[key[0]], one) for key, one in self.watched.items())
        self.sources = (*self.recorded[1], *(one for one in found if len(one.steps)))

    def _watch(
        self, run: Run, rules: Mapping[str, Rule], same: set[str]
    ) -> Iterator[tuple[tuple[str, str], Watched]]:
        for rule_id, rule in rules.items():
            condition = rule.condition
            if not rule.on or condition == "silent" or condition == "strays":  # noqa: PLR1714 (narrows the type)
                continue
            for tag in tags_of(run, rule.tags):
                before = self.watched.get((rule_id, tag)) if rule_id in same else None
                yield (rule_id, tag), watched(before, run.scalars[tag], condition, rule.limit)


class Finding:
    """The alerts of one server; for any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._runs: dict[str, _OfRun] = {}
        self._jobs = JobWatch()

    def sources(self, snapshot: Snapshot, rules: Mapping[str, Rule], now: float) -> list[Source]:
        """All alerts at Unix time ``now``, in an order that depends on nothing but them."""
        with self._lock:
            self._runs = {run: self._runs.get(run, _OfRun()) for run in sorted(snapshot.runs)}
            for run_id, one in self._runs.items():
                one.renew(snapshot.runs[run_id], rules)
            found = [source for one in self._runs.values() for source in one.sources]
            for rule_id, ranks in self._jobs.strays(snapshot.runs.values(), rules):
                found.append(_stray_source(rule_id, rules[rule_id], ranks))
        return [*found, *_silences(snapshot.runs.values(), rules, now)]


def left_out(found: Iterable[Source], runs: Iterable[Run]) -> int:
    """How many alerts of the training code these runs have that are not among those ``found``."""
    counts = {run.id: series.count for run in runs if (series := _series(run)) is not None}
    return sum(counts.values()) - sum(len(one.contents) for one in found if one.run in counts)


def _series(run: Run) -> ReferenceSeries | None:
    return run.references.get("alert", {}).get("")


def _recorded(run: str, series: ReferenceSeries) -> Iterator[Source]:
    """What the training code said: one source for each level."""
    first = max(series.count - MOST_RECORDED, 0)
    read = [(row, content) for row in range(first, series.count) if (content := _content(series, row))]
    for level in LEVELS:
        chosen = [(row, content) for row, content in read if content.level == level]
        if chosen:
            rows = np.array([row for row, _ in chosen])
            contents = tuple(content for _, content in chosen)
            yield Source(run, level, series.steps[rows], series.walls[rows], rows, contents=contents)


def _content(series: ReferenceSeries, row: int) -> Alert | None:
    """One alert; None where its bytes are none, or are no longer there: the next snapshot knows."""
    try:
        return alert(series.read(row))
    except (Gone, UnreadableError):
        return None


def _source(run: str, key: tuple[str, str], rule: Rule, one: Watched) -> Source:
    found = one.episodes
    return Source(
        run,
        rule.level,
        one.steps,
        one.walls,
        found.rows,
        rule=key[0],
        tag=key[1],
        values=one.values,
        counts=found.counts,
        ongoing=found.ongoing,
    )


def _stray_source(rule_id: str, rule: Rule, found: RankStrays) -> Source:
    return Source(
        found.run,
        rule.level,
        found.steps,
        found.walls,
        found.keys,
        rule=rule_id,
        tag=found.tag,
        counts=np.array([stray.count for stray in found.strays], np.int64),
        strays=found.strays,
    )


def _silences(runs: Iterable[Run], rules: Mapping[str, Rule], now: float) -> Iterator[Source]:
    wanted = {one: rule for one, rule in rules.items() if rule.on and rule.condition == "silent"}
    for run in runs if wanted else ():
        for rule_id, rule in wanted.items():
            since = silent_since(run, rule.limit, now)
            if since is not None:
                step = max((series.last_step for series in run.scalars.values()), default=0)
                key = np.array([int(run.updated)])
                at = np.array([step]), np.array([since])
                yield Source(run.id, rule.level, *at, key, rule=rule_id, ongoing=True)
