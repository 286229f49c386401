"""Plugin of answers: why runs differ, and up to which step two runs agree."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Annotated, Any, Final

from fastapi import APIRouter, Query

from mindinsight.server.api.mixed_runs import mixed_claims
from mindinsight.server.api.run_end import failure_claims
from mindinsight.server.claims import Claim
from mindinsight.server.curves import curve_comparison
from mindinsight.server.curves.curve_comparison import ORDER as REASONS_ORDER
from mindinsight.server.curves.rank_anomaly import outlier_claim
from mindinsight.server.http.bulkhead_routes import CurrentService
from mindinsight.server.plugins import Plugin
from mindinsight.server.plugins.answers.aligned_runs import alignment_claims, alignments, seed_claims
from mindinsight.server.plugins.answers.end_values import (
    EndValues,
    Since,
    common_end_values,
    end_claims,
    end_of_common_steps,
    end_values,
    length_claims,
    since_claims,
    values_since,
)
from mindinsight.server.plugins.answers.non_finite import non_finite_claims
from mindinsight.server.plugins.answers.rank_health import HealthCache, JobHealth
from mindinsight.server.plugins.answers.why_settings import (
    Setting,
    conjunction_claims,
    left_out,
    recorded_settings,
    setting_claims,
    settings,
    unrecorded_claims,
)
from mindinsight.server.store.run import Run
from mindinsight.server.types import Floats, Ints

_NAMED: Final = 3  # settings or scalars named in a claim
_UNREAD: Final = 1 << 20  # bytes that may still be unread; the loader reads them at once


@dataclass(frozen=True, slots=True)
class TagDivergence:
    """Divergence of one scalar between good and bad runs."""

    tag: str
    divergence: curve_comparison.GroupDivergence
    ends: EndValues | None = None  # of a scalar whose means could not be compared up to the end
    at_end: EndValues | None = None  # at the last step that both groups reach
    since: Since | None = None  # of a scalar that has too few steps for a comparison of its means


def still_read(runs: Sequence[Run]) -> list[Claim]:
    """Return the claim that some of the runs are still being read, or an empty list if none is."""
    unread = [run for run in runs if run.total - run.read > (_UNREAD if run.read else 0)]
    if not unread:
        return []
    evidence = tuple({"run": run.id} for run in unread)
    return [Claim("claim.answers.reading", "unknown", {"n": len(unread), "count": len(runs)}, evidence)]


def tag_divergences(good: Sequence[Run], bad: Sequence[Run]) -> list[TagDivergence]:
    """Return the divergence of each scalar that both groups have. Those that diverge come first, by onset.
    Scalars with a single value are left out, unless all of them have only one."""
    ours, theirs = ({tag for run in group for tag in run.scalars} for group in (good, bad))
    common = sorted(ours & theirs)
    lines = [tag for tag in common if any(len(steps) > 1 for steps, _ in _curves([*good, *bad], tag))]
    compared = lines or common  # a single value, such as a result recorded at the end, is no curve
    rows = [
        TagDivergence(
            tag, curve_comparison.compare_groups(_curves(good, tag), _curves(bad, tag), len(compared))
        )
        for tag in compared
    ]
    rows = [replace(row, at_end=common_end_values(good, bad, row.tag)) for row in rows]
    silent = [row for row in rows if row.divergence.kind in ("not_finite", "too_few")]
    rows = [
        replace(
            row,
            ends=end_values(good, bad, row.tag, len(silent)),
            since=None if row.divergence.runs else values_since(good, bad, row.tag, len(silent)),
        )
        if row in silent
        else row
        for row in rows
    ]
    return sorted(rows, key=_rank_reasons)


def _rank_reasons(row: TagDivergence) -> tuple[int, int, float]:
    divergence = row.divergence
    changes = divergence.kind in ("not_finite", "parts", "interval", "apart") or row.since is not None
    onsets = [divergence.onset, row.since.step if row.since else None]
    onset = min((step for step in onsets if step is not None), default=0)
    return (
        0 if changes else REASONS_ORDER.index(divergence.kind),
        onset,
        -abs(divergence.shift or 0.0),
    )


def _curves(runs: Sequence[Run], tag: str) -> list[tuple[Ints, Floats]]:
    lines = [series.line() for run in runs if (series := run.scalars.get(tag)) is not None]
    return [(line.steps, line.values) for line in lines]


def why_claims(
    good: Sequence[Run],
    bad: Sequence[Run],
    rows: Sequence[Setting],
    tags: Sequence[TagDivergence],
    by: str = "",
) -> list[Claim]:
    """Return the claims about why `bad` runs are bad: settings by effect first, then scalars, then the rest.
    If a group is empty, that is the only claim.

    A warning that the runs may belong to different experiments precedes them. `by` is the scalar by which the
    runs were split. The groups differ in it by definition, so only its non-finite values are claimed.
    """
    if not good or not bad:
        return [Claim("claim.why.no_group", "unknown", {"good": len(good), "bad": len(bad)})]
    recorded = recorded_settings([*good, *bad])
    without = left_out([*good, *bad], recorded, by)
    compared = len(recorded) - len(without.names)
    judged = list(setting_claims(rows, compared, len(good), len(bad)))
    answers = [claim for claim in judged if claim.verdict == "found"] and judged
    both = list(conjunction_claims(good, bad, rows))
    short = [row.tag for row in tags if row.since is not None]
    counted = [row.tag for row in tags if row.divergence.longer or row is not _first_broken(tags)]
    non_finite = list(non_finite_claims(good, bad, counted))
    telling = sorted([*answers, *both], key=lambda claim: -float(claim.values.get("effect", 0)))
    story = [
        *length_claims(good, bad),
        *telling,
        *_failures(good, bad),
        *_scalar_claims(tags, len(good), len(bad), non_finite, by),
        *end_claims([(row.tag, row.ends) for row in tags if row.ends and row.tag not in (by, *short)]),
        *end_of_common_steps(good, bad, [row.tag for row in tags]),
        *_one_sided(good, bad),
        *([] if answers or both or (recorded and not compared) else judged),
    ]
    return [
        *mixed_claims([*good, *bad]),
        *sorted(story, key=lambda claim: claim.verdict == "note"),  # an answer comes before a note
        *unrecorded_claims(rows, len(good), len(bad)),
        *without.claims(),
    ]


def _not_found(missing: Sequence[str], count: int) -> list[Claim]:
    """Return the claim that some of the requested runs do not exist, or are beyond the limit of runs."""
    facts = {"n": len(missing), "count": count, "runs": _few([run.removeprefix("./") for run in missing])}
    return [Claim("claim.why.not_found", "unknown", facts)] if missing else []


def _in_both(good: Sequence[str], bad: Sequence[str]) -> list[Claim]:
    """Return the claim that runs are in both groups, which then cannot be compared."""
    both = [run.removeprefix("./") or "." for run in dict.fromkeys(good) if run in bad]
    return [Claim("claim.why.in_both", "unknown", {"n": len(both), "runs": _few(both)})] if both else []


def _failures(good: Sequence[Run], bad: Sequence[Run]) -> Iterator[Claim]:
    """Yield a claim about the number of runs that ended with an exception, if a bad run recorded one."""
    failed = [[run for run in group if run.failure] for group in (good, bad)]
    if failed[1]:
        facts = {"n": len(bad), "count": len(failed[1]), "good": len(failed[0]), "goods": len(good)}
        evidence = tuple({"run": run.id} for run in failed[1])
        what = _few(sorted({run.failure.rstrip(".") for run in failed[1]}), 1)
        yield Claim("claim.why.failed", "found", {**facts, "failures": what}, evidence)


def _one_sided(good: Sequence[Run], bad: Sequence[Run]) -> Iterator[Claim]:
    """Yield a claim about scalars that only one of the groups recorded, so that they cannot be compared."""
    ours, theirs = ({tag for run in group for tag in run.scalars} for group in (good, bad))
    if tags := sorted(theirs - ours):
        yield Claim("claim.why.recorded_by_bad", "unknown", {"tags": _few(tags), "n": len(tags)})
    if tags := sorted(ours - theirs):
        yield Claim("claim.why.recorded_by_good", "unknown", {"tags": _few(tags), "n": len(tags)})


def _scalar_claims(
    tags: Sequence[TagDivergence], good: int, bad: int, both: Sequence[Claim] = (), by: str = ""
) -> Iterator[Claim]:
    """Yield claims about scalars that differ. ``both`` are those about non-finite values in either group.
    ``by`` is the scalar by which the groups were split."""
    if not tags:
        yield Claim("claim.why.no_common_scalar", "unknown")
        return
    if broken := _first_broken(tags):
        yield _breaks(broken, bad)
    own = next((row for row in tags if row.tag == by), None)
    if own is not None:
        since = own.since if own.divergence.diverges is None else None
        onset = own.divergence.diverges if since is None else since.step
        key = "claim.why.split_by" if onset is None else "claim.why.split_from"
        key = "claim.why.split_since" if since is not None else key
        yield Claim(key, "note", {"tag": by, **({} if onset is None else {"step": onset})})
        tags = [row for row in tags if row is not own]
    few_steps = [(row.tag, row.since) for row in tags if row.since is not None]
    differing = [*both, *_differences(tags, bad), *since_claims(few_steps)]
    yield from differing
    unproven = [row.tag for row in tags if row.divergence.kind == "unproven"]
    if unproven:
        values = {"tags": _few(unproven), "n": len(unproven), "good": good, "bad": bad}
        yield Claim("claim.why.unproven", "unknown", values)
    short = [row.tag for row in tags if row.divergence.kind == "too_few" and row.since is None]
    if short:
        values = {"tags": _few(short), "n": len(short), "fewest": curve_comparison.FEWEST}
        yield Claim("claim.why.too_few_steps", "unknown", values)
    if tags and not (broken or unproven or short or any(claim.verdict != "note" for claim in differing)):
        key = "claim.why.together" if own is None else "claim.why.others_together"
        yield Claim(key, "clear", {"n": len(tags)})


def _differences(tags: Sequence[TagDivergence], bad: int) -> Iterator[Claim]:
    """Yield claims about scalars in which all bad runs differ, then about those in which some do."""
    for row in [row for row in tags if row.divergence.above][:_NAMED]:
        sides = {"above": row.divergence.above, "below": row.divergence.below, "bads": bad}
        where = {"tag": row.tag, "step": row.divergence.onset}
        yield Claim("claim.why.both_sides", "found", {**where, **sides}, (where,))
    tags = [row for row in tags if not row.divergence.above]
    everywhere = [row for row in tags if row.divergence.runs >= bad]
    diverging = sorted(
        (row for row in everywhere if row.divergence.diverges is not None),
        key=lambda row: row.divergence.diverges or 0,
    )
    if diverging:
        first = {"tag": diverging[0].tag, "step": diverging[0].divergence.diverges}
        yield Claim("claim.why.diverges", "found", first, (first,))
    if len(diverging) > 1:
        second = {"tag": diverging[1].tag, "step": diverging[1].divergence.diverges}
        yield Claim("claim.why.follows", "found", {**second, "n": len(diverging) - 1}, (second,))
    apart = [row.tag for row in everywhere if row.divergence.kind == "apart"]
    if apart:
        yield Claim("claim.why.apart", "found", {"tags": _few(apart), "n": len(apart)})
    for row in [row for row in everywhere if row.divergence.kind == "interval"][:_NAMED]:
        values = {"tag": row.tag, "first": row.divergence.onset, "last": row.divergence.end}
        key = "claim.why.until" if row.divergence.from_start else "claim.why.interval"
        key = "claim.why.at" if row.divergence.onset == row.divergence.end else key
        yield Claim(key, "found", values, ({"tag": row.tag, "step": row.divergence.onset},))
    for row in [row for row in everywhere if row.divergence.lag is not None][:_NAMED]:
        lag = row.divergence.lag or 0
        key = "claim.why.behind" if lag > 0 else "claim.why.ahead"
        yield Claim(key, "found", {"tag": row.tag, "n": abs(lag)})
    some = [row for row in tags if 0 < row.divergence.runs < bad and row.divergence.kind != "not_finite"]
    for row in sorted(some, key=lambda row: row.divergence.onset or 0)[:_NAMED]:
        where = {"tag": row.tag, "step": row.divergence.onset}
        key = "some_apart" if row.divergence.kind == "apart" or row.divergence.from_start else "some_differ"
        yield Claim(f"claim.why.{key}", "found", {**where, "n": row.divergence.runs, "bads": bad}, (where,))


def _first_broken(tags: Sequence[TagDivergence]) -> TagDivergence | None:
    """Return the scalar that is the first to be non-finite in a bad run in a way no good run is, or None."""
    broken = [row for row in tags if row.divergence.broken is not None]
    return min(broken, key=lambda row: (row.divergence.broken or 0, row.tag), default=None)


def _breaks(row: TagDivergence, bad: int) -> Claim:
    """Return the claim about the scalar that is the first to be non-finite in a bad run."""
    facts: dict[str, Any] = {
        "tag": row.tag,
        "count": row.divergence.broken_runs,
        "n": bad,
        "step": row.divergence.broken,
    }
    if row.divergence.grows is None:
        key = "claim.why.breaks_longer" if row.divergence.longer else "claim.why.breaks"
        return Claim(key, "found", facts, ({"tag": row.tag, "step": row.divergence.broken},))
    facts["grows"] = row.divergence.grows
    return Claim("claim.why.grows", "found", facts, ({"tag": row.tag, "step": row.divergence.grows},))


def _few(names: Sequence[Any], most: int = _NAMED) -> list[Any]:
    return [*names[:most], *(["…"] if len(names) > most else [])]


router = APIRouter()

Group = Annotated[list[str], Query(description="run ids", max_length=1000)]


@router.get("/alignment")
def alignment(
    service: CurrentService,
    run: str,
    baseline: Annotated[str, Query(description="run id to compare with")],
    tolerance: Annotated[float, Query(gt=0, le=1, description="share of the baseline's size")] = 1e-3,
) -> dict[str, Any]:
    """Return `claims`, and as `tags` every scalar that both runs have, ranked by where and how it diverges.
    While a run is read for the first time, that is the only claim, and `tags` is empty. Returns 404 for an
    unknown run.

    `verdict` is one of not_finite, drifts, grows (all the time, by `growth`), apart (at most steps), scaled
    (by `factor` at all steps), differs (too few steps, or too late, to tell noise from a divergence),
    returns, noise (beyond the tolerance, never lastingly), no_steps, no_finite, agrees, identical.
    `agrees_to` is the last step before the first one `beyond` the tolerance, `onset` the step at which the
    divergence begins. `largest`, `typical` (median of all common steps) and `noise` (median before the onset,
    if there is one) are shares of the baseline unless `absolute`. A tag that only one run has is paired with
    a similar one (`loss`, `train/loss`, `loss/auto`) if exactly one exists.
    """
    snapshot = service.store.snapshot()
    service.loader.want([run, baseline])
    both = [snapshot.run(run), snapshot.run(baseline)]
    unread = still_read(both)
    rows = [] if unread else alignments(both[0], both[1], tolerance)
    alone = (
        sorted(set(both[0].scalars) - {row.other for row in rows}),
        sorted(set(both[1].scalars) - {row.tag for row in rows}),
    )
    return {
        "run": run,
        "baseline": baseline,
        "tolerance": tolerance,
        "claims": [
            claim.as_json()
            for claim in unread
            or [*mixed_claims(both), *alignment_claims(rows, tolerance, alone), *seed_claims(*both)]
        ],
        "tags": [
            {"tag": row.tag, "other": row.other, **asdict(row.alignment), "claim": row.claim.as_json()}
            for row in rows
        ],
    }


@router.get("/why")
def why(
    service: CurrentService,
    good: Group,
    bad: Group,
    by: Annotated[str, Query(description="scalar by which the runs were split into groups")] = "",
) -> dict[str, Any]:
    """Return `claims`, the `settings` in which good and bad runs differ, the most telling first, and as
    `metrics` the step at which each scalar diverges. If a run is in both groups, or is read for the first
    time, that is the only claim, and nothing is compared.

    `unknown` lists runs that do not exist. `effect` is the difference of both groups' shares among the values
    that separate them best, and `chance` the probability that any setting separates groups of these sizes as
    well by chance. Both are null if only runs of one group recorded the setting. `recorded` has the numbers
    of runs that did. `kind` is one of not_finite, parts, interval (until `end`), apart (from the first step),
    unproven (too few runs to tell from chance), together, too_few. `runs` counts the bad runs that differ.
    `at_end` are medians at the last step that both groups reach, `ends` those of the last values where means
    could not be compared up to the end. `since` is the step from which a scalar of few steps differs at each.
    """
    runs = service.store.snapshot().runs
    service.loader.want([*good, *bad])
    ours, theirs = ([runs[run_id] for run_id in group if run_id in runs] for group in (good, bad))
    refused = _in_both(good, bad) or still_read([*ours, *theirs])
    rows, tags = ([], []) if refused else (settings(ours, theirs, by), tag_divergences(ours, theirs))
    missing = [run_id for run_id in (*good, *bad) if run_id not in runs]
    claims = refused or [
        *_not_found(missing, len(good) + len(bad)),
        *why_claims(ours, theirs, rows, tags, by),
    ]
    return {
        "good": [run.id for run in ours],
        "bad": [run.id for run in theirs],
        "unknown": missing,
        "claims": [claim.as_json() for claim in claims],
        "settings": [_setting_json(setting) for setting in rows],
        "metrics": [
            {
                "tag": row.tag,
                **asdict(row.divergence),
                "ends": row.ends and asdict(row.ends),
                "at_end": row.at_end and asdict(row.at_end),
                "since": row.since and asdict(row.since),
            }
            for row in tags
        ],
    }


def _setting_json(setting: Setting) -> dict[str, Any]:
    separation = setting.separation
    return {
        "name": setting.name,
        "effect": separation.effect if setting.is_compared else None,
        "chance": separation.corrected if setting.is_compared else None,
        "good": setting.good,
        "bad": setting.bad,
        "recorded": setting.recorded,
    }


@router.get("/health")
def health(
    service: CurrentService, job: Annotated[list[str], Query(description="job ids", max_length=50)]
) -> dict[str, Any]:
    """Return the health of the ranks of jobs as `jobs`, by job: its ranks, and the divergences of each
    rank by tag. Unknown jobs and jobs with one rank are omitted. `strays` have the fields of
    `/v2/scalar/ranks` and a `tag`. `row` is an index into `runs`."""
    members: dict[str, list[Run]] = {name: [] for name in job}
    snapshot = service.store.snapshot()
    for run in snapshot.runs.values():
        if run.job in members:
            members[run.job].append(run)
    cache = service.parts.of(HealthCache)
    jobs = {name: runs for name, runs in members.items() if len(runs) > 1}
    return {
        "jobs": {
            name: _health_json(cache.of(runs, snapshot.left_out), still_read(runs), failure_claims(runs))
            for name, runs in jobs.items()
        }
    }


def _health_json(of_job: JobHealth, unread: list[Claim], failed: list[Claim]) -> dict[str, Any]:
    return {
        "runs": of_job.runs,
        "ranks": of_job.ranks,
        "tags": of_job.tags,
        "claims": [claim.as_json() for claim in unread or [*failed, *of_job.claims]],
        "strays": [
            {
                "tag": rank_stray.tag,
                **asdict(rank_stray.stray),
                "claim": outlier_claim(rank_stray.stray, of_job.ranks).as_json(),
            }
            for rank_stray in of_job.strays
        ],
    }


PLUGIN = Plugin(name="answers", router=router)
