"""Importance of the parameters of a study, by Optuna's evaluators."""

from __future__ import annotations

from typing import Any, Final

from mindinsight.server.tuning.journal import open_journal, study_name
from mindinsight.server.tuning.study import quiet_optuna

FEWEST: Final = 4  # complete trials below which nothing is said
METHODS: Final = ("fanova", "ped_anova")


def study_importance(journal: str, target: int, method: str, seed: int = 0) -> dict[str, Any]:
    """Shares of the parameters that all complete trials have, which add up to 1; and the method used.

    There are none where too few trials are complete, or the target is the same in all of them.

    ``fanova`` (Hutter, Hoos and Leyton-Brown, 2014) says how much of the variance of a target each parameter
    explains by itself; it needs scikit-learn, and PED-ANOVA (Watanabe, Bansal and Hutter, 2023), which looks
    at the better trials, takes its place where that is not installed. Pure function of its arguments and the
    journal, for a process of its own: the first call loads much.
    """
    from pathlib import Path

    import optuna

    with quiet_optuna():
        study = optuna.load_study(study_name=study_name(Path(journal)), storage=open_journal(Path(journal)))
        complete = [trial for trial in study.get_trials(deepcopy=False) if trial.state.name == "COMPLETE"]
        varies = len({trial.values[target] for trial in complete}) > 1
        if len(complete) < FEWEST or not varies:
            return {"method": method, "importance": {}, "trials": len(complete)}
        evaluators: dict[str, Any] = {
            "fanova": lambda: optuna.importance.FanovaImportanceEvaluator(seed=seed),
            "ped_anova": optuna.importance.PedAnovaImportanceEvaluator,
        }
        try:
            evaluator = evaluators[method]()
        except ImportError:
            method, evaluator = "ped_anova", evaluators["ped_anova"]()
        shared = set.intersection(*(set(trial.params) for trial in complete))
        names = [name for name in complete[0].params if name in shared]
        try:
            shares = optuna.importance.get_param_importances(
                study, evaluator=evaluator, params=names, target=lambda trial: trial.values[target]
            )
        except (ValueError, RuntimeError):  # nothing varies
            shares = {}
    return {
        "method": method,
        "importance": {name: float(value) for name, value in shares.items()},
        "trials": len(complete),
    }
