"""Permutation tests of the settings that an objective depends on, corrected for the number of settings.

Westfall and Young (1993): the largest statistic of all settings is compared with the largest one of shuffled
objectives. Shuffling keeps how settings follow each other. Settings that are proven become part of the model,
whose residuals are shuffled from then on (Freedman and Lane, 1983). So a setting that merely follows a proven
one is not proven by it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from mindinsight.server.curves.correlations import spearman
from mindinsight.server.types import Doubles, Ints

CHANCE: Final = 0.02  # of naming any setting where none has an effect
_SHUFFLES: Final = 999  # 20 of them are as large by chance, enough to tell 2 % from 3 %
_ROWS: Final = 111  # shuffles computed together: 1,000 runs need 1 MB
_BINS: Final = 5  # an optimum inside a range needs three; more lose power with few runs
_FINE: Final = 12  # bins of a proven setting, as of the forest
_PER_COLUMN: Final = 4  # runs for each column of a model, below which it fits noise
_RESAMPLES: Final = 200  # of the runs, in which an order of settings has to hold
_ORDERED: Final = 0.95  # share of these
_ALIKE: Final = 0.9  # rank correlation of two settings from which no model can separate them
_RELATED: Final = 0.5  # the same from which few runs may not separate them
_ROUNDING: Final = 1e-8  # share of a column below which nothing of it is left


@dataclass(frozen=True, slots=True)
class Factor:
    """Setting as a factor of a permutation test: its values by run, as groups and as ranks."""

    groups: Ints  # [n] number of the value: in ascending order for numbers, which are binned
    order: Doubles | None  # [n] ranks of numbers, None for texts; -1 for a missing value

    def bins(self, most: int) -> Doubles:
        """Return indicators [n, k], 0 or 1, of a column for each text, or of at most ``most`` bins of numbers
        and one for missing values."""
        if self.order is None:
            return _indicators(self.groups)
        known = self.order >= 0
        distinct = np.unique(self.order[known])
        if len(distinct) > most:
            quantiles = np.arange(most) / most
            distinct = np.unique(np.quantile(self.order[known], quantiles, method="lower"))
        return _indicators(np.where(known, np.searchsorted(distinct, self.order, side="right"), 0))

    def trend(self) -> Doubles:
        """Return [n, 1] the centred ranks, scaled to a range of at most 1, or [n, 0] for texts. Missing
        values are at 0."""
        if self.order is None:
            return np.zeros((len(self.groups), 0))
        known = self.order >= 0
        centred = self.order - self.order[known].mean()
        return np.where(known, centred / max(float(np.ptp(centred[known])), 1.0), 0.0)[:, None]

    def model(self) -> Doubles:
        """Return [n, k] the columns that describe an effect of any shape."""
        trend = self.trend()
        bins = min(_FINE, max(len(self.groups) // (2 * _PER_COLUMN), 2))
        return np.concatenate((self.bins(bins), trend, trend**2, trend**3), axis=1)


def _indicators(groups: Ints) -> Doubles:
    numbers = np.unique(groups, return_inverse=True)[1]
    return np.eye(int(numbers.max()) + 1)[numbers]


def proven(factors: Mapping[str, Factor], target: Doubles, seed: int = 0) -> list[str]:
    """Return the settings that ``target`` [n] significantly depends on, the strongest first, [] if there
    is none, or for few runs. Each setting explains a share that those before it do not."""
    generator = np.random.default_rng(seed)
    names: list[str] = []
    model = np.ones((len(target), 1))
    while len(names) < len(factors) and len(target) >= _PER_COLUMN * model.shape[1]:
        basis = _basis(model)
        tested = [
            (name, columns)
            for name, factor in factors.items()
            if name not in names
            for design in _designs(factor, [factors[known] for known in names])
            if (columns := _basis(_rest(design, basis))).shape[1]
        ]
        row = _clearest([columns for _, columns in tested], basis, target, generator)
        if row is None:
            break
        names.append(tested[row][0])
        model = np.concatenate((model, factors[names[-1]].model()), axis=1)
    return names


def rivals(factors: Mapping[str, Factor], target: Doubles, name: str, seed: int = 0) -> list[str]:
    """Return the settings that may explain ``target`` [n] instead of the setting ``name``. Such a setting
    explains the target significantly, and ``name`` adds nothing significant to that."""
    generator = np.random.default_rng(seed)

    def explains(factor: Factor, model: Doubles) -> bool:
        basis = _basis(model)
        designs = [_basis(_rest(design, basis)) for design in _designs(factor, [])]
        return _clearest([it for it in designs if it.shape[1]], basis, target, generator) is not None

    constant = np.ones((len(target), 1))
    return [
        other
        for other, factor in factors.items()
        if other != name
        and explains(factor, constant)
        and not explains(factors[name], np.concatenate((constant, factor.model()), axis=1))
    ]


def is_ordered(factors: Sequence[Factor], targets: Sequence[Doubles]) -> bool:
    """Return True if each factor explains more of ``targets`` than the next in nearly all resampled trials.

    Otherwise, which of two factors explains more may be due to the noise of a few runs. ``targets`` are
    values and ranks: ranks show differences within noise as large, and values those of a few outliers.
    """
    if len(factors) < 2:
        return True
    generator = np.random.default_rng(0)
    models = [factor.bins(_BINS) for factor in factors]
    holds = np.zeros((len(targets), len(factors) - 1))
    for _ in range(_RESAMPLES):
        rows = generator.integers(len(targets[0]), size=len(targets[0]))
        shares = [[_share(model[rows], target[rows]) for model in models] for target in targets]
        holds += np.diff(shares, axis=1) < 0
    return bool((holds >= _ORDERED * _RESAMPLES).all())


def _share(groups: Doubles, target: Doubles) -> float:
    """Return the share of the variance of ``target`` [n] between ``groups`` [n, k], beyond that of chance."""
    counts = groups.sum(axis=0)
    groups, counts = groups[:, counts > 0], counts[counts > 0]
    within = float(((target - groups @ (groups.T @ target / counts)) ** 2).sum())
    free = max(len(target) - len(counts), 1)
    whole = float(((target - target.mean()) ** 2).sum()) / max(len(target) - 1, 1)
    return 1 - within / free / max(whole, 1e-300)


def alike(
    named: Sequence[str], known: Mapping[str, Doubles], target: Doubles, factors: Mapping[str, Factor]
) -> dict[str, list[str]]:
    """Return the ``named`` settings, each with those that may matter instead because they change together.
    ``known`` and ``target`` have one value for each trial. A setting has no entry if it, or one of its own
    others, is in an earlier entry."""
    groups: dict[str, list[str]] = {}
    for name in named:
        like = rivals(factors, target, name)
        others = [
            other
            for other in known
            if other != name
            and (_follows(known[name], known[other], _ALIKE) or other in like)
            and _follows(known[name], known[other], _RELATED)
        ]
        taken = {*groups, *(member for members in groups.values() for member in members)}
        if name not in taken and not taken & {*others}:
            groups[name] = others
    return groups


def _follows(left: Doubles, right: Doubles, least: float) -> bool:
    correlation = spearman(left, right)
    return correlation is not None and abs(correlation) > least


def _designs(factor: Factor, known: Sequence[Factor]) -> list[Doubles]:
    """Return the forms of an effect to test: of any shape, a trend, and interactions with each ``known``
    setting."""
    bins = factor.bins(_BINS)
    changing = [
        np.concatenate((bins, bins * other.trend()), axis=1) for other in known if other.order is not None
    ]
    return [bins, factor.trend(), *changing]


def _clearest(
    tested: Sequence[Doubles], basis: Doubles, target: Doubles, generator: np.random.Generator
) -> int | None:
    """Return the index of the design that explains most of the residuals, or None if chance explains as
    much."""
    residuals = _rest(target[:, None], basis)[:, 0]
    if not tested or not float((residuals**2).sum()) > _ROUNDING * float((target**2).sum()):
        return None
    shuffled = np.stack([residuals, *(generator.permutation(residuals) for _ in range(_SHUFFLES))])
    explained = np.concatenate(
        [
            _explained(shuffled[start : start + _ROWS], tested, basis)
            for start in range(0, len(shuffled), _ROWS)
        ]
    )
    # The cube root of a sum of squares is about normal, however many squares (Wilson and Hilferty, 1931).
    roots = np.cbrt(explained)
    spread = roots.std(axis=0)
    scaled = (roots - roots.mean(axis=0)) / np.where(spread > 0, spread, np.inf)
    largest = scaled.max(axis=1)
    chance = float((largest >= largest[0] - _ROUNDING).mean())
    return int(np.argmax(scaled[0])) if chance <= CHANCE else None


def _explained(shuffled: Doubles, tested: Sequence[Doubles], basis: Doubles) -> Doubles:
    """Return [s, t] the share of each shuffle's residuals that each design explains."""
    rest = shuffled - (shuffled @ basis) @ basis.T
    whole = np.maximum((rest**2).sum(axis=1), 1e-300)
    return np.stack([((rest @ columns) ** 2).sum(axis=1) / whole for columns in tested], axis=1)


def _rest(columns: Doubles, basis: Doubles) -> Doubles:
    """Return ``columns`` [n, k] minus their projection on the orthonormal ``basis`` [n, b]."""
    return columns - basis @ (basis.T @ columns)


def _basis(columns: Doubles) -> Doubles:
    """Return [n, b] orthonormal columns that span ``columns`` [n, k]."""
    left, sizes, _ = np.linalg.svd(columns, full_matrices=False)
    return np.asarray(left[:, sizes > _ROUNDING * max(len(columns), 1)], np.float64)
