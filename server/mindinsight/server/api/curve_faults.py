"""Faults in the scalars of a run: NaN, jumps, losses that rise or do not fall, collapses and growth.

What a scalar is, is known by its name. Whatever has another name is searched for NaN and infinity only.
"""

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np

from mindinsight.server.api.faults.judged_curves import (
    PERCENT,
    VALIDATION,
    falling_losses,
    fault_claim,
    finite_values,
    judged_curves,
    level_facts,
    with_aim,
)
from mindinsight.server.api.faults.late_rises import late_rise_claim, slow_steps
from mindinsight.server.api.faults.overfitting import (
    few_overfit_claim,
    few_validation,
    overfit_accuracies,
    overfit_claim,
    steady_overfit_claim,
)
from mindinsight.server.api.tag_aims import REWARDS, Aim, aim_of, words_of
from mindinsight.server.claims import Claim, Verdict, few
from mindinsight.server.curves.levels import (
    BEFORE,
    COLLAPSED,
    EARLY,
    FEWEST,
    GROWN,
    LASTING,
    LASTS,
    RISEN,
    RISEN_AT_END,
    RISEN_BESIDE,
    RISEN_STEADILY,
    RUN_UP_FACTOR,
    SHOWN_FALL,
    UNDONE,
    UNDONE_RATE,
    Jump,
    Levels,
    collapse,
    constant_end,
    first_jump,
    growth,
    is_constant,
    is_level,
    levels_of,
    non_finite,
    only_rises,
    rise_above_lowest,
    rise_below_zero,
    rise_for_good,
    run_up,
    shift_to_end,
    slight_fall,
    zero_end,
)
from mindinsight.server.curves.signs.validation_rises import FEWEST_BESIDE, FEWEST_EPOCHS
from mindinsight.server.store.run import Run

NAMED: Final = 4  # scalars, settings or runs in a sentence
_LASTING: Final = "claim.explain.non_finite"
_PASSING: Final = (f"{_LASTING}_once", f"{_LASTING}_passing")
_SKIPPED: Final = f"{_LASTING}_skipped"
_REPEATED: Final = "claim.explain.jump_repeated"
# Claims that ranks share at the same step only.
_AT_STEP: Final = ("claim.explain.jump", _REPEATED, _LASTING, *_PASSING, _SKIPPED)

# Of the name of a norm of all gradients: that of a module, which has its name, may be frozen on purpose.
_OF_ALL_GRADIENTS: Final = {
    *("", "grad", "grads", "gradient", "gradients", "norm", "global", "total", "l2", "2", "all", "train"),
    *("training", "optim", "optimizer", "before", "unclipped", "raw"),
}
# Names of learning rates, of one or of groups, but not min_lr, num_lr_drops or lr_scale.
_GROUP: Final = "actor|critic|base|g|d|gen|disc|encoder|decoder|backbone|head|group"
_RATE: Final = re.compile(
    rf"(?:^|/)(?:(?:(?:{_GROUP})_)?(?:lr|learning_?rate)(?:[-/.][\w./-]*|_(?:{_GROUP})?\d*)?|学习率)$",
    re.IGNORECASE,
)
_RISES: Final = ("claim.explain.rises", "claim.explain.rises_at", "claim.explain.only_rises")
_WHOLE: Final = {"", "loss", "total", "train", "training"}  # words in the name of a loss of several terms
_ROUNDING: Final = 1e-6  # of the largest rate: less below zero is what a schedule's arithmetic leaves
_SCALED_DOWN: Final = 0.8  # of the overflows: a scaler with hysteresis may pass over some
# Norms of gradients are clipped at one to ten: what grows to less began near zero, as adapters do.
_ORDINARY: Final = 10.0
_SWITCHED: Final = 0.5  # of the range of the last values: a change at once
_SMOOTH: Final = 0.1  # of that range: a change of a schedule from value to value is less
_COUNTED: Final = {"losses": "loss", "accuracies": "accuracy", "norms": "norm", "errors": "error"}


def curve_claims(runs: Sequence[Run]) -> list[Claim]:
    """Return the faults in the scalars of a run or of the ranks of a job, and notes on placeholders. Ranks
    share a sentence, which names them."""
    searches = (_non_finite, _rises_for_good, _run_ups, _jumps, _losses, _error_rates, _collapses, _growths)
    others = (overfit_accuracies, _zero_gradients, _zero_rates, slow_steps, _placeholders)
    return [claim for search in (*searches, *others) for claim in first_claims(_of_ranks(runs, search))]


