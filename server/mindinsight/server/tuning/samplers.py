"""Samplers and pruners by the names of the tuning file."""

from __future__ import annotations

import importlib.util
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from mindinsight.server.errors import BadSettings
from mindinsight.server.tuning.config import Pruner, Tuner
from mindinsight.server.tuning.config_parameters import Parameter

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
