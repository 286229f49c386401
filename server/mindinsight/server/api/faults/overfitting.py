"""Overfitting: validation losses that rise, or accuracies that fall, while those of the training improve."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

import numpy as np

from mindinsight.server.api.faults.judged_curves import (
    PERCENT,
    TRAINING,
    VALIDATION,
    fault_claim,
    finite_values,
    judged_curves,
    level_facts,
    with_aim,
)
from mindinsight.server.api.tag_aims import REWARDS, words_of
from mindinsight.server.claims import Claim
from mindinsight.server.curves.levels import (
    RISEN_BESIDE,
    RISEN_STEADILY,
    UNDONE_RATE,
    Change,
    Levels,
    levels_of,
    rise_above_lowest,
)
from mindinsight.server.curves.signs.validation_rises import (
    BY_CHANCE,
    FEWEST_EPOCHS,
    rise_of_epochs,
    rise_of_few,
    steady_rise,
)
from mindinsight.server.store.run import Run

_NEARLY: Final = 0.05  # of the range of an accuracy: that near to its highest level it is at it
_LOSSES: Final = {"ppl", "perplexity", "nll", "ce", "xent", "crossentropy"}


def overfit_claim(run: Run, tag: str, judged: dict[str, Levels]) -> Claim | None:
    """Return a claim that a validation loss rose from its lowest level while the training loss
    fell, or None."""
    if not words_of(tag) & VALIDATION or (change := rise_above_lowest(judged[tag], RISEN_BESIDE)) is None:
        return None
    if (fall := _fall_beside(tag, change, judged)) is None:
        return None
    return _unless_right(
        run, fault_claim("overfit", run, tag, {"tag": tag, **level_facts(change, judged[tag]), **fall})
    )


def _unless_right(run: Run, claim: Claim) -> Claim:
    """Return the claim about a validation loss, left open if a validation accuracy is at its highest at the
    end: not more of the answers are wrong then, but those that are wrong are given with more certainty."""
    for tag in with_aim(run, "accuracy"):
        line = run.scalars[tag].line()
        known = line.values[np.isfinite(line.values)].astype(np.float64)
        if not words_of(tag) & VALIDATION or len(known) < FEWEST_EPOCHS:
            continue
        levels = levels_of(line.steps, line.values, shares=True)
        highest = float(known.max()) if levels is None else float(levels.levels.max())
        end, least = (known[-1], known.min()) if levels is None else (levels.end, levels.levels.min())
        holds = levels is not None and not levels.is_certain(int(np.argmax(levels.levels)))
        if holds or end >= highest - _NEARLY * (highest - least):
            return replace(claim, verdict="unknown", values={**claim.values, "but": _at_highest(tag)})
    return replace(claim, values={**claim.values, "but": ""})


def _at_highest(tag: str) -> Claim:
    return Claim("claim.part.explain.at_highest", "note", {"tag": tag})


def few_overfit_claim(run: Run, tag: str, judged: dict[str, Levels]) -> Claim | None:
    """Return the claim of `overfit_claim` for a validation loss with too few values for levels, or None."""
    line = run.scalars[tag].line()
    epochs = rise_of_epochs(line.steps, line.values)
    change = epochs or rise_of_few(line.steps, line.values)
    if change is None or (fall := _fall_beside(tag, change, judged, run)) is None:
        return None
    facts: dict[str, Any] = {"extreme": change.extreme, "about": change.step, "end": change.end}
    facts |= {"factor": float(f"{change.factor:.2g}")}
    facts |= {"tag": tag, "n": finite_values(run, tag), **fall}
    return _unless_right(run, fault_claim("overfit_epochs" if epochs else "overfit_few", run, tag, facts))


def steady_overfit_claim(run: Run, tag: str, judged: dict[str, Levels]) -> Claim | None:
    """Return a claim that a validation loss rose steadily, though by less than `overfit_claim` needs, while
    the training loss fell, or None."""
    line = run.scalars[tag].line()
    if not words_of(tag) & VALIDATION or (change := steady_rise(line.steps, line.values)) is None:
        return None
    if (fall := _fall_beside(tag, change, judged, run)) is None:
        return None
    facts: dict[str, Any] = {"extreme": change.extreme, "about": change.step, "end": change.end}
    facts |= {"factor": float(f"{change.factor:.3g}"), "chance": BY_CHANCE}
    facts |= {"tag": tag, **fall, "limit": RISEN_STEADILY}
    return _unless_right(run, fault_claim("overfit_steady", run, tag, facts))


def few_validation(run: Run, judged: Mapping[str, Levels]) -> list[str]:
    """Return the validation losses with too few values for levels that have a training loss beside them."""
    losses = [tag for tag in with_aim(run, "loss") if finite_values(run, tag) >= FEWEST_EPOCHS]
    few_values = [tag for tag in losses if words_of(tag) & VALIDATION and tag not in judged]
    return [tag for tag in few_values if any(_is_beside(tag, other) for other in losses)]


def _is_beside(tag: str, other: str) -> bool:
    """Return True if a training loss has the same name as a validation loss but for these words. A
    perplexity and a likelihood are losses."""
    ours, theirs = (
        {"loss" if word in _LOSSES else word for word in words_of(name) - side}
        for name, side in ((tag, VALIDATION), (other, TRAINING))
    )
    return ours == theirs and not words_of(other) & VALIDATION


def _fall_beside(
    tag: str, change: Change, judged: Mapping[str, Levels], run: Run | None = None
) -> dict[str, Any] | None:
    """Return how far the training loss fell after a validation loss changed, or None if it did not fall. One
    of the ``run`` with too few values for levels is below its value there ever after."""
    for other, levels in judged.items():
        if _is_beside(tag, other):
            part = levels.part_at(change.step)
            before = float(levels.levels[part])
            if before > levels.end and (levels.is_certain(part) or levels.lies_above_end(part)):
                return {"other": other, "before": before, "after": levels.end, "limit": RISEN_BESIDE}
    for other in with_aim(run, "loss") if run else ():
        line = run.scalars[other].line() if run else None
        if line is None or other in judged or not _is_beside(tag, other):
            continue
        row = int(np.searchsorted(line.steps, change.step))
        then, later = line.values[row : row + 1], line.values[row + 1 :]
        if len(later) > 1 and (later < then).all():
            fall = {"before": float(then[0]), "after": float(line.values[-1])}
            return {"other": other, **fall, "limit": RISEN_BESIDE}
    return None


def overfit_accuracies(run: Run) -> Iterator[Claim]:
    """Yield claims about validation accuracies that fell while the training accuracy rose. They are judged by
    their distance from one, or from a hundred."""
    judged: dict[str, Levels] = {}
    whole: dict[str, float] = {}
    for tag, levels in judged_curves(run, "accuracy"):
        top = 1.0 if levels.values.max() <= 1 else PERCENT
        if levels.values.min() >= 0 and levels.values.max() <= top and not words_of(tag) & REWARDS:
            missed = levels_of(levels.steps, top - levels.values, shares=True)
            judged |= {tag: missed} if missed else {}
            whole[tag] = top
    for tag, levels in judged.items():
        if not words_of(tag) & VALIDATION:
            continue
        change = rise_above_lowest(levels, RISEN_BESIDE, UNDONE_RATE)
        change = change or steady_rise(levels.steps, levels.values)
        if change is None or not (fall := _fall_beside(tag, change, judged)):
            continue
        facts = level_facts(change, levels) | {
            "extreme": whole[tag] - change.extreme,
            "end": whole[tag] - change.end,
        }
        other = str(fall["other"])
        facts |= fall | {"before": whole[other] - fall["before"], "after": whole[other] - fall["after"]}
        yield fault_claim("overfit_accuracy", run, tag, {"tag": tag, **facts})