def _of_ranks(runs: Sequence[Run], search: Callable[[Run], Iterator[Claim]]) -> list[Claim]:
    """Return the claims of a search, those about lasting faults and early steps first."""
    alike: dict[Any, list[tuple[Run, Claim]]] = {}
    for run in sorted(runs, key=lambda run: (run.rank or 0, run.id)):
        for claim in search(run):
            tags = tuple(entry["tag"] for entry in claim.evidence)
            step = claim.values["step"] if claim.key in _AT_STEP else None
            alike.setdefault((claim.key, step, tags), []).append((run, claim))
    firsts = sorted(alike.values(), key=lambda holders: _urgency(holders[0][1]))
    if len(runs) == 1:
        return [claim for ((_, claim),) in firsts]
    return [_in_ranks(holders, len(runs)) for holders in firsts]


def _urgency(claim: Claim) -> tuple[bool, float]:
    return claim.key in _PASSING, float(claim.values.get("step", claim.values.get("about", math.inf)))


def _in_ranks(holders: Sequence[tuple[Run, Claim]], count: int) -> Claim:
    """Return the claim of the first rank with the names of all ranks for which it holds."""
    _, claim = holders[0]
    values = {"n": len(holders), "count": count, "claim": claim}
    values["runs"] = few([run.id.removeprefix("./") for run, _ in holders], NAMED)
    few_are_flat = claim.key == "claim.explain.level" and 2 * len(holders) <= count  # all train one model
    verdict: Verdict = "note" if few_are_flat else claim.verdict
    return Claim("claim.explain.in_ranks", verdict, values, claim.evidence)


def searched_claims(runs: Sequence[Run]) -> list[Claim]:
    """Return notes on what `curve_claims` searches: the number of scalars of each kind, and the limits
    applied."""
    names = "scalars jumps run_ups for_good losses validation accuracies errors norms"
    counts = dict.fromkeys(names.split(), 0)
    few_values: dict[str, None] = {}
    played: dict[str, None] = {}
    for run in runs:
        falling = falling_losses(run)
        played |= dict.fromkeys(tag for tag in with_aim(run, "loss") if tag not in falling)
        judged = dict(judged_curves(run, "loss"))
        own = few_validation(run, judged)
        few_values |= dict.fromkeys(
            tag
            for tag in with_aim(run, "loss")
            if tag not in judged and tag not in own and finite_values(run, tag) < FEWEST
        )
        counts["validation"] += len(own)
        counts["run_ups"] += len(with_aim(run, "loss", "norm"))
        counts["scalars"] += len(run.scalars)
        for name, aim in _COUNTED.items():
            counts[name] += sum(
                aim != "accuracy" or bool(own.levels.max() > 0) for _, own in judged_curves(run, aim)
            )
        counts["jumps"] += sum(finite_values(run, tag) > EARLY for tag in with_aim(run, "loss", "norm"))
        counts["for_good"] += sum(finite_values(run, tag) > LASTS for tag in falling_losses(run))
    limits = {"before": BEFORE, "least": FEWEST, "risen": RISEN}
    limits |= {"at_end": RISEN_AT_END, "beside": RISEN_BESIDE, "fall": SHOWN_FALL * PERCENT}
    limits |= {"steady": RISEN_STEADILY, "from": EARLY + 1}
    limits |= {
        "up": RUN_UP_FACTOR,
        "few": FEWEST_EPOCHS,
        "long": FEWEST_BESIDE,
        "collapsed": COLLAPSED * PERCENT,
        "grown": GROWN,
    }
    parts = [
        Claim(f"claim.part.explain.{name}", "note", {"n": n, **limits}) for name, n in counts.items() if n
    ]
    if few_values:
        values = {"n": len(few_values), "tags": few(list(few_values), NAMED), "least": FEWEST}
        parts.append(Claim("claim.part.explain.few", "note", values))
    if played:
        values = {"n": len(played), "tags": few(list(played), NAMED)}
        parts.append(Claim("claim.part.explain.played", "note", values))
    return parts


