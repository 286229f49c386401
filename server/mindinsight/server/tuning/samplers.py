"""Samplers and pruners by the names of the tuning file, and the next values they suggest."""

from __future__ import annotations

import importlib.util
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mindinsight.server.errors import bad_settings
from mindinsight.server.tuning.study import CONFIG, quiet_optuna, read_study
from mindinsight.server.tuning.tuning_file import Pruner, Tuner
from mindinsight.server.tuning.tuning_parameters import Parameter, Values, suggest

if TYPE_CHECKING:
    from optuna.pruners import BasePruner
    from optuna.samplers import BaseSampler


def make_sampler(
    tuner: Tuner, parameters: Sequence[Parameter], jobs: int = 1, trials: int = 0
) -> BaseSampler:
    """Return the sampler of a tuning file, for parallel `jobs` and a study that already has `trials` trials.
    Raises BadSettings if a package that the sampler needs is not installed."""
    import optuna

    args = dict(tuner.args)
    seed = tuner.seed
    if seed is not None and trials:  # a resumed study would otherwise draw the same values again
        seed = (seed + 1_000_003 * trials) % 2**32
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        if tuner.name == "tpe":
            if jobs > 1:
                args.setdefault("constant_liar", True)  # otherwise parallel trials get similar values
            return optuna.samplers.TPESampler(seed=seed, **args)
        if tuner.name == "random":
            return optuna.samplers.RandomSampler(seed=seed)
        if tuner.name == "cmaes":
            _need("cmaes", "sampler_package", "tuner: name: cmaes")
            return optuna.samplers.CmaEsSampler(seed=seed, **args)
        if tuner.name == "grid":
            return _grid(parameters, tuner.seed)
        return _gaussian_process(args, seed)


def _grid(parameters: Sequence[Parameter], seed: int | None) -> BaseSampler:
    """Return a grid sampler. Conditional parameters need Optuna's BruteForceSampler."""
    import optuna

    if any(parameter.when for parameter in parameters):
        return optuna.samplers.BruteForceSampler(seed=seed)
    values = {parameter.name: parameter.values() for parameter in parameters}
    return optuna.samplers.GridSampler(values, seed=seed)


def _gaussian_process(args: dict[str, Any], seed: int | None) -> BaseSampler:
    """Create a Gaussian process sampler: Optuna's for `logei`, ours for the other methods."""
    method = args.pop("method", "ucb")
    if method == "logei":
        import optuna

        for package in ("torch", "scipy"):
            _need(package, "gp_package", "method: logei (Optuna's GPSampler)")
        return optuna.samplers.GPSampler(seed=seed, **args)
    from mindinsight.server.tuning.gaussian_process import GaussianProcessSampler

    return GaussianProcessSampler(method, seed=seed, **args)


def make_pruner(pruner: Pruner | None, every: int | None) -> BasePruner:
    """Return the pruner of a tuning file, for intermediate values that are `every` steps apart. Without a
    pruner, or without `every`, return a pruner that prunes nothing."""
    import optuna

    if pruner is None or every is None:
        return optuna.pruners.NopPruner()
    if pruner.name == "hyperband":
        return optuna.pruners.HyperbandPruner(min_resource=every, **pruner.args)
    return optuna.pruners.MedianPruner(**pruner.args)


def _need(package: str, problem: str, feature: str) -> None:
    """Raise BadSettings with the text of `problem` if a package is not installed."""
    if importlib.util.find_spec(package) is None:
        raise bad_settings(problem, feature=feature, package=package)


def next_suggestions(journal: str, count: int) -> list[Values]:
    """Return the values by parameter of up to `count` next trials, queued ones first, without writing to the
    journal. Return [] if no tuner has stored its tuning file. Raises KeyError if the journal lacks the study,
    and BadSettings if a package of the sampler is missing.

    A running tuner may draw other values, because its generator has advanced. The function depends on its
    arguments and the journal only, so that it can run in another process.
    """
    with quiet_optuna():
        stored = read_study(Path(journal))
        config = stored.user_attrs.get(CONFIG)
        if not config:
            return []
        parameters, tuner = parameters_of(config), tuner_of(config)
        trials = stored.get_trials(deepcopy=False)
        study = copy_study(stored, tuner, parameters, count)
        if tuner.name == "grid" and not any(trial.state.name == "WAITING" for trial in trials):
            return _untried_points(study, parameters, count)
        return [suggest(study.ask(), parameters) for _ in range(count)]


def copy_study(stored: Any, tuner: Tuner, parameters: tuple[Parameter, ...], jobs: int) -> Any:
    """Return a copy in memory of the study `stored`, with a sampler of `tuner` for parallel `jobs`."""
    import optuna

    trials = stored.get_trials(deepcopy=False)
    seed = tuner.seed if tuner.seed is not None else 0
    sampler = make_sampler(Tuner(tuner.name, tuner.args, seed), parameters, jobs, len(trials))
    study = optuna.create_study(directions=stored.directions, sampler=sampler)
    setattr(study, "stop", lambda: None)  # noqa: B010
    for trial in trials:
        study.add_trial(trial)
    return study


def _untried_points(study: Any, parameters: tuple[Parameter, ...], count: int) -> list[Values]:
    """Return up to `count` points of a grid that were not tried. A sampler repeats points after the last
    one."""
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
    """Return the parameters of a tuning file, rebuilt from the JSON stored with its study."""
    parameters = []
    for entry in config["parameters"]:
        when = {name: tuple(values) for name, values in entry["when"].items()}
        parameters.append(Parameter(**{**entry, "choices": tuple(entry["choices"]), "when": when}))
    return tuple(parameters)


def tuner_of(config: Mapping[str, Any]) -> Tuner:
    """Return the tuner of a tuning file, rebuilt from the JSON stored with its study."""
    return Tuner(**config["tuner"])
