"""Samplers and pruners by the names of the tuning file, and their next suggestions."""

from __future__ import annotations

import importlib.util
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mindinsight.server.errors import BadSettings
from mindinsight.server.tuning.space import Values, suggest
from mindinsight.server.tuning.study import CONFIG, open_journal, quiet_optuna, study_name
from mindinsight.server.tuning.tuning_file import Pruner, Tuner
from mindinsight.server.tuning.tuning_parameters import Parameter

if TYPE_CHECKING:
    from optuna.pruners import BasePruner
    from optuna.samplers import BaseSampler


def make_sampler(
    tuner: Tuner, parameters: Sequence[Parameter], jobs: int = 1, trials: int = 0
) -> BaseSampler:
    """The sampler of a tuning file, for a study that has so many ``trials`` already.

    Raises BadSettings where a package is missing that it needs.
    """
    import optuna

    args = dict(tuner.args)
    seed = _seed(tuner.seed, trials)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        if tuner.name == "tpe":
            if jobs > 1:
                args.setdefault("constant_liar", True)  # parallel trials keep apart
            return optuna.samplers.TPESampler(seed=seed, **args)
        if tuner.name == "random":
            return optuna.samplers.RandomSampler(seed=seed)
        if tuner.name == "cmaes":
            _need("cmaes", "tuner: name: cmaes")
            return optuna.samplers.CmaEsSampler(seed=seed, **args)
        if tuner.name == "grid":
            return _grid(parameters, tuner.seed)
        return _gaussian_process(args, seed)


def _seed(seed: int | None, trials: int) -> int | None:
    """The seed itself for a new study; another one for one that goes on, so that nothing is drawn twice."""
    return seed if seed is None or not trials else (seed + 1_000_003 * trials) % 2**32


def _grid(parameters: Sequence[Parameter], seed: int | None) -> BaseSampler:
    import optuna

    if any(parameter.when for parameter in parameters):
        return optuna.samplers.BruteForceSampler(seed=seed)
    values = {parameter.name: parameter.values() for parameter in parameters}
    return optuna.samplers.GridSampler(values, seed=seed)


def _gaussian_process(args: dict[str, Any], seed: int | None) -> BaseSampler:
    method = args.pop("method", "ucb")
    if method == "logei":
        import optuna

        for package in ("torch", "scipy"):
            _need(package, "method: logei (Optuna's GPSampler)", ": methods ucb, pi and ei need nothing more")
        return optuna.samplers.GPSampler(seed=seed, **args)
    from mindinsight.server.tuning.gaussian_process import GaussianProcessSampler

    return GaussianProcessSampler(method, seed=seed, **args)


def make_pruner(pruner: Pruner | None, every: int | None) -> BasePruner:
    """The pruner of a tuning file, for values that are told every so many steps."""
    import optuna

    if pruner is None or every is None:
        return optuna.pruners.NopPruner()
    if pruner.name == "hyperband":
        return optuna.pruners.HyperbandPruner(min_resource=every, **pruner.args)
    return optuna.pruners.MedianPruner(**pruner.args)


def _need(package: str, what: str, instead: str = "") -> None:
    if importlib.util.find_spec(package) is None:
        raise BadSettings(f"{what} needs the package {package}, which is not installed{instead}.")


def next_suggestions(journal: str, count: int) -> list[Values]:
    """Values of the next ``count`` trials; what is queued comes first. Nothing is written to the journal.

    A tuner at work may draw others, as its random numbers are further on. Pure function of its arguments and
    the journal, for a process of its own.
    """
    import optuna

    with quiet_optuna():
        path = Path(journal)
        stored = optuna.load_study(study_name=study_name(path), storage=open_journal(path))
        config = stored.user_attrs.get(CONFIG)
        if not config:
            return []
        parameters, tuner = parameters_of(config), tuner_of(config)
        trials = stored.get_trials(deepcopy=False)
        study = copied(stored, tuner, parameters, count)
        if tuner.name == "grid" and not any(trial.state.name == "WAITING" for trial in trials):
            return _left_of_grid(study, parameters, count)
        return [suggest(study.ask(), parameters) for _ in range(count)]


def copied(stored: Any, tuner: Tuner, parameters: tuple[Parameter, ...], jobs: int) -> Any:
    """A copy in memory of a study, with the sampler of its tuning file."""
    import optuna

    trials = stored.get_trials(deepcopy=False)
    seed = tuner.seed if tuner.seed is not None else 0
    sampler = make_sampler(Tuner(tuner.name, tuner.args, seed), parameters, jobs, len(trials))
    study = optuna.create_study(directions=stored.directions, sampler=sampler)
    setattr(study, "stop", lambda: None)  # noqa: B010
    for trial in trials:
        study.add_trial(trial)
    return study


def _left_of_grid(study: Any, parameters: tuple[Parameter, ...], count: int) -> list[Values]:
    """The points of a grid that were not tried: after the last one a sampler would repeat itself."""
    tried = [trial.params for trial in study.get_trials(deepcopy=False)]
    suggestions: list[Values] = []
    for _ in range(count):
        values = suggest(study.ask(), parameters)
        if values in tried:
            break
        tried.append(values)
        suggestions.append(values)
    return suggestions


def parameters_of(config: Mapping[str, Any]) -> tuple[Parameter, ...]:
    """The parameters of a tuning file as a study keeps them."""
    return tuple(
        Parameter(
            **{
                **entry,
                "choices": tuple(entry["choices"]),
                "when": {name: tuple(values) for name, values in entry["when"].items()},
            }
        )
        for entry in config["parameters"]
    )


def tuner_of(config: Mapping[str, Any]) -> Tuner:
    return Tuner(**config["tuner"])
