"""Gaussian process sampler for Optuna in NumPy: MindOptimizer's model and acquisition functions.

The model is a Matérn 5/2 kernel over parameters scaled to [0, 1], with choices one-hot and one length scale
per column, chosen by marginal likelihood. The next trial is the candidate with the best upper confidence
bound (UCB), probability of improvement (PI) or expected improvement (EI). See Rasmussen and Williams,
Gaussian Processes for Machine Learning (2006), and Shahriari et al., Taking the Human Out of the Loop (2016).
docs/decisions/gaussian-process.md says why the model is not Optuna's or scikit-learn's.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, TypeAlias

import numpy as np
from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.samplers import BaseSampler, RandomSampler
from optuna.search_space import IntersectionSearchSpace
from optuna.study import Study, StudyDirection
from optuna.trial import FrozenTrial, TrialState

from mindinsight.server.types import Doubles

Method: TypeAlias = Literal["ucb", "pi", "ei"]

_BETA: Final = 2.576  # standard deviations of UCB: MindOptimizer's value, the 99 % interval
_MARGIN: Final = 0.05  # standard deviations of improvement that PI requires; 0 never leaves the best trial
_CANDIDATES: Final = 5000  # drawn uniformly
_NEIGHBOURS: Final = 1000  # drawn around the best trials
_SCALES: Final = np.geomspace(0.05, 5.0, 10)  # common length scales tried first
_MOVES: Final = (0.5, 0.7, 1.4, 2.0)  # factors then tried for each length scale
_NOISES: Final = (1e-6, 1e-3, 1e-1)  # noise variances tried, relative to the variance of the values
_NEWEST: Final = 1000  # latest trials used for the fit, because its time grows with their third power
_PENDING: Final = (TrialState.RUNNING,)


class GaussianProcessSampler(BaseSampler):
    """Sampler of studies with one objective. Parameters that only some trials have are drawn at random."""

    def __init__(self, method: Method = "ucb", n_startup_trials: int = 4, seed: int | None = None) -> None:
        self._method = method
        self._startup = n_startup_trials
        self._rng = np.random.default_rng(seed)
        self._independent = RandomSampler(seed=seed)
        self._space = IntersectionSearchSpace()

    def reseed_rng(self) -> None:
        """Seed the generators anew, which Optuna calls in each parallel worker."""
        self._rng = np.random.default_rng()
        self._independent.reseed_rng()

    def infer_relative_search_space(self, study: Study, trial: FrozenTrial) -> dict[str, BaseDistribution]:
        """Return the parameters that all trials share and that have more than one value."""
        space = self._space.calculate(study)
        return {name: distribution for name, distribution in space.items() if not distribution.single()}

    def sample_relative(
        self, study: Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        """Return the parameter values of the candidate with the best acquisition. Return {} with fewer
        complete trials than `n_startup_trials`, if all of them have the same value, or for an empty
        `search_space`."""
        complete = study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))[-_NEWEST:]
        if len(complete) < self._startup or not search_space:
            return {}
        points = _points([known.params for known in complete], search_space)
        sign = 1.0 if study.direction == StudyDirection.MAXIMIZE else -1.0
        values = sign * np.array([known.value for known in complete], np.float64)
        spread = float(values.std())
        if not spread > 0:
            return {}
        scaled = (values - values.mean()) / spread
        model = GaussianProcess.fitted(points, scaled)
        pending = [
            other.params
            for other in study.get_trials(deepcopy=False, states=_PENDING)
            if other.number != trial.number and search_space.keys() <= other.params.keys()
        ]
        if pending:  # taken to end as the model predicts, so that parallel trials differ
            model = model.extended(_points(pending, search_space))
        candidates = self._candidates(search_space, [complete[i].params for i in np.argsort(-values)[:5]])
        mean, deviation = model.predict(_points(candidates, search_space))
        scores = acquisition(self._method, mean, deviation, float(scaled.max()))
        return candidates[int(np.argmax(scores))]

    def sample_independent(
        self, study: Study, trial: FrozenTrial, param_name: str, param_distribution: BaseDistribution
    ) -> Any:
        """Return a random value of one parameter."""
        return self._independent.sample_independent(study, trial, param_name, param_distribution)

    def _candidates(
        self, space: Mapping[str, BaseDistribution], best: Sequence[Mapping[str, Any]]
    ) -> list[dict[str, Any]]:
        """Return candidates drawn uniformly, and some around the best trials."""
        columns = {}
        for name, distribution in space.items():
            anywhere = self._rng.random(_CANDIDATES)
            around = np.array([unit(params[name], distribution) for params in best])
            near = around[self._rng.integers(len(best), size=_NEIGHBOURS)]
            near = np.clip(near + self._rng.normal(0.0, 0.05, _NEIGHBOURS), 0.0, 1.0 - 1e-12)
            columns[name] = [from_unit(share, distribution) for share in (*anywhere, *near)]
        return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


class GaussianProcess:
    """Regression of `values` [n], of mean 0 and variance 1, at `points` [n, d] in the unit cube."""

    def __init__(self, points: Doubles, values: Doubles, scales: Doubles, noise: float) -> None:
        self._points, self._values, self._scales, self._noise = points, values, scales, noise
        covariance = matern(points / scales, points / scales) + noise * np.eye(len(points))
        self._root = np.linalg.cholesky(covariance)
        self._weights = np.linalg.solve(self._root.T, np.linalg.solve(self._root, values))

    @classmethod
    def fitted(cls, points: Doubles, values: Doubles) -> GaussianProcess:
        """Return the model with the largest marginal likelihood, found by coordinate search. `points` [n,
        d] are in the unit cube. `values` [n] have mean 0 and variance 1."""
        dimensions = points.shape[1]
        models = [
            cls(points, values, np.full(dimensions, scale), noise) for scale in _SCALES for noise in _NOISES
        ]
        best = max(models, key=lambda model: model.likelihood)
        for _ in range(2):
            for i in range(dimensions):
                factors = np.ones((len(_MOVES), dimensions))
                factors[:, i] = _MOVES
                moved = [cls(points, values, best._scales * factor, best._noise) for factor in factors]
                best = max([best, *moved], key=lambda model: model.likelihood)
        return best

    @property
    def likelihood(self) -> float:
        """Return the logarithm of the marginal likelihood, without its constant."""
        return float(-0.5 * self._values @ self._weights - np.log(np.diag(self._root)).sum())

    def predict(self, points: Doubles) -> tuple[Doubles, Doubles]:
        """Return mean and standard deviation [m] at `points` [m, d]."""
        shared = matern(points / self._scales, self._points / self._scales)
        mean = shared @ self._weights
        explained = (np.linalg.solve(self._root, shared.T) ** 2).sum(axis=0)
        return mean, np.sqrt(np.maximum(1.0 - explained, 1e-12))

    def extended(self, points: Doubles) -> GaussianProcess:
        """Return the model with `points` [m, d] added, each with its predicted mean as value."""
        mean, _ = self.predict(points)
        both = np.concatenate([self._points, points]), np.concatenate([self._values, mean])
        return GaussianProcess(*both, self._scales, max(self._noise, 1e-6))


def matern(left: Doubles, right: Doubles) -> Doubles:
    """Return the Matérn 5/2 covariance [n, m] of points [n, d] and [m, d], which are divided by length
    scales.
    """
    squares = (left**2).sum(1)[:, None] + (right**2).sum(1)[None, :] - 2.0 * left @ right.T
    root = np.sqrt(5.0 * np.maximum(squares, 0.0))
    covariance: Doubles = (1.0 + root + root**2 / 3.0) * np.exp(-root)
    return covariance


def acquisition(method: Method, mean: Doubles, deviation: Doubles, best: float) -> Doubles:
    """Return the score [m] of points with this mean and deviation [m]. Higher is better. `best` is the
    best value so far."""
    if method == "ucb":
        return mean + _BETA * deviation
    best = best + _MARGIN if method == "pi" else best
    z = (mean - best) / deviation
    below = np.array([0.5 * (1.0 + math.erf(x / math.sqrt(2.0))) for x in z.tolist()])
    if method == "pi":
        return below
    density = np.exp(-0.5 * z**2) / math.sqrt(2.0 * math.pi)
    improvement: Doubles = (mean - best) * below + deviation * density
    return improvement


def unit(value: Any, distribution: BaseDistribution) -> float:
    """Return a value scaled to [0, 1] within its range. A choice becomes the centre of its share of the
    range."""
    if isinstance(distribution, CategoricalDistribution):
        return (distribution.to_internal_repr(value) + 0.5) / len(distribution.choices)
    assert isinstance(distribution, (FloatDistribution, IntDistribution))
    low, high = _ends(distribution)
    number = math.log(value) if distribution.log else float(value)
    return float(np.clip((number - low) / (high - low), 0.0, 1.0))


def from_unit(share: float, distribution: BaseDistribution) -> Any:
    """Return the allowed value at a position in [0, 1] of its range."""
    if isinstance(distribution, CategoricalDistribution):
        count = len(distribution.choices)
        return distribution.choices[min(int(share * count), count - 1)]
    assert isinstance(distribution, (FloatDistribution, IntDistribution))
    low, high = _ends(distribution)
    number = low + share * (high - low)
    number = math.exp(number) if distribution.log else number
    if distribution.step is not None:
        number = distribution.low + round((number - distribution.low) / distribution.step) * distribution.step
    number = min(max(number, distribution.low), distribution.high)
    return round(number) if isinstance(distribution, IntDistribution) else float(number)


def _ends(distribution: FloatDistribution | IntDistribution) -> tuple[float, float]:
    """Return both ends of the range on the model's scale. A stepped range is widened by half a step at
    both ends, so that each value has an equal share."""
    low, high = float(distribution.low), float(distribution.high)
    half = 0.5 * distribution.step if distribution.step is not None else 0.0
    if distribution.log:
        half = min(half, 0.5 * low)
        return math.log(low - half), math.log(high + half)
    return low - half, high + half


def _points(trials: Sequence[Mapping[str, Any]], space: Mapping[str, BaseDistribution]) -> Doubles:
    """Encode parameters as points [n, d]: numbers scaled to [0, 1], choices one-hot."""
    columns: list[Doubles] = []
    for name, distribution in space.items():
        values = [params[name] for params in trials]
        if isinstance(distribution, CategoricalDistribution):
            indices = np.array([int(distribution.to_internal_repr(value)) for value in values])
            columns.extend((indices == i).astype(np.float64) for i in range(len(distribution.choices)))
        else:
            columns.append(np.array([unit(value, distribution) for value in values]))
    return np.stack(columns, axis=1)
