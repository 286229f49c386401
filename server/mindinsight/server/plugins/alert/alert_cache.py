"""Cache of the alerts of all runs, and the list of alerts, newest first. Does not import FastAPI."""

from __future__ import annotations

import time
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Final

import numpy as np
from pydantic import BaseModel, Field
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers, State
from starlette.responses import JSONResponse, Response

from mindinsight.server.cancellation import checked
from mindinsight.server.claims import Claim, format_number
from mindinsight.server.compute.json_values import non_finite_as_text
from mindinsight.server.compute.lru_cache import LruCache
from mindinsight.server.curves.levels import non_finite
from mindinsight.server.curves.rank_anomaly import RankOutlier, outlier_claim
from mindinsight.server.errors import Gone
from mindinsight.server.formats.payloads.media_payloads import Alert, alert
from mindinsight.server.formats.read_limits import UnreadableError
from mindinsight.server.http.service import Service
from mindinsight.server.plugins.alert import rule_evaluation
from mindinsight.server.store.file_names import is_tensorboard
from mindinsight.server.store.mounts import dump_id
from mindinsight.server.store.run import Run, Snapshot, last_step
from mindinsight.server.store.series import ReferenceSeries
from mindinsight.server.types import LEVELS, Doubles, Ints, Level
from mindinsight.server.workspace.alert_rules import Rule

# Newest alerts of the training code that are read per run, as many as one response has.
MOST_RECORDED: Final = 1000


@dataclass(frozen=True, slots=True)
class Source:
    """Alerts of one run with the same origin and level, in the order recorded."""

    run: str
    level: Level
    steps: Ints  # [n]
    walls: Doubles  # [n] Unix seconds
    keys: Ints  # [n] unique within this run and origin
    rule: str = ""  # id; empty if the training code raised the alerts
    tag: str = ""
    values: Doubles | None = None  # [n] of the first point, for rules over scalars
    counts: Ints | None = None  # [n] number of points that fulfil the rule, for rules over scalars
    ongoing: bool = False  # the last alert has not ended and may grow, which it cannot in a finished run
    recovered: tuple[int | None, ...] = ()  # [n] steps of the first value after the points of each alert
    contents: tuple[Alert, ...] = ()  # [n] of the training code
    strays: tuple[RankOutlier, ...] = ()  # [n] for rules over the ranks of a job
    ranks: tuple[int | None, ...] = ()  # of ``strays``: the rank, or the two that differ from each other
    other: str = ""  # run of the second of ``ranks``
    placeholders: bool = False  # all points are taken for values that were not measured

    @property
    def runs(self) -> tuple[str, ...]:
        """Return the run, and for two ranks that differ also the other run."""
        return (self.run, self.other) if self.other else (self.run,)


@dataclass(frozen=True)
class _RunAlerts:
    """Alerts of one run, and the version of the run and the rules that they were computed from."""

    known: tuple[int, Mapping[str, Rule]] | None = None
    watched: Mapping[tuple[str, str], rule_evaluation.RuleIntervals] = field(default_factory=dict)
    recorded: tuple[int, tuple[Source, ...]] = (-1, ())
    sources: tuple[Source, ...] = ()

    def renewed(self, run: Run, rules: Mapping[str, Rule]) -> _RunAlerts:
        """Return the alerts for the current state of the run and rules, reusing everything unchanged."""
        version, before = self.known or (-1, {})
        if version == run.version and before == rules:
            return self
        series, recorded = _series(run), self.recorded
        if series is None:
            recorded = (-1, ())
        elif series.version != recorded[0]:
            recorded = (series.version, tuple(_recorded(run.id, series)))
        unchanged = {rule_id for rule_id, rule in rules.items() if before.get(rule_id) == rule}
        watched = dict(self._watch(run, rules, unchanged))
        alerting = ((key, state) for key, state in watched.items() if len(state.steps))
        shown = (*recorded[1], *(_source(run, key, rules[key[0]], state) for key, state in alerting))
        return _RunAlerts((run.version, rules), watched, recorded, shown)

    def _watch(
        self, run: Run, rules: Mapping[str, Rule], unchanged: set[str]
    ) -> Iterator[tuple[tuple[str, str], rule_evaluation.RuleIntervals]]:
        for rule_id, rule in rules.items():
            condition = rule.condition
            if condition == "silent" or condition == "strays" or condition == "failed":  # noqa: PLR1714 (narrows)
                continue
            if not rule.on:
                continue
            for tag, series in rule_evaluation.series_of_rule(run, rule.tags).items():
                before = self.watched.get((rule_id, tag)) if rule_id in unchanged else None
                yield (
                    (rule_id, tag),
                    rule_evaluation.rule_intervals(before, series, condition, rule.limit, rule.since),
                )


