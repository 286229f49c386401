"""Facts of a study for pages and scripts: progress, trials, best values and importance."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from mindinsight.server.tuning import study as studies

if TYPE_CHECKING:
    from optuna import Study
    from optuna.trial import FrozenTrial


def study_facts(study: Study) -> dict[str, Any]:
    """Return a study as JSON: name, targets, parameters, tuner, pruner, summary_base_dir, command,
    stopping, progress, trials, best and front. `best` is [] with several targets, `front` with one. Queued
    trials are left out. Times are Unix seconds, values in the order of the targets."""
    trials = [trial for trial in study.get_trials(deepcopy=False) if trial.state.name != "WAITING"]
    attributes = study.user_attrs
    config, plan = attributes.get(studies.CONFIG, {}), attributes.get(studies.PLAN, {})
    maximize = [direction.name == "MAXIMIZE" for direction in study.directions]
    return {
        "name": study.study_name,
        "targets": config.get("targets")
        or [{"name": f"{i + 1}", "goal": "maximize" if up else "minimize"} for i, up in enumerate(maximize)],
        "parameters": config.get("parameters", []),
        "tuner": config.get("tuner", {}),
        "pruner": config.get("pruner"),
        "summary_base_dir": config.get("summary_base_dir", ""),
        "command": config.get("command", []),
        "stopping": attributes.get(studies.STOP) is not None,
        "progress": progress(trials, plan, time.time()),
        "trials": [trial_facts(trial) for trial in trials],
        "best": best_so_far(trials, maximize[0]) if len(maximize) == 1 else [],
        "front": [trial.number for trial in study.best_trials] if len(maximize) > 1 else [],
    }


_COUNTED: Final = ("complete", "pruned", "failed", "running", "interrupted", "imported")


def progress(trials: Sequence[FrozenTrial], plan: Mapping[str, Any], now: float) -> dict[str, Any]:
    """Return the numbers of trials by state, `done` of the `wanted` ones, `jobs`, and the estimated seconds
    `left`. `wanted` and `left` are None without a plan, `left` also before a trial has ended."""
    ended = studies.finished_trials(trials)
    running = [trial for trial in trials if trial.state.name == "RUNNING"]
    states = Counter(map(state_of, trials))
    wanted = plan.get("trials")
    jobs = plan.get("jobs", 1)
    return {
        "wanted": wanted,
        "jobs": jobs,
        "done": len(ended),
        **{state: states[state] for state in _COUNTED},
        "left": seconds_left(ended, running, wanted, jobs, now),
    }


def seconds_left(
    ended: Sequence[FrozenTrial], running: Sequence[FrozenTrial], wanted: int | None, jobs: int, now: float
) -> float | None:
    """Return the estimated seconds until ``wanted`` trials have ended, or None without a plan or an ended
    trial."""
    lengths = [trial.duration.total_seconds() for trial in ended if trial.duration is not None]
    if wanted is None or not lengths:
        return None
    mean = sum(lengths) / len(lengths)
    spent = sum(min(mean, now - begun) for trial in running if (begun := seconds_of(trial.datetime_start)))
    return max(0.0, mean * (wanted - len(ended)) - spent) / max(1, jobs)


def trial_facts(trial: FrozenTrial) -> dict[str, Any]:
    """Return a trial as JSON: number, state, values, params, begun, ended, run, failure, log, again and
    last_step. Times are Unix seconds. Unknown facts are None, and `log` is [] without lines."""
    attributes = trial.user_attrs
    return {
        "number": trial.number,
        "state": state_of(trial),
        "values": trial.values,
        "params": trial.params,
        "begun": seconds_of(trial.datetime_start),
        "ended": seconds_of(trial.datetime_complete),
        "run": attributes.get(studies.RUN),
        "failure": attributes.get(studies.FAILURE),
        "log": attributes.get(studies.LOG, []),
        "again": attributes.get(studies.AGAIN),
        "last_step": trial.last_step,
    }


def state_of(trial: FrozenTrial) -> str:
    """Return the state of a trial: `waiting` (queued), `running`, `complete`, `pruned`, `failed`,
    `interrupted` or `imported`."""
    if trial.user_attrs.get(studies.INTERRUPTED):
        return "interrupted"
    if trial.user_attrs.get(studies.IMPORTED):
        return "imported"
    return "failed" if trial.state.name == "FAIL" else trial.state.name.lower()


def best_so_far(trials: Sequence[FrozenTrial], maximize: bool) -> list[dict[str, Any]]:
    """Return `number`, `value` and `ended` of the complete trials that improved on all that ended before
    them, as JSON, in order of end. The value is that of the first target."""
    complete = [trial for trial in trials if trial.state.name == "COMPLETE"]
    steps: list[dict[str, Any]] = []
    best = -math.inf if maximize else math.inf
    for trial in sorted(
        complete, key=lambda trial: (seconds_of(trial.datetime_complete) or 0.0, trial.number)
    ):
        value = trial.values[0]
        if value > best if maximize else value < best:
            best = value
            steps.append(
                {"number": trial.number, "value": value, "ended": seconds_of(trial.datetime_complete)}
            )
    return steps


def seconds_of(when: datetime | None) -> float | None:
    """Return a time of a journal as Unix seconds, or None if there is no time."""
    return None if when is None else when.timestamp()
