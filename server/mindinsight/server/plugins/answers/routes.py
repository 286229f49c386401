"""Routes of the pages Why, Alignment and Job."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query

from mindinsight.server.claims import Claim
from mindinsight.server.http.service import Service, service_of
from mindinsight.server.plugins import Plugin
from mindinsight.server.plugins.answers.alignments import alignment_claims, alignments
from mindinsight.server.plugins.answers.health import HealthCache, JobHealth
from mindinsight.server.plugins.answers.reasons import Setting, partings, settings, still_read, why_claims
from mindinsight.server.store.run import Run

router = APIRouter()

Uses = Annotated[Service, Depends(service_of)]
Group = Annotated[list[str], Query(description="run ids", max_length=100)]


@router.get("/alignment")
def alignment(
    service: Uses,
    run: str,
    baseline: Annotated[str, Query(description="run id that the other is measured against")],
    tolerance: Annotated[float, Query(gt=0, le=1, description="share of the baseline's size")] = 1e-3,
) -> dict[str, Any]:
    """Every scalar that both runs have, ranked by where and how it drifts.

    ``verdict`` is one of not_finite, drifts, apart (at most steps), differs (too few steps, or too late, to
    tell noise from a drift), noise (beyond the tolerance, never lastingly), no_steps, no_finite, agrees,
    identical. ``agrees_to`` is the last step before the first one ``beyond`` the tolerance, ``onset`` the
    step at which the drift begins. ``largest`` and ``noise`` are shares of the baseline unless ``absolute``.
    A tag that only one run has is paired with its like (``loss``, ``train/loss``, ``loss/auto``) where there
    is one such.
    """
    snapshot = service.store.snapshot()
    service.loader.want([run, baseline])
    both = [snapshot.run(run), snapshot.run(baseline)]
    unread = still_read(both)
    rows = [] if unread else alignments(both[0], both[1], tolerance)
    return {
        "run": run,
        "baseline": baseline,
        "tolerance": tolerance,
        "claims": [claim.as_json() for claim in unread or alignment_claims(rows, tolerance)],
        "tags": [
            {"tag": row.tag, "other": row.other, **asdict(row.alignment), "claim": row.claim.as_json()}
            for row in rows
        ],
    }


@router.get("/why")
def why(service: Uses, good: Group, bad: Group) -> dict[str, Any]:
    """Settings in which good and bad runs differ, the most telling first, and the step at which each scalar
    diverges, the earliest first. ``unknown`` lists runs that are not there.

    ``effect`` is the difference of the shares of both groups among the values that separate them best, and
    ``chance`` how often any of the settings separates groups of these sizes as well by chance. ``kind`` is
    one of not_finite, parts, apart (from the first step), together, too_few. While a run is read for the
    first time, the only claim says so.
    """
    runs = service.store.snapshot().runs
    service.loader.want([*good, *bad])
    ours, theirs = ([runs[run_id] for run_id in group if run_id in runs] for group in (good, bad))
    unread = still_read([*ours, *theirs])
    rows, tags = ([], []) if unread else (settings(ours, theirs), partings(ours, theirs))
    claims = unread or why_claims(ours, theirs, rows, tags)
    return {
        "good": [run.id for run in ours],
        "bad": [run.id for run in theirs],
        "unknown": [run_id for run_id in (*good, *bad) if run_id not in runs],
        "claims": [claim.as_json() for claim in claims],
        "settings": [_setting_json(setting) for setting in rows],
        "metrics": [{"tag": row.tag, **asdict(row.parting)} for row in tags],
    }


def _setting_json(setting: Setting) -> dict[str, Any]:
    separation = setting.separation
    return {
        "name": setting.name,
        "effect": separation.effect,
        "chance": separation.corrected,
        "good": setting.good,
        "bad": setting.bad,
    }


@router.get("/health")
def health(
    service: Uses, job: Annotated[list[str], Query(description="job ids", max_length=50)]
) -> dict[str, Any]:
    """Health of the ranks of jobs: for each job its ranks, and what is wrong with which of them in which tag.

    ``strays`` have the fields of ``/v2/scalar/ranks`` and a ``tag``; ``row`` is a place in ``runs``. Jobs
    that are gone, or have one rank, are left out.
    """
    members: dict[str, list[Run]] = {name: [] for name in job}
    for run in service.store.snapshot().runs.values():
        if run.job in members:
            members[run.job].append(run)
    cache = service.parts.of(HealthCache)
    jobs = {name: runs for name, runs in members.items() if len(runs) > 1}
    return {"jobs": {name: _health_json(cache.of(runs), still_read(runs)) for name, runs in jobs.items()}}


def _health_json(of_job: JobHealth, unread: list[Claim]) -> dict[str, Any]:
    return {
        "runs": of_job.runs,
        "ranks": of_job.ranks,
        "tags": of_job.tags,
        "claims": [claim.as_json() for claim in unread or of_job.claims],
        "strays": [{"tag": rank_stray.tag, **asdict(rank_stray.stray)} for rank_stray in of_job.strays],
    }


PLUGIN = Plugin(name="answers", router=router)