class AlertCache:
    """Thread-safe cache of the alerts of a server, by run."""

    def __init__(self) -> None:
        self._sources_cache = LruCache[list[Source]](0)
        self._runs: Mapping[str, _RunAlerts] = {}
        self._jobs = rule_evaluation.JobWatch()

    def sources(self, snapshot: Snapshot, rules: Mapping[str, Rule], now: float) -> list[Source]:
        """Return the sources of all alerts at Unix time `now`, in a deterministic order. A source has the
        alerts of one run with the same origin: the training code, or a rule and, if it is about scalars,
        one of them."""
        key = id(snapshot), tuple(rules.items())
        sources = self._sources_cache.get(key, lambda: self._sources(snapshot, rules))
        return [*sources, *_silences(snapshot.runs.values(), rules, now)]

    def _sources(self, snapshot: Snapshot, rules: Mapping[str, Rule]) -> list[Source]:
        before = self._runs
        runs = {
            run_id: before.get(run_id, _RunAlerts()).renewed(run, rules)
            for run_id, run in sorted(snapshot.runs.items())
        }
        self._runs = runs
        sources = [source for run_alerts in runs.values() for source in run_alerts.sources]
        for rule_id, ranks in self._jobs.outliers(snapshot.runs.values(), rules):
            sources.append(_stray_source(rule_id, rules[rule_id], ranks))
        sources += (source for run in snapshot.runs.values() for source in _failures(run, rules))
        return sources


def left_out(sources: Iterable[Source], runs: Iterable[Run]) -> int:
    """Return the number of alerts of the training code in these runs that are not in `sources`."""
    counts = {run.id: series.count for run in runs if (series := _series(run)) is not None}
    return sum(counts.values()) - sum(len(source.contents) for source in sources if source.run in counts)


def _series(run: Run) -> ReferenceSeries | None:
    return run.references.get("alert", {}).get("")


def _recorded(run: str, series: ReferenceSeries) -> Iterator[Source]:
    """Yield the alerts of the training code, one source for each level."""
    first = max(series.count - MOST_RECORDED, 0)
    read = [(row, content) for row in range(first, series.count) if (content := _content(series, row))]
    for level in LEVELS:
        chosen = [(row, content) for row, content in read if content.level == level]
        if chosen:
            rows = np.array([row for row, _ in chosen])
            contents = tuple(content for _, content in chosen)
            yield Source(run, level, series.steps[rows], series.walls[rows], rows, contents=contents)


def _content(series: ReferenceSeries, row: int) -> Alert | None:
    """Return one alert, or None if its bytes are unreadable or removed. The next snapshot reports that."""
    try:
        return alert(series.read(row))
    except (Gone, UnreadableError):
        return None


