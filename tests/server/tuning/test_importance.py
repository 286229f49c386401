"""Importance of parameters: shares that add up, the method that was used, and when nothing is said."""

from pathlib import Path
from typing import Any

import optuna
import pytest

from mindinsight.server.tuning.importance import FEWEST, study_importance
from mindinsight.server.tuning.journal import SUFFIX, open_journal, study_name
from mindinsight.server.tuning.study import quiet_optuna


def journal(folder: Path, trials: int, constant: bool = False) -> Path:
    """A journal of trials whose second target is ``x``; ``noise`` has nothing to do with it."""
    path = folder / f"probe{SUFFIX}"
    with quiet_optuna():
        study = optuna.create_study(
            study_name=study_name(path),
            storage=open_journal(path),
            directions=["minimize", "minimize"],
            sampler=optuna.samplers.RandomSampler(seed=4),
        )
        for number in range(trials):
            trial = study.ask()
            x = trial.suggest_float("x", 0, 1)
            trial.suggest_float("noise", 0, 1)
            if number:
                trial.suggest_float("late", 0, 1)
            study.tell(trial, [0.0, 1.0 if constant else x])
    return path


def test_the_parameter_that_makes_the_target_has_the_larger_share(tmp_path: Path) -> None:
    result = study_importance(str(journal(tmp_path, 40)), 1, "ped_anova")
    shares = result["importance"]
    assert (result["method"], result["trials"]) == ("ped_anova", 40)
    assert shares["x"] > 0.9
    assert sum(shares.values()) == pytest.approx(1)
    assert "late" not in shares  # the first trial has none


def test_too_few_trials_say_nothing(tmp_path: Path) -> None:
    assert study_importance(str(journal(tmp_path, FEWEST - 1)), 1, "fanova") == {
        "method": "fanova",
        "importance": {},
        "trials": FEWEST - 1,
    }


def test_a_target_that_never_varies_has_no_causes(tmp_path: Path) -> None:
    result = study_importance(str(journal(tmp_path, 12, constant=True)), 1, "ped_anova")
    assert (result["importance"], result["trials"]) == ({}, 12)


def test_without_scikit_learn_another_method_takes_its_place_and_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(**_: Any) -> None:
        raise ImportError("scikit-learn")

    monkeypatch.setattr(optuna.importance, "FanovaImportanceEvaluator", missing)
    assert study_importance(str(journal(tmp_path, 10)), 1, "fanova")["method"] == "ped_anova"
