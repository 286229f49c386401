"""Report of one run: collects its content and alerts, and renders the page."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from jinja2 import Environment, FileSystemLoader, select_autoescape

from mindinsight.server.errors import Gone
from mindinsight.server.formats.dumps import open_dump
from mindinsight.server.formats.dumps.dump_types import Dump
from mindinsight.server.formats.lineage import TRAIN_FACTS
from mindinsight.server.formats.payloads.media_payloads import Alert, alert
from mindinsight.server.formats.read_limits import UnreadableError
from mindinsight.server.report import report_content
from mindinsight.server.report.fault_sections import DumpedStep, fault_section
from mindinsight.server.report.report_content import (
    FaultSection,
    Progress,
    ReportSource,
    Texts,
    moment,
    number,
)
from mindinsight.server.store.mounts import dump_id
from mindinsight.server.store.recording_gaps import clock_claims, recording_claims
from mindinsight.server.store.run import Run, file_claims, last_step, state_of, torn_files
from mindinsight.server.store.series import ScalarSeries

_TEMPLATES: Final = Path(str(files("mindinsight.web"))) / "templates"


def _render_page(content: dict[str, Any], t: Texts) -> str:
    """Return the report as one HTML document without scripts."""
    loader, escape = FileSystemLoader(_TEMPLATES), select_autoescape()
    environment = Environment(loader=loader, autoescape=escape, trim_blocks=True, lstrip_blocks=True)
    page = environment.get_template("report.html")
    return page.render(report=content, t=t, width=report_content.WIDTH, height=report_content.HEIGHT)


MOST: Final = 1000  # first alerts of a run that are read


@dataclass(frozen=True, slots=True)
class RecordedAlert:
    """Alert with its run, step and wall time in Unix seconds."""

    run: Run
    step: int
    wall: float
    content: Alert


def recorded_alerts(run: Run) -> list[RecordedAlert]:
    """Return the first 1000 alerts of a run in the order recorded, without unreadable ones, [] without
    alerts."""
    series = run.references.get("alert", {}).get("")
    alerts = []
    for row in range(min(series.count, MOST) if series else 0):
        assert series is not None
        try:
            content = alert(series.read(row))
        except (Gone, UnreadableError):
            continue
        alerts.append(RecordedAlert(run, int(series.steps[row]), float(series.walls[row]), content))
    return alerts


MOST_FAULTS: Final = 5  # dumped steps of a report, each of which is measured
MOST_CURVES: Final = 24  # of a report
_SHOWN: Final = ("alert", "graph")  # kinds that a report shows besides scalars
MOST_ALERTS: Final = 50  # of a report


class Page(NamedTuple):
    """Finished report as HTML."""

    html: str


class StoryPart(NamedTuple):
    """Part of the beginning of a report: a title, sentences, and the line of code they are about."""

    title: str
    sentences: Sequence[str]
    line: str = ""  # file:line
    code: str = ""


def make_report(
    source: ReportSource, language: str, story: Sequence[StoryPart] = ()
) -> Iterator[Progress | Page]:
    """Yield progress, and the page at the end, which begins with `story`. It lists unreadable dumps."""
    t = Texts(language)
    alerts = [alert for run in source.ranks for alert in recorded_alerts(run)]
    alerts.sort(key=lambda alert: alert.wall)
    faults: list[FaultSection] = []
    damage: list[str] = []
    for dump_step in _places(source, alerts, damage, t):
        try:
            for part in fault_section(source, dump_step, t):
                if isinstance(part, Progress):
                    yield part
                else:
                    faults.append(part)
        except (UnreadableError, OSError) as error:
            damage.append(f"{dump_step.id}: {_reason(error, t)}")
    step = next((alert.step for alert in alerts if alert.content.level == "error"), None)
    scalars = sorted(source.run.scalars.items())
    curves: list[report_content.Curve] = []
    scalars = scalars[:MOST_CURVES]
    for done, (tag, series) in enumerate(scalars, 1):
        curve = report_content.curve_of(tag, series.line(), step)
        curves += [curve] if curve else []
        yield Progress("report.drawing", done, len(scalars))
    content = _content(source, alerts, faults, curves, damage, step, language) | {"story": story}
    yield Page(_render_page(content, t))


def _places(
    source: ReportSource, alerts: list[RecordedAlert], damage: list[str], t: Texts
) -> Iterator[DumpedStep]:
    """Yield the dumped steps to report: those named by alerts, else the first step of each dump of the
    run.
    """
    known = {dump for run in source.runs.values() for dump in run.dumps}
    named = [(dump_id(alert.run, alert.content.dump, known), alert) for alert in alerts]
    steps = dict.fromkeys((dump, alert.step) for dump, alert in named if dump is not None)
    unnamed = [dump for dump in source.run.dumps if dump not in {dump for dump, _ in steps}]
    opened: dict[str, Dump | None] = {}
    for dump, step in [*steps, *((dump, None) for dump in unnamed)][:MOST_FAULTS]:
        if dump not in opened:
            opened[dump] = _opened(source, dump, damage, t)
        dump_step = opened[dump]
        if dump_step is not None and dump_step.steps():
            yield DumpedStep(dump_step, dump, dump_step.steps()[0] if step is None else step)


def _opened(source: ReportSource, dump: str, damage: list[str], t: Texts) -> Dump | None:
    try:
        return open_dump(source.path_of(dump))
    except (UnreadableError, OSError) as error:
        damage.append(f"{dump}: {_reason(error, t)}")
        return None


def _reason(error: Exception, t: Texts) -> str:
    return t(error.reason) if isinstance(error, UnreadableError) else type(error).__name__


def _content(
    source: ReportSource,
    alerts: list[RecordedAlert],
    faults: list[FaultSection],
    curves: list[report_content.Curve],
    damage: list[str],
    step: int | None,
    language: str,
) -> dict[str, Any]:
    """Return the values with which the template of a report is filled in. `step` is the step of the first
    alert of level error."""
    run, t, lineage = source.run, Texts(language), source.run.lineage
    scalars = sorted(run.scalars.items())
    now = time.time()
    train = lineage.train if lineage else None
    recorded = [(name, getattr(train, name)) for name in TRAIN_FACTS] if train else []
    own = [(name, value) for name, value in recorded if value is not None]
    return {
        "language": language,
        "name": run.name,
        "facts": _facts(run, now, t, source.ranks),
        "settings": [
            *((t(f"lineage.column.{name}"), _shown(value)) for name, value in own),
            *((name, _shown(value)) for name, value in (lineage.user_defined if lineage else {}).items()),
        ],
        "results": [(name, _shown(value)) for name, value in (lineage.metrics if lineage else {}).items()],
        "alerts": [_alert(alert, t) for alert in alerts[:MOST_ALERTS]],
        "non_finite": list(filter(None, (_describe_non_finite(*item, t) for item in scalars))),
        "alerts_left_out": max(len(alerts) - MOST_ALERTS, 0),
        "curves": curves,
        "curves_left_out": max(len(run.scalars) - MOST_CURVES, 0),
        "no_faults": "report.unread_dumps" if run.dumps else "report.no_faults",
        "faults": faults,
        "step": step,
        "checkpoint": (train.model_path or "") if train else "",
        "damage": [*damage, *_unread(run, now, t)],
        "version": version("mindinsight"),
        "made": moment(now),
    }


def _facts(run: Run, now: float, t: Texts, ranks: Sequence[Run]) -> list[tuple[str, str]]:
    step = last_step(run)
    state = t(f"runs.state.{state_of(run, now, ranks)}", n=int((now - run.last_event) // 60))
    return [
        (t("overview.id"), run.id),
        (t("overview.state"), f"{state}: {run.failure}" if run.failure else state),
        (t("runs.col.created"), t("common.unknown") if clock_claims(run) else moment(run.first_event)),
        (t("runs.col.last_event"), moment(run.last_event)),
        (t("common.step"), "–" if step is None else str(step)),
        *([(t("nav.dump"), ", ".join(run.dumps))] if run.dumps else []),
    ]


def _unread(run: Run, now: float, t: Texts) -> list[str]:
    """Return sentences about data in the run's files that the report does not show."""
    torn = {file.name for file in torn_files(run, now)}
    lines = [
        f"{file.name}: {t.claim(claim)}"
        for file in run.files
        for claim in file_claims(file, file.name in torn)
        if claim.verdict == "found" or claim.key in ("claim.file.skipped", "claim.file.rounded")
    ]
    kinds = [
        t("report.of_kind", kind=t.kind(kind), n=len(tags))
        for kind, tags in sorted(run.references.items())
        if kind not in _SHOWN and tags
    ]
    lines += [t("report.other_kinds", kinds=", ".join(kinds))] if kinds else []
    return lines + [t.claim(claim) for claim in recording_claims(run)]


def _alert(alert: RecordedAlert, t: Texts) -> dict[str, Any]:
    content = alert.content
    return {
        "level": content.level,
        "label": t(f"alert.level.{content.level}"),
        "title": content.title or t("alert.untitled"),
        "text": content.text,
        "where": " · ".join((t("alert.step", step=alert.step), alert.run.name, moment(alert.wall))),
    }


def _describe_non_finite(tag: str, series: ScalarSeries, t: Texts) -> str:
    """Return where a scalar is NaN or infinite, and how often. Return "" if it is always finite."""
    line = series.line()
    rows = np.flatnonzero(~np.isfinite(line.values))
    if not len(rows):
        return ""
    first = int(rows[0])
    facts = {"tag": tag, "value": number(float(line.values[first])), "step": int(line.steps[first])}
    return t("report.non_finite", n=len(rows), count=len(line.values), **facts)


def _shown(value: Any) -> str:
    return number(value) if isinstance(value, float) else str(value)