def _source(run: Run, key: tuple[str, str], rule: Rule, state: rule_evaluation.RuleIntervals) -> Source:
    """Return the alerts of a rule about a scalar, one for each stretch of its intervals. Those about
    placeholders are for information only."""
    intervals = state.intervals
    lost = non_finite(run.scalars[key[1]].line().values) if rule.condition == "not_finite" else None
    placeholders = lost is not None and lost.first is None
    first = rule_evaluation.stretches(intervals)
    return Source(
        run.id,
        "info" if placeholders else rule.level,
        state.steps[first],
        state.walls[first],
        intervals.rows[first],
        rule=key[0],
        tag=key[1],
        values=state.values[first],
        counts=np.add.reduceat(intervals.counts, first),
        ongoing=intervals.ongoing and not run.finished,
        recovered=rule_evaluation.recoveries(state, first),
        placeholders=placeholders,
    )


def _stray_source(rule_id: str, rule: Rule, rank_strays: rule_evaluation.Divergences) -> Source:
    return Source(
        rank_strays.run,
        rule.level,
        rank_strays.steps,
        rank_strays.walls,
        rank_strays.keys,
        rule=rule_id,
        tag=rank_strays.tag,
        counts=np.array([stray.count for stray in rank_strays.strays], np.int64),
        strays=rank_strays.strays,
        ranks=rank_strays.ranks,
        other=rank_strays.other,
    )


def _silences(runs: Iterable[Run], rules: Mapping[str, Rule], now: float) -> Iterator[Source]:
    wanted = {rule_id: rule for rule_id, rule in rules.items() if rule.on and rule.condition == "silent"}
    for run in runs if wanted else ():
        for rule_id, rule in wanted.items():
            since = rule_evaluation.silent_since(run, rule.limit, now)
            if since is not None and since >= rule.since:
                key = np.array([int(run.updated)])
                at = np.array([last_step(run) or 0]), np.array([since])
                yield Source(run.id, rule.level, *at, key, rule=rule_id, ongoing=True)


def _failures(run: Run, rules: Mapping[str, Rule]) -> Iterator[Source]:
    """Yield the alerts that an exception ended the training of a run, one for each rule."""
    for rule_id, rule in rules.items() if run.finished and run.failure else ():
        if rule.on and rule.condition == "failed" and run.last_event >= rule.since:
            at = np.array([last_step(run) or 0]), np.array([run.last_event])
            yield Source(run.id, rule.level, *at, np.array([int(run.last_event)]), rule=rule_id)


def preview_claim(snapshot: Snapshot, rule: Rule, now: float) -> Claim:
    """Return the claim about the number of runs in which a rule, even if it is off, fires on all points
    from its `since` on. The claim is unknown while runs are being read, or if no run has a scalar of the
    rule. A rule for silence is evaluated at Unix time ``now`` only. Nothing is stored."""
    rules, runs = {"": replace(rule, on=True)}, list(snapshot.runs.values())
    of_runs = rule.condition in ("silent", "failed")
    if unread := sum(run.read < run.total for run in runs):
        return Claim("claim.rule.reading", "unknown", {"unread": unread, "count": len(runs)})
    if not runs or not (of_runs or any(rule_evaluation.series_of_rule(run, rule.tags) for run in runs)):
        return Claim("claim.rule.nothing", "unknown")
    fired = {
        run.id
        for run in checked(runs)
        for _, state in _RunAlerts()._watch(run, rules, set())
        if len(state.steps)
    }
    fired |= {
        name
        for _, rank in rule_evaluation.JobWatch().outliers(runs, rules)
        for name in (rank.run, rank.other)
    }
    fired |= {source.run for source in _silences(runs, rules, now)}
    fired |= {source.run for run in runs for source in _failures(run, rules)}
    facts = {"n": len(fired - {""}), "count": len(runs)}
    return (
        Claim("claim.rule.fires", "found", facts) if facts["n"] else Claim("claim.rule.none", "clear", facts)
    )


MOST: Final = 1000  # alerts in one response
MOST_RUNS: Final = 1000  # in a query, so that it fits into a URL
MOST_SKIPPED: Final = 100_000  # alerts before a page; the newest are read first


