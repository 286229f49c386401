"""Facts of studies: progress, time left, best so far, Pareto front."""

from datetime import datetime, timedelta, timezone
from typing import Any

import optuna
import pytest
from optuna.trial import TrialState

from mindinsight.server.tuning.study import (
    IMPORTED,
    INTERRUPTED,
    quiet_optuna,
)
from mindinsight.server.tuning.study_facts import (
    best_so_far,
    progress,
    study_facts,
)

BEGUN = datetime(2026, 1, 1, tzinfo=timezone.utc)


def trial(
    number: Any, state: Any, begun: int = 0, ended: Any = None, value: Any = None, **attributes: Any
) -> Any:
    """A trial of which the times are seconds after BEGUN."""
    values = value if isinstance(value, tuple) else (value,) if value is not None else None
    made = optuna.trial.create_trial(state=state, values=values, user_attrs=attributes)
    made.number = number
    made.datetime_start = BEGUN + timedelta(seconds=begun)
    made.datetime_complete = None if ended is None else BEGUN + timedelta(seconds=ended)
    return made


def test_counts_and_the_time_that_is_left() -> None:
    trials = [
        trial(0, TrialState.COMPLETE, 0, 10, 1.0),
        trial(1, TrialState.FAIL, 0, 20),
        trial(2, TrialState.FAIL, 0, 500, **{INTERRUPTED: True}),
        trial(3, TrialState.COMPLETE, 0, 900, 1.0, **{IMPORTED: True}),
        trial(4, TrialState.PRUNED, 20, 50, 2.0),
        trial(5, TrialState.RUNNING, 50),
    ]
    facts = progress(trials, {"trials": 10, "jobs": 2}, BEGUN.timestamp() + 60)
    assert facts == {
        "wanted": 10,
        "jobs": 2,
        "done": 3,
        "complete": 1,
        "pruned": 1,
        "failed": 1,
        "running": 1,
        "interrupted": 1,
        "imported": 1,
        "left": (7 * 20 - 10) / 2,  # 20 s each, of which the running one has had 10
    }
    assert progress([], {"trials": 10}, 0.0)["left"] is None
    assert progress(trials, {}, 0.0)["left"] is None


def test_the_best_so_far_follows_the_order_of_ends() -> None:
    trials = [
        trial(0, TrialState.COMPLETE, 0, 30, 2.0),
        trial(1, TrialState.COMPLETE, 0, 10, 3.0),
        trial(2, TrialState.COMPLETE, 0, 40, 2.5),
        trial(3, TrialState.COMPLETE, 0, 50, 1.0),
    ]
    assert [step["number"] for step in best_so_far(trials, maximize=False)] == [1, 0, 3]
    assert [step["number"] for step in best_so_far(trials, maximize=True)] == [1]


@pytest.mark.parametrize("directions", [("minimize", "maximize"), ("maximize", "minimize", "minimize")])
def test_the_front_is_that_of_optuna(directions: Any) -> None:
    with quiet_optuna():
        study = optuna.create_study(directions=directions, sampler=optuna.samplers.RandomSampler(seed=2))
        study.optimize(
            lambda trial: [round(trial.suggest_float(str(i), 0, 1), 1) for i in range(len(directions))], 60
        )
    assert study_facts(study)["front"] == [trial.number for trial in study.best_trials]


def test_a_study_that_was_made_with_optuna_alone() -> None:
    with quiet_optuna():
        study = optuna.create_study(study_name="plain", direction="maximize")
        study.optimize(lambda trial: trial.suggest_float("x", 0, 1), 2)
        study.enqueue_trial({"x": 0.5})
    facts = study_facts(study)
    assert [target["goal"] for target in facts["targets"]] == ["maximize"]
    assert len(facts["trials"]) == 2  # what is queued is none yet
    assert facts["progress"]["wanted"] is None
