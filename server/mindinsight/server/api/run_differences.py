"""Earlier runs without a fault, and differences of two runs: settings, code and packages."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

from mindinsight.server.api.curve_faults import NAMED, curve_claims
from mindinsight.server.api.faults.judged_curves import finite_values
from mindinsight.server.api.run_answers import hyper_of
from mindinsight.server.claims import Claim, few
from mindinsight.server.compute.json_values import exact_as_text
from mindinsight.server.curves.importance import is_seed
from mindinsight.server.curves.levels import EARLY
from mindinsight.server.curves.setting_separation import names_runs, same_value
from mindinsight.server.errors import Gone
from mindinsight.server.formats.read_limits import UnreadableError
from mindinsight.server.plugins.answers.rank_health import job_health, telling_tags
from mindinsight.server.plugins.code import code_claims, different_scripts, recorded_code
from mindinsight.server.report.run_report import recorded_alerts
from mindinsight.server.store.paired_names import paired_tags
from mindinsight.server.store.run import Run

_LISTED = 1000  # settings that a page can show of a claim


def differences(run: Run, other: Run) -> tuple[list[Claim], list[Claim]]:
    """Return two lists of claims: about settings, code and packages of two runs, and about what was not
    recorded."""
    claims: list[Claim] = []
    unknown: list[Claim] = []
    ours, theirs = hyper_of(run.lineage), hyper_of(other.lineage)
    codes = recorded_codes(run, other)
    if ours and theirs:
        claims += _settings_claims(ours, theirs)
    elif not codes:
        return claims, [Claim("claim.explain.no_settings_or_code", "unknown")]
    else:
        unknown.append(Claim("claim.explain.no_settings", "unknown"))
    for claim in code_claims(*codes, run.name, other.name) if codes else ():
        (unknown if claim.verdict == "unknown" else claims).append(claim)
    unknown += [] if codes else [Claim("claim.explain.no_code", "unknown")]
    return claims, unknown


def _settings_claims(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> Iterator[Claim]:
    """Yield the claims about the settings of two runs. What only names a run, such as a path, is not among
    the settings that differ, and random seeds are the last of them."""
    pairs = dict(paired_tags(list(theirs), list(ours)))
    theirs = {pairs.get(name, name): value for name, value in theirs.items()}
    common = sorted(ours.keys() & theirs.keys())
    differing = [name for name in common if not same_value(ours[name], theirs[name])]
    naming = [name for name in differing if names_runs(name, (ours[name], theirs[name]))]
    differing = [name for name in differing if name not in naming]
    if differing:
        differing.sort(key=lambda name: is_seed(name, (ours[name], theirs[name])))
        yield _differing_claim(ours, theirs, differing)
    elif len(common) > len(naming):
        yield Claim("claim.explain.same_settings", "note", {"n": len(common) - len(naming)})
    renamed = [
        Claim("claim.part.explain.renamed", "note", {"name": name, "other": other})
        for other, name in pairs.items()
        if name != other
    ]
    if renamed:
        facts = {"n": len(renamed), "settings": few(renamed, 2 * NAMED)}
        yield Claim("claim.explain.settings_renamed", "note", facts)
    known = {**theirs, **ours}
    alone = [f"{name}={exact_as_text(known[name])}" for name in sorted(ours.keys() ^ theirs.keys())]
    for key, names in (("settings_naming", naming), ("settings_alone", alone)):
        if names:
            yield Claim(f"claim.explain.{key}", "note", {"n": len(names), "names": few(names, 2 * NAMED)})


def _differing_claim(ours: Mapping[str, Any], theirs: Mapping[str, Any], differing: Sequence[str]) -> Claim:
    parts = [
        Claim(
            "claim.part.explain.setting",
            "note",
            {"name": name, "now": exact_as_text(ours[name]), "before": exact_as_text(theirs[name])},
        )
        for name in differing
    ]
    facts = {"n": len(differing), "settings": few(parts, 2 * NAMED)}
    facts |= {"rest": parts[2 * NAMED : _LISTED]} if len(parts) > 2 * NAMED else {}
    return Claim("claim.explain.settings", "note", facts)


def recorded_codes(run: Run, other: Run) -> tuple[Any, Any] | None:
    """Return the recorded code, packages and command of both runs, or None if either recorded none or cannot
    be read."""
    try:
        first, second = recorded_code(run), recorded_code(other)
    except (Gone, UnreadableError):
        return None
    return None if first is None or second is None else (first, second)


def is_without_fault(run: Run) -> bool:
    """Return True if a run was read to its end, has scalars, recorded no exception, error or warning, and its
    curves have no fault."""
    if any(file.failure for file in run.files) or not run.scalars or run.read < run.total:
        return False
    if any(alert.content.level in ("error", "warning") for alert in recorded_alerts(run)):
        return False
    return all(claim.verdict != "found" for claim in curve_claims([run]))


def is_baseline(other: Run, run: Run, runs: Iterable[Run]) -> bool:
    """Return True if `other` is good enough to compare `run` with. Raises ValueError if the two have no
    scalar in common.

    No rank of its job, as far as in `runs`, has a fault or differs from the others. A common scalar has
    enough values to be searched for more than NaN. The script is not known to differ from the run's.
    """
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


def _is_like(run: Run, other: Run) -> bool:
    """Return True if two runs have half of the scalars in common, of those of the run with fewer.
    Trainings of different kinds in one directory share a loss or a learning rate. A run that ended early
    has no scalars of its validation."""
    common = run.scalars.keys() & other.scalars.keys()
    return bool(common) and 2 * len(common) >= min(len(run.scalars), len(other.scalars))


def runs_before(run: Run, runs: Iterable[Run]) -> list[Run]:
    """Return the runs that began before this one in the same directory, the last first, [] if there is
    none. They have at least half of the scalars in common, of those of the run with fewer, and are the
    same rank of their jobs."""
    folder = PurePosixPath(run.job).parent
    before = [
        other
        for other in runs
        if other.job != run.job
        and PurePosixPath(other.job).parent == folder
        and other.rank == run.rank
        and other.first_event < run.first_event
        and _is_like(run, other)
    ]
    return sorted(before, key=lambda other: (-other.first_event, other.id))