class AlertsQuery(BaseModel):
    """Query of alerts: runs, levels, time and page."""

    run: list[str] | None = Field(default=None, description="run ids; default: all", max_length=MOST_RUNS)
    level: list[Level] | None = Field(default=None, description="default: all")
    since: float | None = Field(default=None, description="Unix seconds: only later alerts")
    skip: int = Field(default=0, ge=0, le=MOST_SKIPPED)
    limit: int = Field(default=100, ge=0, le=MOST)
    without: list[str] | None = Field(default=None, description="run ids to exclude", max_length=MOST_RUNS)
    archived: bool = Field(default=True, description="with alerts of archived runs")


def alert_list(service: Service, query: AlertsQuery) -> dict[str, Any]:
    """Return the `alerts` that `query` selects, newest first, their `total` on all pages, the counts
    `left_out` and `archived`, and the time `now`, as JSON. The route `/v2/alert/list` describes the fields.
    """
    now = time.time()
    rules, snapshot = service.workspace.rules.all(), service.store.snapshot()
    sources = service.parts.of(AlertCache).sources(snapshot, rules, now)
    run, without, level = query.run, query.without or (), query.level
    chosen = [
        source
        for source in sources
        if (run is None or any(member in run for member in source.runs))
        and not any(member in without for member in source.runs)
        and (not level or source.level in level)
    ]
    notes = {} if query.archived else service.workspace.notes.all()
    archived = {run_id for run_id, note in notes.items() if note.archived}
    hidden = [source for source in chosen if archived.issuperset(source.runs)]
    chosen = [source for source in chosen if not archived.issuperset(source.runs)]
    walls, later = _later(chosen, query.since)
    newest = later[np.argsort(-walls[later], kind="stable")][query.skip : query.skip + query.limit]
    known = {dump for record in snapshot.runs.values() for dump in record.dumps}
    shown = [
        {
            **_shown(source, row, rules.get(source.rule), snapshot.runs.get(source.run)),
            **_dump_json(source, row, snapshot.runs.get(source.run), known),
            "replaced": _is_replaced(source, row, snapshot.runs.get(source.run)),
        }
        for source, row in _located(chosen, newest)
    ]
    runs = [record for record in snapshot.runs.values() if run is None or record.id in run]
    counts = {"left_out": left_out(sources, runs), "archived": len(_later(hidden, query.since)[1])}
    return {"alerts": shown, "total": len(later), **counts, "now": now}


def _later(sources: Sequence[Source], since: float | None) -> tuple[Doubles, Ints]:
    """Return the times of all alerts of the sources, and the indices of those after `since`."""
    walls = np.nan_to_num(np.concatenate([np.zeros(0), *(source.walls for source in sources)]), nan=-1.0)
    return walls, np.flatnonzero(walls > (-np.inf if since is None else since))


async def alerts(state: State, headers: Headers, query: AlertsQuery) -> Response:
    """Return `alerts` of the training code and of rules, newest first. `total` is their number on all pages.

    A rule over scalars raises one alert for each stretch of a run's scalar, 20 at most. It stands for
    `count` points from `step` on, with up to 9 others between them, and `value` is the first of them.
    `ongoing` is true if the newest point of a run that goes on is among them. `recovery` is the claim at
    which step the scalar recovered, null before that. Non-finite values are text. `dump` is the dump of this
    step that the training code recorded with the alert, of rank `dump_rank`. `left_out` counts recorded
    alerts of any level that are not included because they cannot be read, or because their run has too many
    newer ones. `archived` counts alerts that are not included because their run is archived.
    """
    return JSONResponse(await run_in_threadpool(alert_list, state.service, query))


def _located(sources: Sequence[Source], numbers: Ints) -> Iterator[tuple[Source, int]]:
    """Yield source and row of the alerts with these numbers in the concatenation of all `sources`."""
    ends = np.cumsum([len(source.walls) for source in sources])
    for index, number in zip(np.searchsorted(ends, numbers, side="right"), numbers.tolist(), strict=True):
        source = sources[index]
        yield source, number - int(ends[index]) + len(source.walls)


