"""Differences of two runs beside their curves: settings, code and packages, and what was not recorded."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mindinsight.server.api.curve_faults import NAMED
from mindinsight.server.api.paired_names import paired_tags
from mindinsight.server.api.run_answers import hyper_of
from mindinsight.server.claims import Claim, few
from mindinsight.server.compute.json_values import exact_as_text
from mindinsight.server.curves.importance import is_seed
from mindinsight.server.curves.setting_separation import names_runs, same_value
from mindinsight.server.errors import Gone
from mindinsight.server.formats.read_limits import UnreadableError
from mindinsight.server.plugins.code import code_claims, recorded_code
from mindinsight.server.store.run import Run


def differences(run: Run, other: Run) -> tuple[list[Claim], list[Claim]]:
    """Return claims about settings, code and packages of two runs, and about what was not recorded."""
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
    for key, names in (("settings_naming", naming), ("settings_alone", sorted(ours.keys() ^ theirs.keys()))):
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
    return Claim("claim.explain.settings", "note", {"n": len(differing), "settings": few(parts, 2 * NAMED)})


def recorded_codes(run: Run, other: Run) -> tuple[Any, Any] | None:
    """Return the recorded code, packages and command of both runs, or None if either cannot be read."""
    try:
        first, second = recorded_code(run), recorded_code(other)
    except (Gone, UnreadableError):
        return None
    return None if first is None or second is None else (first, second)