def setting_claims(run: Run, fault: int) -> Iterator[Claim]:
    """Yield notes on scalars, such as a learning rate or a stage, that were constant, or changed by little
    from value to value, and then changed at once shortly before the step of a fault."""
    for tag, series in sorted(run.scalars.items()):
        if aim_of(tag) is not None or not series.count:
            continue
        line = series.line()
        end = int(np.searchsorted(line.steps, fault, "right"))
        steps, values = line.steps[max(0, end - BEFORE) : end], line.values[max(0, end - BEFORE) : end]
        changes = np.flatnonzero(values[1:] != values[:-1]) + 1
        if not len(changes) or not np.isfinite(values).all():
            continue
        key, steady = "claim.explain.set", True
        if len(changes) > 1:  # a schedule, such as a cosine that restarts
            with np.errstate(over="ignore", invalid="ignore"):
                sizes = np.abs(np.diff(values.astype(np.float64))) / np.ptp(values)
            changes = np.flatnonzero(sizes >= _SWITCHED) + 1
            key, steady = f"{key}_at_once", np.delete(sizes, changes - 1).max(initial=0.0) < _SMOOTH
        if len(changes) == 1 and EARLY <= changes[0] >= len(values) - LASTS and steady:
            row = int(changes[0])
            earlier = line.values[: end - len(values) + row]
            others = np.flatnonzero(earlier[1:] != earlier[:-1])
            if "at_once" not in key and len(others) > 1 and len(set(np.diff(others).tolist())) == 1:
                continue  # it changes at equal distances, as an epoch does
            count = row if "at_once" in key else len(earlier) - int(others[-1] + 1 if len(others) else 0)
            facts = {"tag": tag, "before": float(values[row - 1]), "now": float(values[row]), "n": count}
            evidence = ({"run": run.id, "tag": tag, "step": int(steps[row])},)
            yield Claim(key, "note", {**facts, "step": int(steps[row])}, evidence)


def first_claims(claims: Sequence[Claim]) -> Iterator[Claim]:
    """Yield at most `NAMED` claims and, if there are more, a claim with the number of the others."""
    yield from claims[:NAMED]
    if len(claims) > NAMED:
        yield Claim("claim.explain.more", "note", {"n": len(claims) - NAMED})


def has_no_limit(claim: Claim) -> bool:
    """Return True if a claim is about non-finite values, which need no limit."""
    inner = claim.values.get("claim", claim)
    return isinstance(inner, Claim) and inner.key.startswith(_LASTING)


def aims_of(claim: Claim) -> set[Aim | None]:
    """Return the classes of the scalars that are the evidence of a claim."""
    return {aim_of(str(entry["tag"])) for entry in claim.evidence if "tag" in entry}


def is_passing(claim: Claim) -> bool:
    """Return True if a claim is about non-finite values with finite ones after them."""
    inner = claim.values.get("claim", claim)
    return isinstance(inner, Claim) and inner.key in _PASSING


def _non_finite(run: Run) -> Iterator[Claim]:
    """Yield claims about scalars that are NaN or infinite. Those from one step on share a claim."""
    alike: dict[Any, list[str]] = {}
    for tag, series in sorted(run.scalars.items()):
        line = series.line()
        if (lost := non_finite(line.values)) and lost.first is not None:
            extent = int(line.steps[lost.first]), int(line.steps[lost.last])
            alike.setdefault((lost.lasts, *extent, lost.count, len(line.values)), []).append(tag)
    for (lasts, step, last, count, size), tags in alike.items():
        values = {"step": step, "last": last, "lost": count, "count": size}
        if not lasts and _are_gradients(tags) and not _may_lack_finite_losses(run):
            if scale := _scaled_down(run, tags[0]):
                yield _of_tags(f"{_LASTING}_scaled", "note", run, tags, {**values, "scale": scale})
            else:
                yield _of_tags(_SKIPPED, "unknown", run, tags, values)
        else:
            yield _of_tags(_LASTING if lasts else _PASSING[count > 1], "found", run, tags, values)


def _are_gradients(tags: Sequence[str]) -> bool:
    """Return True if all scalars are norms of gradients, by their names."""
    return all(
        aim_of(tag) == "norm" and words_of(tag) & {"grad", "grads", "gradient", "gradients"} for tag in tags
    )


def _scaled_down(run: Run, tag: str) -> str:
    """Return the scale of a loss scaler that falls at nearly all steps at which a scalar is non-finite, or
    ""."""
    line = run.scalars[tag].line()
    lost = line.steps[~np.isfinite(line.values)]
    for name in _scales(run):
        scale = run.scalars[name].line()
        falls = scale.steps[1:][scale.values[1:] < scale.values[:-1]]
        # A fall may be recorded one step later.
        near = np.searchsorted(falls, lost + 1, "right") > np.searchsorted(falls, lost - 1)
        if len(lost) and near.mean() >= _SCALED_DOWN:
            return name
    return ""


