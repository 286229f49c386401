"""Scalars of a run that are judged by their name, and the claims that are made of them."""

from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from mindinsight.server.api.tag_aims import PLAYED, REWARDED, Aim, aim_of, words_of
from mindinsight.server.claims import Claim
from mindinsight.server.curves.levels import Change, Levels, levels_of
from mindinsight.server.store.run import Run

_MOST_JUDGED: Final = 200  # scalars of a run with an aim, so that 10,000 norms take no minute
_PLAYED_FOR: Final = {"score", "len", "length", "steps", "won", "wins"}
_PENALTIES: Final = {"l1", "l2", "penalty", "decay", "wd"}
PERCENT: Final = 100
TRAINING: Final = {"train", "training"}
VALIDATION: Final = {"val", "valid", "validation", "eval", "evaluation", "test", "dev", "heldout", "holdout"}


def with_aim(run: Run, *aims: Aim) -> list[str]:
    """Return the scalars of a run that are of these classes by their names, 200 at most."""
    return [tag for tag in sorted(run.scalars) if aim_of(tag) in aims][:_MOST_JUDGED]


def finite_values(run: Run, tag: str) -> int:
    """Return the number of finite values of a scalar. Raises KeyError if the run lacks the scalar."""
    return int(np.count_nonzero(np.isfinite(run.scalars[tag].line().values)))


def _is_of_episodes(tag: str) -> bool:
    """Return True for the score or the length of an episode, by which an agent is judged."""
    words = words_of(tag)
    return bool(words & {"episode", "episodes", "episodic", "ep", "rollout", "game"} and words & _PLAYED_FOR)


def falling_losses(run: Run) -> list[str]:
    """Return the losses of a run that need to fall. A term that holds weights small grows with them, beside
    the loss of which it is a term."""
    if any(words_of(tag) & REWARDED or _is_of_episodes(tag) for tag in run.scalars):
        return []
    losses = [tag for tag in with_aim(run, "loss") if not words_of(tag) & PLAYED]
    whole = [tag for tag in losses if not words_of(tag) & _PENALTIES]
    return whole or losses


def judged_curves(run: Run, *aims: Any) -> Iterator[tuple[str, Levels]]:
    """Yield the tag and levels of each scalar of these classes that has levels. Losses that need not fall are
    left out."""
    for tag in falling_losses(run) if "loss" in aims else with_aim(run, *aims):
        line = run.scalars[tag].line()
        if levels := levels_of(line.steps, line.values, shares="accuracy" in aims):
            yield tag, levels


def level_facts(change: Change, levels: Levels) -> dict[str, Any]:
    """Return the values of a claim about a change of levels."""
    factor = float(f"{change.factor:.2g}")  # of levels, whose third digit is noise
    size = len(levels.values) // len(levels.levels)
    return {"of": size, "extreme": change.extreme, "about": change.step, "end": change.end, "factor": factor}


def fault_claim(name: str, run: Run, tag: str, values: dict[str, Any]) -> Claim:
    """Return the claim ``claim.explain.NAME`` about a scalar, whose evidence has its step if there is one."""
    evidence = {"run": run.id, "tag": tag, **({"step": values["step"]} if "step" in values else {})}
    return Claim(f"claim.explain.{name}", "found", values, (evidence,))
