"""End of a training: its exception or that none was recorded, damaged files, and the alerts it raised."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np

from mindinsight.server.claims import Claim, Verdict, few
from mindinsight.server.report.report_content import ReportSource, moment
from mindinsight.server.report.run_report import MOST, recorded_alerts
from mindinsight.server.store.file_names import created
from mindinsight.server.store.run import Run, file_claims, state_of, torn_files
from mindinsight.server.types import FileState

_MINUTE: Final = 60  # seconds
_REGULAR: Final = 10  # values of a scalar whose distances tell how often it comes
_ENDED: Final = 10  # of its largest distances: a validation that is skipped once or twice has not ended
_NAMED: Final = 4


def failure_claims(runs: Sequence[Run]) -> list[Claim]:
    """Return the claim that an exception ended a training, or ranks of a job, in a list, [] if none did."""
    failed = [run for run in runs if run.failure]
    if not failed:
        return []
    values = {"n": len(failed), "count": len(runs), "failure": failed[0].failure.rstrip(".")}
    key = "claim.explain.failed_ranks" if len(runs) > 1 else "claim.explain.failed"
    return [Claim(key, "found", values, tuple({"run": run.id} for run in failed))]


def end_claims(source: ReportSource, now: float) -> Iterator[Claim]:
    """Yield claims about how the training ended, which of its files are damaged, and the alerts it raised.
    `now` is the Unix time."""
    if failed := failure_claims(source.ranks):
        yield from failed
    elif (state := state_of(source.run, now, source.ranks)) in ("quiet", "stopped"):
        verdict: Verdict = "unknown" if _may_record_end(source.run) else "note"
        yield Claim(f"claim.explain.{state}", verdict, {"n": int((now - source.run.last_event) // _MINUTE)})
    yield from _ended_scalars(source.run)
    for run in source.ranks:
        for file in run.files:
            if file.failure and file.failure != run.failure:
                yield Claim("claim.explain.failed_before", "found", _of_start(run, file), ({"run": run.id},))
        torn = {file.name for file in torn_files(run, now)}
        for file in run.files:
            damage = [claim for claim in file_claims(file, file.name in torn) if claim.verdict == "found"]
            yield from (
                Claim("claim.explain.file", "found", {"file": file.name, "claim": part}) for part in damage
            )
    alerts = [alert for run in source.ranks for alert in recorded_alerts(run)]
    unread = sum(max(0, _recorded(run) - MOST) for run in source.ranks)
    if unread:
        yield Claim("claim.explain.alerts_unread", "unknown", {"n": unread})
    for level in ("error", "warning"):
        own = [alert for alert in alerts if alert.content.level == level]
        if own:
            first = min(own, key=lambda alert: alert.wall)
            values = {"n": len(own), "step": first.step, "title": first.content.title}
            evidence = ({"run": first.run.id, "step": first.step},)
            yield Claim(f"claim.explain.{level}s", "found" if level == "error" else "note", values, evidence)


def _ended_scalars(run: Run) -> Iterator[Claim]:
    """Yield a note on scalars that end long before others, by the largest distance between their steps."""
    last = max((series.last_step for series in run.scalars.values() if series.count), default=0)
    early = {}
    for tag, series in run.scalars.items():
        if series.count >= _REGULAR and series.last_step < last:
            gap = int(np.diff(series.line().steps).max())
            if last - series.last_step >= _ENDED * gap:
                early[tag] = series.last_step, gap
    if early:
        step, gap = min(early.values())
        facts: dict[str, Any] = {"n": len(early), "step": step, "gap": gap, "last": last}
        facts["tags"] = few(sorted(early, key=early.__getitem__), _NAMED)
        yield Claim("claim.explain.scalar_ended", "note", facts, ({"run": run.id},))


def _may_record_end(run: Run) -> bool:
    """Return True if the format of a run's files records their end. TensorBoard's does not."""
    return not all("tfevents" in file.name for file in run.files)


def _of_start(run: Run, file: FileState) -> dict[str, Any]:
    """Return the values of the claim that an earlier start of a training ended with an exception."""
    begun = created(file.name) or 0.0
    later = [wall for other in run.files if (wall := created(other.name)) and wall > begun]
    return {"failure": file.failure.rstrip("."), "again": moment(min(later, default=begun))}


def _recorded(run: Run) -> int:
    """Return the number of alerts that a run recorded."""
    series = run.references.get("alert", {}).get("")
    return series.count if series else 0