def _may_lack_finite_losses(run: Run) -> bool:
    """Return True unless the run has losses, and all of them are finite throughout."""
    losses = with_aim(run, "loss")
    return not losses or any(non_finite(run.scalars[tag].line().values) for tag in losses)


def _placeholders(run: Run) -> Iterator[Claim]:
    """Yield notes on non-finite values that are taken for placeholders."""
    alike: dict[Any, list[str]] = {}
    for tag, series in sorted(run.scalars.items()):
        line = series.line()
        if (lost := non_finite(line.values)) and (lost.leading or lost.every):
            before = None if lost.every else int(line.steps[lost.leading])
            alike.setdefault((lost.every, before), []).append(tag)
    for (every, before), tags in alike.items():
        name, facts = ("every", {"every": every}) if every else ("leading", {"before": before})
        yield _of_tags(f"claim.explain.placeholders_{name}", "note", run, tags, facts)


def _of_tags(key: str, verdict: Verdict, run: Run, tags: Sequence[str], facts: Mapping[str, Any]) -> Claim:
    step = {"step": facts["step"]} if "step" in facts else {}
    evidence = tuple({"run": run.id, "tag": tag, **step} for tag in tags)
    return Claim(key, verdict, {"tags": few(tags, NAMED), "n": len(tags), **facts}, evidence)


def _rises_for_good(run: Run) -> Iterator[Claim]:
    """Yield claims about losses that rose by orders of magnitude and stayed there, even from the begin."""
    for tag in falling_losses(run):
        line = run.scalars[tag].line()
        if rise := rise_for_good(line.steps, line.values):
            values = {"tag": tag, "step": rise.step, "high": rise.high, "end": rise.value}
            yield fault_claim("for_good", run, tag, {**values, "n": rise.before, "limit": GROWN, "of": LASTS})


def _run_ups(run: Run) -> Iterator[Claim]:
    """Yield claims about losses and norms that grew up to their first non-finite value. A jump in them has
    its own claim."""
    for tag in with_aim(run, "loss", "norm"):
        line = run.scalars[tag].line()
        if (up := run_up(line.steps, line.values)) and first_jump(line.steps, line.values) is None:
            values = {"tag": tag, "step": up.step, "high": up.high, "value": up.value, "last": up.last}
            name = "run_up" if up.of == 1 else "run_up_medians"
            yield fault_claim(name, run, tag, {**values, "of": up.of, "factor": RUN_UP_FACTOR})


def _jumps(run: Run) -> Iterator[Claim]:
    """Yield claims about the first jumps of losses and norms, unless they rose for good before or there.
    Those of norms are noted if all losses stay calm, as where gradients are clipped."""
    falling = falling_losses(run)
    calm = bool(falling) and not any(_is_upset(run, tag) for tag in falling)
    for tag in with_aim(run, "loss", "norm"):
        line = run.scalars[tag].line()
        if (jump := first_jump(line.steps, line.values)) is None:
            continue
        rise = rise_for_good(line.steps, line.values) if tag in falling else None
        if rise is None or rise.step > jump.step:
            values = {"tag": tag, "step": jump.step, "value": jump.value, "low": jump.low, "high": jump.high}
            limit = float(f"{jump.limit:.3g}")
            claim = fault_claim(
                "jump", run, tag, {**values, "n": jump.before, "limit": limit, "more": _more(jump)}
            )
            if calm and tag not in falling and aim_of(tag) == "norm":
                claim = replace(claim, key=f"{claim.key}_calm", verdict="note")
            if jump.again:
                facts = {"tag": tag, "step": jump.step, "n": jump.again, "every": jump.every}
                claim = replace(claim, key=_REPEATED, verdict="unknown", values=facts)
            yield claim


def _is_upset(run: Run, tag: str) -> bool:
    """Return True if a loss jumps, rises or is not finite."""
    line = run.scalars[tag].line()
    levels = levels_of(line.steps, line.values)
    rises = levels is None or rise_above_lowest(levels, RISEN_BESIDE) is not None
    return rises or first_jump(line.steps, line.values) is not None or non_finite(line.values) is not None


