"""Claims about the alignment of two curves that should agree."""

import math
from collections.abc import Sequence
from typing import Any, Final

from mindinsight.server.claims import Claim, few
from mindinsight.server.curves.alignment import Alignment, Verdict

_EXACT_BELOW: Final = 10_000_000  # steps above are texts, because sentences shorten numbers


def _step(step: int | None) -> int | str | None:
    return step if step is None or abs(step) < _EXACT_BELOW else str(step)


def _where(aligned: Alignment) -> Claim | None:
    """Return a clause about the run, number and steps of non-finite values, or None if there are none."""
    if aligned.broken_in is None:
        return None
    facts = {"n": aligned.broken_count, "first": _step(aligned.broken), "last": _step(aligned.broken_last)}
    return Claim(f"claim.part.align_broken.{aligned.broken_in}", "note", facts)


def claim_of(aligned: Alignment, tolerance: float, unit: str = "automatic") -> Claim:
    """Return the claim about one scalar of two runs. ``unit`` of shares is permille, percent, share or
    automatic: permille below one percent, else percent. The verdict is unknown without common steps or
    finite values."""
    values: dict[str, Any] = {
        "n": aligned.shared,
        "steps": aligned.steps,
        "over": aligned.over,
        "step": _step(aligned.onset),
        "agrees_to": _step(aligned.agrees_to),
        "broken": _step(aligned.broken),
        "where": _where(aligned),
        "first": _step(aligned.beyond),
        "last": _step(aligned.last_beyond),
        "later": _step(aligned.later),
        "tolerance": difference_claim(tolerance, False, unit),
        "largest": difference_claim(aligned.largest, aligned.absolute, unit, tolerance),
        "usual": difference_claim(aligned.noise, aligned.absolute, unit),
        "factor": factor_claim(aligned.factor),
        **_growth_values(aligned, unit),
    }
    values = {name: value for name, value in values.items() if value is not None}
    evidence = (
        () if aligned.beyond is None else ({"step": aligned.onset or aligned.broken or aligned.beyond},)
    )
    match aligned.verdict:
        case "no_steps":
            return Claim("claim.align.no_common_steps", "unknown", values)
        case "no_finite":
            return Claim("claim.align.no_finite", "unknown", values)
        case "identical" | "agrees" as verdict:
            key = "claim.align.equal" if verdict == "identical" else "claim.align.agrees"
            if aligned.shared == aligned.steps:
                return Claim(key, "clear", values)
            return Claim(f"{key}_common", "unknown", values)
        case "differs":
            missing = ("claim.missing.align_steps",)
            return Claim("claim.align.differs", "found", values, evidence, missing)
        case "drifts" if (aligned.onset or 0) > (aligned.beyond or 0) or aligned.agrees_to is None:
            return Claim("claim.align.diverges_beyond_noise", "found", values, evidence)
        case "drifts" if (aligned.onset or 0) <= (aligned.agrees_to or 0):
            return Claim("claim.align.diverges_within", "found", values, evidence)
        case "not_finite" if aligned.later is not None:
            return Claim("claim.align.non_finite_then_diverges", "found", values, evidence)
        case "not_finite" if aligned.onset not in (None, aligned.broken):
            return Claim("claim.align.diverges_then_non_finite", "found", values, evidence)
        case verdict:
            return Claim(f"claim.align.{_FOUND[verdict]}", "found", values, evidence)


_SAY_STEPS: Final[tuple[Verdict, ...]] = ("identical", "agrees")  # that of a part of the steps
_FOUND: Final[dict[Verdict, str]] = {
    "not_finite": "non_finite",
    "drifts": "diverges",
    "grows": "grows",
    "scaled": "scaled",
    "apart": "apart",
    "returns": "some_steps",
    "noise": "noise",
}


def _growth_values(aligned: Alignment, unit: str) -> dict[str, Any]:
    """Return the values for a claim's sentence: early and late difference, and the steps at which each was
    measured."""
    growth = aligned.growth
    if growth is None:
        return {}
    return {
        "early": difference_claim(growth.early, aligned.absolute, unit),
        "late": difference_claim(growth.late, aligned.absolute, unit),
        "early_first": _step(growth.first),
        "early_last": _step(growth.first_end),
        "late_first": _step(growth.last_start),
        "late_last": _step(growth.last),
    }


def factor_claim(factor: float | None) -> Claim | None:
    """Return a clause with a factor in percent, with enough digits to differ from 100 %, or None without a
    factor."""
    if factor is None:
        return None
    apart = abs(factor - 1)
    digits = 3 if apart >= 0.1 else 4 + math.floor(-math.log10(apart))
    text = f"{100 * factor:.{digits}g}"
    size: float | str = float(text) if digits == 3 else text
    return Claim("claim.part.align_percent", "note", {"size": size})


_UNITS: Final = {
    "permille": ("claim.part.align_relative", 1000),
    "percent": ("claim.part.align_percent", 100),
    "share": ("claim.part.align_share", 1),
}


def difference_claim(
    size: float | None, absolute: bool, unit: str = "automatic", other: float | None = None
) -> Claim | None:
    """Return the difference ``size``, a share of the baseline, or with ``absolute`` a number, as part of a
    claim, or None if ``size`` is None. If it exceeds the share ``other``, so does its text. A share is
    shown in ``unit``."""
    if size is None:
        return None
    if absolute:
        return Claim("claim.part.align_absolute", "note", {"size": size})
    if unit == "automatic":  # 1 ‰ is the tolerance of the tutorials, and 11500 ‰ is hard to read
        unit = "percent" if size >= 0.01 else "permille"
    key, factor = _UNITS[unit]
    shown = float(f"{factor * size:.3g}")
    if other is not None and size > other and shown <= factor * other:
        return Claim(key, "note", {"size": f"{factor * size:.9g}"})
    return Claim(key, "note", {"size": shown})


_NAMED: Final = 3  # scalars that a claim names


def one_sided_claims(run: Sequence[str], baseline: Sequence[str]) -> list[Claim]:
    """Return the claims that scalars were not compared because only the run or only the baseline has them."""
    claims = []
    if baseline:
        values = {"n": len(baseline), "tags": few(baseline, _NAMED)}
        claims.append(Claim("claim.align.only_baseline", "unknown", values))
    if run:
        claims.append(Claim("claim.align.only_run", "note", {"n": len(run), "tags": few(run, _NAMED)}))
    return claims


def paired_claims(pairs: Sequence[tuple[str, str]]) -> list[Claim]:
    """Return the claim that scalars of two runs were compared though their names differ, [] without any.
    ``pairs`` are the names in the run and in its baseline."""
    parts = [
        Claim("claim.part.align_pair", "note", {"tag": tag, "other": other})
        for tag, other in pairs
        if tag != other
    ]
    facts = {"n": len(parts), "pairs": few(parts, _NAMED)}
    return [Claim("claim.align.paired", "note", facts)] if parts else []


def uncompared_claims(aligned: Alignment, run: int) -> list[Claim]:
    """Return the claim that steps of two curves that differ were not compared, because only one has them,
    or [] if all steps were compared. ``run`` is the number of steps of the run's curve. [] is returned
    also if the claim about the curves says that some steps were not compared."""
    if not aligned.shared or aligned.shared == aligned.steps or aligned.verdict in _SAY_STEPS:
        return []
    alone = run - aligned.shared
    facts = {"n": aligned.steps - aligned.shared, "steps": aligned.steps, "run": alone}
    facts["baseline"] = facts["n"] - alone
    return [Claim("claim.align.uncompared_steps", "note", facts)]
