"""Claims about failed trials: whether a parameter's value or limit tells them from the others."""

import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any, Final

from mindinsight.server.claims import Claim
from mindinsight.server.curves.correlations import is_number
from mindinsight.server.tuning.published_study import COMPLETE

_ENDED: Final = (*COMPLETE, "pruned")  # states of trials that ran as they should
_CHANCE: Final = (
    0.05  # that any parameter separates as well; above, a value shared by the failed says nothing
)
_MISSING: Final = object()
_OF_ALL: Final = "claim.tuning.failed", "claim.tuning.failed_above", "claim.tuning.failed_below"
_OF_KIND: Final = (
    "claim.tuning.failed_kind",
    "claim.tuning.failed_kind_above",
    "claim.tuning.failed_kind_below",
)


def failed_trial_claims(trials: Sequence[Mapping[str, Any]]) -> list[Claim]:
    """Return the claims about a value, or a limit, that all failed trials and no others have, else one claim
    that there is none or too few failed. Return [] only if no trial failed.

    ``trials`` have the form of `trial_facts`. If the failed trials have neither, those that failed in one way
    are compared with all others. If no kind has either, the claim says so. The claim is unknown if so few
    trials failed that some parameter would separate them by chance.
    """
    failed = [trial for trial in trials if trial["state"] == "failed"]
    others = [trial for trial in trials if trial["state"] in _ENDED]
    if not failed:
        return []
    facts = {"n": len(failed), "others": len(others)}
    if _is_by_chance(failed, others, 1):
        return [Claim("claim.tuning.few_failed", "unknown", facts)]
    if claims := _separating(failed, others, 1, _OF_ALL):
        return claims
    kinds: dict[Hashable, list[Mapping[str, Any]]] = {}
    for trial in failed:
        kinds.setdefault(_kind_of(trial), []).append(trial)
    several = [kind for kind in kinds.values() if 1 < len(kind) < len(failed)]
    for kind in several:
        rest = [*others, *(trial for trial in failed if trial not in kind)]
        if not _is_by_chance(kind, rest, len(several)):
            claims += _separating(kind, rest, len(several), _OF_KIND)
    return claims or [Claim("claim.tuning.failed_alike", "clear", facts)]


def _kind_of(trial: Mapping[str, Any]) -> Hashable:
    """Return a key of the way in which a trial failed: the reason, with exit code, signal or target."""
    failure = trial.get("failure") or {}
    return tuple(str(failure.get(name)) for name in ("reason", "code", "signal", "target", "value"))


def _names(*groups: Sequence[Mapping[str, Any]]) -> list[str]:
    return list(dict.fromkeys(name for group in groups for trial in group for name in trial["params"]))


def _is_by_chance(
    failed: Sequence[Mapping[str, Any]], others: Sequence[Mapping[str, Any]], kinds: int
) -> bool:
    """Return True if, of ``kinds`` groups of failed trials, one is told by some parameter too often by
    chance."""
    cases = math.comb(len(failed) + len(others), len(failed))
    return kinds * len(_names(failed, others)) / cases > _CHANCE


def _separating(
    failed: Sequence[Mapping[str, Any]],
    others: Sequence[Mapping[str, Any]],
    kinds: int,
    keys: tuple[str, str, str],
) -> list[Claim]:
    """Return the claims about values, else about limits, that ``failed`` trials have and no others.
    ``keys`` are those of a value, of a lower limit and of an upper limit."""
    names = _names(failed, others)
    ours, theirs = ([trial["params"] for trial in group] for group in (failed, others))
    facts: dict[str, Any] = {"n": len(failed), "others": len(others)}
    if keys == _OF_KIND:
        failure = {name: str(value) for name, value in (failed[0].get("failure") or {}).items()}
        facts["kind"] = Claim(f"tuning.failure.{failure.get('reason', 'unknown')}", "note", failure)
    shared = [
        Claim(keys[0], "found", {**facts, "setting": name, "value": value}, ({"setting": name},))
        for name, value in _shared(names, ours)
        if all(params.get(name, _MISSING) != value for params in theirs)
    ]
    return shared or [
        Claim(keys[side], "found", {**facts, **ends}, ({"setting": ends["setting"]},))
        for side, ends in _limits(names, ours, theirs, kinds)
    ]


def _limits(
    names: Sequence[str], failed: Sequence[Mapping[str, Any]], others: Sequence[Mapping[str, Any]], kinds: int
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield numbers that are all above (1), or all below (2), those of the other trials. If failures are
    random, k of n trials are highest in 1 of C(n, k) cases, and lowest in as many. The chance is at most
    the sum over the parameters that are numbers, and over ``kinds`` of failures."""
    numeric = {}
    for name in names:
        columns = [[params[name] for params in trials if name in params] for trials in (failed, others)]
        if len(columns[0]) == len(failed) and columns[1] and all(map(is_number, [*columns[0], *columns[1]])):
            numeric[name] = columns
    sizes = {name: len(bad) + len(good) for name, (bad, good) in numeric.items()}
    chance = kinds * sum(2 / math.comb(size, len(failed)) for size in sizes.values())
    if chance > _CHANCE:
        return
    for name, (bad, good) in numeric.items():
        facts = {"others": len(good), "setting": name, "percent": float(f"{100 * chance:.1g}")}
        if min(bad) > max(good):
            yield 1, {**facts, "value": min(bad), "other": max(good)}
        elif max(bad) < min(good):
            yield 2, {**facts, "value": max(bad), "other": min(good)}


def _shared(names: Sequence[str], failed: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, Any]]:
    """Yield name and value of the parameters that have one value in all failed trials."""
    for name in names:
        values = [params.get(name, _MISSING) for params in failed]
        if values[0] is not _MISSING and all(value == values[0] for value in values):
            yield name, values[0]
