"""Claims about failed trials: whether a parameter's value or limit tells them from the others."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from mindinsight.server.claims import Claim
from mindinsight.server.curves.correlations import is_number
from mindinsight.server.tuning.published_study import COMPLETE

_ENDED: Final = (*COMPLETE, "pruned")  # states of trials that ran as they should
_CHANCE: Final = (
    0.05  # that any parameter separates as well; above, a value shared by the failed says nothing
)
_MISSING: Final = object()


def failed_trial_claims(trials: Sequence[Mapping[str, Any]]) -> list[Claim]:
    """Return the claims about a value, or a limit, that all failed trials and no others have, empty if no
    trial failed.

    The claim is unknown if so few trials failed that some parameter would separate them by chance.
    """
    failed = [trial["params"] for trial in trials if trial["state"] == "failed"]
    others = [trial["params"] for trial in trials if trial["state"] in _ENDED]
    if not failed:
        return []
    facts = {"n": len(failed), "others": len(others)}
    names = list(dict.fromkeys(name for params in (*failed, *others) for name in params))
    if len(names) / math.comb(len(failed) + len(others), len(failed)) > _CHANCE:
        return [Claim("claim.tuning.few_failed", "unknown", facts)]
    shared = [
        Claim(
            "claim.tuning.failed", "found", {**facts, "setting": name, "value": value}, ({"setting": name},)
        )
        for name, value in _shared(names, failed)
        if all(params.get(name, _MISSING) != value for params in others)
    ]
    return shared or [*_limits(names, failed, others)] or [Claim("claim.tuning.failed_alike", "clear", facts)]


def _limits(
    names: Sequence[str], failed: Sequence[Mapping[str, Any]], others: Sequence[Mapping[str, Any]]
) -> Iterator[Claim]:
    """Yield claims about numbers that are all above, or all below, those of the other trials.

    If failures are random, k of n trials are highest in 1 of C(n, k) cases, and lowest in as many. The
    chance is at most the sum over the parameters that are numbers.
    """
    numeric = {}
    for name in names:
        columns = [[params[name] for params in trials if name in params] for trials in (failed, others)]
        if len(columns[0]) == len(failed) and columns[1] and all(map(is_number, [*columns[0], *columns[1]])):
            numeric[name] = columns
    sizes = {name: len(bad) + len(good) for name, (bad, good) in numeric.items()}
    chance = sum(2 / math.comb(size, len(failed)) for size in sizes.values())
    if chance > _CHANCE:
        return
    for name, (bad, good) in numeric.items():
        facts = {"n": len(bad), "others": len(good), "setting": name, "percent": float(f"{100 * chance:.1g}")}
        if min(bad) > max(good):
            ends = {"value": min(bad), "other": max(good)}
            yield Claim("claim.tuning.failed_above", "found", {**facts, **ends}, ({"setting": name},))
        elif max(bad) < min(good):
            ends = {"value": max(bad), "other": min(good)}
            yield Claim("claim.tuning.failed_below", "found", {**facts, **ends}, ({"setting": name},))


def _shared(names: Sequence[str], failed: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, Any]]:
    """Yield name and value of the parameters that have one value in all failed trials."""
    for name in names:
        values = [params.get(name, _MISSING) for params in failed]
        if values[0] is not _MISSING and all(value == values[0] for value in values):
            yield name, values[0]
