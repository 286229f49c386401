"""Earlier runs without a fault, with which a run is compared."""

from collections.abc import Iterable
from pathlib import PurePosixPath

from mindinsight.server.api.curve_faults import curve_claims, finite_values
from mindinsight.server.api.run_differences import recorded_codes
from mindinsight.server.curves.levels import EARLY
from mindinsight.server.plugins.answers.rank_health import job_health, telling_tags
from mindinsight.server.plugins.code import different_scripts
from mindinsight.server.report.run_report import recorded_alerts
from mindinsight.server.store.run import Run


def is_without_fault(run: Run) -> bool:
    """Return True if a run was read, has scalars, recorded no exception, error or warning, and its curves
    have no fault."""
    if any(file.failure for file in run.files) or not run.scalars or run.read < run.total:
        return False
    if any(alert.content.level in ("error", "warning") for alert in recorded_alerts(run)):
        return False
    return all(claim.verdict != "found" for claim in curve_claims([run]))


def is_baseline(other: Run, run: Run, runs: Iterable[Run]) -> bool:
    """Return True if no rank of a job has a fault or differs from the others, a scalar in common was searched
    for more than NaN, and its script is not known to differ from the run's."""
    ranks = list({rank.id: rank for rank in (other, *runs) if rank.job == other.job}.values())
    common = run.scalars.keys() & other.scalars.keys()
    if max(finite_values(other, tag) for tag in common) <= EARLY or not all(map(is_without_fault, ranks)):
        return False
    if len(ranks) > 1:
        health = job_health(ranks, telling_tags(ranks))
        if any(claim.verdict == "found" for claim in health.claims):
            return False
    codes = recorded_codes(run, other)
    return codes is None or different_scripts(*codes) is None


def runs_before(run: Run, runs: Iterable[Run]) -> list[Run]:
    """Return the runs that began before this one in the same directory, the last first.

    They have a scalar in common, and are the same rank of their jobs.
    """
    folder = PurePosixPath(run.job).parent
    before = [
        other
        for other in runs
        if other.job != run.job
        and PurePosixPath(other.job).parent == folder
        and other.rank == run.rank
        and other.first_event < run.first_event
        and not run.scalars.keys().isdisjoint(other.scalars)
    ]
    return sorted(before, key=lambda other: (-other.first_event, other.id))