def _more(jump: Jump) -> Claim | str:
    """Return the sentence on what follows a jump, "" if nothing higher does."""
    facts = {"n": jump.more, "peak": jump.peak, "at": jump.peak_step, "limit": float(f"{jump.limit:.3g}")}
    if jump.stays:
        return Claim("claim.part.explain.jump_stays", "note", {"low": jump.stays})
    if jump.more:
        return Claim("claim.part.explain.jumps_again", "note", facts)
    return Claim("claim.part.explain.jump_peak", "note", facts) if jump.peak_step != jump.step else ""


def _losses(run: Run) -> Iterator[Claim]:
    """Yield claims about losses that never changed, did not fall, or ended well above their lowest level."""
    judged = dict(judged_curves(run, "loss"))
    for tag in few_validation(run, judged):
        if claim := few_overfit_claim(run, tag, judged) or steady_overfit_claim(run, tag, judged):
            yield claim
    for tag, levels in judged.items():
        claim = overfit_claim(run, tag, judged) or _loss_claim(run, tag, levels)
        claim = claim or steady_overfit_claim(run, tag, judged) or late_rise_claim(run, tag, levels)
        if claim is not None:
            yield _unless_whole_falls(claim, tag, judged)
        if claim is None or claim.key != "claim.explain.constant":
            yield from _stop_claim(run, tag)


def _unless_whole_falls(claim: Claim, tag: str, judged: Mapping[str, Levels]) -> Claim:
    """Return the claim about a rise of one term of a loss, left open if the loss itself does not rise."""
    if claim.key not in _RISES or words_of(tag) <= _WHOLE:
        return claim
    whole = [levels for other, levels in judged.items() if words_of(other) <= _WHOLE]
    falls = bool(whole) and all(rise_above_lowest(levels) is None for levels in whole)
    return replace(claim, verdict="unknown") if falls else claim


def _stop_claim(run: Run, tag: str) -> Iterator[Claim]:
    """Yield a claim that a loss is one number from some step to its end, if it is."""
    line = run.scalars[tag].line()
    if stops := constant_end(line.values):
        facts = {"step": int(line.steps[-stops]), "value": float(line.values[-1]), "of": stops}
        yield fault_claim("stops", run, tag, {"tag": tag, **facts})


