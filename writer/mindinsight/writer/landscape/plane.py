"""Plane through the space of weights, on which the loss is evaluated.

Source: Li et al., Visualizing the Loss Landscape of Neural Nets (2018): directions are scaled to the norm of
the weights, parameter by parameter, and those of a way are its principal components.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

Weights = Mapping[str, npt.NDArray[Any]]
Vector = npt.NDArray[np.float64]
_MARGIN: Final = 0.2  # of the way's extent, on either side


@dataclass(frozen=True)
class Plane:
    """``base + x * first + y * second``; parameters without a direction stay as they are."""

    base: Weights
    first: Mapping[str, Vector]
    second: Mapping[str, Vector]

    def at(self, x: float, y: float) -> dict[str, npt.NDArray[Any]]:
        """The weights at a point."""
        moved = {
            name: (value + x * self.first[name] + y * self.second[name]).astype(value.dtype)
            for name, value in self.base.items()
            if name in self.first
        }
        return {**self.base, **moved}

    def coordinates(self, weights: Weights) -> tuple[float, float]:
        """The point of the plane that is nearest to ``weights``, by least squares."""
        directions = np.stack([_flat(self.first), _flat(self.second)], axis=1)
        way = _flat(_way(weights, self.base, list(self.first)))
        (x, y), *_ = np.linalg.lstsq(directions, way, rcond=None)
        return float(x), float(y)


def plane_of_path(checkpoints: Sequence[Weights], seed: int = 0) -> Plane:
    """The plane that holds most of the way to the last of ``checkpoints``, which is its origin."""
    base = checkpoints[-1]
    names = moving(base)
    ways = np.stack([_flat(_way(weights, base, names)) for weights in checkpoints[:-1]])
    # The right singular vectors by way of the small matrix: points are few, weights are many.
    sizes, left = np.linalg.eigh(ways @ ways.T)
    components = (ways.T @ left[:, ::-1][:, :2]).T
    if len(components) < 2 or sizes[-2] <= sizes[-1] * 1e-12:  # a straight way leaves the second open
        components = np.stack([components[0], np.random.default_rng(seed).normal(size=components.shape[1])])
    first, second = (_scaled(_split(component, base, names), base) for component in components)
    return Plane(base, first, second)


def random_plane(base: Weights, seed: int = 0) -> Plane:
    """A plane through ``base`` in two directions drawn at random."""
    random = np.random.default_rng(seed)
    names = moving(base)
    first, second = ({name: random.normal(size=base[name].shape) for name in names} for _ in range(2))
    return Plane(base, _scaled(first, base), _scaled(second, base))


def moving(weights: Weights) -> list[str]:
    """The parameters that make a direction: weights and biases; all that hold floats if none is called so."""
    floats = [name for name, value in weights.items() if value.dtype.kind == "f" and "moment" not in name]
    return [name for name in floats if "weight" in name or "bias" in name] or floats


def axis(values: Sequence[float], size: int) -> Vector:
    """``size`` coordinates over the range of ``values`` and a fifth more on either side."""
    low, high = min(values), max(values)
    margin = (high - low) * _MARGIN or 1.0
    return np.linspace(low - margin, high + margin, size)


def _scaled(direction: Mapping[str, Vector], base: Weights) -> dict[str, Vector]:
    """Each parameter's part with the norm of that parameter."""
    scaled = {}
    for name, part in direction.items():
        norm = float(np.linalg.norm(part))
        weight = float(np.linalg.norm(base[name].astype(np.float64)))
        scaled[name] = part * (weight / norm) if norm else part
    return scaled


def _way(weights: Weights, base: Weights, names: Sequence[str]) -> dict[str, Vector]:
    return {name: weights[name].astype(np.float64) - base[name] for name in names}


def _flat(parts: Mapping[str, npt.NDArray[Any]]) -> Vector:
    return np.concatenate([np.asarray(part, np.float64).reshape(-1) for part in parts.values()])


def _split(vector: Vector, base: Weights, names: Sequence[str]) -> dict[str, Vector]:
    ends = np.cumsum([base[name].size for name in names])
    pieces = np.split(vector, ends[:-1])
    return {name: piece.reshape(base[name].shape) for name, piece in zip(names, pieces, strict=True)}