def _dump_json(source: Source, row: int, run: Run | None, known: Container[str]) -> dict[str, Any]:
    """Return the id of the dump that shows an alert and its rank, both None if there is none."""
    relative = source.contents[row].dump if source.contents else ""
    dump = dump_id(run, relative, known) if run else None
    return {"dump": dump, "dump_rank": (run.rank or 0) if run and dump else None}


def _is_replaced(source: Source, row: int, run: Run | None) -> bool:
    """Return True if a restart recorded another value for the first step of an alert's points."""
    series = run.scalars.get(source.tag) if run else None
    if source.values is None or series is None:
        return False
    line, step = series.line(), source.steps[row]
    at = int(np.searchsorted(line.steps, step))
    recorded = at < len(line.steps) and line.steps[at] == step
    return not (recorded and np.array_equal(line.values[at], source.values[row], equal_nan=True))


def _shown(source: Source, row: int, rule: Rule | None, run: Run | None) -> dict[str, Any]:
    """Return one alert as JSON, with the fields that the route describes."""
    last = row == len(source.steps) - 1
    back = source.recovered[row] if source.recovered else None
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
        "recovery": None if back is None else recovery_claim(back).as_json(),
        "stray": asdict(source.strays[row]) if source.strays else None,
        "other_run": source.other or None,
        "claim": claim.as_json() if rule and (claim := rule_claim(source, row, rule, run)) else None,
    }


def recovery_claim(step: int) -> Claim:
    """Return the claim that an alert's scalar has recovered at ``step``."""
    return Claim("claim.alert.recovered", "clear", {"step": step})


def rule_claim(source: Source, row: int, rule: Rule, run: Run | None) -> Claim | None:
    """Return the claim of an alert of ``rule``, or None if ``rule`` was changed and no longer fits it."""
    facts: dict[str, Any] = {"tag": source.tag}
    if source.strays and rule.condition == "strays":
        facts["claim"] = outlier_claim(source.strays[row])
        if source.other:
            return Claim("claim.alert.pair", "found", {**facts, "ranks": list(source.ranks)})
        return Claim("claim.alert.rank", "found", {**facts, "rank": source.ranks[0]})
    if rule.condition == "silent":
        minutes = int(rule.limit) if rule.limit.is_integer() else rule.limit
        if run is not None and all(is_tensorboard(file.name) for file in run.files):
            return Claim("claim.alert.silent_unknown", "unknown", {"n": minutes})
        return Claim("claim.alert.silent", "found", {"n": minutes})
    if rule.condition == "failed":
        return Claim("claim.alert.failed", "found", {"error": run.failure}) if run and run.failure else None
    if source.values is None or rule.condition == "strays":
        return None
    facts["value"] = format_number(float(source.values[row]))
    if rule.condition != "not_finite":
        if facts["value"] == format_number(rule.limit):  # four digits do not tell them apart
            facts["value"] = f"{float(source.values[row]):.9g}"
        return Claim(f"claim.alert.{rule.condition}", "found", {**facts, "limit": rule.limit})
    if source.placeholders:
        return Claim("claim.alert.placeholders", "note", facts)
    if len(kinds := _non_finite_kinds(source, row, run)) > 1:
        return Claim("claim.alert.non_finite_kinds", "found", {"tag": source.tag, "kinds": kinds})
    return Claim("claim.alert.non_finite", "found", facts)


def _non_finite_kinds(source: Source, row: int, run: Run | None) -> list[str]:
    """Return NaN, +Inf and −Inf with their counts, as far as they are among the points of an alert."""
    series = run.scalars.get(source.tag) if run else None
    if series is None or source.counts is None:
        return []
    values = series.values_from(int(source.keys[row]))
    values = values[: int(source.keys[row + 1] - source.keys[row])] if row + 1 < len(source.keys) else values
    counts = {"NaN": np.isnan(values), "+Inf": np.isposinf(values), "−Inf": np.isneginf(values)}
    return [f"{count} × {name}" for name, held in counts.items() if (count := int(held.sum()))]