def _loss_claim(run: Run, tag: str, levels: Levels) -> Claim | None:
    values: dict[str, Any] = {"tag": tag, "n": len(levels.values)}
    line = run.scalars[tag].line()
    if is_constant(line.values):
        return fault_claim("constant", run, tag, {**values, "value": levels.begin})
    if is_level(levels):
        values |= {"begin": levels.begin, "end": levels.end, "noise": levels.noise}
        if slight_fall(levels):
            slight = fault_claim("level_slight", run, tag, {**values, "limit": SHOWN_FALL * PERCENT})
            return replace(slight, verdict="unknown")
        return fault_claim("level", run, tag, {**values, "limit": SHOWN_FALL * PERCENT})
    if not np.isfinite(line.values[-1]):
        return None  # what it ends at is told of its NaN
    if change := rise_above_lowest(levels):
        if (jump := first_jump(line.steps, line.values)) and jump.again:
            return None  # which is left open
        limits = {"limit": RISEN, "at_end": RISEN_AT_END, "undone": UNDONE * PERCENT}
        risen: dict[str, Any] = {"tag": tag, **level_facts(change, levels), **limits}
        if shift := shift_to_end(levels, change):
            at = {"step": int(levels.steps[shift.row]), "before": shift.before, "after": shift.after}
            return fault_claim("rises_at", run, tag, risen | at)
        return fault_claim("rises", run, tag, risen)
    if only_rises(levels) and not words_of(tag) & VALIDATION:  # a validation loss may, and be of use
        facts = {"begin": levels.begin, "end": levels.end, "of": len(levels.values) // len(levels.levels)}
        limit = round((RISEN_STEADILY - 1) * PERCENT)
        return fault_claim(
            "only_rises", run, tag, {"tag": tag, "n": len(levels.levels), **facts, "limit": limit}
        )
    if change := rise_below_zero(levels):
        limits = {"share": change.factor * PERCENT, "limit": round(UNDONE * PERCENT)}
        return fault_claim("below_zero", run, tag, {"tag": tag, **level_facts(change, levels), **limits})
    return None


def _error_rates(run: Run) -> Iterator[Claim]:
    """Yield claims about error rates that ended well above their lowest level."""
    for tag, levels in judged_curves(run, "error"):
        if change := rise_above_lowest(levels, RISEN_BESIDE, UNDONE_RATE):  # it cannot exceed one
            limits = {"limit": RISEN_BESIDE, "at_end": RISEN_AT_END, "undone": UNDONE_RATE * PERCENT}
            yield fault_claim("rises", run, tag, {"tag": tag, **level_facts(change, levels), **limits})


def _collapses(run: Run) -> Iterator[Claim]:
    """Yield claims about accuracies that fell sharply and did not recover."""
    for tag, levels in judged_curves(run, "accuracy"):
        # Rewards and the like may begin anywhere: they collapse if they lose what they had gained.
        gained = not words_of(tag) & REWARDS or levels.begin <= COLLAPSED * max(levels.levels)
        if gained and (change := collapse(levels)):
            values = {"tag": tag, **level_facts(change, levels), "step": change.step}
            yield fault_claim("collapse", run, tag, {**values, "limit": COLLAPSED * PERCENT})


def _growths(run: Run) -> Iterator[Claim]:
    """Yield claims about norms that grew by orders of magnitude. Those that end small are left open, and
    those that grew with a loss scale are noted."""
    for tag, levels in judged_curves(run, "norm"):
        if not (change := growth(levels)) or not np.isfinite(run.scalars[tag].last_value):
            continue
        claim = fault_claim("growth", run, tag, {"tag": tag, **level_facts(change, levels), "limit": GROWN})
        if scale := _growing_scale(run, tag):
            values = {**claim.values, "scale": scale}
            claim = replace(claim, key=f"{claim.key}_scaled", verdict="note", values=values)
        elif change.end < _ORDINARY:
            values = {**claim.values, "most": _ORDINARY}
            claim = replace(claim, key=f"{claim.key}_small", verdict="unknown", values=values)
        yield claim


def _zero_gradients(run: Run) -> Iterator[Claim]:
    """Yield a claim if the norms of all gradients are zero at the end, and no loss is."""
    norms = [
        tag for tag in with_aim(run, "norm") if words_of(tag) <= _OF_ALL_GRADIENTS and _are_gradients([tag])
    ]
    if not norms or not all(run.scalars[tag].last_value for tag in with_aim(run, "loss")):
        return
    lines = [(run.scalars[tag].line(), tag) for tag in norms]
    ends = [(int(line.steps[-zeros]), tag, zeros) for line, tag in lines if (zeros := zero_end(line.values))]
    if len(ends) == len(norms):
        step, tag, zeros = min(ends)
        yield fault_claim("zero_gradients", run, tag, {"tag": tag, "step": step, "of": zeros})


def _zero_rates(run: Run) -> Iterator[Claim]:
    """Yield a claim if all learning rates are zero at all steps, or for the last quarter of the run."""
    lines = [(tag, run.scalars[tag].line()) for tag in sorted(run.scalars) if _RATE.search(tag)]
    for tag, line in lines:
        least = -_ROUNDING * float(np.nanmax(np.abs(line.values), initial=0.0))
        if len(below := np.flatnonzero(line.values < least)):
            facts = {"tag": tag, "step": int(line.steps[below[0]]), "n": len(below)}
            yield fault_claim("negative_rate", run, tag, facts)
            return
    if not lines or any(len(line.values) < FEWEST for _, line in lines):
        return
    others = [np.flatnonzero(line.values) for _, line in lines]
    ends = [
        len(line.values) - (int(rows[-1]) + 1 if len(rows) else 0)
        for rows, (_, line) in zip(others, lines, strict=True)
    ]
    if all(zeros >= LASTING * len(line.values) for zeros, (_, line) in zip(ends, lines, strict=True)):
        zeros, (tag, line) = min(zip(ends, lines, strict=True), key=lambda pair: pair[0])
        facts = {"step": int(line.steps[-zeros]), "of": zeros, "tag": tag}
        yield fault_claim("zero_rate" if zeros < len(line.values) else "zero_rates", run, tag, facts)


def _growing_scale(run: Run, tag: str) -> str:
    """Return the loss scale with which a norm grows, or ""."""
    norm = run.scalars[tag].line()
    for name in _scales(run):
        scale = run.scalars[name].line()
        if np.array_equal(norm.steps, scale.steps) and (scale.values > 0).all():
            with np.errstate(over="ignore"):
                levels = levels_of(norm.steps, norm.values / scale.values)
            if levels and not growth(levels):
                return name
    return ""


def _scales(run: Run) -> list[str]:
    return [name for name in sorted(run.scalars) if words_of(name) & {"scale", "scaler"}]
