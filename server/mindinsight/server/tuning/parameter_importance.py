"""Importance of the parameters of a study, by Optuna's evaluators."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from mindinsight.server.tuning.published_study import COMPLETE, PublishedStudy, Trial, read_published
from mindinsight.server.tuning.study import SUFFIX, has_optuna, quiet_optuna, read_study
from mindinsight.server.tuning.tuning_parameters import distribution

if TYPE_CHECKING:
    from optuna import Study
    from optuna.trial import FrozenTrial


FEWEST: Final = 4  # complete trials for an importance
METHODS: Final = ("fanova", "ped_anova")


def missing_package(method: str) -> str | None:
    """Return the package that a method needs and the server lacks, or None, also for an unknown method."""
    if method in METHODS and not has_optuna():
        return "optuna"
    return "scikit-learn" if method == "fanova" and find_spec("sklearn") is None else None


def study_importance(source: str, target: int, method: str) -> dict[str, Any]:
    """Return `method`, `importance` by parameter, and `trials`, the number of complete trials, for a target
    of the study at the path ``source``. `importance` is {} with fewer than FEWEST complete trials, or if
    nothing varies. Raises ImportError without Optuna, and OSError or KeyError if there is no such study.

    `target` is the index of the target. The parameters are those that all complete trials have. Their
    importance adds up to 1. Nothing varies if the target or all parameters have a single value.

    `fanova` (Hutter, Hoos and Leyton-Brown, 2014) is the share of a target's variance that each parameter
    explains by itself. `ped_anova` (Watanabe, Bansal and Hutter, 2023) looks at the better trials. `source`
    is a journal or a published study. The function depends on its arguments and this file only, so that it
    can run in another process, because importing the evaluators takes long.
    """
    import optuna

    with quiet_optuna():
        try:
            study = _opened(Path(source))
        except ValueError:  # values of a published study that do not fit its parameters
            return {"method": method, "importance": {}, "trials": 0}
        complete = [trial for trial in study.get_trials(deepcopy=False) if trial.state.name == "COMPLETE"]
        varies = len({trial.values[target] for trial in complete}) > 1
        if len(complete) < FEWEST or not varies:
            return {"method": method, "importance": {}, "trials": len(complete)}
        evaluators: dict[str, Any] = {
            "fanova": lambda: optuna.importance.FanovaImportanceEvaluator(seed=0),
            "ped_anova": optuna.importance.PedAnovaImportanceEvaluator,
        }
        evaluator = evaluators[method]()
        shared = set.intersection(*(set(trial.params) for trial in complete))
        names = [name for name in complete[0].params if name in shared]
        # PED-ANOVA takes the lowest values for the best if it is given a target
        sign = -1 if method == "ped_anova" and study.directions[target].name == "MAXIMIZE" else 1
        try:
            shares = optuna.importance.get_param_importances(
                study, evaluator=evaluator, params=names, target=lambda trial: sign * trial.values[target]
            )
        except (ValueError, RuntimeError):  # no parameter varies
            shares = {}
    return {
        "method": method,
        "importance": {name: float(value) for name, value in shares.items()},
        "trials": len(complete),
    }


def _opened(path: Path) -> Study:
    """Return the study of a journal, or a published one with its complete trials."""
    return read_study(path) if path.name.endswith(SUFFIX) else rebuilt_study(read_published(path))


def rebuilt_study(published: PublishedStudy) -> Study:
    """Rebuild the complete trials of a published study in memory, for Optuna's evaluators. Raises ImportError
    without Optuna, and ValueError if the values do not fit the parameters."""
    import optuna

    spaces = {parameter.name: distribution(parameter) for parameter in published.parameters}
    study = optuna.create_study(directions=[target.goal for target in published.targets])
    for trial in published.trials:
        if trial.state in COMPLETE:
            study.add_trial(_frozen(trial, spaces))
    return study


def _frozen(trial: Trial, spaces: Mapping[str, Any]) -> FrozenTrial:
    from optuna.trial import create_trial

    params = {name: value for name, value in trial.params.items() if name in spaces}
    return create_trial(
        params=params, distributions={name: spaces[name] for name in params}, values=trial.values
    )
